#!/usr/bin/env python3
"""Peer of the benchmark joma_step: the step of joma_step_numpy.py, products by BLAS and the rest as loops,
compiled by numba.

M = 20 tokens, 20 classes and hidden units, one query, cross-entropy with the identity as top layer, T = 0.5. Loops for the
products too took three times as long. An iteration of the timing is 1000 steps.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numba
import numpy as np

M, RATE, T, STEPS = 20, 0.1, 0.5, 1000
rng = np.random.default_rng(1)
X = rng.random((M, M))
X /= X.sum(1, keepdims=True)


@numba.njit(fastmath=True)
def descend(x, v, r, z, steps):
    size = len(z)
    e = np.empty(size)
    b, h, g = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    a, dv = np.empty((size, size)), np.empty((size, size))
    for _ in range(steps):
        top = z.max()
        for l in range(size):
            e[l] = np.exp((z[l] - top) / T)
        for n in range(size):
            total = 0.0
            for l in range(size):
                b[n, l] = x[n, l] * e[l]
                total += b[n, l]
            total = 1 / total
            for l in range(size):
                b[n, l] *= total
        np.dot(b, v.T, h)
        for n in range(size):
            largest = -1e300
            for k in range(size):
                h[n, k] += r[k]
                largest = max(largest, h[n, k])
            total = 0.0
            for k in range(size):
                g[n, k] = np.exp(h[n, k] - largest)
            for k in range(size):
                total += g[n, k]
            total = -1 / (total * size)
            for k in range(size):
                g[n, k] *= total
            g[n, n] += 1.0 / size
        np.dot(g, v, a)
        np.dot(g.T, b, dv)
        for n in range(size):
            mean = 0.0
            for l in range(size):
                mean += b[n, l] * a[n, l]
            for l in range(size):
                z[l] += RATE / T * b[n, l] * (a[n, l] - mean)
            for k in range(size):
                r[k] += RATE * g[n, k]
        for k in range(size):
            for l in range(size):
                v[k, l] += RATE * dv[k, l]


def run():
    descend(X, np.zeros((M, M)), np.zeros(M), np.zeros(M), STEPS)


peer.report("joma_step", run, parts=1 / STEPS)
