"""Message passing on Y = (signal/n) v v' + W, W symmetric with entries of variance 1/n, from a noisy copy of v."""
import sys

import numpy as np

signal, start, n, seed = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(seed)
v = rng.choice([-1.0, 1.0], size=n)
noise = rng.normal(size=(n, n)) / np.sqrt(2 * n)
Y = signal / n * np.outer(v, v) + noise + noise.T
h = start * v + np.sqrt(start) * rng.normal(size=n)
before = np.zeros(n)
print("series,t,value")
for t in range(9):
    m = np.tanh(h)
    if t in (0, 1, 2, 3, 4, 6, 8):
        print(f"overlap,{t},{m @ v / n}")
    h, before = signal * Y @ m - signal**2 * (1 - np.mean(m**2)) * before, m
