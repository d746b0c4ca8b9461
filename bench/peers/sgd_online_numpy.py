#!/usr/bin/env python3
"""Peer of the benchmark sgd_online: online SGD of the linear attention matrix, all sites, in numpy.

L = 200 sites, covariance 0.6^|i-j|; a step draws B fresh samples z = F g and makes
A += (eta/B) offdiag((Z - Z A^T)^T Z). Prints the processor time of 64 steps in seconds, the best of
several runs.
"""
import sys
import time

import peer  # before numpy: one BLAS thread, the right kernels
import numpy as np

L = 200
ETA = 1e-3
STEPS = 64  # of an iteration of the benchmark


def run(batch, steps, rng, factor):
    a = np.zeros((L, L))
    for _ in range(steps):
        z = rng.standard_normal((batch, L)) @ factor.T
        a += (ETA / batch) * ((z - z @ a.T).T @ z)
        np.fill_diagonal(a, 0.0)
    return a


def main():
    factor = np.linalg.cholesky(0.6 ** np.abs(np.subtract.outer(np.arange(L), np.arange(L))))
    rng = np.random.default_rng(1)
    for batch, steps in [(1, 2000), (64, 300)]:
        best = np.inf
        for _ in range(7):
            start = time.process_time()
            run(batch, steps, rng, factor)
            best = min(best, time.process_time() - start)
        print(f"sgd_online/L:{L}/B:{batch} {STEPS * best / steps:.6g}")


if __name__ == "__main__":
    sys.exit(main())
