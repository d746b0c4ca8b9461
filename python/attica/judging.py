"""The verdict on a theory and a simulation that are not attica's: functions, arrays or data frames."""

from __future__ import annotations

import csv
import inspect
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _attica
from .errors import Error
from .judgement import Judgement
from .program import call, wants_progress
from .runs import Run, finished_run
from .tables import frame_columns, is_frame
from .theories import Series

#: Columns of the tables with a meaning of their own; every other one is a coordinate of the point.
_THEORY_COLUMNS = ("series", "x", "value", "finite_size", "numerical_error", "compared")
_THEORY_NUMBERS = ("x", "value", "finite_size", "numerical_error")
_SIMULATION_COLUMNS = ("series", "x", "replicate", "value")
#: Two x closer than this, relatively, are the same.
_SAME_X = 1e-9

#: (series, coordinates of the point)
_Key = tuple[str, tuple[tuple[str, Any], ...]]


class _TheoryCurve:
    def __init__(self) -> None:
        self.x: list[float] = []
        self.value: list[float] = []
        self.finite_size: list[float] = []
        self.numerical_error: list[float] = []
        self.compared: list[bool] = []


class _Simulation:
    """Long form: x, replicate and value of every observation of a curve."""

    def __init__(self) -> None:
        self.x: list[float] = []
        self.replicate: list[int] = []
        self.value: list[float] = []


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"{what} gave {value!r}; expected a number") from None


def _allowance(parameter: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise Error(f"parameter '{parameter}' = {value!r}: expected a finite number >= 0")
    return number


def _named(value: Any, series: str) -> Mapping[str, Any]:
    """A dict of several series, or the one value of `series`."""
    return value if isinstance(value, Mapping) else {series: value}


def _grid(x: Optional[ArrayLike]) -> list[float]:
    if x is None:
        raise Error("parameter 'x' is missing; expected the values at which theory and simulation are compared")
    try:
        grid = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise Error(f"parameter 'x' = {x!r}: expected a list of distinct finite numbers") from None
    if grid.ndim != 1 or grid.size == 0 or not np.all(np.isfinite(grid)) or np.unique(grid).size != grid.size:
        raise Error("parameter 'x': expected a list of distinct finite numbers")
    return grid.tolist()


def _keys_of_frame(columns: Mapping[str, list], known: Sequence[str], series: str) -> list[_Key]:
    """Series and coordinates of every row; an empty field (None, NaN or '') is no coordinate, as in a table."""
    rows = len(columns["x"])
    coordinates = [name for name in columns if name not in known]
    names = columns.get("series", [series] * rows)
    plain = [[v.item() if isinstance(v, np.generic) else v for v in columns[name]] for name in coordinates]
    return [
        (
            str(names[k]),
            tuple((c, v) for c, v in ((c, plain[j][k]) for j, c in enumerate(coordinates)) if not _is_empty(v)),
        )
        for k in range(rows)
    ]


def _is_empty(value: Any) -> bool:
    return str(value) in ("", "None", "nan", "<NA>", "NaT")


def _numbers(columns: Mapping[str, list], name: str, what: str) -> list[float]:
    return [_number(value, f"{what}: row {k} of column '{name}'") for k, value in enumerate(columns[name])]


def _flag(value: Any, row: int) -> bool:
    word = str(value).lower()
    if _is_empty(value) or word in ("true", "1", "1.0", "yes"):
        return True
    if word in ("false", "0", "0.0", "no"):
        return False
    raise Error(f"theory: row {row} of column 'compared' gave {value!r}; expected true or false")


def _require_once(rows: Iterable[tuple[_Key, Any]], what: str) -> None:
    """No row stands in a frame twice: it would count as two observations, or contradict itself."""
    first: dict[Any, int] = {}
    for k, row in enumerate(rows):
        if first.setdefault(row, k) != k:
            (name, point), at = row
            where = "".join(f" at {c}={v}" for c, v in (*point, *at))
            raise Error(f"{what}: series '{name}'{where} stands in row {first[row]} and in row {k}")


def _frame(value: Any, needed: Iterable[str], what: str) -> dict[str, list]:
    columns = frame_columns(value)
    missing = [name for name in needed if name not in columns]
    if missing:
        raise Error(f"{what}: no column '{missing[0]}'; expected {', '.join(needed)}")
    if not columns["x"]:
        raise Error(f"{what}: a data frame without rows; expected at least one")
    return columns


def _series_curves(theory: Series, series: str, plain: bool) -> dict[_Key, _TheoryCurve]:
    """Curves of a study with what they allow; without coordinates where the simulation cannot have any."""
    if plain and len(theory) > 1:
        raise Error(
            f"theory of '{theory.name}' has {len(theory)} curves, and the simulation no coordinates: take one with "
            f".at(...); there are {theory.points}"
        )
    curves: dict[_Key, _TheoryCurve] = {}
    for given in theory:
        curve = curves.setdefault((series, () if plain else tuple(given.point.items())), _TheoryCurve())
        curve.x, curve.value = given.x.tolist(), given.y.tolist()
        curve.finite_size, curve.numerical_error = given.finite_size.tolist(), given.numerical_error.tolist()
        curve.compared = given.compared.tolist()
    return curves


def _theory_curves(theory: Any, x: Optional[ArrayLike], series: str) -> dict[_Key, _TheoryCurve]:
    curves: dict[_Key, _TheoryCurve] = {}
    if is_frame(theory):
        columns = _frame(theory, ("x", "value"), "theory")
        keys = _keys_of_frame(columns, _THEORY_COLUMNS, series)
        given = {name: _numbers(columns, name, "theory") for name in _THEORY_NUMBERS if name in columns}
        for name in ("finite_size", "numerical_error"):
            for k, allowance in enumerate(given.get(name, ())):
                if not 0 <= allowance < math.inf:
                    raise Error(f"theory: row {k} of column '{name}' gave {allowance}; expected a finite number >= 0")
        _require_once(((key, (("x", at),)) for key, at in zip(keys, given["x"])), "theory")
        for k, key in enumerate(keys):
            curve = curves.setdefault(key, _TheoryCurve())
            for name, column in given.items():
                getattr(curve, name).append(column[k])
            if "compared" in columns:
                curve.compared.append(_flag(columns["compared"][k], k))
        return curves
    grid = _grid(x)
    if callable(theory):
        values: dict[str, list[float]] = {}
        for at in grid:
            for name, value in _named(theory(at), series).items():
                values.setdefault(name, []).append(_number(value, f"theory({at})"))
    else:
        values = {name: np.asarray(v, dtype=float).tolist() for name, v in _named(theory, series).items()}
    for name, column in values.items():
        if np.shape(column) != (len(grid),):
            raise Error(f"theory of '{name}' has shape {np.shape(column)}; expected ({len(grid)},), one value for every x")
        curve = curves.setdefault((name, ()), _TheoryCurve())
        curve.x, curve.value = grid, column
    return curves


def _given_simulation(simulate: Any, x: Optional[ArrayLike], series: str) -> dict[_Key, _Simulation]:
    """A data frame, or arrays of shape (number of x, replicates)."""
    curves: dict[_Key, _Simulation] = {}
    if is_frame(simulate):
        columns = _frame(simulate, ("x", "replicate", "value"), "simulate")
        keys = _keys_of_frame(columns, _SIMULATION_COLUMNS, series)
        places, values = _numbers(columns, "x", "simulate"), _numbers(columns, "value", "simulate")
        numbers = _numbers(columns, "replicate", "simulate")
        for k, number in enumerate(numbers):
            if not (number >= 0 and number.is_integer()):
                raise Error(f"simulate: row {k} of column 'replicate' gave {number}; expected a whole number >= 0")
        replicates = [int(number) for number in numbers]
        _require_once(
            ((key, (("x", at), ("replicate", r))) for key, at, r in zip(keys, places, replicates)), "simulate"
        )
        for key, at, replicate, value in zip(keys, places, replicates, values):
            curve = curves.setdefault(key, _Simulation())
            curve.x.append(at)
            curve.replicate.append(replicate)
            curve.value.append(value)
        return curves
    grid = _grid(x)
    for name, value in _named(simulate, series).items():
        array = np.asarray(value, dtype=float)
        if array.ndim != 2 or array.shape[0] != len(grid):
            raise Error(f"simulate of '{name}' has shape {array.shape}; expected ({len(grid)}, replicates)")
        curve = curves.setdefault((name, ()), _Simulation())
        for k, at in enumerate(grid):
            curve.x += [at] * array.shape[1]
            curve.replicate += range(array.shape[1])
            curve.value += array[k].tolist()
    return curves


class _Simulator:
    """Calls g(x, rng) or g(x, seed), whose random numbers are a function of seed, place of x and replicate alone."""

    def __init__(self, simulate: Callable[..., Any], x: list[float], series: str, seed: int) -> None:
        self.simulate, self.x, self.series, self.seed = simulate, x, series, seed
        self.curves: dict[_Key, _Simulation] = {}
        try:
            names = list(inspect.signature(simulate).parameters)
        except (TypeError, ValueError):
            names = []
        self.takes_seed = len(names) > 1 and names[1] == "seed"

    def _source(self, point: int, replicate: int) -> Any:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(point, replicate))
        if self.takes_seed:
            return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))  # fits signed 64 bits
        return np.random.Generator(np.random.PCG64(sequence))

    def extend(self, begin: int, end: int, step: Callable[[], None]) -> None:
        """Replicates begin .. end - 1 at every x."""
        for replicate in range(begin, end):
            for point, at in enumerate(self.x):
                value = self.simulate(at, self._source(point, replicate))
                for name, number in _named(value, self.series).items():
                    number = _number(number, f"simulate at x = {at}, replicate {replicate},")
                    if not math.isfinite(number):
                        raise Error(f"simulate at x = {at}, replicate {replicate}, gave {number}", 4)
                    curve = self.curves.setdefault((name, ()), _Simulation())
                    curve.x.append(at)
                    curve.replicate.append(replicate)
                    curve.value.append(number)
                step()


class _Bar:
    """A bar on standard error, where somebody looks."""

    def __init__(self, total: int, progress: Optional[bool]) -> None:
        self.total, self.done = total, 0
        self.shown = wants_progress() if progress is None else progress

    def step(self) -> None:
        self.done += 1
        if self.shown and (self.done % max(1, self.total // 100) == 0 or self.done == self.total):
            filled = 30 * self.done // self.total
            print(f"\r[{'=' * filled:<30}] {100 * self.done // self.total:3d} %", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.shown and self.done:
            print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)


def _require_finite(theory: Mapping[_Key, _TheoryCurve]) -> None:
    for (name, _), curve in theory.items():
        for at, value in zip(curve.x, curve.value):
            if not (math.isfinite(at) and math.isfinite(value)):
                raise Error(f"theory of '{name}' is {value} at x = {at}; expected finite numbers: leave this x out")


def _matched(theory: Mapping[_Key, _TheoryCurve], simulation: Mapping[_Key, _Simulation]) -> None:
    """Every simulated curve has a theory; x that differ by rounding become equal."""
    for (name, point), curve in simulation.items():
        if (name, point) not in theory:
            known = ", ".join(f"'{n}'" + (f" at {dict(p)}" if p else "") for n, p in theory)
            raise Error(f"simulated '{name}'" + (f" at {dict(point)}" if point else "") + f" has no theory; there is {known}")
        for at in set(curve.x):
            near = min(theory[name, point].x, key=lambda x: abs(x - at))
            if near != at and abs(near - at) <= _SAME_X * max(abs(near), abs(at)):
                curve.x = [near if x == at else x for x in curve.x]


def _check(
    theory: Mapping[_Key, _TheoryCurve],
    simulation: Mapping[_Key, _Simulation],
    margin: Optional[float],
    absolute: float,
    tails: str,
    cap: Optional[int] = None,
) -> dict[str, Any]:
    """What check.json holds, from the program's own judge."""
    record = _attica.agreement(
        [
            (name, dict(point), c.x, c.value, c.finite_size, c.numerical_error, c.compared)
            for (name, point), c in theory.items()
        ],
        [(name, dict(point), c.x, c.replicate, c.value) for (name, point), c in simulation.items()],
        0.0 if margin is None else float(margin),
        float(absolute),
        tails,
        cap,
    )
    allowed = any(value > 0 for curve in theory.values() for value in curve.finite_size)
    if not margin and not absolute and not allowed and record["verdict"] == "INCONCLUSIVE":
        # No margin was declared: there is nothing that more data could decide.
        record["summary"] = "NONE" + record["summary"].removeprefix("INCONCLUSIVE")
        record["verdict"] = "NONE"
    return record


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow([repr(v) if isinstance(v, float) else v for v in row])
    return str(path)


def _tables(
    folder: Path, theory: Mapping[_Key, _TheoryCurve], simulation: Mapping[_Key, _Simulation], series: str
) -> list[str]:
    """THEORY.csv and SIMULATION.csv; a column of series only if there are others than the default."""
    coordinates = list(dict.fromkeys(name for _, point in theory for name, _ in point))
    named = ["series"] if {name for name, _ in theory} != {"y"} else []
    extras = [n for n in ("finite_size", "numerical_error", "compared") if any(getattr(c, n) for c in theory.values())]

    def head(key: _Key) -> list[Any]:
        point = dict(key[1])
        return [key[0]] * len(named) + [point.get(name, "") for name in coordinates]

    def extra(curve: _TheoryCurve, name: str, k: int) -> Any:
        values = getattr(curve, name)
        default: Any = "true" if name == "compared" else 0.0
        return default if not values else str(values[k]).lower() if name == "compared" else values[k]

    return [
        _write(
            folder / "theory.csv",
            [*named, *coordinates, "x", "value", *extras],
            (
                [*head(key), curve.x[k], curve.value[k], *(extra(curve, name, k) for name in extras)]
                for key, curve in theory.items()
                for k in range(len(curve.x))
            ),
        ),
        _write(
            folder / "simulation.csv",
            [*named, *coordinates, "x", "replicate", "value"],
            (
                [*head(key), *observation]
                for key, curve in simulation.items()
                for observation in zip(curve.x, curve.replicate, curve.value)
            ),
        ),
    ]


def judge(
    *,
    theory: Any,
    simulate: Any,
    x: Optional[ArrayLike] = None,
    margin: Optional[float] = None,
    absolute: float = 0.0,
    replicates: int = 100,
    seed: int = 1,
    until_decided: bool = False,
    tails: str = "guarded",
    series: str = "y",
    name: str = "",
    out: "str | os.PathLike[str] | None" = "runs",
    progress: Optional[bool] = None,
) -> "Run | Judgement":
    """Does this theory describe this simulation, within the margin that was declared?

    >>> r = attica.judge(theory=lambda n: 1 / n, simulate=lambda n, rng: rng.normal(size=int(n)).mean() ** 2,
    ...                  x=[4, 16, 64], margin=0.1, replicates=2000)
    >>> str(r.verdict)

    theory: f(x) called with every x, an array of shape (number of x,), or a data frame with columns x and value (and
      optionally series, finite_size, numerical_error, compared; every other column is a coordinate of the point). Or a
      quantity of a study, `attica.theory(...)["test_error"].at(lambda_=0.1)`: what that theory neglects is then allowed,
      x are its own, and points that it does not claim are not compared.
    simulate: g(x, rng) with a numpy.random.Generator, or g(x, seed) with an integer, one call a replicate; an array of
      shape (number of x, replicates); or a data frame with columns x, replicate and value. Functions may return a dict of
      several series. Random numbers depend on seed, place in x and replicate alone: more replicates keep the first ones.
    margin: relative to |theory|, declared before the data are seen; absolute: in the units of the series, added to it.
      Without either z values are reported, and the verdict is NONE.
    until_decided: stops at a look at which the verdict is known, by a rule that keeps the error rates; `replicates`
      (30 or more) is then the cap. The figure and the report in the folder tell the verdict of a fixed number.
    tails: "guarded" (nothing is known of the replicates' law) or "normal".
    out: the folder that receives the run folder `name-hash`; None writes nothing and returns the judgement alone.
    """
    for parameter, value, least in (("replicates", replicates, 1), ("seed", seed, 0)):
        if not isinstance(value, (int, np.integer)) or value < least:
            raise Error(f"parameter '{parameter}' = {value!r}: expected a whole number >= {least}")
    margin = None if margin is None else _allowance("margin", margin)
    absolute = _allowance("absolute", absolute)
    if isinstance(theory, Series):
        series = theory.name if series == "y" else series
        predicted = _series_curves(theory, series, plain=not is_frame(simulate))
        x = theory.x if x is None and not is_frame(simulate) else x
    else:
        predicted = _theory_curves(theory, x, series)
    _require_finite(predicted)
    cap = None
    if callable(simulate):
        simulator = _Simulator(simulate, _grid(x), series, seed)
        bar = _Bar(replicates * len(simulator.x), progress)
        ends = _attica.looks(replicates, sum(len(c.x) for c in predicted.values())) if until_decided else [replicates]
        cap = replicates if until_decided else None
        begin = 0
        try:
            for end in ends:
                simulator.extend(begin, end, bar.step)
                begin = end
                _matched(predicted, simulator.curves)
                record = _check(predicted, simulator.curves, margin, absolute, tails, cap)
                if record["verdict"] not in ("INCONCLUSIVE", "NONE"):
                    break
        finally:
            bar.clear()
        simulated = simulator.curves
    else:
        if until_decided:
            raise Error("parameter 'until_decided' = True: expected a function to simulate with")
        simulated = _given_simulation(simulate, x, series)
        for (known, _), curve in simulated.items():
            for at, replicate, value in zip(curve.x, curve.replicate, curve.value):
                if not math.isfinite(value):
                    raise Error(f"simulated '{known}' is {value} at x = {at}, replicate {replicate}", 4)
        _matched(predicted, simulated)
        record = _check(predicted, simulated, margin, absolute, tails)
    options = _attica.options("judge")
    if out is None or not options:
        return Judgement(record)
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["judge", *_tables(Path(folder), predicted, simulated, series), "--json", "--out", os.fspath(out)]
        arguments += ["--margin", repr(float(margin))] if margin is not None else []
        arguments += ["--absolute", repr(float(absolute))] if absolute else []
        arguments += ["--tails", tails, "--name", name or "judged"]
        # The same data again are the same run.
        arguments += ["--resume"] if "--resume" in options else []
        run = finished_run(call(arguments))
    return Run(run.folder, {**record, "run": str(run.folder)}) if cap is not None else run


def agreement(
    theory: ArrayLike,
    replicates: "ArrayLike | Sequence[ArrayLike]",
    margin: Optional[float] = None,
    *,
    absolute: float = 0.0,
    finite_size: ArrayLike = 0.0,
    numerical_error: ArrayLike = 0.0,
    tails: str = "guarded",
) -> Judgement:
    """The verdict for two arrays, without a folder.

    theory: shape (P,); replicates: shape (P, n), or P arrays of different lengths; a value that is not finite counts as
    a failed replicate. margin is relative to |theory|; absolute, finite_size (what the theory neglects) and
    numerical_error are in its units, the last two numbers or shape (P,).
    """
    margin = None if margin is None else _allowance("margin", margin)
    absolute = _allowance("absolute", absolute)
    values = np.atleast_1d(np.asarray(theory, dtype=float))
    if values.ndim != 1 or not np.all(np.isfinite(values)):
        raise Error("parameter 'theory': expected finite numbers, shape (P,)")
    samples = [np.asarray(sample, dtype=float) for sample in replicates]
    if np.ndim(theory) == 0 and all(sample.ndim == 0 for sample in samples):
        samples = [np.array(samples)]
    if len(samples) != len(values) or any(sample.ndim != 1 for sample in samples):
        raise Error(f"parameter 'replicates': expected {len(values)} lists of replicates, one for every theory value")
    curve = _TheoryCurve()
    curve.x, curve.value = [float(k) for k in range(len(values))], values.tolist()
    for given, name in ((finite_size, "finite_size"), (numerical_error, "numerical_error")):
        allowance = np.broadcast_to(np.asarray(given, dtype=float), values.shape)
        if not np.all(np.isfinite(allowance) & (allowance >= 0)):
            raise Error(f"parameter '{name}': expected finite numbers >= 0")
        setattr(curve, name, allowance.tolist())
    simulation = _Simulation()
    for k, sample in enumerate(samples):
        simulation.x += [float(k)] * sample.size
        simulation.replicate += range(sample.size)
        simulation.value += sample.tolist()
    return Judgement(_check({("y", ()): curve}, {("y", ()): simulation}, margin, absolute, tails))
