"""Equations in a dict, against closed forms and by judge."""

import numpy as np
import pytest

import attica

MAGNET = {"unknowns": {"m": "0.9"}, "fixed": {"m": "tanh(beta*m)"}, "series": {"m": "m"}}


def test_solve():
    t = attica.solve(MAGNET, beta=[1.5, 2.0])
    assert t["m"].x.tolist() == [1.5, 2.0]
    np.testing.assert_allclose(t["m"].y, np.tanh([1.5, 2.0] * t["m"].y), rtol=1e-12)
    np.testing.assert_allclose(t["m"].y[0], 0.8585596366401103, rtol=1e-12)


def test_arrays_are_lists():
    s = np.arange(1, 41) ** -1.5
    text = {
        "lists": {"s": s, "w": (s, np.ones(40))},
        "unknowns": {"kappa": "lambda + 1"},
        "fixed": {"kappa": "lambda + kappa/alpha*mean(v, s, v/(v + kappa))"},
        "series": {"kappa": "kappa", "mean": "mean(v, w, v)"},
    }
    t = attica.solve(text, alpha=[0.5, 2.0], lambda_=0.05)
    for alpha, kappa in zip(t["kappa"].x, t["kappa"].y):
        assert kappa == pytest.approx(0.05 + kappa / alpha * np.mean(s / (s + kappa)), rel=1e-12)
    np.testing.assert_allclose(t["mean"].y, s.mean(), rtol=1e-14)


def test_flow_and_recursion():
    t = attica.flow({"start": {"m": "1"}, "rate": {"m": "-m"}, "series": {"m": "m"}}, t=[0.5, 1.0])
    np.testing.assert_allclose(t["m"].y, np.exp([-0.5, -1.0]), rtol=1e-9)
    assert np.all(np.abs(t["m"].y - np.exp([-0.5, -1.0])) <= t["m"][0].numerical_error)
    f = attica.recursion({"start": {"a": 0, "b": 1}, "next": {"a": "b", "b": "a + b"}, "series": {"a": "a"}}, t=[10, 20])
    assert f["a"].y.tolist() == [55, 6765]


def test_flow_of_a_covariance_is_what_it_was():
    assert attica.flow(np.eye(3), 20, 1.0)["test_error"] > 0


def test_judge_takes_it():
    t = attica.solve(MAGNET, beta=[1.5, 2.0])
    right = attica.judge(
        theory=t,
        simulate=lambda beta, rng: dict(zip(t["m"].x, t["m"].y))[beta] + rng.normal(0, 0.01),
        margin=0.05,
        replicates=200,
        out=None,
    )
    assert str(right.verdict) == "AGREE"
    wrong = attica.judge(
        theory=t, simulate=lambda beta, rng: 0.7 + rng.normal(0, 0.01), margin=0.05, replicates=200, out=None
    )
    assert str(wrong.verdict) == "DISAGREE"


@pytest.mark.parametrize(
    "text, numbers, message",
    [
        ({**MAGNET, "fixd": {}}, {"beta": [1.0]}, "did you mean 'fixed'"),
        ({**MAGNET, "fixed": {"m": "tanh(bta*m)"}}, {"beta": [1.0]}, "did you mean 'beta'"),
        (MAGNET, {"beta": 1.0}, "no x"),
        ({**MAGNET, "series": {"m": "m +"}}, {"beta": [1.0]}, "ends too early"),
        ("m = tanh(m)", {"beta": [1.0]}, "a dict"),
        ({**MAGNET, "lists": {"s": (np.ones(3), np.ones(2))}}, {"beta": [1.0]}, "3 numbers and 2 weights"),
    ],
)
def test_mistakes_are_named(text, numbers, message):
    with pytest.raises(attica.Error, match=message):
        attica.solve(text, **numbers)


FALL = {"start": {"m": "m0"}, "rate": {"m": "-m"}, "series": {"m": "m"}}


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: attica.solve(MAGNET, beta=[1.5], foo=3), "no formula contains 'foo'"),
        (lambda: attica.solve(MAGNET, beta=[1.5], foo=[1, 2]), "no formula contains 'foo'"),
        (lambda: attica.flow(FALL, t=[1.0], m_0=0.5), "did you mean 'm0'"),
        (lambda: attica.flow(FALL, t=[1.0], m0=0.5, stiff=True), "'stiff'; it is a key of the dict"),
        (lambda: attica.flow(FALL, m0=[0.1, 0.2], t=[1.0]), "is it the time"),
        (lambda: attica.recursion(FALL, t=[1]), "unknown key 'rate'"),
        (lambda: attica.recursion({"start": {"m": 1}, "next": {"m": "m/2"}, "series": {"m": "m"}}, t=[1], n=2),
         "no formula contains 'n'"),
    ],
)
def test_numbers_that_nothing_reads_are_refused(call, message):
    with pytest.raises(attica.Error, match=message):
        call()


def test_numbers_may_be_anywhere_in_the_dict():
    text = {"start": {"a[k]": "a0"}, "rate": {"a[k]": "-k*a[k]"}, "each": {"k": "n"}, "series": {"a": "a[2]"}}
    t = attica.flow(text, t=[0.5], a0=2, n=3)
    assert t["a"].y[0] == pytest.approx(2 * np.exp(-1), rel=1e-8)
    lists = {"s": {"for": "k", "from": 1, "to": "n", "value": "k"}}
    t = attica.solve(
        {"lists": lists, "unknowns": {"u": 1}, "fixed": {"u": "mean(v, s, v)"}, "series": {"u": "u"}}, alpha=[1, 2], n=3
    )
    assert t["u"].y.tolist() == [2, 2]


def test_missing_points_are_warned_of():
    text = {"start": {"y": 1}, "rate": {"y": "y^2"}, "series": {"y": "y"}}
    with pytest.warns(UserWarning, match="no theory for y at t=2"):
        t = attica.flow(text, t=[0.5, 2.0])
    assert t["y"].x.tolist() == [0.5]
    assert t["y"].y[0] == pytest.approx(2, rel=1e-8)
