#!/usr/bin/env python3
"""Peer of the benchmark bigrams_step: one SGD step with hat gradients on fresh sequences, single precision, as loops,
compiled by numba.

The work of bigrams_step_torch.py, a sequence at a time: its tokens are drawn, u = X a added up, and after r = V u - y and
w = V' r every position's gradient w[x] goes to its column of A.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numba
import numpy as np

Q, ETA, T, BATCH = 2, np.float32(1e-3), 5000, 64


@numba.njit(fastmath=True)
def step(p, support, v, a, x):
    n, t = a.shape
    gv, ga = np.zeros((n, n), np.float32), np.zeros((n, t), np.float32)
    u, r, w = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
    for _ in range(BATCH):
        for i in range(t):
            x[i] = np.random.randint(n)
        k = np.random.randint(n)
        before = x[support[k, np.random.randint(Q)]]
        left, y = np.random.random(), 0
        while y < n - 1 and left >= p[y, before]:
            left -= p[y, before]
            y += 1
        u[:] = 0
        total = np.float32(0)
        for i in range(t):
            u[x[i]] += a[k, i]
            total += a[k, i]
        w[:] = 0
        for i in range(n):
            s = np.float32(0)
            for j in range(n):
                s += v[i, j] * u[j]
            r[i] = s
        r[y] -= 1
        for i in range(n):
            for j in range(n):
                gv[i, j] += r[i] * (u[j] * n - total)
                w[j] += v[i, j] * r[i]
        for i in range(t):
            ga[k, i] += w[x[i]]
    for j in range(n):
        mean = np.float32(0)
        for i in range(n):
            mean += gv[i, j] / n
        for i in range(n):
            v[i, j] -= ETA / BATCH * (gv[i, j] - mean)
    for k in range(n):
        mean = np.float32(0)
        for i in range(t):
            mean += ga[k, i]
        mean /= t
        for i in range(t):
            a[k, i] -= ETA * n / BATCH * (ga[k, i] - mean)


rng = np.random.default_rng(1)
for tokens in (3, 20):
    p = np.full((tokens, tokens), 0.2 / (tokens - 1))
    np.fill_diagonal(p, 0.8)
    support = np.stack([rng.permutation(T)[:Q] for _ in range(tokens)])
    v = np.full((tokens, tokens), 1 / tokens, np.float32)
    a = np.full((tokens, T), 1 / T, np.float32)
    x = np.empty(T, np.int32)
    peer.report(f"bigrams_step/N:{tokens}/T:{T}/B:{BATCH}", lambda: step(p, support, v, a, x))
