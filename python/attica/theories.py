"""What a study's theory predicts."""

from __future__ import annotations

import html
import math
import numbers
import operator
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import numpy as np

from . import _attica, values
from .configuration import Keys
from .display import FORMATS, Figure, bundle
from .errors import Error, checked_keywords, nearest, warn
from .tables import Rows


@dataclass(frozen=True)
class Curve:
    """A quantity against x at one point of parameter space.

    `x` and `y` are arrays of shape (number of x,), in the units that `attica show STUDY` states; `point` holds all other
    coordinates. A constant has x_name "none", one x = 0 and one y. Of every y the theory states what a simulation may be
    off besides the margin: `finite_size` (what is left out) and `numerical_error`, absolute, 0 where it states none;
    `compared` is False where it is drawn only.
    """

    name: str
    point: dict[str, "float | str"]
    x_name: str
    x: np.ndarray
    y: np.ndarray
    finite_size: np.ndarray
    numerical_error: np.ndarray
    compared: np.ndarray

    def scaled(self, factor: float) -> "Curve":
        """The curve times a factor, and its tolerances times the absolute value of that."""
        size = abs(factor)
        return replace(
            self, y=factor * self.y, finite_size=size * self.finite_size, numerical_error=size * self.numerical_error
        )

    def shifted(self, by: float) -> "Curve":
        """The curve plus a constant, with the same tolerances."""
        return replace(self, y=self.y + by)


class Series(Sequence[Curve]):
    """All curves of one quantity: a sequence of Curve, and NumPy arrays of them. Times, plus or minus a number it is a
    Series again, with the tolerances for neglected terms and numerical errors."""

    def __init__(self, name: str, curves: Sequence[Curve]) -> None:
        self.name = name
        self._curves = tuple(curves)

    def __getitem__(self, index: Any) -> Any:
        return Series(self.name, self._curves[index]) if isinstance(index, slice) else self._curves[index]

    def __len__(self) -> int:
        return len(self._curves)

    @property
    def points(self) -> list[dict[str, "float | str"]]:
        """The coordinates of every curve besides x."""
        return [curve.point for curve in self._curves]

    @property
    def x_name(self) -> str:
        return self._curves[0].x_name

    @property
    def x(self) -> np.ndarray:
        """The x that all curves share, shape (number of x,)."""
        first = self._curves[0].x
        if any(not np.array_equal(first, curve.x) for curve in self._curves[1:]):
            raise Error(f"the curves of '{self.name}' have different x: take them one by one, or .at(...)")
        return first

    @property
    def y(self) -> np.ndarray:
        """The values: shape (number of x,) if there is one curve, else (number of curves, number of x)."""
        self.x  # the same for all
        return self._curves[0].y if len(self) == 1 else np.stack([curve.y for curve in self._curves])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.y, dtype=dtype)

    #: NumPy's scalars leave arithmetic with a Series to it.
    __array_priority__ = 1000.0

    def _each(self, other: Any, change: Callable[[Curve, float], Curve], of_arrays: Callable[[Any, Any], Any]) -> Any:
        if isinstance(other, np.ndarray) and other.ndim > 0:
            return of_arrays(np.asarray(self.y), other)
        if isinstance(other, (bool, np.bool_)) or not isinstance(other, (numbers.Real, np.generic, np.ndarray)):
            return NotImplemented
        number = values.number(other, "a number in arithmetic with a series")
        if not math.isfinite(number):
            raise Error(f"{number} in arithmetic with '{self.name}': expected a finite number")
        return Series(self.name, [change(curve, number) for curve in self._curves])

    # Arithmetic with numbers keeps the tolerances: 1.03 * th is a theory that is 3 % larger. With arrays it gives arrays.
    def __mul__(self, other: Any) -> "Series":
        return self._each(other, Curve.scaled, operator.mul)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Series":
        return self._each(other, lambda curve, number: curve.scaled(1 / number), operator.truediv)

    def __neg__(self) -> "Series":
        return self * -1.0

    def __add__(self, other: Any) -> "Series":
        return self._each(other, Curve.shifted, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Series":
        return self._each(other, lambda curve, number: curve.shifted(-number), operator.sub)

    def __rsub__(self, other: Any) -> "Series":
        return self._each(other, lambda c, number: c.scaled(-1.0).shifted(number), lambda own, others: others - own)

    def __rtruediv__(self, other: Any) -> Any:
        return other / np.asarray(self.y)

    def at(self, **coordinates: Any) -> "Series":
        """The curves with these coordinates. A name that Python reserves takes a trailing underscore: `lambda_=0.1`."""
        known = {name for curve in self._curves for name in curve.point}
        wanted = {}
        for name, value in coordinates.items():
            name = name[:-1] if name.endswith("_") and name not in known else name
            if name not in known:
                raise Error(f"'{self.name}' has no coordinate '{name}'; it has {', '.join(sorted(known)) or 'none'}")
            wanted[name] = value
        found = [c for c in self._curves if all(c.point.get(name) == value for name, value in wanted.items())]
        if not found:
            raise Error(f"'{self.name}' has no curve at {wanted}; there are {self.points}")
        return Series(self.name, found)

    def __repr__(self) -> str:
        lines = [f"{self.name} against {self.x_name}"]
        lines += [f"  {curve.point or ''} {len(curve.x)} values" for curve in self._curves]
        return "\n".join(lines)


class Theory(Mapping[str, Series]):
    """The predictions of a study: `c["test_error"]` are the curves of a quantity, `c.rows()` the table that
    `attica theory` prints.

    `study` is its name, `parameters` all resolved values by dotted key, `diagnostics` facts of the problem; points where
    the theory itself diverges are left out and listed there under "diverged".
    """

    def __init__(self, record: Mapping[str, Any], request: tuple[str, str, list[tuple[str, str]]]) -> None:
        self.study: str = record["study"]
        self.parameters: dict[str, Any] = record["parameters"]
        self.diagnostics: dict[str, Any] = record["diagnostics"]
        self.curves = [
            Curve(
                s["name"],
                s["point"],
                s["x_name"],
                s["x"],
                s["y"],
                s["finite_size"],
                s["numerical_error"],
                np.array(s["compared"], dtype=bool),
            )
            for s in record["series"]
        ]
        self._request = request

    def __getitem__(self, name: str) -> Series:
        curves = [curve for curve in self.curves if curve.name == name]
        if not curves:
            near = nearest(str(name), list(self))
            hint = f"did you mean '{near}'?" if near else f"there are {', '.join(self)}"
            raise KeyError(f"'{self.study}' has no series '{name}'; {hint}")
        return Series(name, curves)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(curve.name for curve in self.curves))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def rows(self) -> Rows:
        """A dict a value: series, the point's coordinates, x_name, x, value. Digit for digit what the program prints."""
        return Rows(
            {"series": curve.name, **curve.point, "x_name": curve.x_name, "x": x, "value": y}
            for curve in self.curves
            for x, y in zip(curve.x.tolist(), curve.y.tolist())
        )

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame."""
        return self.rows().to_pandas()

    def to_xarray(self) -> Any:
        """An xarray.Dataset: a variable a series, whose dimensions are the point's coordinates and x by its name."""
        import pandas
        import xarray

        arrays = {}
        for name, series in self.items():
            frame = pandas.concat(
                pandas.DataFrame({**curve.point, curve.x_name: curve.x, name: curve.y}) for curve in series
            )
            axes = [axis for axis in frame.columns if axis not in (name, "none")]
            column = frame.set_index(axes)[name] if axes else frame[name].iloc[0]
            arrays[name] = column.to_xarray() if axes else xarray.DataArray(column)
        return xarray.Dataset(arrays, attrs={"study": self.study})

    def figure(self, format: str = "svg", style: str = "aps", width: str = "") -> Figure:
        """The study's figure with the theory alone: its lines are drawn as finely as in a run.

        format: "svg", "pdf" or "png"; style and width ("half", "full") as in `attica plot`.
        """
        values.one_of(format, "parameter 'format'", FORMATS)
        for name, value in (("style", style), ("width", width)):
            values.text(value, f"parameter '{name}'")
        with tempfile.TemporaryDirectory() as folder:
            target, preset, assignments = self._request
            files = _attica.theory_figure(os.fsencode(target), preset, assignments, folder, format, style, width)
            path = next(Path(file) for file in files if file.endswith("." + format))
            return Figure(path.read_bytes(), format, None, lambda other: self.figure(other, style, width).data)

    def _shown_figure(self) -> "tuple[Optional[Figure], str]":
        """The figure, or None and the reason."""
        try:
            return self.figure(), ""
        except Error as error:  # no gnuplot, say: the numbers stand without
            return None, str(error)

    def _page(self, figure: Optional[Figure], reason: str) -> str:
        shown = figure._repr_html_() if figure else f"<p>{html.escape(reason)}</p>"
        return f"<p><b>{html.escape(self.study)}</b>, theory</p>{shown}"

    def _repr_html_(self) -> str:
        return self._page(*self._shown_figure())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        figure, reason = self._shown_figure()
        return bundle(figure, self._page(figure, reason), repr(self))

    def __repr__(self) -> str:
        return f"Theory of {self.study}: " + ", ".join(f"{name} ({len(series)})" for name, series in self.items())


def studies() -> Rows:
    """The studies that attica has: name, question, what each theory leaves out, and where it is not compared."""
    return Rows(_attica.studies())


def parameters(study: "str | os.PathLike[str]") -> Rows:
    """What can be configured in a study (or in that of a configuration file): key, type, list, default, choices, range,
    meaning with units."""
    return Rows(_attica.parameters(os.fsencode(values.path(study, "parameter 'study'"))))


@checked_keywords
def theory(study: "str | os.PathLike[str]", *, preset: str = "", **keywords: Any) -> Theory:
    """The theory of a study, or of a TOML configuration, computed in this process.

    >>> c = attica.theory("gauss-double-descent", rho=0.9, alpha=[0.5, 1.5, 3.0])
    >>> c["test_error"].at(lambda_=0.1).y

    A bare keyword is the unique parameter whose last part it is (`rho` is `model.rho`); `model={"rho": 0.9}` and
    `**{"model.rho": 0.9}` say the same. A list for a scalar of [model] or [sim] sweeps it. Ranges are written as in a
    configuration: `alpha={"log": [0.1, 10], "n": 24}`. Input errors raise attica.Error with the program's sentence.
    """
    target = values.path(study, "parameter 'study'")
    preset = values.text(preset, "parameter 'preset'")
    assignments = Keys(target, ["preset"]).assignments(keywords)
    record = _attica.theory(os.fsencode(target), preset, assignments)
    for warning in record["warnings"]:
        warn(warning)
    if record["failed"]:
        warn("the theory failed numerically at some points: see .diagnostics['failed']")
    return Theory(record, (target, preset, assignments))
