"""Figures of several runs and tables: what the program draws."""

import csv

import attica
import pytest

SMALL = {"sites": 20, "alpha": [0.5, 1.0, 2.0], "lambda_": [0.1], "replicates": 20}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs")
    return [attica.run("gauss-double-descent", **SMALL, rho=rho, name=f"rho-{rho}", out=out) for rho in (0.3, 0.9)]


def test_runs_in_one_figure(runs, program, tmp_path):
    drawn = attica.figure(*runs, legend="below", x={"label": "load $\\alpha$"}, out=tmp_path / "own")
    assert drawn.format == "svg" and drawn.path.parent == tmp_path / "own"
    assert "load" in drawn.data.decode() and "image/svg+xml" in drawn._repr_html_()
    end = program(
        "figure", *[str(r.folder) for r in runs], "--set", 'figure.legend="below"', "--set", 'figure.x.label="load $\\\\alpha$"',
        "--format", "svg", "--out", str(tmp_path / "program"),
    )
    assert end.returncode == 0, end.stderr
    assert (tmp_path / "program" / drawn.path.name).read_bytes() == drawn.data


def test_a_dict_is_a_figures_file(runs, tmp_path):
    layers = [{"run": r, "series": "test_error", "label": "$\\rho$ = {rho}", "show": "simulation"} for r in runs]
    drawn = attica.figure({"name": "mine", "panels": [{"layers": layers}]}, width=4, format="png", out=tmp_path)
    assert drawn.path == tmp_path / "mine.png" and drawn.data[:4] == b"\x89PNG"
    with open(tmp_path / "mine.csv", newline="") as file:
        values = sorted(float(row["y"]) for row in csv.DictReader(file) if row["kind"] == "sim")
    means = sorted(m for r in runs for m in r.results.where(series="test_error", kind="sim").column("mean"))
    assert values == means
    tex = attica.figure({"panels": [{"layers": layers}]}, format="tex")
    assert tex.path is None and tex.data.startswith(b"\\begin{tikzpicture}") and "figure.tex" in tex._repr_html_()


def test_mistakes_are_the_programs(runs):
    with pytest.raises(attica.Error, match="did you mean 'legend'"):
        attica.figure(*runs, legnd="inside")
    with pytest.raises(attica.Error, match="expected svg, pdf, png or tex"):
        attica.figure(*runs, format="gif")
    with pytest.raises(attica.Error, match="one of "):
        attica.figure({"panels": [{"layers": [{"run": runs[0], "series": "nothing"}]}]})
    with pytest.raises(attica.Error, match="one dict"):
        attica.figure({"panels": []}, runs[0])
    with pytest.raises(attica.Error, match="needs runs"):
        attica.figure()
