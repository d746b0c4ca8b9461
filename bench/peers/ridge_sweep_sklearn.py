#!/usr/bin/python3
"""scikit-learn peer of the benchmark ridge_sweep: one Ridge per site and penalty, exact test errors.

One of the ten data sets of every size is fitted and its time counted ten times, as the whole sweep takes minutes.
scikit-learn's objective is |y - X w|^2 + alpha |w|^2, so that alpha = M lambda.
"""
import peer  # before numpy
import numpy as np
from sklearn.linear_model import Ridge

from ridge_sweep_numpy import LAMBDAS, SEEDS, SIGMA, SITES, SIZES, data_set


def fits(z):
    """Test and train errors of all sites (rows) at all penalties (columns)."""
    test, train = np.empty((2, SITES, len(LAMBDAS)))
    for i in range(SITES):
        others = np.arange(SITES) != i
        x, y = np.ascontiguousarray(z[:, others]), z[:, i]
        c, b = SIGMA[np.ix_(others, others)], SIGMA[others, i]
        for k, penalty in enumerate(LAMBDAS):
            w = Ridge(alpha=len(z) * penalty, fit_intercept=False).fit(x, y).coef_
            test[i, k] = SIGMA[i, i] - 2 * w @ b + w @ c @ w
            train[i, k] = np.mean((y - x @ w) ** 2)
    return test, train


def sweep():
    for point in range(len(SIZES)):
        fits(data_set(point, 0))


if __name__ == "__main__":
    peer.report("ridge_sweep", sweep, least_runs=1, parts=SEEDS)
