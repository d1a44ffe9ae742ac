#!/usr/bin/env python3
"""Times hopline beside its peers and prints, per row, the ratio of the two, what must be reached, and the peak memory.

  run.py [--only NAME,...] [--runs 3] [--list]

hopline and the peer run in turn, run after run, so a drift of the machine's speed touches both alike. A program prints
`RESULT [name] seconds=S check=C`: S is the smallest time of its own repetitions, and the smallest S of all runs counts. The checks of both
must agree. The exit status is 1 when a row misses its ratio or its memory, or a program fails.

"exp" as NAME of --only also takes every row that begins with "exp"; a group (cells, functions, ...) takes its rows.
$HOPLINE (build/hopline), $STREAM (hopline-stream beside it) and $PEERS (a virtual environment with NumPy, SciPy, PyTorch
and polars at $PEERS/v or $PEERS itself) say where the programs are; README.md how to make them.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from rows import ROWS

HERE = os.path.dirname(os.path.abspath(__file__))
RESULT = re.compile(r"^RESULT (?:(\w+) )?seconds=(\S+)(?: check=(\S+))?\s*$", re.M)
TIMEOUT = 300  # seconds for one process
SLACK_MB = 50
TOLERANCE = 1e-9  # between the checks, relative


class Failure(Exception):
    pass


def programs():
    """Where hopline and the peers are."""
    hopline = os.path.abspath(os.environ.get("HOPLINE", os.path.join(HERE, "..", "build", "hopline")))
    peers = os.environ.get("PEERS", "")
    venv = next((p for p in (os.path.join(peers, "v"), peers) if os.path.exists(os.path.join(p, "bin", "python"))), peers)
    return {"hopline": hopline, "stream": os.environ.get("STREAM", os.path.join(os.path.dirname(hopline), "hopline-stream")),
            "python": os.path.join(venv, "bin", "python"), "lua": os.environ.get("LUA", "lua5.4"),
            "bare": os.path.realpath(sys.executable)}  # past wrappers, which take longer than Python itself


def data_directory():
    return os.environ.get("BENCH_DATA", os.path.join(tempfile.gettempdir(), "hopline-bench-data"))


def write_csv(path):
    """200,000 x 100 numbers of seven decimals: 200 MB."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".part", "w") as out:
        for i in range(1, 200001):
            h = (i * 48271 + 7919) % 9999991
            out.write(",".join("0.%07d" % (h * ((j * 40692 + 104729) % 9999991) % 9999991) for j in range(1, 101)) + "\n")
    with open(path + ".mtd", "w") as out:
        out.write('{"data_type": "matrix", "value_type": "double", "format": "csv", "rows": 200000, "cols": 100}\n')
    os.rename(path + ".part", path)


def run_process(argv, variables):
    """-> (standard output, wall seconds, peak MB)"""
    env = dict(os.environ, BENCH_DATA=data_directory(), PYTHONPATH=os.path.join(HERE, "programs"), PYTHONDONTWRITEBYTECODE="1")
    env.update(("BENCH_" + k, str(v)) for k, v in variables.items())
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        begin = time.perf_counter()
        child = subprocess.Popen(argv, stdout=out, stderr=errors, env=env, start_new_session=True)
        timer = threading.Timer(TIMEOUT, lambda: os.killpg(child.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), errors.seek(0)
        text = out.read()
        if child.returncode != 0:
            raise Failure("%s: exit status %d: %s" % (" ".join(argv), child.returncode, (text + errors.read()).strip()[-600:]))
        return text, wall, usage.ru_maxrss / 1024.0


def script(row, suffix, expression, scratch):
    """The program of a row; EXPRESSION in it becomes the row's."""
    path = os.path.join(HERE, "programs", row.program + suffix)
    if not expression:
        return path
    with open(path) as source:
        text = source.read().replace("EXPRESSION", expression)
    path = os.path.join(scratch, row.program + suffix)
    with open(path, "w") as target:
        target.write(text)
    return path


def measure(argv, row, loop=""):
    """-> (seconds, check or None, MB). `loop` is the name of the wanted line where a program prints several."""
    if row.whole:  # the process itself is what is timed; it is too short for one sample
        samples = sorted(run_process(argv, row.arguments)[1:] for _ in range(20))
        return samples[len(samples) // 2][0], None, max(mb for _, mb in samples)
    text, _, mb = run_process(argv, row.arguments)
    for name, seconds, check in RESULT.findall(text):
        if name == loop:
            return float(seconds), float(check) if check else None, mb
    raise Failure("%s: no RESULT line %s in: %s" % (" ".join(argv), loop, text[-300:]))


def hopline_command(row, where, scratch, arguments):
    argv = [where["hopline"]] + (["--threads", str(row.threads)] if row.threads else [])
    return argv + ["-f", script(row, ".dml", row.expression, scratch), "-nvargs", "DATA=" + data_directory()] + [
        "%s=%s" % item for item in arguments.items()]


def sample_peer(row, where, scratch):
    """-> (seconds, check or None) of what the row is compared with"""
    if row.peer == "bare":
        return measure([where["bare"], "-S", "-c", "pass"], row)[:2]
    if row.peer == "lua":
        return measure([where["lua"], script(row, ".lua", "", scratch)], row)[:2]
    if row.peer == "stream":
        return measure([where["stream"]], row, row.loop)[:2]
    if row.peer == "itself":  # the same program with other arguments; per unit of work
        argv = hopline_command(row, where, scratch, row.peer_arguments)
        return measure(argv, row)[0] * row.peer_scale, None
    return measure([where["python"], script(row, ".py", row.peer_expression, scratch)], row)[:2]


def sample_hopline(row, where, scratch):
    argv = hopline_command(row, where, scratch, row.arguments)
    if not row.neighbour:
        return measure(argv, row)
    core = max(os.sched_getaffinity(0))
    spin = subprocess.Popen([sys.executable, "-S", "-c", "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass" % core])
    try:
        time.sleep(0.2)
        return measure(argv, row)
    finally:
        spin.kill()
        spin.wait()


def measure_row(row, where, runs, scratch):
    """-> (hopline seconds, peer seconds, MB)"""
    own, other, peak = [], [], 0.0
    checks = []
    for _ in range(runs):
        seconds, check, mb = sample_hopline(row, where, scratch)
        own.append(seconds)
        peak = max(peak, mb)
        checks.append(check)
        if row.peer:
            seconds, check = sample_peer(row, where, scratch)
            other.append(seconds)
            checks.append(check)
    known = [c for c in checks if c is not None]
    for c in known:
        if abs(c - known[0]) > TOLERANCE * max(abs(c), abs(known[0]), 1e-300):
            raise Failure("the checks differ: %r and %r" % (known[0], c))
    return min(own), min(other) if other else None, peak


def judge(row, own, other, peak):
    """-> (ratio, its text, MB allowed, reasons to miss)"""
    allowed = row.data_mb * 1.1 + row.extra_mb + SLACK_MB
    ratio = None if other is None else other / own if row.at_least else own / other
    missed = []
    if ratio is not None and (ratio < row.target if row.at_least else ratio > row.target):
        missed.append("time")
    if peak > allowed:
        missed.append("memory")
    return ratio, allowed, missed


HEADER = "%-22s %-34s %10s %8s %10s %7s %8s %6s %6s  %s"


def report(row, own, other, peak):
    ratio, allowed, missed = judge(row, own, other, peak)
    target = "" if ratio is None else (">= %.2f" if row.at_least else "<= %.2f") % row.target
    print(HEADER % (row.name, row.what, "%.5f" % own, row.peer or "-", "" if other is None else "%.5f" % other,
                    "" if ratio is None else "%.2f" % ratio, target, "%.0f" % peak, "%.0f" % allowed,
                    "MISS " + ", ".join(missed) if missed else "ok"), flush=True)
    return not missed


def chosen(only):
    if not only:
        return ROWS
    rows = [r for r in ROWS if any(r.group == word or r.name.startswith(word) for word in only.split(","))]
    if not rows:
        sys.exit("no row begins with %s; --list shows them" % only)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="rows or groups, separated by commas")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--list", action="store_true", help="print the rows and end")
    args = parser.parse_args()
    rows = chosen(args.only)
    if args.list:
        for row in rows:
            print("%-10s %-22s %s" % (row.group, row.name, row.what))
        return 0
    csv = os.path.join(data_directory(), "dense.csv")
    if any(r.program == "csv_read" for r in rows) and not os.path.exists(csv):
        write_csv(csv)
    where = programs()
    if any(r.group == "sparse" for r in rows) and not os.path.exists(os.path.join(data_directory(), "sparse_plus_77.bin")):
        os.makedirs(data_directory(), exist_ok=True)
        run_process([where["hopline"], "-f", os.path.join(HERE, "programs", "sparse_inputs.dml"), "-nvargs", "DATA=" + data_directory()], {})
    print(HEADER % ("row", "what", "hopline s", "peer", "peer s", "ratio", "target", "MB", "most", ""))
    missed = 0
    with tempfile.TemporaryDirectory(prefix="hopline-bench-") as scratch:
        for row in rows:
            try:
                missed += not report(row, *measure_row(row, where, args.runs, scratch))
            except (Failure, OSError) as e:
                missed += 1
                print("%-22s FAILED %s" % (row.name, e), flush=True)
    print("%d rows, %d missed" % (len(rows), missed))
    return 1 if missed else 0


sys.exit(main())
