"""pytest: `pytest`, or `pytest -p pytest_attica` where the plugin is not installed. docs/pytest.md explains it."""

import numpy as np


def largest(n, rng, count):
    """The largest of n uniform numbers, `count` times."""
    return rng.random((count, int(n))).max(axis=1)


def test_mean_of_the_largest(agrees):
    agrees(theory=lambda n: n / (n + 1), simulate=largest, x=[3, 10, 30], margin=0.01)


def test_its_square(agrees):
    def square(n, rng, count):
        return largest(n, rng, count) ** 2

    agrees(theory=lambda n: n / (n + 2), simulate=square, x=[3, 10, 30], margin=0.01)


def test_the_median_of_three_is_unbiased(agrees):
    def median(x, rng, count):
        return np.median(rng.normal(x, 1, (count, 3)), axis=1)

    agrees(theory=lambda x: x, simulate=median, x=[0, 1], absolute=0.05)
