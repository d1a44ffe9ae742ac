"""Sparse inputs that the DML programs compute alike: per_row entries in each row, the columns hashed, equal cells added up."""
import numpy as np
from scipy import sparse


def scattered(n, m, per_row, salt=0):
    i = np.arange(1, n * per_row + 1, dtype=np.float64)
    rows = np.floor((i - 1) / per_row).astype(np.int64)
    cols = (((i + salt) * 48271 + (i % 32749) * 8191) % 999983 % m).astype(np.int64)
    return sparse.csr_matrix((0.5 + (i % 17) / 17, (rows, cols)), shape=(n, m))
