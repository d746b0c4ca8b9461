#!/usr/bin/python3
"""NumPy peer of the benchmark ridge_sweep, written the clever way.

L = 100 sites, ar1(0.7), 20 sizes M log-spaced on 10..1000, 10 penalties on 1e-3..10, 10 data sets each, with exact
test errors. One eigendecomposition S = V s V' of a data set serves all penalties and all sites:
G = V D V' with D = 1/(s + lambda), test_i = [G Sigma G]_ii / G_ii^2, train_i = [G S G]_ii / G_ii^2.
"""
import peer  # before numpy
import numpy as np

SITES, RHO, SEEDS = 100, 0.7, 10
SIZES = np.rint(np.geomspace(10, 1000, 20)).astype(int)
LAMBDAS = np.geomspace(1e-3, 10, 10)
SIGMA = RHO ** np.abs(np.subtract.outer(np.arange(SITES), np.arange(SITES)))
FACTOR = np.linalg.cholesky(SIGMA)


def fits(z):
    """Test and train errors of all sites (rows) at all penalties (columns)."""
    s, v = np.linalg.eigh(z.T @ z / len(z))
    rotated = v.T @ SIGMA @ v
    d = 1 / (np.maximum(s, 0)[:, None] + LAMBDAS)
    v2 = v * v
    g2 = (v2 @ d) ** 2
    train = v2 @ (d * d * np.maximum(s, 0)[:, None]) / g2
    test = np.empty_like(train)
    for k in range(len(LAMBDAS)):
        y = v * d[:, k]
        test[:, k] = np.einsum("ij,ij->i", y @ rotated, y)
    return test / g2, train


def sweep():
    for point, samples in enumerate(SIZES):
        for seed in range(SEEDS):
            z = np.random.default_rng([point, seed]).standard_normal((samples, SITES)) @ FACTOR.T
            fits(z)


if __name__ == "__main__":
    peer.report("ridge_sweep", sweep)
