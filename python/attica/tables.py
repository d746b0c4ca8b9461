"""Rows of a table, as everything tidy in attica is returned."""

from __future__ import annotations

import html
from typing import Any, Mapping

import numpy as np

from .errors import Error, nearest
from .values import column, has


class Rows(list):
    """A list of dicts, one a row. `to_pandas()` makes a data frame of them; notebooks show a table."""

    @property
    def columns(self) -> list[str]:
        """Names of all columns, in the order in which they first occur."""
        return list(dict.fromkeys(key for row in self for key in row))

    def column(self, name: str) -> np.ndarray:
        """One column as an array, shape (number of rows,): floats with NaN for None, or objects if there are words."""
        if self and name not in self.columns:
            raise KeyError(self._no_column(name))
        values = [row.get(name) for row in self]
        if any(isinstance(value, (str, dict, list)) for value in values):
            return np.array(values, dtype=object)
        return np.array([np.nan if value is None else value for value in values], dtype=float)

    def where(self, **conditions: Any) -> "Rows":
        """The rows with these values; a name that Python reserves takes a trailing underscore: `lambda_=0.1`."""
        columns = self.columns
        wanted = {name.rstrip("_") if name not in columns else name: value for name, value in conditions.items()}
        for name, value in wanted.items():
            if self and name not in columns and value is not None:
                raise KeyError(self._no_column(name))
        return Rows(row for row in self if all(row.get(name) == value for name, value in wanted.items()))

    def _no_column(self, name: str) -> str:
        near = nearest(str(name), self.columns)
        return f"no column '{name}'; " + (f"did you mean '{near}'?" if near else f"there are {', '.join(self.columns)}")

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with the same rows and columns."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)

    def _repr_html_(self) -> str:
        most = 20
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shown(row.get(name)))}</td>" for name in self.columns) + "</tr>"
            for row in self[:most]
        )
        more = f"<p>{len(self)} rows, the first {most} shown</p>" if len(self) > most else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def is_frame(value: Any) -> bool:
    """Whether a value is a table with named columns: a data frame (pandas, polars, Arrow), Rows or a list of dicts, a
    structured array, or a dict with the columns x and value."""
    if isinstance(value, np.ndarray):
        return value.dtype.names is not None
    if isinstance(value, list):
        return isinstance(value, Rows) or (len(value) > 0 and all(isinstance(row, Mapping) for row in value))
    if isinstance(value, Mapping):
        return "x" in value and "value" in value
    return _is_data_frame(value) or (has(value, "column_names") and has(value, "to_pydict"))


def _is_data_frame(value: Any) -> bool:
    return has(value, "columns") and has(value, "to_dict")


def _without_index(frame: Mapping, what: str) -> Mapping:
    """A dict of columns; those of `DataFrame.to_dict()`, {name: {index: value}}, without their index."""
    indexed = [name for name, values in frame.items() if isinstance(values, Mapping)]
    if not indexed:
        return frame
    first = list(frame[indexed[0]])
    for name, values in frame.items():
        if not isinstance(values, Mapping) or list(values) != first:
            raise Error(f"{what}: columns '{indexed[0]}' and '{name}' have other rows; expected a list of numbers for each column")
    return {name: list(values.values()) for name, values in frame.items()}


def frame_columns(frame: Any, what: str = "table") -> dict[str, list]:
    """The columns of a table as lists, None where a value is masked. A named index of pandas is a column, as in its CSV."""
    if isinstance(frame, list):
        frame = Rows(frame)
        return {str(name): [row.get(name) for row in frame] for name in frame.columns}
    if isinstance(frame, np.ndarray):
        return {name: column(frame.reshape(-1)[name]) for name in frame.dtype.names or ()}
    if isinstance(frame, Mapping):
        frame = _without_index(frame, what)
        columns = {str(name): column(values) for name, values in frame.items()}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise Error(f"{what}: columns of different lengths ({', '.join(map(str, sorted(lengths)))})")
        return columns
    if not _is_data_frame(frame):
        return {str(name): list(values) for name, values in frame.to_pydict().items()}
    if any(name is not None for name in getattr(getattr(frame, "index", None), "names", [])):
        try:
            frame = frame.reset_index()
        except ValueError as error:
            raise Error(f"{what}: the index has the name of a column ({error})") from None
    names = [str(name) for name in frame.columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise Error(f"{what}: column '{twice[0]}' twice")
    if any(isinstance(name, tuple) for name in frame.columns):
        raise Error(f"{what}: columns of several levels; expected one name a column")
    return {str(name): list(frame[name]) for name in frame.columns}
