#!/usr/bin/env python3
"""Peer of the benchmark tree_sample: 1000 sequences of a latent tree with 256 leaves, as loops, compiled by numba.

4 classes; the two children of the root are 1 with probability 0.1 or 0.9 by the bits of the class; below, a child
differs from its parent with probability 0.05.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numba
import numpy as np

DEPTH, SEQUENCES, FLIP = 8, 1000, 0.05


@numba.njit(fastmath=True)
def seed(n):
    np.random.seed(n)


@numba.njit(fastmath=True)
def draw(sequences, depth):
    leaves = np.empty((sequences, 1 << depth), np.uint8)
    nodes = np.empty(2 << depth, np.uint8)
    for i in range(sequences):
        label = int(np.random.random() * 4)
        for child in range(2):
            nodes[2 + child] = np.random.random() < (0.9 if label >> child & 1 else 0.1)
        for node in range(2, 1 << depth):
            for child in (2 * node, 2 * node + 1):
                nodes[child] = nodes[node] ^ (np.random.random() < FLIP)
        leaves[i] = nodes[1 << depth:]
    return leaves


seed(1)
peer.report("tree_sample", lambda: draw(SEQUENCES, DEPTH))
