"""What the Python peers share: the smallest time of a few repetitions, and the line that run.py reads."""
import time


def report(repetitions, work, check=float):
    best, value = 1e30, None
    for _ in range(repetitions):
        value = None
        begin = time.perf_counter()
        value = work()
        best = min(best, time.perf_counter() - begin)
    print("RESULT seconds=%.9g check=%.15g" % (best, check(value)), flush=True)
