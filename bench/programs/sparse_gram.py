import timing
from scattered import scattered

X = scattered(200000, 2000, 10)
timing.report(5, lambda: X.T @ X, lambda y: y.sum())
