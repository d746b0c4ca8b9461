"""Pieces of the theory of Gaussian masked modelling, as functions of a covariance.

Sequences m ~ N(0, Sigma) of L sites; every site is predicted from the N = L - 1 others by a linear rule that has seen M
samples. Errors are mean squares without factor 1/2, averaged over the sites, in the units of Sigma.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _attica
from .errors import Error


def _list(name: str, values: ArrayLike) -> "tuple[list[float], bool]":
    array = np.asarray(values, dtype=float)
    if array.ndim > 1:
        raise Error(f"parameter '{name}' has {array.ndim} dimensions; expected a number or a list")
    return np.atleast_1d(array).tolist(), array.ndim == 0


def _covariance(Sigma: ArrayLike) -> np.ndarray:
    array = np.asarray(Sigma, dtype=float)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise Error(f"parameter 'Sigma' has shape {array.shape}; expected (L, L)")
    return array


def _shaped(arrays: dict[str, np.ndarray], drop: "tuple[bool, bool]") -> dict[str, Any]:
    """Axes of what was given as a number fall away."""
    index = tuple(0 if dropped else slice(None) for dropped in drop)
    return {name: array[index] for name, array in arrays.items()}


def ridge_errors(Sigma: ArrayLike, M: ArrayLike, lam: ArrayLike, order: str = "leading") -> dict[str, Any]:
    """Ridge regression of every site on the others, from M samples each: averages over the sites.

    Sigma: covariance, shape (L, L). M: samples, >= 1, a number or shape (m,); lam: penalty lambda >= 0 of the objective
    (1/2M) sum of squares + (lambda/2) |w|^2, a number or shape (l,). order: "leading", or "first" with the terms of
    relative order 1/M for Gaussian samples.

    Returns arrays of shape (l, m), an axis falling away for a number: test_error, train_error, bias, sampling_variance,
    noise_variance, bayes_error, overlap_m, overlap_q, weight_norm2, and the allowances for what the theory neglects,
    finite_size_test and finite_size_train. Where the theory diverges (lambda = 0 at M = N) the values are inf.
    """
    samples, one_m = _list("M", M)
    lambdas, one_lambda = _list("lam", lam)
    return _shaped(_attica.ridge_errors(_covariance(Sigma), samples, lambdas, order), (one_lambda, one_m))


def flow(Sigma: ArrayLike, M: ArrayLike, times: ArrayLike, order: str = "leading") -> dict[str, Any]:
    """Gradient flow dw/dt = -gradient of (1/2M) sum of squares from w = 0: averages over the sites.

    Sigma: shape (L, L). M: samples, a number or shape (m,). times: t >= 0 in units of 1/(eigenvalue of Sigma), a number
    or shape (t,). Returns arrays of shape (m, t): test_error, train_error, signal_error, noise_error, numerical_error,
    finite_size_test, finite_size_train.
    """
    samples, one_m = _list("M", M)
    instants, one_time = _list("times", times)
    return _shaped(_attica.flow(_covariance(Sigma), samples, instants, order), (one_m, one_time))


def descent(Sigma: ArrayLike, M: ArrayLike, steps: ArrayLike, eta: float, order: str = "leading") -> dict[str, Any]:
    """Full-batch gradient descent with learning rate eta on the same loss as `flow`, after these numbers of steps.

    Shapes as for `flow`, with steps for times; where eta is too large for stability the values are inf.
    """
    samples, one_m = _list("M", M)
    numbers, one_step = _list("steps", steps)
    return _shaped(_attica.descent(_covariance(Sigma), samples, numbers, eta, order), (one_m, one_step))


def spectrum(Sigma: ArrayLike) -> dict[str, np.ndarray]:
    """eigenvalues (L,) ascending, eigenvectors (L, L) in columns, and noise_variances (L,): the Bayes error
    1/(Sigma^-1)_ii of every site, 0 for a site that the others determine."""
    return _attica.spectrum(_covariance(Sigma))


def site_spectrum(Sigma: ArrayLike, site: int) -> dict[str, Any]:
    """The regression of one site: eigenvalues (n,) of its inputs' covariance, ascending, without zeros; teacher (n,), the
    components of the best predictor in their eigenvectors; bayes_error."""
    return _attica.site_spectrum(_covariance(Sigma), site)


def kappa(eigenvalues: ArrayLike, M: float, lam: float) -> float:
    """The effective penalty: largest root of lambda = kappa (1 - (1/M) sum_k s_k/(s_k + kappa)).

    eigenvalues: s >= 0 of the inputs' covariance, shape (N,); M >= 1 samples; lam >= 0.
    """
    return _attica.ridge_kappa(np.asarray(eigenvalues, dtype=float), M, lam)


def ar1_covariance(sites: int, rho: float) -> np.ndarray:
    """Sigma_ij = rho^|i-j|, shape (sites, sites); -1 < rho < 1."""
    return _attica.ar1_covariance(sites, rho)


def equi_covariance(sites: int, rho: float) -> np.ndarray:
    """1 on the diagonal, rho off it, shape (sites, sites)."""
    return _attica.equi_covariance(sites, rho)


def arrow_covariance(sites: int, rho: float) -> np.ndarray:
    """Site 0 tied to all others, which are independent of each other; |rho| is the norm of the ties."""
    return _attica.arrow_covariance(sites, rho)
