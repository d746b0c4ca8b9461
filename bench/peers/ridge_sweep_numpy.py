#!/usr/bin/python3
"""NumPy peer of the benchmark ridge_sweep, written the clever way.

L = 100 sites, ar1(0.7), 20 sizes M log-spaced on 10..1000, 10 penalties on 1e-3..10, 10 data sets each, with exact
test errors. One eigendecomposition of the smaller Gram matrix serves all penalties and all sites of a data set:
test_i = [G Sigma G]_ii / G_ii^2, train_i = [G S G]_ii / G_ii^2 with G = (S + lambda)^-1, S = Z'Z/M.
"""
import peer  # before numpy
import numpy as np

SITES, RHO, SEEDS = 100, 0.7, 10
SIZES = np.rint(np.geomspace(10, 1000, 20)).astype(int)
LAMBDAS = np.geomspace(1e-3, 10, 10)
SIGMA = RHO ** np.abs(np.subtract.outer(np.arange(SITES), np.arange(SITES)))
FACTOR = np.linalg.cholesky(SIGMA)


def row_norms2(a):
    return np.einsum("ij,ij->i", a, a)


def fits(z):
    """Test and train errors of all sites (rows) at all penalties (columns)."""
    samples = len(z)
    wide = samples < SITES
    s, u = np.linalg.eigh((z @ z.T if wide else z.T @ z) / samples)
    s = np.maximum(s, 0)[:, None]
    d = 1 / (s + LAMBDAS)
    if wide:  # lambda G = 1 - U D U'
        u = z.T @ u / np.sqrt(samples)
        g2 = (1 - (u * u) @ d) ** 2
        train = LAMBDAS**2 * ((u * u) @ (d * d))
    else:  # G = U D U'
        g2 = ((u * u) @ d) ** 2
        train = (u * u) @ (d * d * s)
    uf = u.T @ FACTOR
    test = np.empty_like(train)
    for k in range(len(LAMBDAS)):
        gf = (u * d[:, k]) @ uf
        test[:, k] = row_norms2(FACTOR - gf if wide else gf)
    return test / g2, train / g2


def data_set(point, seed):
    return np.random.default_rng([point, seed]).standard_normal((SIZES[point], SITES)) @ FACTOR.T


def sweep():
    for point in range(len(SIZES)):
        for seed in range(SEEDS):
            fits(data_set(point, seed))


if __name__ == "__main__":
    peer.report("ridge_sweep", sweep)
