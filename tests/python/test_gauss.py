"""The pieces of theory against routes of their own, in NumPy."""

import attica
import numpy as np
import pytest

SITES = 9
SIGMA = attica.ar1_covariance(SITES, 0.6)


def sites_of(Sigma):
    """C_i, b_i and the noise of every site, from the definition."""
    for i in range(len(Sigma)):
        rest = np.delete(np.arange(len(Sigma)), i)
        C, b = Sigma[np.ix_(rest, rest)], Sigma[rest, i]
        yield C, np.linalg.solve(C, b), Sigma[i, i] - b @ np.linalg.solve(C, b)


def bisected_kappa(s, M, lam):
    low, high = lam, lam + s.sum() / M
    for _ in range(200):
        middle = (low + high) / 2
        if middle * (1 - (s / (s + middle)).sum() / M) < lam:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def ridge_by_bisection(Sigma, M, lam):
    """Test error from the effective penalty, which bisection finds."""
    errors = []
    for C, w, noise in sites_of(Sigma):
        s, u = np.linalg.eigh(C)
        v = u.T @ w
        kappa = bisected_kappa(s, M, lam)
        gamma = (s**2 / (s + kappa) ** 2).sum() / M
        errors.append((kappa**2 * (s * v**2 / (s + kappa) ** 2).sum() + noise) / (1 - gamma))
    return np.mean(errors)


def test_covariances():
    k = np.arange(SITES)
    assert np.allclose(SIGMA, 0.6 ** abs(k[:, None] - k), rtol=1e-14)
    assert np.allclose(attica.equi_covariance(4, 0.2), 0.2 + 0.8 * np.eye(4))
    arrow = attica.arrow_covariance(5, 0.5)
    assert np.isclose(np.linalg.norm(arrow[0, 1:]), 0.5) and np.allclose(arrow[1:, 1:], np.eye(4))
    with pytest.raises(attica.Error, match="rho"):
        attica.ar1_covariance(5, 1.0)


def test_ridge_errors_by_another_route():
    M, lam = [3.0, 8.0, 40.0], [1e-3, 0.3]
    found = attica.ridge_errors(SIGMA, M, lam)
    assert found["test_error"].shape == (2, 3)
    for l, penalty in enumerate(lam):
        for k, samples in enumerate(M):
            # Bisection ends at rounding; 1e-9 leaves room for its amplification near the threshold.
            assert np.isclose(found["test_error"][l, k], ridge_by_bisection(SIGMA, samples, penalty), rtol=1e-9)
    parts = found["bias"] + found["sampling_variance"] + found["noise_variance"] + found["bayes_error"]
    assert np.allclose(parts, found["test_error"], rtol=1e-12)


def test_numbers_lose_their_axis():
    assert attica.ridge_errors(SIGMA, 5, 0.1)["test_error"].shape == ()
    assert attica.ridge_errors(SIGMA, [5, 6, 7], 0.1)["test_error"].shape == (3,)
    assert attica.ridge_errors(SIGMA, 5, [0.1, 0.2])["test_error"].shape == (2,)
    assert attica.flow(SIGMA, [5, 6], [0.1, 1, 10])["test_error"].shape == (2, 3)
    assert np.isinf(attica.ridge_errors(SIGMA, SITES - 1, 0.0)["test_error"])


def test_the_order_1_over_M_is_what_sampling_finds():
    """E_test of 20000 data sets of M = 40 samples: first order within 4 standard errors plus its own allowance, and nearer
    than the leading order."""
    rng = np.random.default_rng(3)
    M, lam, n = 40, 0.2, 20000
    errors = np.empty(n)
    # On a ring all sites are alike, so that one stands for the average.
    ring = np.array([[0.6 ** min((i - j) % SITES, (j - i) % SITES) for j in range(SITES)] for i in range(SITES)])
    (C, w, noise) = list(sites_of(ring))[0]
    factor = np.linalg.cholesky(ring)
    for r in range(n):
        z = rng.normal(size=(M, SITES)) @ factor.T
        x, y = z[:, 1:], z[:, 0]
        d = np.linalg.solve(x.T @ x / M + lam * np.eye(SITES - 1), x.T @ y / M) - w
        errors[r] = noise + d @ C @ d
    mean, sem = errors.mean(), errors.std(ddof=1) / np.sqrt(n)
    first = attica.ridge_errors(ring, M, lam, order="first")
    leading = attica.ridge_errors(ring, M, lam)
    gap = abs(mean - first["test_error"])
    assert gap < 4 * sem + first["finite_size_test"]
    assert gap < abs(mean - leading["test_error"])


def test_flow_starts_at_the_variance_and_ends_at_ridgeless():
    start = attica.flow(SIGMA, 20, 0.0)
    assert np.isclose(start["test_error"], np.trace(SIGMA) / SITES, rtol=1e-8)
    late = attica.flow(SIGMA, 40, 1e5)
    assert np.isclose(late["test_error"], attica.ridge_errors(SIGMA, 40, 0.0)["test_error"], rtol=1e-6)


def test_descent_tends_to_flow_for_small_steps():
    t, M = 2.0, 20
    flow = attica.flow(SIGMA, M, t)["test_error"]
    gaps = [abs(attica.descent(SIGMA, M, t / eta, eta)["test_error"] - flow) for eta in (0.02, 0.01)]
    assert np.isclose(gaps[0] / gaps[1], 2, rtol=0.1)  # first order in eta
    assert np.isinf(attica.descent(SIGMA, M, 10, 50.0)["test_error"])


def test_spectra():
    found = attica.spectrum(SIGMA)
    assert np.allclose(found["eigenvalues"], np.linalg.eigvalsh(SIGMA), rtol=1e-12)
    assert np.allclose(found["noise_variances"], 1 / np.diag(np.linalg.inv(SIGMA)), rtol=1e-10)
    back = found["eigenvectors"] * found["eigenvalues"] @ found["eigenvectors"].T
    assert np.allclose(back, SIGMA, atol=1e-12)
    C, w, noise = list(sites_of(SIGMA))[2]
    site = attica.site_spectrum(SIGMA, 2)
    assert np.allclose(site["eigenvalues"], np.linalg.eigvalsh(C), rtol=1e-12)
    assert np.isclose(site["bayes_error"], noise) and np.isclose((site["teacher"] ** 2).sum(), w @ w)
    s = site["eigenvalues"]
    assert np.isclose(attica.kappa(s, 5, 0.1), bisected_kappa(s, 5, 0.1), rtol=1e-10)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: attica.ridge_errors(np.ones((2, 3)), 5, 0.1), r"'Sigma' has shape \(2, 3\); expected \(L, L\)"),
        (lambda: attica.ridge_errors(-np.eye(3), 5, 0.1), "covariance"),
        (lambda: attica.ridge_errors(SIGMA, 0.5, 0.1), "samples"),
        (lambda: attica.ridge_errors(SIGMA, 5, -1.0), "lambda"),
        (lambda: attica.ridge_errors(SIGMA, 5, 0.1, order="second"), "expected leading or first"),
        (lambda: attica.flow(SIGMA, 5, -1.0), "time"),
        (lambda: attica.descent(SIGMA, 5, 3, -1.0), "eta"),
        (lambda: attica.site_spectrum(SIGMA, SITES), "site"),
    ],
)
def test_bad_input_is_named(call, sentence):
    with pytest.raises(attica.Error, match=sentence) as refusal:
        call()
    assert refusal.value.exit_code == 2
