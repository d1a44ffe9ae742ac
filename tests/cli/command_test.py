#!/usr/bin/env python3
"""Runs the command as a user does: statistics, traces, progress, Ctrl-C, exit statuses. Usage: command_test.py HOPLINE"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HOPLINE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "build/hopline"
PRODUCTS = """X = rand(rows=300, cols=200, seed=1)
s = 0
for (i in 1:5) {
  A = t(X) %*% X
  s = s + sum(A) + sum(X %*% A)
}
print(s)
"""
# One call of LAPACK that takes many times as long as the tests wait.
LONG_CALL = """A = rand(rows=2500, cols=2500, seed=1)
for (k in 1:3) {
  [v, w] = eigen(A + t(A))
  print(sum(v))
}
"""
LONG_LOOP = """X = rand(rows=20, cols=20, seed=1)
for (i in 1:2000000000) {
  X = X * 0.5 + 1
}
print(sum(X))
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def run_command(self, *arguments, **more):
        return subprocess.run([HOPLINE, *arguments], cwd=self.folder.name, capture_output=True, text=True, timeout=120,
                              check=False, **more)

    def start(self, *arguments):
        return subprocess.Popen([HOPLINE, *arguments], cwd=self.folder.name, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)


class Statistics(Folder):
    def test_lines(self):
        self.write("a.dml", PRODUCTS)
        done = self.run_command("a.dml", "-stats", "3")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.stdout.splitlines()), 1)  # what the script prints
        text = done.stderr
        for label in ("Total elapsed time:", "Total compilation time:", "Total execution time:", "Peak memory:",
                      "Read from files:", "Written to files:", "Threads:"):
            self.assertIn(label, text)
        made, reused, generic = map(int, re.search(r"Plans made/reused/generic:\s+(\d+)/(\d+)/(\d+)\.", text).groups())
        self.assertLessEqual(made, 5)
        self.assertGreaterEqual(reused, 3)
        self.assertEqual(generic, 0)
        heavy = text.split("Heavy hitter instructions:\n")[1].splitlines()
        self.assertEqual(len(heavy), 4)  # a heading and three operators
        names = {line.split()[1]: line.split() for line in heavy[1:]}
        self.assertEqual(names["tsmm"][2], "a.dml:4")
        self.assertEqual(names["%*%"][2], "a.dml:5")
        self.assertEqual(names["%*%"][5], "5")  # executions

    def test_bytes_of_files(self):
        self.write("x.csv", "1,2\n3,4\n")
        self.write("a.dml", 'X = read("x.csv", format="csv")\nwrite(X, "y.csv", format="csv")\n')
        done = self.run_command("a.dml", "-stats")
        self.assertRegex(done.stderr, r"Read from files:\s+[1-9]\d* bytes\.")
        self.assertRegex(done.stderr, r"Written to files:\s+[1-9]\d* bytes\.")

    def test_failing_script(self):
        done = self.run_command("-s", 'print(1)\nstop("enough")', "-stats")
        self.assertEqual(done.returncode, 1)
        self.assertIn("enough", done.stderr)
        self.assertIn("Total elapsed time:", done.stderr)


class Traces(Folder):
    def test_events(self):
        self.write("a.dml", PRODUCTS + "parfor (i in 1:8) {\n  R = matrix(i, 10, 10)\n  print(sum(R))\n}\n")
        done = self.run_command("a.dml", "--trace", "t.json", "--seed", "42", "--threads", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["a.dml", "t.json"])
        with open(self.path("t.json"), encoding="utf-8") as file:
            trace = json.load(file)
        self.assertEqual(trace["otherData"]["seed"], "42")
        events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        lines = {}
        for e in events:
            self.assertGreaterEqual(e["dur"], 0)
            lines.setdefault(e["name"], []).append(e["args"]["line"])
        self.assertEqual(lines["tsmm"], [4] * 5)
        self.assertEqual(lines["%*%"], [5] * 5)
        self.assertEqual(sorted(set(lines["print"])), [7, 10])
        self.assertEqual(lines["check"], [0])
        self.assertIn(1, lines["plan"])
        tsmm = next(e for e in events if e["name"] == "tsmm")
        self.assertEqual(tsmm["args"]["flops"], 300 * 200 * 200)
        self.assertEqual(tsmm["args"]["out"], "200x200")
        named = {e["tid"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
        self.assertEqual({e["tid"] for e in events}, named)
        for lane in named:  # events of one thread do not overlap
            end = 0
            for e in sorted((e for e in events if e["tid"] == lane), key=lambda e: e["ts"]):
                self.assertGreaterEqual(e["ts"], end - 0.002)
                end = e["ts"] + e["dur"]

    def test_unwritable(self):
        done = self.run_command("-s", "print(1)", "--trace", "missing/t.json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write the trace missing/t.json", done.stderr)


class Explain(Folder):
    SCRIPT = """X = rand(rows=30, cols=20, seed=1)
A = t(X) %*% X
i = 0
while (i < 3) i = i + 1
print(sum(A) + i)
"""
    LINES = {
        "hops": r"  %\d = tsmm %\d \[20x20\] @2:5\n",
        "rules": r"rule tsmm @2:5\n",
        "lops": r"  %\d = tsmm %\d \[20x20, dense\] cpu @2:5\n",
        "instructions": r"  %\d = tsmm %\d! @2:5\n",
        "memory": r"  %\d = tsmm %\d .*: result 3\.1 KB, scratch .*, alive .*\n",
    }

    def explain(self, level):
        self.write("a.dml", self.SCRIPT)
        done = self.run_command("a.dml", f"--explain={level}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        return done.stderr

    def test_levels(self):
        for level, line in self.LINES.items():
            with self.subTest(level=level):
                text = self.explain(level)
                self.assertRegex(text, line)
                for other, others_line in self.LINES.items():
                    if other != level:
                        self.assertNotRegex(text, others_line)
        self.assertIn("scalar program:\n", self.explain("runtime"))
        self.assertIn("scalar program @4:1\n", self.explain("lops"))
        self.assertEqual(self.explain("none"), "")

    def test_all(self):
        for level in ("all", "recompile_hops", "codegen"):
            text = self.explain(level)
            for line in self.LINES.values():
                self.assertRegex(text, line)

    def test_level_without_meaning(self):
        done = self.run_command("-s", "print(1)", "--explain=fusion")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("fuses no operators", done.stderr)


class DryRun(Folder):
    SCRIPT = """X = read("x.csv")
y = read("y.csv")
n = nrow(X)
if (n > 10) print("many")
A = t(X) %*% X
if (sum(A) > 0) {
  B = cbind(A, A)
} else {
  B = A
}
for (i in 1:5) {
  C = B %*% matrix(1, ncol(B), 1)
}
f = function(matrix[double] M, int times) return (double s) {
  s = 0
  for (i in 1:times) { s = s + sum(M) }
}
a = f(A, 2)
b = f(y, 2)
write(C, "c.csv", format="csv")
print(a + b)
"""

    def setUp(self):
        super().setUp()
        self.write("a.dml", self.SCRIPT)
        self.write("x.csv.mtd", '{"data_type": "matrix", "rows": 100, "cols": 20, "nnz": 2000, "format": "csv"}')

    def dry_run(self, *options):
        before = self.files()
        done = self.run_command("--dry-run", *options)
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.files(), before)
        return done

    def test_summary(self):
        done = self.dry_run("a.dml")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stderr
        for line in ("  X [100x20]\n", "  y [?x?]\n", "  A [20x20]\n", "\nif @6:1:\n", "\n    B [20x40]\n", "\nelse @6:1:\n",
                     "\n    B [20x20]\n", "\nfor i @11:1, 5 iterations:\n", "call of f @18:5\n",
                     "\nfunction f(M [?x?], times = 2) @14:1:\n"):
            self.assertEqual(text.count(line), 1, f"{line!r} in\n{text}")
        self.assertRegex(text.splitlines()[-1], r"^\d+ plans, \d+ instructions, at least .* KB @5:5$")

    def test_levels(self):
        text = self.dry_run("a.dml", "--explain=lops").stderr
        self.assertRegex(text, r'\n  print "many" cpu @4:13\n')  # decided by the sizes
        self.assertRegex(text, r"\n  %\d = tsmm X \[20x20, dense\] cpu @5:5\n")
        self.assertRegex(text, r"\n    %\d = cbind A A \[20x40, dense\] cpu @7:7\n")
        self.assertRegex(text, r"\n    %\d = %\*% B %\d \[20x1, dense\] cpu @12:7\n")
        self.assertRegex(text, r'\n  write C file="c.csv" ')
        self.assertIn("memory:\n", self.dry_run("a.dml", "--explain=memory").stderr)
        self.assertIn("plan:\n", self.dry_run("a.dml", "-explain").stderr)

    def test_what_must_fail(self):
        done = self.dry_run("-s", 'X = read("x.csv")\nprint(1)\nY = X %*% X')
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^-s:3:5: error: .*100x20 %\*% 100x20")

    def test_what_may_fail(self):
        done = self.dry_run("-s", 'X = read("x.csv")\nif (sum(X) > 0) Y = X %*% X else Y = X\nprint(sum(Y))')
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\n  fails @2:21: .*100x20 %\*% 100x20\n")

    def test_trace_of_planning(self):
        done = self.run_command("a.dml", "--dry-run", "--trace", "t.json")
        self.assertEqual(done.returncode, 0)
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = {e["name"] for e in json.load(file)["traceEvents"] if e["ph"] == "X"}
        self.assertEqual(events, {"check", "plan", "plan control flow"} & events)
        self.assertIn("plan", events)


class Interrupts(Folder):
    def interrupt(self, script, after=0.6):
        self.write("a.dml", script)
        process = self.start("a.dml")
        time.sleep(after)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertLess(time.monotonic() - begin, 1)  # 0.2 s where the machine has nothing else to do
        self.assertIn("the run was stopped", errors)
        return errors

    def test_library_call(self):
        errors = self.interrupt(LONG_CALL, 1)
        self.assertRegex(errors, r"in eigen at a\.dml:3 \(iteration 1 of 3 of the loop at line 2\)")

    def test_loop(self):
        errors = self.interrupt(LONG_LOOP)
        self.assertRegex(errors, r"^a\.dml:[23]:\d+: error: iteration \d+ of 2000000000 of the loop at line 2: ")

    def test_scalar_loop(self):
        errors = self.interrupt("i = 0\nwhile (i >= 0) {\n  i = i + 1\n}\n")
        self.assertRegex(errors, r"^a\.dml:2:\d+: error: ")

    def test_parallel_loop(self):
        errors = self.interrupt("parfor (i in 1:1000) {\n  X = matrix(i, 9, 9)\n  while (sum(X) > 0) {\n    X = X + 1\n  }\n"
                                "  print(i)\n}\n")
        self.assertRegex(errors, r"iteration \d+: ")

    def test_second_signal(self):
        self.write("a.dml", LONG_CALL)
        process = self.start("a.dml")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertLess(time.monotonic() - begin, 0.5)

    def test_nothing_is_left(self):
        self.interrupt('X = rand(rows=4000000, cols=20)\nwrite(X, "x.csv", format="csv")\n', 1)
        self.assertEqual([name for name in self.files() if name not in ("a.dml", "x.csv", "x.csv.mtd")], [])


class Progress(Folder):
    def on_terminal(self, script, seconds):
        self.write("a.dml", script)
        leader, follower = pty.openpty()
        environment = dict(os.environ, TERM="xterm")
        process = subprocess.Popen([HOPLINE, "a.dml"], cwd=self.folder.name, stdout=subprocess.PIPE, stderr=follower,
                                   env=environment)
        os.close(follower)
        text, end = b"", time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([leader], [], [], 0.1)[0]:
                try:
                    text += os.read(leader, 4096)
                except OSError:
                    break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        os.close(leader)
        return text.decode()

    def test_long_work(self):
        text = self.on_terminal(LONG_LOOP, 2.6)
        self.assertRegex(text, r"\r1 s: [*+] at a\.dml:3 \(iteration \d+ of 2000000000 of the loop at line 2\)")

    def test_short_work(self):
        self.assertEqual(self.on_terminal("print(1)", 0.5), "")

    def test_no_terminal(self):
        self.write("a.dml", LONG_LOOP)
        process = self.start("a.dml")
        time.sleep(1.8)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertNotIn("\r", errors)


class Statuses(Folder):
    def test_statuses(self):
        for script, status in (("print(1)", 0), ("print(y)", 1), ('stop("no")', 1), ('X = read("none.csv")', 3),
                               ("f = function(int n) return (int r) { r = f(n + 1) }\nprint(f(1))", 4)):
            with self.subTest(script=script):
                self.assertEqual(self.run_command("-s", script).returncode, status)
        self.assertEqual(self.run_command("--wrong").returncode, 2)
        self.assertEqual(self.run_command("none.dml").returncode, 3)

    def test_closed_pipe(self):
        self.write("a.dml", "for (i in 1:1000000) print(i)")
        process = self.start("a.dml")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.stderr.read(), "")
        process.stderr.close()
        self.assertEqual(process.wait(timeout=60), 141)


if __name__ == "__main__":
    unittest.main()
