import os

import polars

import timing

path = os.environ["BENCH_DATA"] + "/dense.csv"
timing.report(3, lambda: polars.read_csv(path, has_header=False), lambda frame: frame.sum().sum_horizontal()[0])
