"""Theory in process: the program's numbers, and the ways to ask for them."""

import base64
import json
import math
import os
import re
import shutil
import xml.etree.ElementTree

import attica
import numpy as np
import pytest
from conftest import ROOT

#: Theories that take more than some five seconds: with ATTICA_SLOW in the environment.
SLOW = {"bigrams-floor"}
STUDIES = [study["name"] for study in attica.studies()]


def program_rows(printed):
    return [
        {"series": s["name"], **s["point"], "x_name": s["x_name"], "x": x, "value": y}
        for s in printed["series"]
        for x, y in zip(s["x"], s["y"])
    ]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.filterwarnings("ignore")
def test_every_study_gives_the_programs_digits(study, program):
    if study in SLOW and not os.environ.get("ATTICA_SLOW"):
        pytest.skip("takes more than five seconds")
    end = program("theory", study, "--json")
    if end.returncode == 2:
        with pytest.raises(attica.Error) as refusal:
            attica.theory(study)
        assert str(refusal.value) in end.stderr and refusal.value.exit_code == 2
        return
    printed = json.loads(end.stdout)
    c = attica.theory(study)
    assert c.rows() == program_rows(printed)  # equal as doubles, names and coordinates included
    assert c.parameters == printed["parameters"] and c.diagnostics == printed["diagnostics"]
    assert list(c.parameters) == list(printed["parameters"])
    for curve, told in zip(c.curves, printed["series"]):
        for name, none in (("finite_size", 0.0), ("numerical_error", 0.0), ("compared", True)):
            assert getattr(curve, name).tolist() == told.get(name, [none] * len(curve.x))
    if shutil.which("gnuplot"):
        svg = c.figure().data.decode()  # the panels that have a theory, with a remark on the others
        assert svg.count("<path") > 3 and "<svg" in svg


def test_digits_are_those_of_the_csv(program):
    """Text against text: what the program writes reads back to the value that rows() has, for a swept scalar too."""
    arguments = ("--set", "sweep.rho=[0.3, 0.9]", "--set", "sweep.alpha=[0.4, 2]")
    lines = program("theory", "gauss-lambda", *arguments).stdout.splitlines()
    header = lines[0].split(",")
    table = [dict(zip(header, line.split(","))) for line in lines[1:]]
    rows = attica.theory("gauss-lambda", rho=[0.3, 0.9], alpha=np.array([0.4, 2.0])).rows()
    assert len(rows) == len(table) > 0
    words = {"series", "x_name"}
    for row, told in zip(rows, table):
        read = {"value" if key == "mean" else key: text for key, text in told.items() if text and key not in ("study", "kind")}
        assert row == {key: text if key in words else float(text) for key, text in read.items()}


def test_keywords_are_unique_last_parts():
    by_name = attica.theory("gauss-double-descent", rho=0.9, alpha=[0.5, 2.0], lambda_=0.1)
    by_section = attica.theory("gauss-double-descent", model={"rho": 0.9}, sweep={"alpha": [0.5, 2], "lambda": 0.1})
    by_key = attica.theory("gauss-double-descent", **{"model.rho": 0.9, "sweep.alpha": (0.5, 2.0), "sweep.lambda": [0.1]})
    assert by_name.rows() == by_section.rows() == by_key.rows()
    assert by_name.parameters["model.rho"] == 0.9 and by_name.parameters["sweep.alpha"] == [0.5, 2.0]
    assert attica.theory("gauss-double-descent", rho=None).rows() == attica.theory("gauss-double-descent").rows()


def test_ranges_presets_and_files(tmp_path):
    grid = attica.theory("gauss-double-descent", alpha={"log": [0.1, 10], "n": 5})["test_error"].x
    assert np.allclose(grid, np.logspace(-1, 1, 5), rtol=1e-15)
    assert attica.theory("gauss-double-descent", preset="paper").parameters["model.sites"] == 400
    (tmp_path / "my.toml").write_text('study = "gauss-lambda"\n[model]\nrho = 0.2\n')
    c = attica.theory(tmp_path / "my.toml", alpha=1.5)
    assert c.study == "gauss-lambda" and c.parameters["model.rho"] == 0.2 and c.parameters["sweep.alpha"] == [1.5]


def test_ambiguous_and_unknown_keywords_name_the_candidates():
    ambiguous = [
        (study, word)
        for study in STUDIES
        for keys in [[p["key"] for p in attica.parameters(study)]]
        for word in {key.split(".", 1)[1] for key in keys}
        if sum(key.split(".", 1)[1] == word for key in keys) > 1
    ]
    assert ambiguous  # some studies have model.tokens and sim.tokens, say
    for study, word in ambiguous:
        with pytest.raises(attica.Error, match=f"keyword '{word}'") as refusal:
            attica.theory(study, **{word: 1})
        for parameter in attica.parameters(study):
            if parameter["key"].split(".", 1)[1] == word:
                assert parameter["key"] in str(refusal.value)
    with pytest.raises(attica.Error, match="no parameter 'rhoo'; did you mean 'rho'"):
        attica.theory("gauss-double-descent", rhoo=0.5)
    with pytest.raises(attica.Error, match="no parameter 'zzzzzzzz'; expected one of .*alpha"):
        attica.theory("gauss-double-descent", zzzzzzzz=1)


def test_own_arguments_hide_no_parameter():
    """The arguments of theory and run that are no parameters must not be the last part of any key."""
    reserved = {"study", "preset", "out", "name", "threads", "until_decided", "max_time", "resume", "force", "progress"}
    for study in STUDIES:
        assert not reserved & {p["key"].split(".", 1)[1] for p in attica.parameters(study)}


@pytest.mark.parametrize(
    "values, sentence",
    [
        ({"rho": 1.5}, r"rho=1.5: error: parameter 'model.rho' = 1.5: expected -1 < rho < 1"),
        ({"rho": float("nan")}, "parameter 'model.rho'"),
        ({"alpha": []}, "at least one value"),
        ({"sites": 2.5}, "parameter 'model.sites' = 2.5: expected an integer"),
        ({"covariance": 'a"b\n'}, "expected \"ar1\""),
        ({"model": {"rhoo": 1}}, r"unknown key 'rhoo' in \[model\]; did you mean 'rho'"),
        ({"model.rhoo": 1}, "did you mean 'rho'"),
        ({"rho": object()}, "a value of type object cannot be configured"),
        ({"preset": "quik"}, "expected one of"),
    ],
)
def test_bad_input_raises_the_programs_sentence(values, sentence):
    with pytest.raises(attica.Error, match=sentence) as refusal:
        attica.theory("gauss-double-descent", **values)
    assert refusal.value.exit_code == 2
    with pytest.raises(attica.Error, match="did you mean 'gauss-lambda'"):
        attica.theory("gauss-lamda")


def test_where_the_theory_diverges_it_is_left_out():
    c = attica.theory("gauss-double-descent", alpha=[0.5, 1.0, 2.0], lambda_=0.0)
    assert c["test_error"].x.tolist() == [0.5, 2.0]
    assert c.diagnostics["diverged"][0]["alpha"] == 1.0


def test_arrays_carry_their_points():
    c = attica.theory("gauss-double-descent", alpha=[0.5, 1.5, 3.0])
    series = c["test_error"]
    assert list(c)[0] == "test_error" and len(c) == 5 and "bias" in c
    assert series.points == [{"lambda": 0.001}, {"lambda": 0.1}, {"lambda": 1.0}] and series.x_name == "alpha"
    assert series.y.shape == np.asarray(series).shape == (3, 3) and series.x.tolist() == [0.5, 1.5, 3.0]
    assert series.at(lambda_=0.1).y.tolist() == series[1].y.tolist() == series.y[1].tolist()
    with pytest.raises(attica.Error, match="no coordinate 'lamda'"):
        series.at(lamda=1)
    with pytest.raises(attica.Error, match="no curve at"):
        series.at(lambda_=7)
    with pytest.raises(KeyError, match="did you mean 'test_error'"):
        c["test_eror"]


def test_pandas_and_xarray_hold_the_same_numbers():
    c = attica.theory("gauss-double-descent", alpha=[0.5, 1.5])
    frame = c.to_pandas()
    assert list(frame.columns) == ["series", "lambda", "x_name", "x", "value"] and len(frame) == len(c.rows())
    data = c.to_xarray()
    for row in c.rows():
        assert float(data[row["series"]].sel({"lambda": row["lambda"], "alpha": row["x"]})) == row["value"]
    words = attica.theory("joma-invariants").to_xarray()  # coordinates that are words
    assert words.sizes["attention"] > 1


def test_threads_may_compute_at_once():
    """The lock is released, and the studies share nothing: four threads find what one finds."""
    from concurrent.futures import ThreadPoolExecutor

    rhos = [0.1, 0.3, 0.5, 0.7]
    alone = [attica.theory("gauss-flow", rho=rho, alpha=1.5).rows() for rho in rhos]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda rho: attica.theory("gauss-flow", rho=rho, alpha=1.5).rows(), rhos)) == alone


def test_the_figure_is_drawn_of_theory_alone():
    c = attica.theory("gauss-double-descent")
    svg = c.figure().data.decode()
    assert svg.lstrip().startswith("<?xml") and svg.count("<path") > 6
    assert c.figure("png").data[:4] == b"\x89PNG" and "data:image/svg+xml" in c._repr_html_()
    with pytest.raises(attica.Error, match="expected half or full"):
        c.figure(width="wide")


def test_a_figure_without_the_panels_that_have_no_theory():
    svg = attica.theory("icl-training").figure().data.decode()
    assert "no theory is drawn in panel (b) of a run's figure" in svg.replace("&#39;", "'")
    assert "no theory is drawn" not in attica.theory("gauss-lambda").figure().data.decode()
    flat = attica.theory("joma-invariants").figure().data.decode()  # a run's figure shows its simulation alone
    assert flat.count("<path") > 10


def test_notebooks_keep_figures_for_every_export():
    c = attica.theory("gauss-lambda")
    first, second = c.figure(), c.figure()
    for shown in (c, first, second):
        bundle = shown._repr_mimebundle_()
        assert set(bundle) == {"text/plain", "text/html", "image/svg+xml", "image/png", "application/pdf"}
        assert bundle["image/svg+xml"].startswith("<svg") and base64.b64decode(bundle["image/png"])[:4] == b"\x89PNG"
        xml.etree.ElementTree.fromstring(bundle["image/svg+xml"])

    def names(figure):
        svg = figure._repr_mimebundle_()["image/svg+xml"]
        defined = set(re.findall(r"\bid=[\"']([^\"']+)", svg))
        used = set(re.findall(r"(?:href=[\"']#|url\([\"']?#)([^\"')]+)", svg))
        assert used and used <= defined
        return defined

    assert not names(first) & names(second)  # of two figures on one page


def test_what_there_is():
    assert "gauss-double-descent" in STUDIES and all(s["question"].endswith("?") for s in attica.studies())
    rho = attica.parameters("gauss-double-descent").where(key="model.rho")[0]
    assert rho["type"] == "real" and rho["range"] == "-1 < rho < 1" and rho["default"] == 0.7
    assert math.isclose(attica.Rows([{"a": 1}, {"a": None, "b": "w"}]).column("a")[0], 1)


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "own").glob("*.toml")), ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore")
def test_configurations_of_the_examples(path, tmp_path, program):
    """Those of study own and with bounds define their study themselves."""
    keys = [parameter["key"] for parameter in attica.parameters(path)]
    assert "sim.replicates" in keys
    end = program("theory", str(path), "--json")
    if end.returncode == 0:
        assert attica.theory(path).rows() == program_rows(json.loads(end.stdout))
    else:  # a command may need what is not here
        with pytest.raises(attica.Error):
            attica.theory(path)
    # Study own has a column `replicate`, which is as near.
    near = "replicate" if "simulation.replicate" in keys else "replicates"
    with pytest.raises(attica.Error, match=f"did you mean '{near}'"):
        attica.run(path, replicats=3, out=tmp_path)
