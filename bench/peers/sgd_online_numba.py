#!/usr/bin/env python3
"""Peer of the benchmark sgd_online at B = 1: online SGD of the linear attention matrix, all sites, as loops,
compiled by numba.

L = 200 sites, covariance 0.6^|i-j|; a step draws a fresh sample z = F g and makes A += eta offdiag((z - A z) z^T).
Batches are products of matrices: those of sgd_online_numpy.py.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numba
import numpy as np

L, ETA, STEPS = 200, 1e-3, 64
FACTOR = np.linalg.cholesky(0.6 ** np.abs(np.subtract.outer(np.arange(L), np.arange(L))))


@numba.njit(fastmath=True)
def run(steps, factor):
    size = len(factor)
    a = np.zeros((size, size))
    for _ in range(steps):
        z = factor @ np.random.standard_normal(size)
        for i in range(size):
            predicted = 0.0
            for j in range(size):
                predicted += a[i, j] * z[j]
            push = ETA * (z[i] - predicted)
            for j in range(size):
                a[i, j] += push * z[j]
            a[i, i] = 0
    return a


peer.report(f"sgd_online/L:{L}/B:1", lambda: run(30 * STEPS, FACTOR), parts=1 / 30)
