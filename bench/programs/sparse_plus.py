import timing
from scattered import scattered

X, Z = scattered(500000, 2000, 10), scattered(500000, 2000, 10, 77)
timing.report(5, lambda: X + Z, lambda y: y.sum())
