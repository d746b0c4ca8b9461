#!/usr/bin/env bash
# Training theory of a model whose gradient ignores its weights, or is not finite, and options that change nothing.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >models.py <<'PY'
import attica
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 3))
y = np.tanh(x @ [0.3, -0.2, 0.5]) + 0.2 * rng.normal(size=60)


def model(theta, weights):
    r = theta @ x.T - y
    return r**2 / 2 if weights is None else (r**2 / 2, (weights * r) @ x)


def unweighted(theta, weights):
    r = theta @ x.T - y
    return r**2 / 2 if weights is None else (r**2 / 2, r @ x / 60)


def normalised(theta, weights):
    return model(theta, None if weights is None else weights / weights.sum())


def not_finite(theta, weights):
    losses, gradient = model(theta, np.ones(60) if weights is None else weights)
    return losses if weights is None else (losses, gradient * np.nan)


def one_infinite(theta, weights):
    losses, gradient = model(theta, np.ones(60) if weights is None else weights)
    losses[3] = np.inf
    return losses if weights is None else (losses, gradient)


plan = dict(start=[0.1, 0.2, 0.3], rate=0.05, batch=8, steps=[0, 10, 50], pairs=16)
attica.training(model, **plan)
attica.training(lambda t, w: tuple(np.float32(a) for a in model(t, w)) if w is not None else np.float32(model(t, w)), **plan)
for wrong, said in (
    (unweighted, "of other weights than it is given"),
    (normalised, "gradient"),
    (not_finite, "gradient of the model at the start: nan"),
    (one_infinite, "losses of the model at the start: inf at sample 3"),
):
    try:
        attica.training(wrong, **plan)
    except attica.Error as error:
        assert said in str(error), (wrong.__name__, error)
    else:
        raise AssertionError(wrong.__name__)
PY
python 0 models.py

cat >options.py <<'PY'
import warnings

import attica
import numpy as np

X = [1.0, 2.0, 3.0]
given = np.array(X)[:, None] * (1 + 0.01 * np.random.default_rng(0).normal(size=(3, 40)))
ask = dict(theory=lambda x: x, x=X, margin=0.05, out=None)
for wanted in (40, 10):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert attica.judge(simulate=given, replicates=wanted, independent=True, **ask).points[0]["n"] == 40
    assert len(said) == (wanted != 40) and all("'replicates' = 10 is not used" in str(w.message) for w in said), said

state = 0.0


def chain(x, rng):  # one Markov chain over all calls
    global state
    state = 0.97 * state + 0.005 * rng.normal()
    return x * (1 + state)


with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    attica.judge(simulate=chain, replicates=100, **ask)
assert any("correlated in the order of its calls" in str(w.message) for w in said), said
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    attica.judge(simulate=lambda x, rng: x * (1 + 0.01 * rng.normal()), replicates=100, **ask)
assert not said, said
PY
python 0 options.py
finish
