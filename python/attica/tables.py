"""Rows of a table, as everything tidy in attica is returned."""

from __future__ import annotations

import html
from typing import Any, Iterable

import numpy as np


class Rows(list):
    """A list of dicts, one a row. `to_pandas()` makes a data frame of them; notebooks show a table."""

    @property
    def columns(self) -> list[str]:
        """Names of all columns, in the order in which they first occur."""
        return list(dict.fromkeys(key for row in self for key in row))

    def column(self, name: str) -> np.ndarray:
        """One column as an array, shape (number of rows,): floats with NaN for None, or objects if there are words."""
        if self and name not in self.columns:
            raise KeyError(f"no column '{name}'; there are {', '.join(self.columns)}")
        values = [row.get(name) for row in self]
        if any(isinstance(value, (str, dict, list)) for value in values):
            return np.array(values, dtype=object)
        return np.array([np.nan if value is None else value for value in values], dtype=float)

    def where(self, **conditions: Any) -> "Rows":
        """The rows with these values; a name that Python reserves takes a trailing underscore: `lambda_=0.1`."""
        wanted = {name.rstrip("_") if name not in self.columns else name: value for name, value in conditions.items()}
        return Rows(row for row in self if all(row.get(name) == value for name, value in wanted.items()))

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
    """Whether a value is a table with named columns: a data frame, or Rows."""
    return isinstance(value, Rows) or (hasattr(value, "columns") and hasattr(value, "to_dict"))


def frame_columns(frame: Any) -> dict[str, list]:
    """The columns of a data frame or of Rows, as lists."""
    names: Iterable[Any] = frame.columns
    return {str(name): list(frame.column(name) if isinstance(frame, Rows) else frame[name]) for name in names}
