"""The verdict on a theory and a simulation that are not attica's: functions, arrays or data frames."""

from __future__ import annotations

import inspect
import math
import multiprocessing
import os
import pickle
import signal
import tempfile
import traceback
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _attica, values
from .errors import Error, checked_keywords, warn
from .judgement import Judgement
from .program import Bar, call
from .runs import Run, finished_run
from .tables import Rows, frame_columns, is_frame
from .texts import TextTheory
from .theories import Series
from .training import Training

#: Columns of the tables with a meaning of their own; every other one is a coordinate of the point.
_THEORY_COLUMNS = ("series", "x", "value", "finite_size", "numerical_error", "compared")
_THEORY_NUMBERS = ("x", "value", "finite_size", "numerical_error")
_SIMULATION_COLUMNS = ("series", "x", "replicate", "value")
#: Two x closer than this, relatively, differ by rounding.
_ROUNDING = 1e-9

#: Numbers of replicates are read as doubles.
_MOST_REPLICATES = 2**53

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

    def add(self, x: float, replicate: int, value: float) -> None:
        self.x.append(x)
        self.replicate.append(replicate)
        self.value.append(value)


def _answer(value: Any, what: str) -> float:
    """What a user's function gave: None is no number there, but a `return` that was forgotten."""
    if value is None:
        raise Error(f"{what} gave None; expected a number (does the function return its value?)")
    return values.number(value, what)


def _allowance(parameter: str, value: Any) -> float:
    number = math.nan
    if not isinstance(value, (str, bool)):
        try:
            number = values.number(value, parameter)
        except Error:
            pass
    if not 0 <= number < math.inf:
        raise Error(f"parameter '{parameter}' = {values.shown(value)}: expected a finite number >= 0")
    return number


def _named(value: Any, series: str, what: str) -> Mapping[str, Any]:
    """A dict of several series, or the one value of `series`."""
    if not isinstance(value, Mapping):
        return {series: value}
    if not value:
        raise Error(f"{what} gave an empty dict; expected a value for every series")
    return {values.name(name, f"{what}: series"): element for name, element in value.items()}


def _grid(x: Optional[ArrayLike]) -> list[float]:
    if x is None:
        raise Error("parameter 'x' is missing; expected the values at which theory and simulation are compared")
    try:
        grid = values.array(x, "x")
    except Error as error:
        raise Error(f"parameter 'x' = {values.shown(x)}: expected a list of distinct finite numbers ({error})") from None
    if grid.ndim != 1 or grid.size == 0 or not np.all(np.isfinite(grid)) or np.unique(grid).size != grid.size:
        raise Error("parameter 'x': expected a list of distinct finite numbers")
    return grid.tolist()


def _keys_of_frame(columns: Mapping[str, list], known: Sequence[str], series: str, what: str) -> list[_Key]:
    """Series and coordinates of every row; an empty field (None, NaN or '') is no coordinate, as in a table."""
    rows = len(columns["x"])
    coordinates = [name for name in columns if name not in known]
    for name in coordinates:
        if set(values.text(name, f"{what}: column")) & set(';,"[]') or not name.isprintable() or name != name.strip():
            raise Error(f"{what}: column {values.shown(name)}: expected a name without , ; [ ] and quotes")
    names = columns.get("series", [series] * rows)
    plain = [
        [values.coordinate(v, f"{what}: row {k} of column '{name}'") for k, v in enumerate(columns[name])]
        for name in coordinates
    ]
    return [
        (
            values.name(names[k], f"{what}: row {k} of column 'series'"),
            tuple(sorted((c, plain[j][k]) for j, c in enumerate(coordinates) if plain[j][k] is not None)),
        )
        for k in range(rows)
    ]


def _numbers(columns: Mapping[str, list], name: str, what: str) -> list[float]:
    return [values.number(value, f"{what}: row {k} of column '{name}'") for k, value in enumerate(columns[name])]


def _finite(columns: Mapping[str, list], name: str, what: str) -> list[float]:
    found = _numbers(columns, name, what)
    for k, number in enumerate(found):
        if not math.isfinite(number):
            raise Error(f"{what}: row {k} of column '{name}' gave {number}; expected a finite number")
    return found


def _flag(value: Any, row: int) -> bool:
    word = values.shown(value).strip("'").lower()
    if values.is_missing(value) or word in ("true", "1", "1.0", "yes"):
        return True
    if word in ("false", "0", "0.0", "no"):
        return False
    raise Error(f"theory: row {row} of column 'compared' gave {values.shown(value)}; expected true or false")


def _require_once(rows: Iterable[tuple[_Key, Any]], what: str) -> None:
    """No row stands in a frame twice: it would count as two observations, or contradict itself."""
    first: dict[Any, int] = {}
    for k, row in enumerate(rows):
        if first.setdefault(row, k) != k:
            (name, point), at = row
            where = "".join(f" at {c}={v}" for c, v in (*point, *at))
            raise Error(f"{what}: series '{name}'{where} stands in row {first[row]} and in row {k}")


def _frame(value: Any, needed: Iterable[str], what: str) -> dict[str, list]:
    columns = frame_columns(value, what)
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


def _theory_curves(theory: Any, x: Optional[list[float]], series: str) -> dict[_Key, _TheoryCurve]:
    curves: dict[_Key, _TheoryCurve] = {}
    if is_frame(theory):
        columns = _frame(theory, ("x", "value"), "theory")
        keys = _keys_of_frame(columns, _THEORY_COLUMNS, series, "theory")
        given = {name: _numbers(columns, name, "theory") for name in _THEORY_NUMBERS if name in columns}
        given["x"] = _finite(columns, "x", "theory")
        for name in ("finite_size", "numerical_error"):
            # Left empty, nothing is allowed, as in a table.
            given.update({name: [0.0 if values.is_missing(v) else v for v in given[name]]} if name in given else {})
            for k, allowance in enumerate(given.get(name, ())):
                if not 0 <= allowance < math.inf:
                    raise Error(f"theory: row {k} of column '{name}' gave {allowance}; expected a finite number >= 0")
        _require_once(((key, (("x", at),)) for key, at in zip(keys, given["x"])), "theory")
        for k, key in enumerate(keys):
            curve = curves.setdefault(key, _TheoryCurve())
            for name, numbers in given.items():
                getattr(curve, name).append(numbers[k])
            if "compared" in columns:
                curve.compared.append(_flag(columns["compared"][k], k))
        return curves
    grid = _grid(x)
    if callable(theory):
        found: dict[str, list[float]] = {}
        for at in grid:
            for name, value in _named(theory(at), series, f"theory({at})").items():
                found.setdefault(name, []).append(_answer(value, f"theory({at})"))
    else:
        given = _named(theory, series, "theory").items()
        found = {n: values.array(values.in_order(v, grid, f"theory of '{n}'"), f"theory of '{n}'") for n, v in given}
    for name, told in found.items():
        if np.shape(told) != (len(grid),):
            raise Error(f"theory of '{name}' has shape {np.shape(told)}; expected ({len(grid)},), one value for every x")
        curve = curves.setdefault((name, ()), _TheoryCurve())
        curve.x, curve.value = grid, [float(value) for value in told]
    return curves


def _simulated_frame(frame: Any, series: str, what: str) -> dict[_Key, _Simulation]:
    """Long form: columns x, replicate and value."""
    curves: dict[_Key, _Simulation] = {}
    columns = _frame(frame, ("x", "replicate", "value"), what)
    keys = _keys_of_frame(columns, _SIMULATION_COLUMNS, series, what)
    places, numbers = _finite(columns, "x", what), _numbers(columns, "value", what)
    replicates = []
    for k, number in enumerate(_numbers(columns, "replicate", what)):
        if not (number >= 0 and number.is_integer()):
            raise Error(f"{what}: row {k} of column 'replicate' gave {number}; expected a whole number >= 0")
        if number > _MOST_REPLICATES:
            raise Error(f"{what}: row {k} of column 'replicate' gave {number}; expected a whole number <= 2^53")
        replicates.append(int(number))
    _require_once(((key, (("x", at), ("replicate", r))) for key, at, r in zip(keys, places, replicates)), what)
    for key, at, replicate, value in zip(keys, places, replicates, numbers):
        curves.setdefault(key, _Simulation()).add(at, replicate, value)
    return curves


def _given_simulation(simulate: Any, x: Optional[list[float]], series: str) -> dict[_Key, _Simulation]:
    """A data frame, or arrays of shape (number of x, replicates)."""
    if is_frame(simulate):
        return _simulated_frame(simulate, series, "simulate")
    curves: dict[_Key, _Simulation] = {}
    grid = _grid(x)
    for name, value in _named(simulate, series, "simulate").items():
        array = values.array(values.in_order(value, grid, f"simulate of '{name}'"), f"simulate of '{name}'")
        if array.ndim != 2 or array.shape[0] != len(grid) or array.shape[1] == 0:
            raise Error(f"simulate of '{name}' has shape {array.shape}; expected ({len(grid)}, replicates)")
        curve = curves.setdefault((name, ()), _Simulation())
        for k, at in enumerate(grid):
            curve.x += [at] * array.shape[1]
            curve.replicate += range(array.shape[1])
            curve.value += array[k].tolist()
    return curves


#: What a worker calls: set before it is forked, so that any function will do.
_work: Optional[Callable[..., Any]] = None


def _one_call(arguments: tuple[int, ...]) -> tuple[Any, Optional[Exception]]:
    """A result, or what was raised: those before it in a chunk are kept."""
    assert _work is not None
    try:
        return _work(*arguments), None
    except Exception as error:  # noqa: BLE001  raised again by who asked
        error.add_note("in a worker:\n" + traceback.format_exc())
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001
            error = RuntimeError(traceback.format_exc())
        return None, error


def _over(call: Callable[..., Any], tasks: Sequence[tuple[int, ...]], workers: int) -> Iterator[Any]:
    """The results of `call(*task)` in the order of the tasks, made by so many processes."""
    if workers == 1 or len(tasks) < 2:
        yield from (call(*task) for task in tasks)
        return
    global _work
    _work = call
    try:
        # Forked processes know functions of notebooks and closures, which cannot be sent.
        pool = multiprocessing.get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN))
    finally:
        _work = None
    with pool:
        for result, error in pool.imap(_one_call, tasks, chunksize=max(1, min(64, len(tasks) // (8 * workers)))):
            if error is not None:
                raise error
            yield result


#: Vectorised functions are called for replicates in blocks: of 64 at first, then of an eighth of what there is already.
_SMALLEST_BLOCK = 64
_LARGEST_BLOCK = 4096


def _blocks() -> Iterator[tuple[int, int]]:
    """First replicate and end of every block; the same whatever number of replicates is wanted."""
    begin = 0
    while True:
        end = begin + min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, begin // 8))
        yield begin, end
        begin = end


class _Simulator:
    """Calls g(x, rng) or g(x, seed), whose random numbers are a function of seed, place of x and replicate alone; or
    g(x, rng, n), which gives n replicates at once, with random numbers by seed, place of x and block.

    A call that gives NaN, infinity or a masked value is a replicate that failed: it is counted, and the others go on.
    """

    def __init__(
        self, simulate: Callable[..., Any], x: list[float], series: str, seed: int, known: Any, workers: int = 1
    ) -> None:
        self.simulate, self.x, self.series, self.seed, self.workers = simulate, x, series, seed, workers
        self.curves: dict[_Key, _Simulation] = {} if known is None else _simulated_frame(known, series, "known")
        self.done: set[tuple[float, int]] = set()
        for (name, point), curve in self.curves.items():
            if point:
                raise Error(f"known: series '{name}' has coordinates {dict(point)}; expected columns x, replicate and value")
            for at in curve.x:
                if at not in x:
                    raise Error(f"known: x = {at} is not in x; expected replicates of the same judgement")
            self.done |= set(zip(curve.x, curve.replicate))
        self.takes_seed, self.vectorised = _calling(simulate)
        self._drawn: dict[tuple[int, int], dict[str, list[float]]] = {}

    def _source(self, *key: int) -> Any:
        sequence = np.random.SeedSequence(self.seed, spawn_key=key)
        if self.takes_seed:
            return int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1))  # fits signed 64 bits
        return np.random.Generator(np.random.PCG64(sequence))

    def extend(self, begin: int, end: int, step: Callable[[], None], places: Optional[Sequence[int]] = None) -> None:
        """Replicates begin .. end - 1 at every x, or at those with these numbers."""
        points = range(len(self.x)) if places is None else places
        if self.vectorised:
            for point in points:
                self._extend_blocks(point, begin, end, step)
            return
        wanted = [(point, replicate) for replicate in range(begin, end) for point in points]
        missing = [(point, replicate) for point, replicate in wanted if (self.x[point], replicate) not in self.done]
        for _ in range(len(wanted) - len(missing)):
            step()
        for (point, replicate), numbers in zip(missing, _over(self._call, missing, self.workers)):
            for name, number in numbers.items():
                self._add(name, self.x[point], replicate, number)
            step()

    def _call(self, point: int, replicate: int) -> dict[str, float]:
        at = self.x[point]
        what = f"simulate at x = {at}, replicate {replicate},"
        found = _named(self.simulate(at, self._source(point, replicate)), self.series, what)
        return {name: _answer(value, what) for name, value in found.items()}

    def _add(self, name: str, at: float, replicate: int, number: float) -> None:
        # Infinite is failed, too, as in a table.
        self.curves.setdefault((name, ()), _Simulation()).add(at, replicate, number if math.isfinite(number) else math.nan)

    def _extend_blocks(self, point: int, begin: int, end: int, step: Callable[[], None]) -> None:
        at = self.x[point]
        blocks = []
        for first, last in _blocks():
            if first >= end:
                break
            wanted = range(max(first, begin), min(last, end))
            missing = [r for r in wanted if (at, r) not in self.done]
            if missing:
                blocks.append((first, last, missing))
            for _ in range(len(wanted) - len(missing)):
                step()
        new = [(point, first, last - first) for first, last, _ in blocks if (point, first) not in self._drawn]
        drawn = _over(self._block, new, self.workers)
        for first, last, missing in blocks:
            known = self._drawn.pop((point, first), None)
            block = next(drawn) if known is None else known
            for name, numbers in block.items():
                for replicate in missing:
                    self._add(name, at, replicate, numbers[replicate - first])
            if last > end:
                self._drawn[point, first] = block
            for _ in missing:
                step()

    def _block(self, point: int, first: int, count: int) -> dict[str, list[float]]:
        """A whole block of replicates, however many are wanted: the first ones are the same in any case."""
        what = f"simulate at x = {self.x[point]}, replicates {first} to {first + count - 1},"
        found = self.simulate(self.x[point], self._source(point, first, count), count)
        if found is None:
            raise Error(f"{what} gave None; expected an array of shape ({count},) (does the function return its values?)")
        drawn: dict[str, list[float]] = {}
        for name, value in _named(found, self.series, what).items():
            numbers = values.array(value, what)
            if numbers.shape != (count,):
                raise Error(f"{what} gave an array of shape {numbers.shape}; expected ({count},), a value for each of n replicates")
            drawn[name] = numbers.tolist()
        return drawn

    def rows(self) -> Rows:
        """What was simulated, as `known` takes it."""
        return Rows(
            {"series": name, "x": at, "replicate": replicate, "value": value}
            for (name, _), curve in self.curves.items()
            for at, replicate, value in zip(curve.x, curve.replicate, curve.value)
        )


def _calling(simulate: Callable[..., Any]) -> tuple[bool, bool]:
    """Whether it takes a seed rather than a generator, and whether it gives n replicates at once: g(x, rng, n).

    @throws Error if it takes neither two arguments nor three
    """
    try:
        signature = inspect.signature(simulate)
    except (TypeError, ValueError):
        return False, False
    names = list(signature.parameters)
    takes_seed = len(names) > 1 and names[1] == "seed"
    for arguments in ((0.0, 0), (0.0, 0, 1)):
        try:
            signature.bind(*arguments)
            return takes_seed, len(arguments) == 3
        except TypeError:
            pass
    raise Error(
        f"simulate{signature} takes neither two nor three arguments; expected g(x, rng) or g(x, seed), "
        "or g(x, rng, n) for n replicates at once"
    )


def _require_finite(theory: Mapping[_Key, _TheoryCurve]) -> None:
    for (name, _), curve in theory.items():
        for at, value in zip(curve.x, curve.value):
            if not (math.isfinite(at) and math.isfinite(value)):
                raise Error(f"theory of '{name}' is {value} at x = {at}; expected finite numbers: leave this x out")


def _matched(theory: Mapping[_Key, _TheoryCurve], simulation: Mapping[_Key, _Simulation]) -> None:
    """Every simulated series has a theory; x that differ by rounding become equal. The judge matches what was printed."""
    names = {name for name, _ in theory}
    for (name, point), curve in simulation.items():
        if name not in names:
            known = ", ".join(f"'{n}'" + (f" at {dict(p)}" if p else "") for n, p in theory)
            raise Error(f"simulated '{name}'" + (f" at {dict(point)}" if point else "") + f" has no theory; there is {known}")
        for at in set(curve.x) if (name, point) in theory else ():
            near = min(theory[name, point].x, key=lambda x: abs(x - at))
            if near != at and math.isclose(near, at, rel_tol=_ROUNDING):
                curve.x = [near if x == at else x for x in curve.x]
    alone = sorted(names - {name for name, _ in simulation})
    if alone:
        warn(f"no simulation of {', '.join(alone)}, which the theory has: not compared")


class _Brought(NamedTuple):
    """How places are matched, whether simulated ones may lack a theory, and whether the order of replicates says nothing."""

    match: Optional[float]
    partial: bool
    independent: bool

    def arguments(self) -> list[str]:
        """The same for the program."""
        return [
            *(["--match", repr(self.match)] if self.match is not None else []),
            *(["--partial"] if self.partial else []),
            *(["--independent"] if self.independent else []),
        ]


def _check(
    theory: Mapping[_Key, _TheoryCurve],
    simulation: Mapping[_Key, _Simulation],
    margin: Optional[float],
    absolute: float,
    tails: str,
    brought: _Brought,
    cap: Optional[int] = None,
) -> dict[str, Any]:
    """What check.json holds, from the program's own judge."""
    _matched(theory, simulation)
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
        brought.match,
        brought.partial,
        not brought.independent,
    )
    allowed = any(value > 0 for curve in theory.values() for value in curve.finite_size)
    if not margin and not absolute and not allowed and record["verdict"] == "INCONCLUSIVE":
        # No margin was declared: there is nothing that more data could decide.
        record["summary"] = "NONE" + record["summary"].removeprefix("INCONCLUSIVE")
        record["verdict"] = "NONE"
    return record


def _field(value: Any) -> str:
    """A value as a field of CSV, numbers to the last digit. A line that starts with # would be a comment."""
    text = repr(value) if isinstance(value, float) else str(value)
    quoted = text.startswith("#") or text != text.strip() or any(c in text for c in ',"')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    with open(path, "w", newline="", encoding="utf-8") as file:
        for row in (columns, *rows):
            file.write(",".join(map(_field, row)) + "\n")
    return str(path)


def _tables(
    folder: Path, theory: Mapping[_Key, _TheoryCurve], simulation: Mapping[_Key, _Simulation], series: str
) -> list[str]:
    """THEORY.csv and SIMULATION.csv; a column of series only if there are others than the default."""
    keys = [*theory, *simulation]
    coordinates = list(dict.fromkeys(name for _, point in keys for name, _ in point))
    named = ["series"] if {name for name, _ in keys} != {"y"} else []
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


def predictions(
    theory: Any, simulate: Any, x: Optional[ArrayLike], series: str
) -> tuple[dict[_Key, _TheoryCurve], Optional[list[float]], str]:
    """The curves of a theory as `judge` takes it, the x to simulate at, and the name of the series."""
    grid = None if x is None else _grid(x)
    if isinstance(theory, Training):
        predicted = {key: curve for one in theory.values() for key, curve in _series_curves(one, one.name, True).items()}
        grid = theory.x.tolist() if grid is None and not is_frame(simulate) else grid
    elif isinstance(theory, TextTheory):
        predicted = {
            key: curve
            for name, one in theory.items()
            for key, curve in _series_curves(one, name, plain=not is_frame(simulate)).items()
        }
        if len(theory) == 1 and series != "y":
            predicted = {(series, point): curve for (_, point), curve in predicted.items()}
        series = next(iter(theory)) if len(theory) == 1 and series == "y" else series
        grid = next(iter(theory.values())).x.tolist() if grid is None and not is_frame(simulate) else grid
    elif isinstance(theory, Series):
        series = theory.name if series == "y" else series
        predicted = _series_curves(theory, series, plain=not is_frame(simulate))
        grid = theory.x.tolist() if grid is None and not is_frame(simulate) else grid
    else:
        predicted = _theory_curves(theory, grid, series)
    _require_finite(predicted)
    return predicted, grid, series


@checked_keywords
def judge(
    *,
    theory: Any,
    simulate: Any,
    x: Optional[ArrayLike] = None,
    margin: Optional[float] = None,
    absolute: float = 0.0,
    replicates: Optional[int] = None,
    seed: int = 1,
    until_decided: bool = False,
    tails: str = "guarded",
    match: Optional[float] = None,
    partial: bool = False,
    independent: bool = False,
    series: str = "y",
    known: Any = None,
    workers: int = 1,
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
      quantity of a study, `attica.theory(...)["test_error"].at(lambda_=0.1)`: what that theory leaves out is then allowed,
      x are its own, and points that it does not claim are not compared. Or the result of `attica.training`, `attica.solve`
      or `attica.flow`.
    simulate: g(x, rng) with a numpy.random.Generator, or g(x, seed) with an integer, one call a replicate; g(x, rng, n),
      which returns n replicates at once, shape (n,); an array of shape (number of x, replicates); or a data frame with
      columns x, replicate and value. Functions may return a dict of several series. Random numbers depend on seed, place
      in x and replicate (for g(x, rng, n): the block of replicates) alone: more replicates keep the first ones.
      NaN, infinity or a masked value is a replicate that failed: it is counted, its point is undecided, the others are judged.
    margin: relative to |theory|, declared before the data are seen; absolute: in the units of the series, added to it.
      Without either z values are reported, and the verdict is NONE.
    until_decided: stops at a look at which the verdict is known, by a rule that keeps the error rates; `replicates`
      (30 or more) is then the cap. The figure and the report in the folder state the verdict of a fixed number.
    tails: "guarded" (nothing is known of the replicates' law), "normal", or "rate" for values 1 (success) and 0.
    match: relative distance up to which x and coordinates are the same; by default as far as their printed digits say.
    partial: simulated points without theory are named, and no AGREE is given, unless this is True.
    independent: given replicates are independent by construction; otherwise they are tested for correlation in their
      order (states of one Markov chain are no replicates), which keeps the verdict INCONCLUSIVE. Those of a function are.
    known: replicates of an earlier call that was interrupted (the exception's `simulated`, or a frame of the table it was
      kept in): these calls are not made again.
    workers: processes that call `simulate`; the numbers do not depend on it. They are copies of this one (fork): a function
      that computes on a GPU, or in threads of its own, takes 1.
    out: the folder that receives the run folder `name-hash`; None writes nothing and returns the judgement alone.
    """
    for what, given in (("theory", theory), ("simulate", simulate)):
        if isinstance(given, (str, bytes, os.PathLike)):
            raise Error(f"{what} = {values.shown(given)}: a name; expected a table that was read: pandas.read_csv(NAME)")
    wanted = 100 if replicates is None else values.whole(replicates, "parameter 'replicates'", 1)
    workers = values.whole(workers, "parameter 'workers'", 1)
    seed = values.whole(seed, "parameter 'seed'", 0)
    margin = None if margin is None else _allowance("margin", margin)
    absolute = _allowance("absolute", absolute)
    series = values.name(series, "parameter 'series'")
    label = values.text(name, "parameter 'name'") or "judged"
    if "/" in label or not label.isprintable():
        raise Error(f"parameter 'name' = {values.shown(name)}: expected a name without '/' and control characters")
    until_decided = values.flag(until_decided, "parameter 'until_decided'")
    tails = values.one_of(tails, "parameter 'tails'", ("guarded", "normal", "rate"))
    brought = _Brought(
        None if match is None else _allowance("match", match),
        values.flag(partial, "parameter 'partial'"),
        values.flag(independent, "parameter 'independent'") or callable(simulate),
    )
    progress = None if progress is None else values.flag(progress, "parameter 'progress'")
    folder = None if out is None else values.path(out, "parameter 'out'")
    predicted, grid, series = predictions(theory, simulate, x, series)
    if not callable(simulate):
        for parameter, given in (("until_decided", until_decided), ("known", known), ("workers", workers)):
            if given is not False and given is not None and (parameter, given) != ("workers", 1):
                raise Error(f"parameter '{parameter}' = {values.shown(given)}: expected a function to simulate with")
        simulated = _given_simulation(simulate, grid, series)
        given = max((len(set(curve.replicate)) for curve in simulated.values()), default=0)
        if replicates is not None and wanted != given:
            warn(f"parameter 'replicates' = {wanted} is not used: simulate has {given}, all of which are judged")
        return _judged(predicted, simulated, margin, absolute, tails, brought, None, series, label, folder)
    simulator = _Simulator(simulate, _grid(grid), series, seed, known, workers)
    _require_folder(folder)
    bar = Bar(wanted * len(simulator.x), progress)
    try:
        if not until_decided:
            simulator.extend(0, wanted, bar.step)
            _warn_of_state(simulator.curves)
            return _judged(predicted, simulator.curves, margin, absolute, tails, brought, None, series, label, folder)
        begin = 0
        for end in _attica.looks(wanted, sum(len(c.x) for c in predicted.values())):
            simulator.extend(begin, end, bar.step)
            begin = end
            record = _check(predicted, simulator.curves, margin, absolute, tails, brought, wanted)
            if record["verdict"] not in ("INCONCLUSIVE", "NONE"):
                break
        _warn_of_state(simulator.curves)
        return _judged(predicted, simulator.curves, margin, absolute, tails, brought, record, series, label, folder)
    except BaseException as error:
        _keep(error, simulator.rows(), folder, label)
        raise
    finally:
        bar.clear()


def _warn_of_state(simulation: Mapping[_Key, _Simulation]) -> None:
    """Says so where the replicates of a function are correlated in the order of its calls, as in none of 999 random orders.

    Their generators are independent: a function that goes on from where its last call ended, as one Markov chain does, or
    that counts its calls, gives replicates that are not.
    """
    points: dict[tuple[_Key, float], list[float]] = {}
    for key, curve in simulation.items():
        for x, value in zip(curve.x, curve.value):
            points.setdefault((key, x), []).append(value)
    found = _attica.serial_correlation(list(points.values()))
    if found is not None and found[1] <= 0.001:
        warn(
            f"replicates of simulate are correlated in the order of its calls (autocorrelation {found[0]:.2f}): does it "
            "keep something from one call to the next? Error bars are too small then"
        )


def _judged(
    theory: Mapping[_Key, _TheoryCurve],
    simulation: Mapping[_Key, _Simulation],
    margin: Optional[float],
    absolute: float,
    tails: str,
    brought: _Brought,
    sequential: Optional[Mapping[str, Any]],
    series: str,
    name: str,
    folder: Optional[str],
) -> "Run | Judgement":
    """The verdict: in this process alone, or with the program's folder. That of a sequential rule is known already."""
    options = _attica.options("judge")
    if folder is None or not options:
        return Judgement(sequential or _check(theory, simulation, margin, absolute, tails, brought))
    _matched(theory, simulation)
    with tempfile.TemporaryDirectory() as work:
        arguments = ["judge", *_tables(Path(work), theory, simulation, series), "--json", "--out", folder]
        arguments += ["--margin", repr(float(margin))] if margin is not None else []
        arguments += ["--absolute", repr(float(absolute))] if absolute else []
        arguments += [*brought.arguments(), "--tails", tails, "--name", name]
        # The same data again are the same run.
        arguments += ["--resume"] if "--resume" in options else []
        run = finished_run(call(arguments), failed=True)
    return Run(run.folder, {**sequential, "run": str(run.folder)}) if sequential else run


def _require_folder(folder: Optional[str]) -> None:
    """Refuses a folder that cannot be written before hours are spent on what belongs there."""
    try:
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as error:
        raise Error(f"parameter 'out' = {values.shown(folder)}: cannot write there: {error.strerror}", 5) from None


def _keep(error: BaseException, rows: Rows, folder: Optional[str], name: str) -> None:
    """What was simulated before an exception or Ctrl-C: in its attribute `simulated`, and as a table next to the runs."""
    if not rows:
        return
    try:
        error.simulated = rows  # type: ignore[attr-defined]
        advice = f"attica: the {len(rows)} values simulated so far are this exception's `simulated`"
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            path = Path(folder) / f"{name}-unfinished.csv"
            advice += " and in " + _write(path, rows.columns, (row.values() for row in rows))
        error.add_note(advice + "; judge(..., known=those rows) continues with them")
    except Exception:  # noqa: BLE001  the exception itself says more
        pass


@checked_keywords
def agreement(
    theory: ArrayLike,
    replicates: "ArrayLike | Sequence[ArrayLike]",
    margin: Optional[float] = None,
    *,
    absolute: float = 0.0,
    finite_size: ArrayLike = 0.0,
    numerical_error: ArrayLike = 0.0,
    tails: str = "guarded",
    independent: bool = False,
) -> Judgement:
    """The verdict for two arrays, without a folder.

    theory: shape (P,); replicates: shape (P, n), or P arrays of different lengths; a value that is not finite counts as
    a failed replicate. margin is relative to |theory|; absolute, finite_size (what the theory leaves out) and
    numerical_error are in its units, the last two numbers or shape (P,). The replicates of a row are tested for correlation
    in their order, unless they are independent by construction.
    """
    independent = values.flag(independent, "parameter 'independent'")
    margin = None if margin is None else _allowance("margin", margin)
    absolute = _allowance("absolute", absolute)
    tails = values.one_of(tails, "parameter 'tails'", ("guarded", "normal", "rate"))
    told = values.array(theory, "parameter 'theory'")
    scalar = told.ndim == 0
    told = np.atleast_1d(told)
    if told.ndim != 1 or told.size == 0 or not np.all(np.isfinite(told)):
        raise Error("parameter 'theory': expected finite numbers, shape (P,)")
    samples = _samples(values.rows_in_order_of(theory, replicates, "parameter 'replicates'"), scalar)
    if len(samples) != len(told) or any(sample.ndim != 1 for sample in samples):
        raise Error(f"parameter 'replicates': expected {len(told)} lists of replicates, one for every theory value")
    empty = next((k for k, sample in enumerate(samples) if sample.size == 0), None)
    if empty is not None:
        raise Error(f"parameter 'replicates': row {empty} is empty; expected at least one replicate of every theory value")
    curve = _TheoryCurve()
    curve.x, curve.value = [float(k) for k in range(len(told))], told.tolist()
    for given, name in ((finite_size, "finite_size"), (numerical_error, "numerical_error")):
        allowance = values.array(given, f"parameter '{name}'")
        if allowance.shape not in ((), told.shape):
            raise Error(f"parameter '{name}' has shape {allowance.shape}; expected a number or {told.shape}")
        if not np.all(np.isfinite(allowance) & (allowance >= 0)):
            raise Error(f"parameter '{name}': expected finite numbers >= 0")
        setattr(curve, name, np.broadcast_to(allowance, told.shape).tolist())
    simulation = _Simulation()
    for k, sample in enumerate(samples):
        simulation.x += [float(k)] * sample.size
        simulation.replicate += range(sample.size)
        simulation.value += sample.tolist()
    return Judgement(_check({("y", ()): curve}, {("y", ()): simulation}, margin, absolute, tails, _Brought(None, False, independent)))


def _samples(replicates: Any, scalar: bool) -> list[np.ndarray]:
    """The replicates of every theory value; those of a single number may stand alone."""
    what = "parameter 'replicates'"
    if not isinstance(replicates, (list, tuple, Iterator)):
        whole = values.array(replicates, what)
        return [whole] if scalar and whole.ndim == 1 else list(np.atleast_1d(whole))
    rows = [
        np.array(values.number(row, what)) if values.is_scalar(row) else values.array(row, f"{what}, row {k},")
        for k, row in enumerate(replicates)
    ]
    return [np.array(rows)] if scalar and all(row.ndim == 0 for row in rows) else rows
