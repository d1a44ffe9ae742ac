import os

import torch

import timing

low, high = float(os.environ["BENCH_LOW"]), float(os.environ["BENCH_HIGH"])
X = torch.arange(1, 25000001, dtype=torch.float64).reshape(250000, 100)
X /= 25000000
X *= high - low
X += low
Y = torch.empty_like(X)  # written again and again: PyTorch does not recycle memory on the CPU


def work():
    EXPRESSION
    return Y


timing.report(5, work, lambda y: float(y.sum()))
