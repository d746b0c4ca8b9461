#!/usr/bin/env python3
"""Peer of the benchmark joma_step: one full-batch step of softmax attention and its MLP, gradients by hand, in numpy.

M = 20 tokens, 20 classes and hidden units, one query, cross-entropy with the identity as top layer, T = 0.5.
An iteration of the timing is 1000 steps.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numpy as np

M, RATE, T, STEPS = 20, 0.1, 0.5, 1000
rng = np.random.default_rng(1)
X = rng.random((M, M))
X /= X.sum(1, keepdims=True)
TARGET = np.eye(M)


def run():
    v, r, z = np.zeros((M, M)), np.zeros(M), np.zeros(M)
    for _ in range(STEPS):
        b = X * np.exp((z - z.max()) / T)
        b /= b.sum(1, keepdims=True)
        h = b @ v.T + r
        p = np.exp(h - h.max(1, keepdims=True))
        g = (TARGET - p / p.sum(1, keepdims=True)) / M
        ba = b * (g @ v)
        dz = (ba - b * ba.sum(1, keepdims=True)).sum(0) / T
        v, r, z = v + RATE * (g.T @ b), r + RATE * g.sum(0), z + RATE * dz


peer.report("joma_step", run, parts=1 / STEPS)
