"""Pieces of the theory of Gaussian masked modelling, as functions of a covariance.

Sequences m ~ N(0, Sigma) of L sites; every site is predicted from the N = L - 1 others by a linear rule that has seen M
samples. Errors are mean squares without factor 1/2, averaged over the sites, in the units of Sigma.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _attica, values
from .errors import Error, checked_keywords


#: A covariance of more takes gigabytes.
_MOST_SITES = 2**14


def _list(name: str, given: ArrayLike) -> "tuple[list[float], bool]":
    array = values.array(given, f"parameter '{name}'")
    if array.ndim > 1:
        raise Error(f"parameter '{name}' has {array.ndim} dimensions; expected a number or a list")
    if np.isnan(array).any():
        raise Error(f"parameter '{name}' holds nan or a missing value; expected numbers")
    return np.atleast_1d(array).tolist(), array.ndim == 0


def _covariance(Sigma: ArrayLike) -> np.ndarray:
    array = values.array(Sigma, "parameter 'Sigma'")
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise Error(f"parameter 'Sigma' has shape {array.shape}; expected (L, L)")
    return array


def _real(name: str, given: Any) -> float:
    return values.number(given, f"parameter '{name}'")


def _sites(given: Any) -> int:
    return values.whole(given, "parameter 'sites'", 2, _MOST_SITES)


def _order(given: Any) -> str:
    return values.one_of(given, "parameter 'order'", ("leading", "first"))


def _shaped(arrays: dict[str, np.ndarray], drop: "tuple[bool, bool]") -> dict[str, Any]:
    """Axes of what was given as a number fall away."""
    index = tuple(0 if dropped else slice(None) for dropped in drop)
    return {name: array[index] for name, array in arrays.items()}


@checked_keywords
def ridge_errors(Sigma: ArrayLike, M: ArrayLike, lam: ArrayLike, order: str = "leading") -> dict[str, Any]:
    """Ridge regression of every site on the others, from M samples each: averages over the sites.

    Sigma: covariance, shape (L, L). M: samples, >= 1, a number or shape (m,); lam: penalty lambda >= 0 of the objective
    (1/2M) sum of squares + (lambda/2) |w|^2, a number or shape (l,). order: "leading", or "first" with the terms of
    relative order 1/M for Gaussian samples.

    Returns arrays of shape (l, m), an axis falling away for a number: test_error, train_error, bias, sampling_variance,
    noise_variance, bayes_error, overlap_m, overlap_q, weight_norm2, and the tolerances for what the theory leaves out,
    finite_size_test and finite_size_train. Where the theory diverges (lambda = 0 at M = N) the values are inf.
    """
    samples, one_m = _list("M", M)
    lambdas, one_lambda = _list("lam", lam)
    return _shaped(_attica.ridge_errors(_covariance(Sigma), samples, lambdas, _order(order)), (one_lambda, one_m))


@checked_keywords
def flow(Sigma: ArrayLike, M: ArrayLike, times: ArrayLike, order: str = "leading") -> dict[str, Any]:
    """Gradient flow dw/dt = -gradient of (1/2M) sum of squares from w = 0: averages over the sites.

    Sigma: shape (L, L). M: samples, a number or shape (m,). times: t >= 0 in units of 1/(eigenvalue of Sigma), a number
    or shape (t,). Returns arrays of shape (m, t): test_error, train_error, signal_error, noise_error, numerical_error,
    finite_size_test, finite_size_train.
    """
    samples, one_m = _list("M", M)
    instants, one_time = _list("times", times)
    return _shaped(_attica.flow(_covariance(Sigma), samples, instants, _order(order)), (one_m, one_time))


@checked_keywords
def descent(Sigma: ArrayLike, M: ArrayLike, steps: ArrayLike, eta: float, order: str = "leading") -> dict[str, Any]:
    """Full-batch gradient descent with learning rate eta on the same loss as `flow`, after these numbers of steps.

    Shapes as for `flow`, with steps for times; where eta is too large for stability the values are inf.
    """
    samples, one_m = _list("M", M)
    numbers, one_step = _list("steps", steps)
    return _shaped(_attica.descent(_covariance(Sigma), samples, numbers, _real("eta", eta), _order(order)), (one_m, one_step))


@checked_keywords
def spectrum(Sigma: ArrayLike) -> dict[str, np.ndarray]:
    """eigenvalues (L,) ascending, eigenvectors (L, L) in columns, and noise_variances (L,): the Bayes error
    1/(Sigma^-1)_ii of every site, 0 for a site that the others determine."""
    return _attica.spectrum(_covariance(Sigma))


@checked_keywords
def site_spectrum(Sigma: ArrayLike, site: int) -> dict[str, Any]:
    """The regression of one site: eigenvalues (n,) of its inputs' covariance, ascending, without zeros; teacher (n,), the
    components of the best predictor in their eigenvectors; bayes_error."""
    return _attica.site_spectrum(_covariance(Sigma), values.whole(site, "parameter 'site'", 0))


@checked_keywords
def kappa(eigenvalues: ArrayLike, M: float, lam: float) -> float:
    """The effective penalty: largest root of lambda = kappa (1 - (1/M) sum_k s_k/(s_k + kappa)).

    eigenvalues: s >= 0 of the inputs' covariance, shape (N,); M >= 1 samples; lam >= 0.
    """
    spectrum = values.array(eigenvalues, "parameter 'eigenvalues'")
    if spectrum.ndim != 1:
        raise Error(f"parameter 'eigenvalues' has shape {spectrum.shape}; expected (N,)")
    if not np.all(np.isfinite(spectrum) & (spectrum >= 0)):
        raise Error("parameter 'eigenvalues': expected finite numbers >= 0")
    return _attica.ridge_kappa(spectrum, _real("M", M), _real("lam", lam))


@checked_keywords
def ar1_covariance(sites: int, rho: float) -> np.ndarray:
    """Sigma_ij = rho^|i-j|, shape (sites, sites); -1 < rho < 1."""
    return _attica.ar1_covariance(_sites(sites), _real("rho", rho))


@checked_keywords
def equi_covariance(sites: int, rho: float) -> np.ndarray:
    """1 on the diagonal, rho off it, shape (sites, sites)."""
    return _attica.equi_covariance(_sites(sites), _real("rho", rho))


@checked_keywords
def arrow_covariance(sites: int, rho: float) -> np.ndarray:
    """Site 0 tied to all others, which are independent of each other; |rho| is the norm of the ties."""
    return _attica.arrow_covariance(_sites(sites), _real("rho", rho))
