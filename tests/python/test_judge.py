"""The verdict on theories and simulations that are not attica's."""

import json
import math

import attica
import numpy as np
import pytest
from attica import _attica, judging

X = [4.0, 16.0, 64.0]


def mean_squared(n, rng):
    """E = 1/n exactly."""
    return rng.normal(size=int(n)).mean() ** 2


def test_right_and_wrong_theories(tmp_path):
    right = attica.judge(theory=lambda n: 1 / n, simulate=mean_squared, x=X, margin=0.2, replicates=3000, out=tmp_path)
    assert right.verdict == "AGREE" and len(right.points) == 3 and right.points.column("n").tolist() == [3000] * 3
    assert 0 < right.resolution[0]["not_agree"] < 0.2
    wrong = attica.judge(theory=lambda n: 1.5 / n, simulate=mean_squared, x=X, margin=0.2, replicates=3000, out=tmp_path)
    assert wrong.verdict == "DISAGREE"
    few = attica.judge(theory=lambda n: 1 / n, simulate=mean_squared, x=X, margin=0.2, replicates=5, out=tmp_path)
    assert few.verdict == "INCONCLUSIVE"
    with pytest.raises(attica.Error):
        bool(few.verdict)
    assert "INCONCLUSIVE</span>" in few._repr_html_()
    undeclared = attica.judge(theory=lambda n: 1 / n, simulate=mean_squared, x=X, replicates=50, out=None)
    assert undeclared.verdict == "NONE" and undeclared.summary.startswith("NONE: 0 of 3") and all("z" in p for p in undeclared.points)


def test_the_run_folder_holds_what_was_judged(tmp_path):
    if not _attica.options("judge"):
        pytest.skip("the program has no verb `judge`")
    run = attica.judge(
        theory=lambda n: 1 / n, simulate=mean_squared, x=X, margin=0.2, replicates=200, name="mine", out=tmp_path
    )
    alone = attica.judge(theory=lambda n: 1 / n, simulate=mean_squared, x=X, margin=0.2, replicates=200, out=None)
    assert run.folder.name.startswith("mine-") and "data:image/svg+xml" in run._repr_html_()
    for told, known in zip(run.points, alone.points):
        for name in ("x", "theory", "mean", "sem", "n", "margin", "verdict", "p_agree", "p_disagree_adjusted"):
            assert told[name] == known[name], name
    assert run.verdict == alone.verdict and run.resolution == alone.resolution


def test_random_numbers_are_a_function_of_seed_place_and_replicate():
    def values(n, seed, grid=X):
        seen = {}
        attica.judge(
            theory=lambda x: 0.0,
            simulate=lambda x, rng: seen.setdefault((x, len([k for k in seen if k[0] == x])), rng.random()),
            x=grid, replicates=n, seed=seed, out=None,
        )
        return seen

    few, many, other = values(3, 1), values(6, 1), values(3, 2)
    assert all(many[key] == value for key, value in few.items())
    assert not set(few.values()) & set(other.values()) and len(set(many.values())) == 18
    seeds = []
    attica.judge(theory=lambda x: 0.0, simulate=lambda x, seed: seeds.append(seed) or 0.0, x=X, replicates=2, out=None)
    assert len(set(seeds)) == 6 and all(isinstance(s, int) and 0 <= s < 2**63 for s in seeds)


def test_functions_arrays_and_frames_say_the_same():
    import pandas

    rng = np.random.default_rng(0)
    data = rng.normal(1, 0.1, size=(3, 40))
    frame = pandas.DataFrame(
        {"x": np.repeat(X, 40), "replicate": np.tile(np.arange(40), 3), "value": data.ravel()}
    )
    theory = pandas.DataFrame({"x": X, "value": 1.0})
    judged = [
        attica.judge(theory=[1, 1, 1], simulate=data, x=X, margin=0.1, out=None),
        attica.judge(theory=lambda x: 1, simulate=frame, x=X, margin=0.1, out=None),
        attica.judge(theory=theory, simulate=frame, margin=0.1, out=None),
        attica.judge(theory=attica.Rows(theory.to_dict("records")), simulate=data, x=X, margin=0.1, out=None),
        attica.judge(theory=theory, simulate=frame.assign(x=frame.x * (1 + 1e-12)), margin=0.1, out=None),
    ]
    assert judged[0].verdict == "AGREE"
    for other in judged[1:]:
        assert other.record == judged[0].record
    points = attica.agreement([1, 1, 1], data, 0.1).points
    assert [p["p_agree"] for p in points] == [p["p_agree"] for p in judged[0].points]


def test_series_points_and_allowances():
    import pandas

    both = attica.judge(
        theory=lambda x: {"a": x, "b": -x},
        simulate=lambda x, rng: {"a": x + 0.01 * rng.normal(), "b": 0.01 * rng.normal()},
        x=[1, 2], margin=0.1, replicates=50, out=None,
    )
    verdicts = {(p["series"], p["x"]): p["verdict"] for p in both.points}
    assert verdicts == {("a", 1): "AGREE", ("a", 2): "AGREE", ("b", 1): "DISAGREE", ("b", 2): "DISAGREE"}
    theory = pandas.DataFrame({"d": [8, 16, 8], "x": [1, 1, 2], "value": 1.0, "finite_size": [0.5, 0, 0],
                               "compared": [True, True, False]})
    rng = np.random.default_rng(1)
    simulation = pandas.DataFrame(
        [{"d": d, "x": x, "replicate": r, "value": 1.3 + 0.01 * rng.normal()}
         for d, x in ((8, 1), (16, 1), (8, 2)) for r in range(30)]
    )
    judged = attica.judge(theory=theory, simulate=simulation, margin=0.05, out=None)
    assert {(p["d"], p["verdict"]) for p in judged.points} == {(8.0, "AGREE"), (16.0, "DISAGREE")}
    assert judged.record["counts"]["not_compared"] == 1
    assert "compared" in judged.record["not_compared_because"]


def test_until_decided_stops_at_a_look_and_keeps_the_verdict():
    calls = []

    def simulate(n, rng):
        calls.append(n)
        return mean_squared(n, rng)

    judged = attica.judge(theory=lambda n: 3 / n, simulate=simulate, x=X, margin=0.1, replicates=3000, until_decided=True,
                          out=None)
    looks = _attica.looks(3000, 3)
    assert judged.verdict == "DISAGREE" and len(calls) == 3 * looks[0] and looks[0] < looks[-1] == 3000
    assert judged.record["stopping"]["cap"] == 3000
    with pytest.raises(attica.Error):
        attica.judge(theory=lambda n: n, simulate=simulate, x=X, replicates=5, until_decided=True, out=None)


def test_error_rate_of_wrong_disagreement():
    """The theory is right and the margin 0: with probability 95 % no point of a run disagrees."""
    rng = np.random.default_rng(11)
    runs = 400
    wrong = sum(
        attica.agreement([0.0] * 4, rng.normal(size=(4, 20)), absolute=1e-9).verdict == "DISAGREE" for _ in range(runs)
    )
    # 5 % of 400 is 20; beyond 20 + 4 standard deviations (4.4 each) the rate is broken.
    assert wrong <= 38


def test_agreement_of_arrays():
    rng = np.random.default_rng(5)
    ragged = [rng.normal(2, 0.1, size=n) for n in (10, 50)]
    judged = attica.agreement([2, 2], ragged, 0.1)
    assert judged.points.column("n").tolist() == [10, 50] and judged.points[0]["mean"] == pytest.approx(ragged[0].mean())
    # The 90 % interval of plain t: Student's density with 49 degrees of freedom integrates to 0.45 on either side.
    plain = attica.agreement([2], [ragged[1]], 0.1, tails="normal").points[0]
    low, high = plain["interval90"]
    sem = ragged[1].std(ddof=1) / np.sqrt(50)
    assert (low + high) / 2 == pytest.approx(plain["difference"], rel=1e-9)
    t, step = np.linspace(0, (high - low) / 2 / sem, 20001, retstep=True)
    density = math.gamma(25) / (math.sqrt(49 * math.pi) * math.gamma(24.5)) * (1 + t**2 / 49) ** -25
    assert (density.sum() - (density[0] + density[-1]) / 2) * step == pytest.approx(0.45, abs=1e-8)
    assert attica.agreement(2.0, ragged[1], 0.1).verdict == "AGREE"  # a number and its replicates
    assert attica.agreement([2], [[2.0, np.nan, 2.0]], 0.1).record["counts"]["failed"] == 1
    wide = attica.agreement([1], [ragged[1]], 0.01, finite_size=2.0).points[0]
    assert wide["verdict"] == "AGREE" and wide["margin_terms"]["finite_size"] == 2.0


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"x": None}, "parameter 'x' is missing"),
        ({"x": [1, 1]}, "distinct finite numbers"),
        ({"margin": -1.0}, "margin"),
        ({"tails": "heavy"}, "expected guarded, normal or rate"),
        ({"replicates": 0}, "'replicates' = 0: expected a whole number >= 1"),
        ({"replicates": 2.5}, "'replicates' = 2.5: expected a whole number >= 1"),
        ({"seed": -1}, "'seed' = -1: expected a whole number >= 0"),
        ({"margin": "5%"}, "parameter 'margin' = '5%': expected a finite number >= 0"),
        ({"absolute": np.nan}, "parameter 'absolute' = nan: expected a finite number >= 0"),
        ({"x": "alpha"}, "parameter 'x' = 'alpha': expected a list"),
        ({"theory": [1, 2]}, r"shape \(2,\); expected \(3,\)"),
        ({"theory": lambda x: "one"}, "gave 'one'; expected a number"),
        ({"theory": [1, np.inf, 2]}, "theory of 'y' is inf at x = 16.0; expected finite numbers"),
        ({"simulate": np.ones((2, 5))}, r"shape \(2, 5\); expected \(3, replicates\)"),
        ({"simulate": {"z": np.ones((3, 5))}}, "simulated 'z' has no theory; there is 'y'"),
        ({"simulate": np.ones((3, 5)), "until_decided": True}, "expected a function to simulate with"),
    ],
)
def test_bad_input_is_refused(change, sentence):
    given = {"theory": lambda x: 1.0, "simulate": lambda x, rng: 1.0, "x": X, "margin": 0.1, "replicates": 3, "out": None}
    with pytest.raises(attica.Error, match=sentence) as refusal:
        attica.judge(**{**given, **change})
    assert refusal.value.exit_code == 2


THEORY_ROWS = {"x": [1.0, 2.0], "value": [1.0, 1.0]}
SIMULATED_ROWS = {"x": [1.0, 1.0, 2.0], "replicate": [0, 1, 0], "value": [1.0, 1.1, 0.9]}


@pytest.mark.parametrize(
    "theory, simulate, sentence",
    [
        ({"x": [1.0, 1.0]}, {}, "theory: series 'y' at x=1.0 stands in row 0 and in row 1"),
        ({"value": [1.0, "one"]}, {}, "theory: row 1 of column 'value' gave 'one'; expected a number"),
        ({"finite_size": [0, -1]}, {}, "row 1 of column 'finite_size' gave -1.0; expected a finite number >= 0"),
        ({"compared": [True, "perhaps"]}, {}, "row 1 of column 'compared' gave 'perhaps'; expected true or false"),
        ({}, {"replicate": [0, 0, 0]}, "simulate: series 'y' at x=1.0 at replicate=0 stands in row 0 and in row 1"),
        ({}, {"replicate": [0, 0.5, 0]}, "row 1 of column 'replicate' gave 0.5; expected a whole number >= 0"),
        ({}, {"value": [1, "a", 1]}, "simulate: row 1 of column 'value' gave 'a'; expected a number"),
        ({}, {"x": [], "replicate": [], "value": []}, "simulate: a data frame without rows"),
    ],
)
def test_frames_are_refused_as_tables_are(theory, simulate, sentence):
    import pandas

    with pytest.raises(attica.Error, match=sentence) as refusal:
        attica.judge(theory=pandas.DataFrame({**THEORY_ROWS, **theory}),
                     simulate=pandas.DataFrame({**SIMULATED_ROWS, **simulate}), margin=0.1, out=None)
    assert refusal.value.exit_code == 2


def test_an_empty_field_of_a_frame_is_no_coordinate():
    import pandas

    theory = pandas.DataFrame({**THEORY_ROWS, "lambda": [np.nan, 0.1], "compared": ["", "yes"]})
    simulation = pandas.DataFrame({**SIMULATED_ROWS, "lambda": [np.nan, np.nan, 0.1]})
    judged = attica.judge(theory=theory, simulate=simulation, margin=0.1, out=None)
    assert [p.get("lambda") for p in judged.points] == [None, 0.1]


def test_failures_of_the_simulation_are_counted(tmp_path):
    for out in (None, tmp_path):
        all_failed = attica.judge(theory=lambda x: 1.0, simulate=lambda x, rng: np.nan, x=X, margin=0.1, replicates=4, out=out)
        assert all_failed.verdict != "AGREE" and [p["n"] for p in all_failed.points] == [0, 0, 0]
        with pytest.raises(attica.Error):
            bool(all_failed)
        one = attica.judge(theory=[1.0], simulate=[[1.0, np.nan, 1.1]], x=[4.0], margin=0.1, out=out)
        assert one.verdict == "INCONCLUSIVE" and one.points[0]["n"] == 2 and "1 of 3 replicates failed" in one.points[0]["reason"]
    with pytest.raises(ZeroDivisionError):  # the user's own errors pass as they are
        attica.judge(theory=lambda x: 1.0, simulate=lambda x, rng: 1 / 0, x=X, out=None)


def test_the_tables_read_back(tmp_path):
    """What `attica judge` is given: exact numbers, and a column of series only where there is more than one."""
    from attica.judging import _given_simulation, _tables, _theory_curves

    x = [0.1, 0.2]
    theory, simulation = _theory_curves([1 / 3, 2 / 3], x, "y"), _given_simulation(np.full((2, 2), 0.1 + 0.2), x, "y")
    paths = _tables(tmp_path, theory, simulation, "y")
    assert open(paths[0]).read() == "x,value\n0.1,0.3333333333333333\n0.2,0.6666666666666666\n"
    assert open(paths[1]).read().splitlines()[:2] == ["x,replicate,value", "0.1,0,0.30000000000000004"]
    paths = _tables(tmp_path, _theory_curves({"a": x}, x, "y"), {}, "y")
    assert open(paths[0]).readline() == "series,x,value\n"
    assert json.loads("0.30000000000000004") == 0.1 + 0.2


def test_a_study_allows_what_its_theory_neglects():
    told = attica.theory("gauss-double-descent", sites=21, alpha=[0.5, 2.0], lambda_=[0.1, 1.0])["test_error"]
    curve = told.at(lambda_=0.1)
    allowed = curve[0].finite_size
    assert allowed[0] > 10 * allowed[1] > 0 and curve[0].compared.all()

    def off(share):
        """Off by this share of what is allowed, with noise of a hundredth of it."""
        noise = np.random.default_rng(3).normal(scale=0.01, size=(2, 50))
        return curve[0].y[:, None] + allowed[:, None] * (share + noise)

    assert attica.judge(theory=curve, simulate=off(0.8), out=None).verdict == "AGREE"
    assert attica.judge(theory=curve, simulate=off(1.2), out=None).verdict == "DISAGREE"
    bare = attica.judge(theory=curve[0].y, x=curve.x, simulate=off(0.8), margin=1e-9, out=None)
    assert bare.verdict == "DISAGREE"  # the numbers alone say nothing of what they neglect
    with pytest.raises(attica.Error, match=r"take one with \.at"):
        attica.judge(theory=told, simulate=off(0), out=None)


def test_a_frame_has_the_curves_of_a_study(tmp_path):
    pandas = pytest.importorskip("pandas")
    told = attica.theory("gauss-double-descent", sites=21, alpha=[0.5, 2.0], lambda_=[0.1, 1.0])["test_error"]
    frame = pandas.DataFrame(
        {"lambda": c.point["lambda"], "x": x, "replicate": r, "value": y + (r - 24.5) * 1e-6}
        for c in told
        for x, y in zip(c.x, c.y)
        for r in range(50)
    )
    run = attica.judge(theory=told, simulate=frame, margin=0.01, out=tmp_path)
    assert run.verdict == "AGREE" and len(run.points) == 4
    assert {p["lambda"] for p in run.points} == {0.1, 1.0}


def test_points_that_a_theory_does_not_claim_are_not_compared():
    told = attica.theory("topics-mode-growth")["contrast_K_linear"]
    compared = told[0].compared
    assert compared.any() and not compared.all()
    wrong = np.where(compared, told.y, 2 * told.y)[:, None] + np.linspace(-1e-9, 1e-9, 20)
    r = attica.judge(theory=told, simulate=wrong, margin=0.001, out=None)
    assert r.verdict == "AGREE" and "not compared" in r.summary


def test_workers_do_not_change_the_numbers():
    scale = 2.0  # a closure, which cannot be sent to a process

    def one(x, rng):
        return {"y": rng.normal(x, scale), "z": rng.normal(-x, scale)}

    def several(x, rng, n):
        return rng.normal(x, scale, n)

    for simulate, series in ((one, ["y", "z"]), (several, ["y"])):
        runs = []
        for workers in (1, 3):
            simulator = judging._Simulator(simulate, [1.0, 2.0, 3.0], "y", 7, None, workers)
            simulator.extend(0, 150, lambda: None)
            simulator.extend(150, 200, lambda: None)
            runs.append({key: (c.x, c.replicate, c.value) for key, c in simulator.curves.items()})
        assert runs[0] == runs[1]
        assert sorted(name for name, _ in runs[0]) == series
        assert all(len(values) == 600 for _, _, values in runs[0].values())


def test_an_error_in_a_worker_keeps_what_was_simulated():
    def simulate(x, rng):
        if rng.random() < 0.02:
            raise ZeroDivisionError("no luck")
        return x

    with pytest.raises(ZeroDivisionError) as caught:
        attica.judge(theory=lambda x: x, simulate=simulate, x=[1.0], margin=0.1, replicates=1000, workers=2, out=None)
    serial = pytest.raises(ZeroDivisionError, attica.judge, theory=lambda x: x, simulate=simulate, x=[1.0], margin=0.1,
                           replicates=1000, out=None)
    assert len(caught.value.simulated) == len(serial.value.simulated) > 0
    with pytest.raises(attica.Error, match="workers"):
        attica.judge(theory=[1.0], simulate=[[1.0, 2.0]], x=[1.0], workers=2, out=None)
    with pytest.raises(attica.Error, match="workers"):
        attica.judge(theory=lambda x: x, simulate=simulate, x=[1.0], workers=0, out=None)
