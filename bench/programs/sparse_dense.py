import numpy as np

import timing
from scattered import scattered

X = scattered(200000, 10000, 10)
D = np.arange(1.0, 640001.0).reshape(10000, 64) / 640000
timing.report(5, lambda: X @ D, lambda y: y.sum())
