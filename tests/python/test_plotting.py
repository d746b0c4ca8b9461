"""A run in the user's own figure and table: the same look as attica's figures."""

import re
import sys
import types
from pathlib import Path

import attica
import numpy as np
import pytest
from attica import plotting

ROOT = Path(__file__).resolve().parent.parent.parent
THEME = (ROOT / "plots" / "theme.cpp").read_text()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plots")
    return attica.run("gauss-double-descent", sites=20, alpha=[0.5263157894736842, 2.0], lambda_=[0.1, 1.0], replicates=40,
                      margin=0.05, threads=1, out=folder)


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_colours_and_dashes_are_those_of_the_program():
    names = re.search(r"kColours = \{(.*?)\}", THEME, re.DOTALL)[1]
    assert tuple(re.findall(r'"(#\w+)"', names)) == plotting.COLOURS
    dashes = re.findall(r'"([^"]+)"', re.search(r"kDashes = \{(.*?)\};", THEME, re.DOTALL)[1])
    assert [d if isinstance(d, str) else d[1] for d in plotting.DASHES] == ["-"] + [
        tuple(int(n) for n in d.strip("()").split(",")) for d in dashes[1:]]
    looks = [plotting.nth_style(k) for k in range(12)]
    assert len({(look["marker"], look["fillstyle"]) for look in looks}) == 12


@pytest.mark.parametrize("name", plotting.STYLES)
def test_style_sheets_are_the_themes(name, pyplot):
    numbers = re.search(rf'\{{"{name}", ([^}}]*)\}}', THEME)[1].split(",")
    half, _, label, small, line, marker = (float(n) for n in numbers)
    with pyplot.style.context(attica.style(name)):
        rc = pyplot.rcParams
        assert (rc["figure.figsize"][0], rc["axes.labelsize"], rc["legend.fontsize"], rc["lines.linewidth"], rc["lines.markersize"]) == (
            half, label, small, line, marker)
        first = list(rc["axes.prop_cycle"])
        assert [c["color"] for c in first] == list(plotting.COLOURS[:6]) and first[1]["linestyle"][1] == (6, 4)
        pyplot.plot([1, 2])
        pyplot.gcf().canvas.draw()
    with pytest.raises(attica.Error, match="expected aps, neurips"):
        attica.style("nature")


def test_plot_draws_theory_and_simulation(run, pyplot):
    _, ax = pyplot.subplots()
    assert run.plot(series="test_error", ax=ax) is ax
    lines = [line for line in ax.get_lines() if line.get_marker() == "None" and len(line.get_xdata()) > 10]
    assert [line.get_color() for line in lines] == ["#0072B2", "#D55E00"]
    told = run.theory["test_error"].at(lambda_=0.1)[0]
    assert lines[0].get_xdata().tolist() == told.x.tolist() and lines[0].get_ydata() == pytest.approx(told.y)
    points = ax.containers[0]
    row = run.points.where(series="test_error", lambda_=0.1)[0]
    assert points.lines[0].get_ydata()[0] == row["mean"] and points.lines[0].get_marker() == "o"
    half = np.diff(points.lines[2][0].get_segments()[0][:, 1])[0] / 2
    assert half == pytest.approx(row["sem"])
    assert ax.get_xlabel() == "alpha" and ax.get_ylabel() == "test_error"
    assert [text.get_text() for text in ax.legend().get_texts()] == ["lambda = 0.1", "lambda = 1"]
    run.plot(series="bias", ax=ax, color="red", label="mine")  # into the same axes: other looks
    assert ax.get_lines()[-1].get_color() == "red" and ax.containers[2].lines[0].get_marker() == "^"
    assert len(run.plot()) == 5
    with pytest.raises(attica.Error, match="no series 'test_eror' to draw; did you mean 'test_error'"):
        run.plot(series="test_eror")


def test_residuals_have_margins(run, pyplot):
    ax = run.residuals(series=["test_error"])
    row = run.points.where(series="test_error", lambda_=1.0)[1]
    drawn = ax.containers[1].lines[0]
    assert drawn.get_ydata()[1] == pytest.approx(100 * row["difference"] / row["theory"]) and "residual (%)" == ax.get_ylabel()
    top = max(vertex[1] for band in ax.collections[:1] for path in band.get_paths() for vertex in path.vertices)
    assert top == pytest.approx(max(100 * p["margin"] / p["theory"] for p in run.points.where(series="test_error")))


def test_without_matplotlib(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="need Matplotlib"):
        run.plot()


def test_to_xarray(run):
    pytest.importorskip("xarray", reason="xarray is not installed")
    data = run.to_xarray()
    assert data["test_error"].dims[0] == "replicate" and data["test_error"].sizes == {"replicate": 40, "lambda": 2, "alpha": 2}
    row = run.points.where(series="test_error", lambda_=0.1)[1]
    assert float(data["test_error"].sel({"lambda": 0.1}).isel(alpha=1).mean()) == pytest.approx(row["mean"])
    told = data["test_error_theory"].sel({"lambda": 0.1, "alpha_theory": row["x"]}, method="nearest")
    assert float(told) == pytest.approx(row["theory"]) and data.attrs["verdict"] == str(run.verdict)


def test_to_inference_data(run, monkeypatch):
    pytest.importorskip("xarray", reason="xarray is not installed")
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match="needs ArviZ"):
        run.to_inference_data()
    stand_in = types.ModuleType("arviz")
    stand_in.InferenceData = lambda **groups: groups
    monkeypatch.setitem(sys.modules, "arviz", stand_in)
    groups = run.to_inference_data()
    assert groups["posterior_predictive"]["test_error"].sizes["draw"] == 40 and "chain" in groups["posterior_predictive"].dims
    assert "test_error_theory" in groups["constant_data"]
