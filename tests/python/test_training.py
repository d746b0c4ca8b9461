"""The training theory of models of the user's own."""

import json
import pathlib

import attica
import numpy as np
import pytest

REFERENCE = json.loads((pathlib.Path(__file__).resolve().parents[1] / "reference/training.json").read_text())


def tiny(wrong=1.0):
    """v tanh(w x), squared loss: the model "tiny" of the reference."""
    m = REFERENCE["models"]["tiny"]
    x, y = np.array(m["x"]), np.array(m["y"])

    def model(theta, weights):
        t = np.tanh(theta[0] * x)
        e = theta[1] * t - y
        if weights is None:
            return e**2 / 2
        back = weights * e
        return e**2 / 2, wrong * np.array([(back * theta[1] * (1 - t**2) * x).sum(), (back * t).sum()])

    return model


START = REFERENCE["starts"]["tiny"]
P = np.array(REFERENCE["models"]["tiny"]["p"])


def ar1(n=300, sites=6, seed=77):
    """f = v sum_t a_t x_t on AR(1) inputs, and its start."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, sites))
    for t in range(1, sites):
        x[:, t] = 0.6 * x[:, t - 1] + 0.8 * x[:, t]
    y = np.tanh(x @ [0.1, 0.2, -0.3, 0.4, 0.5, 0.6]) + 0.3 * rng.normal(size=n)

    def model(theta, weights, factor=1.0):  # of one run, or of many
        v, a = theta[..., :1], theta[..., 1:]
        r = v * (a @ x.T) - y
        if weights is None:
            return r**2 / 2
        g = factor * (weights * r) @ x
        return r**2 / 2, np.concatenate([(a * g).sum(-1, keepdims=True), v * g], axis=-1)

    return model, [0.5] + sites * [0.2]


def test_reference_cases():
    compared = 0
    for case in REFERENCE["cases"]:
        if case["model"] != "tiny" or {"method", "decay", "eta_factor"} & set(case):
            continue
        name = case["observable"].split()[0]
        steps = sorted(int(step) for step in case["expected"])
        words = {key: case[key] for key in ("batch", "samples", "revisit", "momentum") if key in case}
        theory = attica.training(
            tiny(), start=START, weights=P, rate=case["eta"], steps=steps, method="dense",
            observables={name: lambda theta: theta[0] ** 2}, **words,
        )
        for step, expected in case["expected"].items():
            k = steps.index(int(step))
            for series, value in expected.items():
                found = theory[{"train": "train_loss"}.get(series, series)]
                assert found.order_0[k] == pytest.approx(value["order0"], rel=1e-9)
                assert found.value[k] - found.order_0[k] == pytest.approx(value["shift"], rel=2e-4, abs=1e-9)
                compared += 1
    assert compared > 40


def test_theory_meets_the_training_of_the_same_model():
    model, start = ar1()
    run = dict(start=start, rate=0.05, batch=16, times=[0.5, 1, 2, 5, 10, 20, 40])
    observables = {"v2": lambda theta: theta[0] ** 2}
    theory = attica.training(model, pairs=16, observables=observables, **run)
    many = dict(replicates=1000, seed=77, observables=observables, vectorised=True, **run)
    runs = attica.simulate_training(model, **many)
    judged = attica.judge(theory=theory, simulate=runs, margin=0.01, out=None)
    assert judged.verdict == "AGREE" and len(judged.points) == 14
    loss = np.stack([runs[(runs["series"] == "loss") & (runs["x"] == t)]["value"] for t in run["times"]])
    assert np.allclose(loss.std(axis=1, ddof=1), theory["loss"].sd, rtol=0.15)
    # The noise floor within 5 %.
    floor = theory["loss"].value[-1] - theory["loss"].order_0[-1]
    assert loss[-1].mean() - theory["loss"].order_0[-1] == pytest.approx(floor, rel=0.05)
    # Descent on the population is not the mean over runs, and a gradient 5 % too long is found.
    wrong = attica.simulate_training(lambda theta, w: model(theta, w, 1.05), **many)
    assert attica.judge(theory=theory, simulate=wrong, margin=0.01, out=None).verdict == "DISAGREE"
    late = runs[(runs["series"] == "loss") & (runs["x"] > 1)]
    alone = attica.judge(
        theory={"loss": theory["loss"].order_0[2:]}, simulate=late, x=run["times"][2:], margin=0.005, out=None
    )
    assert alone.verdict == "DISAGREE"


@pytest.mark.parametrize(
    "words",
    [
        dict(samples=400),
        dict(samples=400, batch=20),
        dict(samples=400, batch=20, revisit="replace"),
        dict(samples=400, batch=20, revisit="without"),
        dict(batch=16, momentum=0.5),
        dict(batch=16, decay=0.05),
        dict(batch=16, decay=0.05, decoupled=True),
        dict(batch=16, optimiser="adam", method="pairs", pairs=64, betas=(0.9, 0.99)),
    ],
    ids=str,
)
def test_every_way_of_training(words):
    """The mean over runs of each way is that of the theory, within four standard errors and the tolerance."""
    model, start = ar1(n=60)
    run = dict(start=start, rate=0.02 if words.get("optimiser") else 0.05, steps=[5, 50, 150])
    theory = attica.training(model, **run, **words)
    words = {key: value for key, value in words.items() if key not in ("method", "pairs")}
    runs = attica.simulate_training(model, replicates=300, seed=3, vectorised=True, **run, **words)
    assert set(runs["series"]) == ({"loss", "train_loss"} if "samples" in words else {"loss"})
    for name in set(runs["series"]):
        for k, step in enumerate(run["steps"]):
            values = runs[(runs["series"] == name) & (runs["x"] == step)]["value"]
            allowed = 4 * values.std() / np.sqrt(len(values)) + theory[name].finite_size[k] + theory[name].numerical_error[k]
            assert abs(values.mean() - theory[name].value[k]) < allowed, (name, step)
            assert values.std() == pytest.approx(theory[name].sd[k], rel=0.4, abs=1e-4), (name, step)


def test_flow_is_the_limit_of_small_rates():
    flow = attica.training(tiny(), start=START, weights=P, times=[2.0, 8.0])
    small = attica.training(tiny(), start=START, weights=P, rate=1e-3, steps=[2000, 8000])
    assert set(flow) == {"loss"} and flow.x_name == "time"
    assert np.allclose(flow["loss"].value, small["loss"].value, rtol=2e-3)
    assert np.all(flow["loss"].sd == 0) and np.all(flow["loss"].compared)


def test_vectorised_models_give_the_same_runs():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=40)

    def one(theta, weights):
        r = x @ theta - y
        return r**2 / 2, None if weights is None else (weights * r) @ x

    def many(theta, weights):
        r = theta @ x.T - y
        return r**2 / 2, None if weights is None else (weights * r) @ x

    run = dict(start=np.zeros(3), rate=0.1, batch=8, steps=[1, 20], replicates=5, seed=2)
    a = attica.simulate_training(one, **run)
    b = attica.simulate_training(many, vectorised=True, **run)
    assert np.allclose(a["value"], b["value"], rtol=1e-12)
    more = attica.simulate_training(one, **{**run, "replicates": 7})
    first = more[more["replicate"] < 5].reset_index(drop=True)
    assert np.array_equal(first["value"], a["value"])


def test_what_is_refused():
    run = dict(start=START, weights=P, rate=0.1, steps=[1])
    with pytest.raises(attica.Error, match="gradient.*not the derivative"):
        attica.training(tiny(wrong=1.05), **run)
    for changed, message in [
        (dict(start=[[1.0, 2.0]]), "ravel"),
        (dict(weights=P[:2]), "one a sample"),
        (dict(weights=2 * P), "sum"),
        (dict(rate=None), "'rate' is missing"),
        (dict(steps=[2, 1]), "ascending"),
        (dict(times=[1.0]), "either"),
        (dict(batch=8, samples=4), "at most samples"),
        (dict(optimiser="adam"), "pairs"),
        (dict(revisit="twice"), "epoch"),
        (dict(observables={"loss": len}), "series already"),
        (dict(observables={"a": lambda theta: None}), "gave None"),
        (dict(rate=0.3, steps=None, times=[0.5]), "multiples of rate"),
        (dict(rate=None, steps=None, times=[0.5], batch=4), "the flow has none"),
    ]:
        with pytest.raises(attica.Error, match=message):
            attica.training(tiny(), **{**run, **changed})
    with pytest.raises(attica.Error, match="return losses, gradient"):
        attica.training(lambda theta, w: np.ones(3), **run)
    with pytest.raises(attica.Error, match=r"shape \(3,\); expected \(2,\)"):
        attica.training(lambda theta, w: (np.ones(3), np.ones(3)), **run)
    with pytest.raises(ZeroDivisionError):
        attica.training(lambda theta, w: 1 / 0, **run)
    with pytest.warns(UserWarning, match="nothing is predicted from step"):
        few = attica.training(tiny(), **{**run, "rate": 0.4, "steps": [1, 500]}, samples=2)
    assert few.undescribed and not few["loss"].compared[-1]
