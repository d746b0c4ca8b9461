#!/usr/bin/env python3
"""Peer of the benchmark tree_sample: 1000 sequences of a latent tree with 256 leaves, in numpy, level by level.

4 classes; the two children of the root are 1 with probability 0.1 or 0.9 by the bits of the class; below, a child
differs from its parent with probability 0.05.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numpy as np

DEPTH, SEQUENCES, FLIP = 8, 1000, 0.05
rng = np.random.default_rng(1)


def run():
    label = rng.integers(0, 4, SEQUENCES)
    bits = np.stack([label >> a & 1 for a in range(2)], 1)
    nodes = rng.random((SEQUENCES, 2)) < np.where(bits == 1, 0.9, 0.1)
    for _ in range(DEPTH - 1):
        nodes = np.repeat(nodes, 2, 1)
        nodes ^= rng.random(nodes.shape) < FLIP
    return nodes


peer.report("tree_sample", run)
