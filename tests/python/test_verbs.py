"""The program's verbs as functions, what a run knows of itself, and arithmetic that keeps tolerances."""

import attica
import numpy as np
import pytest

SMALL = dict(sites=20, alpha=[0.5263157894736842, 2.0], lambda_=[0.1, 1.0])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verbs")
    return attica.run("gauss-double-descent", **SMALL, replicates=60, margin=0.05, seed=7, threads=1, out=folder)


def test_a_run_knows_its_parameters_theory_and_provenance(run):
    assert run.parameters["model.sites"] == 20 and run.parameters["sim.seed"] == 7 and run.parameters["sweep.lambda"] == [0.1, 1.0]
    assert run.provenance["attica"] == attica.__version__ and run.provenance["command"][1] == "run"
    told = run.theory["test_error"].at(lambda_=0.1)
    row = next(p for p in run.points if p["series"] == "test_error" and p["lambda"] == 0.1 and p["x"] == 2.0)
    place = np.argmin(abs(told[0].x - 2.0))
    assert told[0].y[place] == row["theory"] and told[0].finite_size[place] == row["margin_terms"]["finite_size"]
    assert list(run.theory) == list(attica.theory("gauss-double-descent", **SMALL))
    assert run.theory.parameters["model.sites"] == 20


def test_check(run):
    assert attica.check(run).verdict == run.verdict
    wrong = attica.check(run, perturb={"model.rho": 0.8})
    assert wrong.verdict == "DISAGREE" and wrong.worst_point["verdict"] == "DISAGREE" and not wrong
    assert attica.check(run.folder, perturb=["test_error*=1.5"]).verdict == "DISAGREE"
    found = attica.check(run, sensitivity=True)
    assert found["sensitivity"].where(key="model.rho")[0]["above"] > 0.7 and found.verdict == ""
    with pytest.raises(attica.Error, match="three sizes or more"):
        attica.check(run, extrapolate=True)
    with pytest.raises(KeyError, match="did you mean 'sensitivity'"):
        found["sensitivty"]
    with pytest.raises(attica.Error):
        bool(found)


def test_compare_and_cite(run, tmp_path):
    other = attica.run("gauss-double-descent", **{**SMALL, "sites": 21}, replicates=30, margin=0.05, threads=1, out=tmp_path)
    found = attica.compare(run, other.folder)
    assert "model.sites" in str(found["parameters"]) and {"where", "first", "second", "z"} <= set(attica.compare(run, run)["points"][0])
    text = attica.cite(run)
    assert text == attica.cite("gauss-double-descent") and text.entries.where(key="attica")[0]["type"] == "software"
    assert text.entries[0]["eprint"] == "2304.07235"


def test_plan():
    found = attica.plan("gauss-double-descent", sites=20, alpha=2.0, lambda_=1.0, margin=0.05, threads=1)
    assert found["replicates"] >= 30 and found["replicates_range"][0] <= found["replicates"] and "replicates=" in repr(found)


def test_map(tmp_path):
    found = attica.map("gauss-double-descent", x="sweep.alpha=0.5..2:2", y="sweep.lambda=0.5..1:2", depth=0, sites=10,
                       replicates=10, out=tmp_path, threads=1)
    assert len(found["cells"]) == 4 and set(found["cells"].column("x")) == {0.5, 2.0}
    with pytest.raises(TypeError, match="has no parameter|has no argument"):
        attica.map("gauss-double-descent", x="sweep.alpha=0.5..2:2", y="sweep.lambda=0.5..1:2", dept=0)


TABLE = attica.Rows({"n": n, "run": r, "steps": n + r % 3} for n in (3, 10, 30, 100, 300) for r in range(60))


def test_bound(tmp_path):
    holds = attica.bound(TABLE, expression="2*n", x="n", value="steps", replicate="run")
    assert holds.verdict in ("HOLDS", "HOLDS BUT LOOSE") and holds and len(holds["bounds"][0]["points"]) == 5
    violated = attica.bound(TABLE, expression="n + 1", x="n", value="steps", replicate="run", out=tmp_path)
    assert violated.verdict == "VIOLATED" and violated.exit_code == 1 and not violated and list(tmp_path.iterdir())
    few = attica.bound(attica.Rows(TABLE.where(run=0)), expression="2*n", x="n", value="steps", replicate="run")
    assert few.verdict == "UNDECIDED"
    with pytest.raises(attica.Error):
        bool(few)
    with pytest.raises(attica.Error, match="parameter 'expression' is missing"):
        attica.bound(TABLE)


def test_fit(run):
    rows = attica.Rows({"N": n, "replicate": r, "value": 0.1 + 10 / n * (1 + 0.01 * (r - 5))} for n in (10, 20, 40, 80, 160, 320) for r in range(10))
    plain = attica.fit(rows, x="N", floor=True)
    assert plain.verdict == "" and plain["exponents"][0]["fitted"]["exponent"] == pytest.approx(-1, abs=0.05)
    rng = np.random.default_rng(1)
    power = attica.Rows({"x": n, "replicate": r, "value": n**1.5 * np.exp(0.1 * rng.normal())} for n in (4, 8, 16, 32, 64) for r in range(20))
    agreed = attica.fit(power, exponent=1.5)
    assert agreed.verdict == "AGREE" and agreed and attica.fit(power, exponent=2).verdict == "DISAGREE"
    with pytest.raises(TypeError, match="did you mean 'exponent'"):
        attica.fit(TABLE, expnent=1)
    with pytest.raises(attica.Error, match="expected a run, a path or a table"):
        attica.fit(3)


def test_measure(tmp_path):
    np.save(tmp_path / "w.npy", np.diag([3.0, 4.0]))
    rows = attica.measure(np.eye(3), tmp_path / "w.npy", [[1, 2], [3, 4]])
    assert rows.column("frobenius_norm") == pytest.approx([np.sqrt(3), 5, np.sqrt(30)])
    assert rows[0]["file"] == "matrix 0" and rows[1]["file"].endswith("w.npy") and rows[0]["stable_rank"] == pytest.approx(3)
    with pytest.raises(attica.Error, match=r"matrix 0 has shape \(3,\)"):
        attica.measure(np.ones(3))


def test_arithmetic_keeps_tolerances():
    told = attica.theory("gauss-double-descent", sites=21, alpha=[0.5, 2.0], lambda_=[0.1, 1.0])["test_error"]
    for larger in (1.03 * told, told * 1.03, np.float64(1.03) * told, told / (1 / 1.03)):
        assert isinstance(larger, attica.Series) and larger.points == told.points
        assert larger[0].y == pytest.approx(1.03 * told[0].y) and larger[0].finite_size == pytest.approx(1.03 * told[0].finite_size)
    other = 1 - 2 * told
    assert other[1].y == pytest.approx(1 - 2 * told[1].y) and other[1].finite_size == pytest.approx(2 * told[1].finite_size)
    assert (told + 1 - 1)[0].finite_size.tolist() == told[0].finite_size.tolist() and (-told)[0].y[0] == -told[0].y[0]
    assert isinstance(told.at(lambda_=0.1) * np.ones(2), np.ndarray) and isinstance(np.ones(2) - told.at(lambda_=0.1), np.ndarray)
    with pytest.raises(TypeError):
        told * told
    with pytest.raises(attica.Error, match="finite number"):
        told * np.nan
    curve = told.at(lambda_=0.1)
    noise = curve[0].finite_size[:, None] * (0.9 + 0.01 * np.random.default_rng(3).normal(size=(2, 50)))
    assert attica.judge(theory=1.0 * curve, simulate=curve.y[:, None] + noise, out=None).verdict == "AGREE"
    assert attica.judge(theory=0.5 * curve, simulate=curve.y[:, None] + noise, out=None).verdict == "DISAGREE"


def test_messages_on_tables_name_no_file_of_attica():
    rows = attica.Rows({"n": n, "replicate": r, "value": "one"} for n in (1, 2, 4) for r in range(8))
    with pytest.raises(attica.Error, match="^table 'what':2:5: error: value = 'one'"):
        attica.fit(rows, x="n")


def test_a_dict_of_columns_is_a_table():
    rows = [(n, r, (1 + 0.01 * r) / n) for n in (4, 8, 16, 32, 64) for r in range(10)]
    columns = dict(zip(("n", "replicate", "value"), map(list, zip(*rows))))
    expected = attica.fit(attica.Rows(dict(zip(columns, row)) for row in rows), x="n", exponent=-1)
    assert attica.fit(columns, x="n", exponent=-1)["exponents"] == expected["exponents"]
    for wrong in ({}, {"n": 1, "value": 2}, {"n": "abc"}):
        with pytest.raises(attica.Error, match="expected a run, a path or a table"):
            attica.fit(wrong, x="n")
