"""Curves of a run in axes of Matplotlib, with the colours, markers and dashes of attica's own figures."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence

from . import values
from .errors import Error, nearest

#: Okabe and Ito (2008), "Color Universal Design", without the yellow; as in plots/theme.cpp.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "p")
#: In units of the line's width.
DASHES: "tuple[Any, ...]" = (
    "-", (0, (6, 4)), (0, (2, 3)), (0, (6, 3, 1, 3)), (0, (11, 4)), (0, (6, 3, 1, 3, 1, 3)),
)
STYLES = ("aps", "neurips", "icml", "jmlr", "slides")
_GREY, _WIDE, _NARROW = "#777777", "#E8E8E8", "#D2D2D2"


def style(name: str = "aps") -> str:
    """The path of a style sheet for Matplotlib: "aps", "neurips", "icml", "jmlr" or "slides", as attica's own figures.

    >>> plt.style.use(attica.style("neurips"))
    """
    return str(Path(__file__).parent / f"{values.one_of(name, 'style', STYLES)}.mplstyle")


def nth_style(k: int) -> "dict[str, Any]":
    """Colour, marker, filling and dash of the k-th curve of a panel; all four are keywords of Axes.plot."""
    filled = k // len(MARKERS) % 2 == 0
    return {
        "color": COLOURS[k % len(COLOURS)],
        "marker": MARKERS[k % len(MARKERS)],
        "fillstyle": "full" if filled else "none",
        "linestyle": DASHES[k % len(DASHES)],
    }


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("plot() and residuals() need Matplotlib (Debian: python3-matplotlib); .figure() does not") from error
    return pyplot


def _chosen(run: Any, series: "str | Sequence[str] | None", available: Sequence[str]) -> "list[str]":
    if series is None:
        return list(available)
    names = [series] if isinstance(series, str) else list(series)
    for name in names:
        if name not in available:
            near = nearest(str(name), list(available))
            hint = f"did you mean '{near}'?" if near else f"there are {', '.join(available)}"
            raise Error(f"run '{run.folder}' has no series '{name}' to draw; {hint}")
    return names


_FIXED = ("study", "series", "kind", "x_name", "x", "mean", "sem", "sd", "n")


def _curves(rows: Sequence[Mapping[str, Any]], known: Sequence[str]) -> "dict[tuple, list[Mapping[str, Any]]]":
    """Rows by the coordinates of their point besides x, in the order in which they occur."""
    curves: "dict[tuple, list[Mapping[str, Any]]]" = {}
    for row in rows:
        point = tuple((k, v) for k, v in row.items() if k not in known and v is not None and k != row["x_name"])
        curves.setdefault(point, []).append(row)
    return {point: sorted(found, key=lambda row: row["x"]) for point, found in curves.items()}


def _axes(names: Sequence[str], ax: Any) -> "list[Any]":
    if ax is None:
        pyplot = _pyplot()
        width, height = pyplot.rcParams["figure.figsize"]
        _, made = pyplot.subplots(
            len(names), 1, squeeze=False, sharex=True, figsize=(width, height * (1 + 0.75 * (len(names) - 1)))
        )
        return list(made[:, 0])
    given = list(ax.flat) if hasattr(ax, "flat") else list(ax) if isinstance(ax, (list, tuple)) else [ax] * len(names)
    if len(given) != len(names):
        raise Error(f"parameter 'ax' has {len(given)} axes; expected one, or one for each of {len(names)} series")
    return given


def _shown(axes: Sequence[Any], ax: Any) -> Any:
    return ax if ax is not None else axes[0] if len(axes) == 1 else axes


def _label(name: str, point: Sequence[tuple], several: bool) -> str:
    words = [f"{k} = {v:g}" if isinstance(v, float) else f"{k} = {v}" for k, v in point]
    return ", ".join(([name] if several or not words else []) + words)


def _styles(axes: Any) -> Iterator["dict[str, Any]"]:
    """Styles that the axes do not show yet, so that several runs in one figure differ."""
    while True:
        k = getattr(axes, "_attica_curves", 0)
        axes._attica_curves = k + 1
        yield nth_style(k)


def _look(given: "dict[str, Any]", keywords: Mapping[str, Any]) -> "tuple[dict[str, Any], dict[str, Any]]":
    """Keywords of Axes.plot for the line and for the points; those of the caller win."""
    own = {"color": keywords["c"]} if "c" in keywords else {}
    merged = {**given, **{k: v for k, v in keywords.items() if k not in ("c", "label")}, **own}
    line = {k: v for k, v in merged.items() if k not in ("marker", "fillstyle", "markersize", "ms")}
    points = {k: v for k, v in merged.items() if k not in ("linestyle", "ls")}
    return line, points


def plot(run: Any, series: "str | Sequence[str] | None" = None, ax: Any = None, **keywords: Any) -> Any:
    _pyplot()
    rows = run.results
    names = _chosen(run, series, list(dict.fromkeys(row["series"] for row in rows if row["x_name"] != "none")))
    axes = _axes(names, ax)
    shared = len(set(map(id, axes))) < len(axes)
    for name, at in zip(names, axes):
        of_series = [row for row in rows if row["series"] == name]
        theory = _curves([row for row in of_series if row["kind"] == "theory"], _FIXED)
        simulation = _curves([row for row in of_series if row["kind"] == "sim"], _FIXED)
        for point, look in zip(dict.fromkeys([*theory, *simulation]), _styles(at)):
            line, points = _look(look, keywords)
            label = keywords.get("label", _label(name, point, shared))
            if point in theory:
                found = [row for row in theory[point] if row["mean"] is not None]
                at.plot([row["x"] for row in found], [row["mean"] for row in found],
                        label="_theory" if point in simulation else label, **line)
            if point in simulation:
                found = [row for row in simulation[point] if row["mean"] is not None]
                error = [row["sem"] if row["sem"] is not None else math.nan for row in found]
                at.errorbar([row["x"] for row in found], [row["mean"] for row in found], yerr=error, label=label,
                            **{"linestyle": "none", **points})
        at.set_xlabel(at.get_xlabel() or of_series[0]["x_name"])
        if not shared:
            at.set_ylabel(at.get_ylabel() or name)
    return _shown(axes, ax)


def residuals(run: Any, series: "str | Sequence[str] | None" = None, ax: Any = None, **keywords: Any) -> Any:
    _pyplot()
    rows = [row for row in run.points if row.get("theory") and row.get("mean") is not None]
    names = _chosen(run, series, list(dict.fromkeys(row["series"] for row in rows if row["x_name"] != "none")))
    axes = [_axes(["all"], ax)[0]] * len(names) if ax is None or not hasattr(ax, "__len__") else _axes(names, ax)
    known = (*_FIXED, "theory", "verdict", "difference", "margin", "margin_terms", "tails", "p_agree", "p_disagree",
             "p_disagree_adjusted", "skewness", "guard_share", "interval90", "z", "reason", "replicates_needed",
             "warning", "detectable_gap", "decided_at")
    chosen = [row for row in rows if row["series"] in names]
    for at in {id(a): a for a in axes}.values():
        _margins(at, [row for row, own in ((r, axes[names.index(r["series"])]) for r in chosen) if own is at])
    for name, at in zip(names, axes):
        for (point, found), look in zip(_curves([r for r in chosen if r["series"] == name], known).items(), _styles(at)):
            _, points = _look(look, keywords)
            scale = [100 / abs(row["theory"]) for row in found]
            error = [s * row["sem"] if row.get("sem") is not None else math.nan for s, row in zip(scale, found)]
            at.errorbar([row["x"] for row in found], [s * row["difference"] for s, row in zip(scale, found)], yerr=error,
                        label=keywords.get("label", _label(name, point, len(names) > 1)), **{"linestyle": "none", **points})
        at.set_xlabel(at.get_xlabel() or (chosen[0]["x_name"] if chosen else ""))
        at.set_ylabel(at.get_ylabel() or "residual (%)")
    return _shown([axes[0]] if len(set(map(id, axes))) == 1 else axes, ax)


def _margins(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """The widest and the narrowest margin along x, as bands, and a line at zero."""
    by_x: "dict[float, list[float]]" = {}
    for row in rows:
        if row.get("margin"):
            by_x.setdefault(row["x"], []).append(100 * row["margin"] / abs(row["theory"]))
    places = sorted(by_x)
    if places:
        wide, narrow = [max(by_x[x]) for x in places], [min(by_x[x]) for x in places]
        if wide != narrow:
            axes.fill_between(places, [-m for m in wide], wide, color=_WIDE, linewidth=0, zorder=0, label="_wide")
        axes.fill_between(places, [-m for m in narrow], narrow, color=_NARROW, linewidth=0, zorder=0, label="margin")
    axes.axhline(0, color=_GREY, linewidth=0.5, zorder=0.5, label="_zero")


def to_xarray(run: Any) -> Any:
    try:
        import pandas
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray() needs pandas and xarray (Debian: python3-xarray)") from error
    arrays: "dict[str, Any]" = {}
    for kind, rows, column in (("theory", run.results, "mean"), ("simulation", run.replicates, "value")):
        by_name: "dict[str, list[Mapping[str, Any]]]" = {}
        for row in rows:
            if row.get("kind", "sim") == ("theory" if kind == "theory" else "sim"):
                by_name.setdefault(row["series"], []).append(row)
        fixed = (*_FIXED, "value", "replicate")
        for name, found in by_name.items():
            table: "list[dict[str, Any]]" = []
            for row in found:
                place = {k: v for k, v in row.items() if k not in fixed and v is not None}
                if row["x_name"] != "none":
                    place[row["x_name"]] = row["x"]
                if kind == "simulation":
                    place["replicate"] = row["replicate"]
                table.append({**place, "_value": row[column]})
            frame = pandas.DataFrame(table)
            axes = [axis for axis in frame.columns if axis != "_value"]
            if axes:
                array = frame.set_index(axes)["_value"].astype(float).to_xarray()
                axes.sort(key=lambda axis: axis != "replicate")
                array = array.transpose(*axes)
            else:
                array = xarray.DataArray(float(frame["_value"].iloc[0]))
            # Theory is drawn more finely than it is simulated: x of its own.
            own = {axis: f"{axis}_theory" for axis in axes if kind == "theory" and axis in {r["x_name"] for r in found}}
            arrays[f"{name}_theory" if kind == "theory" else name] = array.rename(own)
    attributes = {"study": run.study, "verdict": str(run.verdict), "run": str(run.folder)}
    return xarray.Dataset(arrays, attrs=attributes)


def to_inference_data(run: Any) -> Any:
    try:
        import arviz
    except ImportError as error:
        raise ImportError("to_inference_data() needs ArviZ (pip install arviz); to_xarray() does not") from error
    whole = run.to_xarray()
    simulated, constant = {}, {}
    for name, array in whole.data_vars.items():
        if "replicate" in array.dims:
            simulated[name] = array.rename(replicate="draw").expand_dims(chain=[0])
        else:
            constant[name] = array
    import xarray

    groups = {"posterior_predictive": xarray.Dataset(simulated, attrs=whole.attrs)}
    if constant:
        groups["constant_data"] = xarray.Dataset(constant, attrs=whole.attrs)
    return arviz.InferenceData(**groups)
