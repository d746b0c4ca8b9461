"""Coordinate checks: how the coordinates of a network's layers scale with its width, against what a parametrisation predicts.

Yang, Hu and others 2022, "Tensor Programs V" (arXiv:2203.03466): in the maximal update parametrisation (muP) the size of
every layer's coordinates, and its change in training, is of order one at any width.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import numpy as np

from . import _attica, values
from .errors import Error, checked_keywords, warn
from .judgement import Judgement
from .judging import _Brought, _check, _Simulation, _TheoryCurve
from .tables import Rows, frame_columns, is_frame

_KINDS = ("input", "hidden", "output", "attention")
_FEWEST_WIDTHS, _SMALLEST_FACTOR, _FEWEST_SEEDS = 4, 8.0, 8
_LEVEL_AGREE, _LEVEL_DISAGREE = 0.05, 0.05

#: Exponents of width. "size": mean |coordinate| at initialisation. "change": mean |coordinate - its initial value| in training,
#: to first order in a learning rate that does not depend on width (standard), or with muP's rates at any rate.
#: None: no power of width is predicted.
PREDICTED: "dict[str, dict[str, dict[str, Optional[float]]]]" = {
    # Output weights of variance 1/width^2, or the multiplier 1/width; attention scores q.k/d_head.
    "mup": {
        "size": {"input": 0.0, "hidden": 0.0, "output": -0.5, "attention": -0.5},
        "change": {"input": 0.0, "hidden": 0.0, "output": 0.0, "attention": 0.0},
    },
    # Weights of variance 1/fan_in, one rate for all. Gradients at hidden coordinates are of order width^(-1/2); an update of a
    # hidden or output layer adds up over its inputs.
    "standard-sgd": {
        "size": {"input": 0.0, "hidden": 0.0, "output": 0.0, "attention": 0.0},
        "change": {"input": -0.5, "hidden": 0.5, "output": 1.0, "attention": None},
    },
    # The same with updates of the size of the rate in every weight, as Adam's. The output follows the change of the layer
    # below, width in every coordinate and aligned with output weights of order width^(-1/2): width^(3/2).
    "standard-adam": {
        "size": {"input": 0.0, "hidden": 0.0, "output": 0.0, "attention": 0.0},
        "change": {"input": 0.0, "hidden": 1.0, "output": 1.5, "attention": None},
    },
}


class CoordinateCheck(Judgement):
    """The exponent of width of every module and step, next to its prediction, with a verdict for each row and for all.

    `rows`: module, kind, step, quantity, exponent, interval90, predicted, verdict, reason, remark, seeds. `coordinates`: the table
    that was measured, with columns width, module, step, replicate and value; `exit_code`: 0 AGREE, 1 DISAGREE, 3 INCONCLUSIVE.
    """

    def __init__(self, record: Mapping[str, Any], rows: Rows, coordinates: Rows) -> None:
        super().__init__(record)
        self.rows, self.coordinates = rows, coordinates

    @property
    def exit_code(self) -> int:
        return {"AGREE": 0, "DISAGREE": 1}.get(str(self.verdict), 3)

    def table(self) -> str:
        """The rows as text."""
        head = f"{'module':<24}{'step':>5} {'quantity':<9}{'exponent':>9}  {'90 % interval':<18}{'predicted':>9}  verdict"
        lines = [head]
        for row in self.rows:
            low, high = row["interval90"] or (math.nan, math.nan)
            shown = {name: "" if row[name] is None else f"{row[name]:.3f}" for name in ("exponent", "predicted")}
            interval = "" if math.isnan(low) else f"{low:.3f} to {high:.3f}"
            why = "; ".join(word for word in (row["reason"], row["remark"]) if word)
            lines.append(
                f"{row['module']:<24}{row['step']:>5g} {row['quantity']:<9}{shown['exponent']:>9}  {interval:<18}"
                f"{shown['predicted']:>9}  {row['verdict'] or 'not compared'}" + (f" ({why})" if why else "")
            )
        return "\n".join(lines)

    def plot(self, ax: Any = None, step: Optional[float] = None) -> Any:
        """Coordinates against width on logarithmic axes, with the fitted power laws; the last step by default. Returns the axes."""
        from . import plotting

        if ax is None:
            _, ax = plotting._pyplot().subplots()
        last = max(row["step"] for row in self.rows) if step is None else step
        for row, look in zip((row for row in self.rows if row["step"] == last), plotting._styles(ax)):
            line, points = plotting._look(look, {})
            by_width: "dict[float, list[float]]" = {}
            for c in self.coordinates:
                if c["module"] == row["module"] and c["step"] == last and c["value"] > 0:
                    by_width.setdefault(c["width"], []).append(math.log(c["value"]))
            widths = sorted(by_width)
            if not widths:
                continue
            means = [math.exp(np.mean(by_width[w])) for w in widths]
            ax.loglog(widths, means, label=f"{row['module']}: {row['exponent']:.2f}" if row["exponent"] is not None else row["module"],
                      **{**points, "linestyle": "none"})
            if row["exponent"] is not None:
                middle, at = np.mean(np.log(widths)), np.mean(np.log(means))
                ax.loglog(widths, [math.exp(at + row["exponent"] * (math.log(w) - middle)) for w in widths], **line)
        ax.set_xlabel("width")
        ax.set_ylabel(f"mean |coordinate| or its change, step {last:g}")
        return ax

    def __repr__(self) -> str:
        return f"{self.summary}\n{self.table()}"

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.rows._repr_html_()


@checked_keywords
def coordcheck(
    make_model: Any,
    widths: Optional[Sequence[int]] = None,
    steps: int = 3,
    *,
    seeds: int = 10,
    predicted: "str | Mapping[str, Any]" = "mup",
    kinds: Optional[Mapping[str, str]] = None,
    tolerance: float = 0.1,
    quantity: str = "change",
    x: str = "width",
) -> CoordinateCheck:
    """Does the size of every layer's coordinates scale with width as the parametrisation says?

    >>> attica.coordcheck(make_model, widths=[64, 128, 256, 512], steps=3)
    >>> attica.coordcheck("coords.csv", predicted={"hidden": 0.0})

    make_model: make_model(width, seed) builds a network and returns (model, step, probe): step() makes one step of training, and
      model(probe) is looked at before the first one and after each. The outputs of all modules without children are recorded by
      forward hooks (PyTorch: named_modules, register_forward_hook). Or it returns an iterator, without any framework, that yields
      a dict from module to array of coordinates at step 0, 1, ... Or a table in place of a function: columns width (or x), module,
      step, value and, if there are several runs of a width, replicate; without `module` and `step` all rows are one curve.
    steps: of training. seeds: runs of every width (8 or more for the full test; fewer are judged by the scatter about the line).
    predicted: "mup", "standard-sgd", "standard-adam" (PREDICTED has their exponents), or exponents by module or kind.
    kinds: "input", "hidden", "output" or "attention" (scores) by module; by default from the shapes of weights at two widths, else
      from the name.
    quantity: "change" records at steps > 0 the mean |coordinate - its initial value|, and at step 0 the mean |coordinate|; "size"
      the mean |coordinate| at every step.

    A row's exponent is the least-squares slope of ln(value) on ln(width). AGREE: it is within `tolerance` of the prediction (90 %
    interval); DISAGREE: it is not, at 5 % over all rows together (Holm); INCONCLUSIVE says how many widths or seeds are needed: 4
    widths over a factor of 8 at least.
    """
    tolerance = _positive(tolerance, "tolerance")
    quantity = values.one_of(quantity, "parameter 'quantity'", ("change", "size"))
    if isinstance(predicted, str):
        values.one_of(predicted, "parameter 'predicted'", tuple(PREDICTED))
    found_kinds: "dict[str, str]" = {}
    if callable(make_model):
        if widths is None:
            raise Error("parameter 'widths' is missing; expected widths to build the model at, such as [64, 128, 256, 512]")
        count = values.whole(steps, "parameter 'steps'", 0)
        runs = values.whole(seeds, "parameter 'seeds'", 1)
        coordinates = _measured(make_model, widths, count, runs, quantity, found_kinds)
    else:
        coordinates = _table(make_model, x)
    named = {**found_kinds, **(kinds or {})}
    for module, kind in named.items():
        values.one_of(kind, f"kind of '{module}'", _KINDS)
    return _judged(coordinates, named, predicted, tolerance, quantity if callable(make_model) else "")


def _positive(value: Any, name: str) -> float:
    number = values.number(value, name)
    if not 0 < number < math.inf:
        raise Error(f"parameter '{name}' = {values.shown(value)}: expected a finite number > 0")
    return number


# --- measuring ---------------------------------------------------------------------------------


def _measured(
    make_model: Callable[..., Any], widths: Sequence[int], steps: int, seeds: int, quantity: str, kinds: "dict[str, str]"
) -> Rows:
    sizes = [values.whole(w, "a width", 1) for w in widths]
    if len(set(sizes)) < len(sizes) or not sizes:
        raise Error(f"parameter 'widths' = {values.shown(widths)}: expected distinct whole numbers >= 1")
    rows = Rows()
    shapes: "dict[str, list[tuple[int, ...]]]" = {}
    for width in sorted(sizes):
        for seed in range(seeds):
            made = make_model(width, seed)
            if isinstance(made, tuple) and len(made) == 3 and callable(made[0]):
                if seed == 0:
                    for name, module in _leaves(made[0]):
                        shape = tuple(getattr(getattr(module, "weight", None), "shape", ()))
                        shapes.setdefault(name, []).append(shape)
                made = _hooked(*made)
            rows += _observed(iter(made), width, seed, steps, quantity)
    for name, seen in shapes.items():
        kind = _kind_of_shapes(seen[0], seen[-1])
        if kind:
            kinds[name] = kind
    return rows


def _observed(coordinates: Iterator[Any], width: int, seed: int, steps: int, quantity: str) -> Iterator["dict[str, Any]"]:
    first: "dict[str, np.ndarray]" = {}
    for step in range(steps + 1):
        try:
            seen = next(coordinates)
        except StopIteration:
            raise Error(f"make_model({width}, {seed}) ended before step {step}; expected coordinates at steps 0 to {steps}") from None
        if not isinstance(seen, Mapping):
            raise Error(f"make_model({width}, {seed}) gave {values.shown(seen)}; expected a dict of arrays by module")
        for name, given in seen.items():
            array = values.array(given, f"coordinates of '{name}' at width {width}, step {step},")
            change = quantity == "change" and step > 0 and array.ndim > 0 and name in first
            if change and array.shape != first[name].shape:
                raise Error(f"coordinates of '{name}' have shape {array.shape} at step {step} and {first[name].shape} before: the same probe?")
            value = float(np.mean(np.abs(array - first[name] if change else array)))
            first.setdefault(name, array)
            yield {"width": width, "module": str(name), "step": step, "replicate": seed, "value": value}


def _leaves(model: Any) -> "list[tuple[str, Any]]":
    """Modules without children, as `torch.nn.Module.named_modules` lists them."""
    return [(name or "model", module) for name, module in model.named_modules() if not list(module.children())]


def _hooked(model: Any, step: Callable[[], Any], probe: Any) -> Iterator["dict[str, Any]"]:
    seen: "dict[str, Any]" = {}
    torch = sys.modules.get("torch")
    watched = [False]

    def hook(name: str) -> Callable[..., None]:
        def keep(_module: Any, _arguments: Any, output: Any) -> None:
            if watched[0]:
                seen[name] = values.array(output[0] if isinstance(output, tuple) else output, f"output of '{name}'")

        return keep

    handles = [module.register_forward_hook(hook(name)) for name, module in _leaves(model)]
    try:
        first = True
        while True:
            if not first:
                step()
            first = False
            seen.clear()
            watched[0] = True
            with torch.no_grad() if torch else contextlib.nullcontext():
                model(*probe) if isinstance(probe, tuple) else model(probe)
            watched[0] = False
            yield dict(seen)
    finally:
        for handle in handles:
            handle.remove()


def _kind_of_shapes(small: "tuple[int, ...]", large: "tuple[int, ...]") -> str:
    """By which of fan_out and fan_in of a weight matrix grow with width; embeddings (rows are words) as inputs."""
    if len(small) < 2 or len(small) != len(large):
        return ""
    grows_out, grows_in = small[0] != large[0], small[1] != large[1]
    return "hidden" if grows_out and grows_in else "output" if grows_in else "input" if grows_out else ""


def _kind_of_name(name: str) -> str:
    lower = name.lower()
    if ("attn" in lower or "attention" in lower) and ("score" in lower or "logit" in lower):
        return "attention"
    last = lower.split(".")[-1]
    if last.startswith(("output", "readout", "logit", "lm_head", "head", "unembed")):
        return "output"
    return "input" if last.startswith(("input", "embed", "wte", "wpe")) else "hidden"


def _table(given: Any, x: str) -> Rows:
    if isinstance(given, (str, os.PathLike)):
        path = values.path(given, "the table")
        try:
            with open(path, "rb") as file:
                read = _attica.read_table(file.read(), path.encode("utf-8", "replace").decode())
        except OSError as error:
            raise Error(f"'{path}': {error.strerror}", 5) from None
        for remark in read["remarks"]:
            warn(remark)
        columns, places = read["columns"], [f"'{path}': line {line}," for line in read["lines"]]
        if not places:
            raise Error(f"'{path}': no rows; expected columns {x}, module, step and value")
    elif is_frame(given):
        columns = frame_columns(given, "coordinates")
        places = [f"coordinates: row {k} of" for k in range(max(map(len, columns.values()), default=0))]
    else:
        raise Error(f"coordcheck() was given {values.shown(given)}; expected make_model(width, seed), a path or a table")
    for name in (x, "value"):
        if name not in columns:
            raise Error(f"coordinates: no column '{name}'; there are {', '.join(columns)}")
    rows, counts = Rows(), {}
    run = next((name for name in ("replicate", "seed", "run") if name in columns), None)
    for k, place in enumerate(places):
        what = f"{place} column"
        width, value = values.number(columns[x][k], f"{what} '{x}'"), values.number(columns["value"][k], f"{what} 'value'")
        if not width > 0 or not math.isfinite(width):
            raise Error(f"{what} '{x}' gave {width}; expected a finite number > 0")
        step = values.number(columns["step"][k], f"{what} 'step'") if "step" in columns else 0.0
        if not math.isfinite(step):
            raise Error(f"{what} 'step' gave {step}; expected a finite number")
        module = columns["module"][k] if "module" in columns else "value"
        if values.is_missing(module):
            raise Error(f"{what} 'module' is empty; expected a name")
        module = str(module)
        replicate: Any = columns[run][k] if run else counts.setdefault((width, module, step), 0)
        counts[width, module, step] = counts.get((width, module, step), 0) + 1
        rows.append({"width": width, "module": module, "step": step, "replicate": replicate, "value": value})
    known = {x, "value", "step", "module", run}
    _warn_of_mixed(rows, {name: column for name, column in columns.items() if name not in known})
    return rows


def _warn_of_mixed(rows: Rows, others: "Mapping[str, list]") -> None:
    """Says of other columns, such as a learning rate, where runs that differ in them are averaged as replicates."""
    for name, column in others.items():
        seen: dict[Any, Any] = {}
        for row, given in zip(rows, column):
            place = (row["width"], row["module"], row["step"])
            if seen.setdefault(place, given) != given and not (values.is_missing(given) and values.is_missing(seen[place])):
                warn(
                    f"column '{name}' is not used: runs of module '{row['module']}' at width {row['width']:g} that differ in it "
                    "count as replicates; take the rows of one value"
                )
                break


# --- judging -----------------------------------------------------------------------------------


def _prediction(predicted: "str | Mapping[str, Any]", module: str, kind: str, step: float, quantity: str) -> Optional[float]:
    if isinstance(predicted, Mapping):
        value = predicted.get(module, predicted.get(kind))
        return None if value is None else values.number(value, f"predicted exponent of '{module}'")
    if quantity == "":  # a table: nobody says what its values are; of order one at any width
        return PREDICTED[predicted]["change"][kind]
    if quantity == "size" and step > 0:  # the sum of both: the larger power
        both = [PREDICTED[predicted][q][kind] for q in ("size", "change")]
        return None if None in both else max(both)  # type: ignore[type-var]
    return PREDICTED[predicted]["size" if step == 0 else "change"][kind]


def _judged(
    coordinates: Rows, kinds: Mapping[str, str], predicted: "str | Mapping[str, Any]", tolerance: float, quantity: str
) -> CoordinateCheck:
    groups: "dict[tuple[str, float], dict[float, dict[Any, float]]]" = {}
    for row in coordinates:
        of_width = groups.setdefault((row["module"], row["step"]), {}).setdefault(row["width"], {})
        if row["replicate"] in of_width:
            raise Error(f"coordinates: module '{row['module']}', step {row['step']:g}, width {row['width']:g}, replicate "
                        f"{row['replicate']} stands twice; a column 'replicate' numbers runs of the same width")
        of_width[row["replicate"]] = row["value"]
    rows = Rows()
    for (module, step), by_width in groups.items():
        kind = kinds.get(module, _kind_of_name(module))
        told = _prediction(predicted, module, kind, step, quantity)
        row: "dict[str, Any]" = {
            "module": module, "kind": kind, "step": step, "quantity": "value" if not quantity else "size" if step == 0 else quantity,
            "exponent": None, "interval90": None, "predicted": told, "verdict": None, "reason": "", "remark": "",
            "seeds": min(len(runs) for runs in by_width.values()), "widths": len(by_width),
        }
        row["_slopes"] = _slopes(by_width, row)
        rows.append(row)
    _decide(rows, tolerance)
    for row in rows:
        slip = row["exponent"] is not None and row["predicted"] is not None and row["kind"] == "attention"
        if slip and row["verdict"] != "AGREE" and abs(row["exponent"] - row["predicted"] - 0.5) <= tolerance:
            row["remark"] = "as scores divided by sqrt(d_head) in place of d_head"
        del row["_slopes"]
    return CoordinateCheck(_record(rows, tolerance), rows, coordinates)


def _slopes(by_width: "dict[float, dict[Any, float]]", row: "dict[str, Any]") -> Any:
    """Slopes of ln(value) on ln(width): one for each seed, or the scatter of the means about one line."""
    numbers = [v for runs in by_width.values() for v in runs.values()]
    if row["predicted"] is None:
        row["reason"] = "no prediction"
    if all(v == 0 for v in numbers):
        row["reason"] = "all coordinates are 0"
        return None
    if any(not (math.isfinite(v) and v > 0) for v in numbers):
        row["reason"] = "some coordinates are 0, negative or not finite"
        return None
    widths = np.array(sorted(by_width))
    if len(widths) < 2:
        row["reason"] = f"1 width; at least {_FEWEST_WIDTHS} over a factor of {_SMALLEST_FACTOR:g} are needed"
        return None
    centred = np.log(widths) - np.mean(np.log(widths))
    weights = centred / np.sum(centred**2)
    logs = [np.log(np.array([by_width[w][r] for r in by_width[w]])) for w in widths]
    row["exponent"] = float(weights @ [np.mean(of_width) for of_width in logs])
    if len(widths) < _FEWEST_WIDTHS or widths[-1] / widths[0] < _SMALLEST_FACTOR:
        row["reason"] = (
            f"{len(widths)} widths over a factor of {widths[-1] / widths[0]:.3g}; at least {_FEWEST_WIDTHS} over a factor of "
            f"{_SMALLEST_FACTOR:g} are needed"
        )
        row["verdict"] = "INCONCLUSIVE" if row["predicted"] is not None else None
    seeds = set.intersection(*(set(runs) for runs in by_width.values()))
    if len(seeds) >= _FEWEST_SEEDS:
        row["seeds"] = len(seeds)
        chosen = sorted(seeds, key=str)
        table = np.log([[by_width[w][r] for r in chosen] for w in widths])
        slopes = weights @ table
        row["exponent"] = float(np.mean(slopes))
        spread = float(np.std(slopes, ddof=1)) / math.sqrt(len(seeds))
        row["_error"], row["_freedom"] = spread, len(seeds) - 1
        _interval(row)
        return slopes
    if len(widths) > 2:
        means = np.array([np.mean(of_width) for of_width in logs])
        left = means - np.mean(means) - row["exponent"] * centred
        row["_freedom"] = len(widths) - 2
        row["_error"] = math.sqrt(float(left @ left) / row["_freedom"] / float(np.sum(centred**2)))
        _interval(row)
    return None


def _interval(row: "dict[str, Any]") -> None:
    half = _t_quantile(_LEVEL_AGREE, row["_freedom"]) * row["_error"]
    row["interval90"] = (row["exponent"] - half, row["exponent"] + half)


def _decide(rows: Rows, tolerance: float) -> None:
    """Verdicts of the rows: of slopes by the judge of all attica, of a scatter about a line by Student's t; Holm over both."""
    open_rows = [row for row in rows if row["exponent"] is not None and row["predicted"] is not None and "_error" in row]
    p_agree, p_disagree = [], []
    for row in open_rows:
        if row["_slopes"] is not None:
            point = _of_slopes(row, tolerance)
            p_agree.append(point["p_agree"])
            p_disagree.append(point["p_disagree"])
            needed = point.get("replicates_needed")
        else:
            gap = abs(row["exponent"] - row["predicted"])
            error = max(row["_error"], 1e-300)
            p_agree.append(_t_tail((tolerance - gap) / error, row["_freedom"]))
            p_disagree.append(min(1.0, 2 * _t_tail((gap - tolerance) / error, row["_freedom"])))
            room = abs(tolerance - gap)
            needed = max(_FEWEST_SEEDS, math.ceil(row["seeds"] * (3 * error / room) ** 2)) if room else None
        row["_needed"] = needed
    order = sorted(range(len(open_rows)), key=lambda k: p_disagree[k])
    rejected = True
    for place, k in enumerate(order):
        row = open_rows[k]
        rejected = rejected and p_disagree[k] * (len(order) - place) <= _LEVEL_DISAGREE
        if row["verdict"] is None:
            row["verdict"] = "DISAGREE" if rejected else "AGREE" if p_agree[k] <= _LEVEL_AGREE else "INCONCLUSIVE"
            if row["verdict"] == "INCONCLUSIVE" and row["_needed"]:
                row["reason"] = f"about {int(row['_needed'])} seeds of every width would decide"
    for row in rows:
        needed = row.pop("_needed", None)
        row["seeds_needed"] = int(needed) if needed and row["verdict"] == "INCONCLUSIVE" else None
        for name in ("_error", "_freedom"):
            row.pop(name, None)
        if row["verdict"] is None and row["predicted"] is not None and row["exponent"] is None:
            row["verdict"] = None if row["reason"] == "all coordinates are 0" else "INCONCLUSIVE"


def _of_slopes(row: "dict[str, Any]", tolerance: float) -> "dict[str, Any]":
    curve, simulation = _TheoryCurve(), _Simulation()
    curve.x, curve.value = [0.0], [float(row["predicted"])]
    for k, slope in enumerate(row["_slopes"]):
        simulation.add(0.0, k, float(slope))
    key = ("y", ())
    return _check({key: curve}, {key: simulation}, None, tolerance, "normal", _Brought(None, False, True))["points"][0]


def _record(rows: Rows, tolerance: float) -> "dict[str, Any]":
    points = []
    for row in rows:
        if row["verdict"] is None:
            continue
        exponent = row["exponent"]
        points.append({
            "series": row["module"], "point": {}, "x_name": "step", "x": float(row["step"]), "mean": exponent,
            "theory": row["predicted"], "sem": None, "n": row["seeds"], "margin": tolerance, "verdict": row["verdict"],
            "difference": None if exponent is None else exponent - row["predicted"], "interval90": row["interval90"],
            **({"reason": row["reason"]} if row["reason"] else {}),
            **({"replicates_needed": row["seeds_needed"]} if row["seeds_needed"] else {}),
        })
    found = [p["verdict"] for p in points]
    agree, disagree, undecided = (found.count(word) for word in ("AGREE", "DISAGREE", "INCONCLUSIVE"))
    verdict = "NONE" if not points else "DISAGREE" if disagree else "AGREE" if agree == len(points) else "INCONCLUSIVE"
    summary = (
        f"{verdict}: {agree} of {len(points)} exponents of width agree within {tolerance:g}, {disagree} disagree, "
        f"{undecided} inconclusive" + (f", {len(rows) - len(points)} not compared" if len(rows) > len(points) else "")
    )
    return {"verdict": verdict, "summary": summary, "points": points, "claims": [], "resolution": []}


# --- Student's t -------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _nodes() -> Any:
    return np.polynomial.legendre.leggauss(60)


def _t_tail(t: float, freedom: int) -> float:
    """P(T > t), by Gauss-Legendre quadrature of cos^(freedom - 1) over the angle atan(t / sqrt(freedom))."""
    if t < 0:
        return 1 - _t_tail(-t, freedom)
    nodes, weights = _nodes()
    low, high = math.atan(t / math.sqrt(freedom)), math.pi / 2
    angles = low + (high - low) * (nodes + 1) / 2
    norm = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    return float(norm * (high - low) / 2 * (weights @ np.cos(angles) ** (freedom - 1)))


def _t_quantile(tail: float, freedom: int) -> float:
    """t with P(T > t) = tail < 1/2."""
    low, high = 0.0, 1.0
    while _t_tail(high, freedom) > tail:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_tail(middle, freedom) > tail else (low, middle)
    return (low + high) / 2


# --- python3 -m attica coordcheck --------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """`attica coordcheck TABLE`, of the package for Python."""
    import argparse
    import json

    parser = argparse.ArgumentParser(
        prog="attica coordcheck",
        description="The exponent of width of every module and step against its prediction, from a table of coordinate sizes.",
        epilog="Exit codes: 0 AGREE, 1 DISAGREE, 2 usage, 3 INCONCLUSIVE, 5 files.",
    )
    parser.add_argument("table", help="CSV with columns width, module, step, value and, for several runs of a width, replicate")
    parser.add_argument("--x", default="width", metavar="NAME", help="column with the width (default width)")
    parser.add_argument("--predicted", default="mup", choices=sorted(PREDICTED), help="parametrisation (default mup)")
    parser.add_argument("--expect", action="append", default=[], metavar="MODULE=P", help="exponent of a module; repeatable")
    parser.add_argument("--tolerance", type=float, default=0.1, metavar="T", help="how far an exponent may be off (default 0.1)")
    parser.add_argument("--figure", metavar="FILE", help="draw it (needs Matplotlib)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    given = parser.parse_args(arguments)
    try:
        predicted: Any = given.predicted
        if given.expect:
            pairs = [word.partition("=") for word in given.expect]
            if any(not sign for _, sign, _ in pairs):
                raise Error("--expect takes MODULE=P, such as hidden=0")
            predicted = {module: number for module, _, number in pairs}
        check = coordcheck(given.table, predicted=predicted, tolerance=given.tolerance, x=given.x)
        if given.figure:
            check.plot().figure.savefig(given.figure, bbox_inches="tight")
    except (Error, ImportError) as error:
        print(f"attica: error: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 2)
    if given.json:
        rows = [{**row, "interval90": list(row["interval90"]) if row["interval90"] else None} for row in check.rows]
        print(json.dumps({"verdict": str(check.verdict), "summary": check.summary, "rows": rows}, indent=2))
    else:
        print(check.table())
        print(check.summary)
    return check.exit_code
