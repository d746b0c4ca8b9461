"""Numbers, coordinates and names out of what users bring: NumPy and masked arrays, pandas, xarray, torch, plain lists.

One rule for all of them. What is missing (None in a table, a masked value, NA, NaT) is NaN here: a replicate that failed, and
no theory. Complex numbers, times, text and records are refused by name, never converted in silence.
"""

from __future__ import annotations

import array as arrays
import math
import numbers
import os
import re
from typing import Any, Iterable, Optional

import numpy as np

from .errors import Error, warn

#: What a table takes for a number. float() takes "1_000" as well, and digits of other scripts.
_NUMBER = re.compile(r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|nan|inf|infinity)\s*", re.ASCII | re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_DEEPEST = 8


def shown(value: Any, most: int = 60) -> str:
    """A value for a message: short, in one line, and never an error of its own."""
    try:
        text = " ".join(repr(value).split()).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001  a repr may do anything
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def is_missing(value: Any) -> bool:
    """None, NaN, a masked value, NA or NaT of pandas and NumPy, or empty text."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    if isinstance(value, str):
        return value.strip().lower() in ("", "nan", "none", "<na>", "nat")
    return isinstance(value, (float, np.floating)) and bool(value != value)


def has(value: Any, attribute: str) -> bool:
    """Whether a value has this attribute, whatever else it does when it is asked."""
    try:
        return hasattr(value, attribute)
    except Exception:  # noqa: BLE001  an object may answer with any error
        return False


def _kind(value: Any) -> Optional[str]:
    """The word for a value that is no number; None if it may be one."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return "a time"
    if isinstance(value, (complex, np.complexfloating)):
        return "a complex number"
    if isinstance(value, (bytes, bytearray, np.bytes_)):
        return "bytes"
    if isinstance(value, np.void) and value.dtype.names:
        return "a record"
    return None


def number(value: Any, what: str) -> float:
    """One number; NaN where it is missing.

    what: the place, for the message `WHAT gave VALUE; expected a number`. An array or tensor of one element is its element.
    """
    if type(value) in (float, int, bool):
        try:
            return float(value)
        except OverflowError:
            raise Error(f"{what} gave an integer beyond the range of doubles; expected a number") from None
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return math.nan
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise Error(f"{what} gave {shown(value)}; expected a number")
        return _of_text(value, what)
    kind = _kind(value)
    if kind is None and not isinstance(value, (numbers.Real, np.generic)):
        if has(value, "__array__") or has(value, "detach"):
            found = array(value, what)
            if found.size == 1:
                return float(found.reshape(-1)[0])
            raise Error(f"{what} gave an array of shape {found.shape}; expected a number")
        if not hasattr(type(value), "__float__"):
            kind = f"{shown(value)} of type {type(value).__name__}"
    if kind is not None:
        raise Error(f"{what} gave {kind}; expected a number")
    try:
        found = float(value)
        small = found == 0 and bool(value != 0)  # Decimal, Fraction, long double
        large = math.isinf(found) and bool(value != found)
    except Exception:  # noqa: BLE001  __float__ may raise anything
        raise Error(f"{what} gave {shown(value)}; expected a number") from None
    return _held(found, small, large, value, what)


def _held(found: float, small: bool, large: bool, value: Any, what: str) -> float:
    """A number that a double holds: what is too large is refused, what is too small is 0, which is said."""
    if large:
        raise Error(f"{what} gave {shown(value)}, which no double holds; expected a number")
    if small:
        warn(f"{what} gave {shown(value)}, too small for a double: read as 0")
    return found


def _of_text(word: str, what: str) -> float:
    """A number in digits."""
    found = float(word)
    small = found == 0 and re.search("[1-9]", re.split("[eE]", word)[0]) is not None
    return _held(found, small, math.isinf(found) and "i" not in word.lower(), word, what)


def array(value: Any, what: str) -> np.ndarray:
    """An array of doubles of any shape, NaN where something is missing.

    Lists of arrays are stacked, their masks with them; tensors come from their device, without gradient; generators are read.
    """
    return _array(value, what, 0)


def _array(value: Any, what: str, depth: int) -> np.ndarray:
    if depth > _DEEPEST:
        raise Error(f"{what}: lists within lists, deeper than {_DEEPEST}; expected an array of numbers")
    if isinstance(value, (str, bytes, bytearray)) or value is None:
        raise Error(f"{what} = {shown(value)}: expected an array of numbers")
    if isinstance(value, (set, frozenset, dict)):
        raise Error(f"{what}: a {type(value).__name__}, which has no order; expected an array of numbers")
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(value)
        if mask.dtype.names:
            raise Error(f"{what}: a structured array; expected numbers")
        return np.where(mask, np.nan, _of_numpy(np.where(mask, 0, np.asarray(value.data)), what))
    if has(value, "detach") and has(value, "cpu"):
        value = _of_tensor(value, what)
    if isinstance(value, (memoryview, arrays.array)):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return _of_numpy(np.asarray(value), what)  # a numpy.matrix, too
    if isinstance(value, (list, tuple)):
        return _of_list(value, what, depth)
    if isinstance(value, (numbers.Number, np.generic)):
        return np.array(number(value, what))
    if has(value, "__array__"):
        try:
            found = np.asarray(value)
        except Exception as error:  # noqa: BLE001
            raise Error(f"{what}: a {type(value).__name__} that is no array ({shown(error)})") from None
        return _of_numpy(np.asarray(found), what)
    if has(value, "__iter__"):
        try:
            elements = list(value)
        except Error:
            raise
        except Exception as error:  # noqa: BLE001
            raise Error(f"{what}: a {type(value).__name__} that ends with {shown(error)}; expected numbers") from error
        return _of_list(elements, what, depth)
    return np.array(number(value, what))


def _of_tensor(value: Any, what: str) -> np.ndarray:
    """A tensor of PyTorch: NumPy knows neither its gradient, nor its device, nor bfloat16."""
    try:
        tensor = value.detach().cpu()
        if getattr(tensor, "is_sparse", False):
            tensor = tensor.to_dense()
        if tensor.is_complex():
            raise Error(f"{what}: complex numbers; expected real ones")
        return np.asarray(tensor.double().numpy())
    except Error:
        raise
    except Exception as error:  # noqa: BLE001
        raise Error(f"{what}: a tensor that cannot be read ({shown(error)}); expected numbers") from None


def _of_numpy(value: np.ndarray, what: str) -> np.ndarray:
    kind = value.dtype.kind
    if kind in "biuf":
        with np.errstate(over="ignore", under="ignore"):
            found = value.astype(np.float64)
        if kind == "f" and value.dtype.itemsize > found.dtype.itemsize:  # long double
            for beyond, large in (((found == 0) & (value != 0), False), (np.isinf(found) & np.isfinite(value), True)):
                if np.any(beyond):
                    _held(0.0, not large, large, value[beyond][0], what)
        return found
    if kind == "O":
        flat = [number(element, what) for element in value.reshape(-1)]
        return np.array(flat, dtype=np.float64).reshape(value.shape)
    if kind == "V" and value.dtype.names is None:  # bfloat16 and its like
        try:
            return value.astype(np.float64)
        except Exception:  # noqa: BLE001
            pass
    words = {"c": "complex numbers", "M": "times", "m": "time differences", "U": "text", "S": "bytes"}
    raise Error(f"{what}: {words.get(kind, f'values of type {value.dtype}')}; expected real numbers")


def _of_list(value: "list[Any] | tuple[Any, ...]", what: str, depth: int) -> np.ndarray:
    if all(type(element) in (float, int, bool) for element in value):
        try:
            return np.array(value, dtype=np.float64)
        except OverflowError:
            raise Error(f"{what}: an integer beyond the range of doubles; expected numbers") from None
    parts = [np.array(number(e, what)) if is_scalar(e) else _array(e, what, depth + 1) for e in value]
    if any(part.shape != parts[0].shape for part in parts):
        raise Error(f"{what}: rows of different lengths; expected an array of numbers")
    return np.stack(parts)


def in_order(value: Any, grid: "list[float]", what: str) -> Any:
    """A labelled array (pandas.Series, xarray.DataArray) whose labels are the x of `grid` in another order, put in this order.

    Labels of their own (a default index, names, other numbers) say nothing; some of the x and not all are refused.
    """
    labels = None
    if has(value, "dims") and has(value, "coords") and has(value, "transpose") and len(value.dims) > 0:
        first = "x" if "x" in value.dims else _dimension_of(value, grid)
        if first is not None:
            value = value.transpose(first, ...)
        labels = _labels(value.coords[value.dims[0]]) if value.dims[0] in value.coords else None
    elif has(value, "index") and has(value, "iloc") and getattr(value, "ndim", 0) == 1:
        labels = None if type(value.index).__name__ == "RangeIndex" else _labels_of_index(value.index, grid)
    if labels is None or len(labels) != len(grid):
        return value
    order = _places(labels, grid)
    if None not in order:
        return np.asarray(value)[order]
    if order != [None] * len(grid):
        raise Error(
            f"{what}: the labels of a {type(value).__name__} are {shown(labels.tolist())}, x is {shown(grid)}; expected the same "
            "numbers, or .to_numpy() for values in the order of x"
        )
    return value


def _labels(given: Any) -> Optional[np.ndarray]:
    """Labels as numbers, whatever type their column has: float32, objects, text of digits. None if they are none."""
    labels = np.asarray(given)
    if labels.ndim != 1 or labels.dtype.kind not in "iufOU":
        return None
    if labels.dtype.kind in "iuf":
        return labels.astype(np.float64)
    found = []
    for label in labels:
        plain = isinstance(label, numbers.Number) and not isinstance(label, (bool, np.bool_, complex, np.complexfloating))
        if not plain and not (isinstance(label, str) and _NUMBER.fullmatch(label)):
            return None
        found.append(number(label, "a label"))
    return np.array(found)


def _labels_of_index(index: Any, grid: "list[float]") -> Optional[np.ndarray]:
    """Of several levels, those of the one that has the x."""
    if getattr(index, "nlevels", 1) == 1:
        return _labels(index.get_level_values(0) if has(index, "get_level_values") else index)
    levels = [_labels(index.get_level_values(k)) for k in range(index.nlevels)]
    having = [level for level in levels if level is not None and len(level) == len(grid) and None not in _places(level, grid)]
    return having[0] if len(having) == 1 else None


def _places(labels: np.ndarray, grid: "list[float]") -> "list[Optional[int]]":
    """Where each x stands among the labels: the same number, or the same in single precision; None where it does not."""
    single = 1.2e-7
    by_size = np.argsort(labels, kind="stable")
    ranked = labels[by_size]
    found: "list[Optional[int]]" = []
    for at in grid:
        k = int(np.searchsorted(ranked, at))
        near = [j for j in (k - 1, k, k + 1) if 0 <= j < len(ranked)]
        same = [j for j in near if ranked[j] == at] or [j for j in near if math.isclose(ranked[j], at, rel_tol=single)]
        found.append(int(by_size[same[0]]) if len(same) == 1 else None)
    return found


def _row_labels(value: Any) -> Optional[list]:
    """The labels of the rows of a labelled array; None for a default index, and where there are none."""
    if has(value, "dims") and has(value, "coords") and len(value.dims) > 0:
        return np.asarray(value.coords[value.dims[0]]).tolist() if value.dims[0] in value.coords else None
    if has(value, "index") and has(value, "iloc"):
        return None if type(value.index).__name__ == "RangeIndex" else list(value.index)
    return None


def rows_in_order_of(first: Any, second: Any, what: str) -> Any:
    """The rows of `second` in the order of `first`, where both have labels; other labels are refused."""
    wanted, there = _row_labels(first), _row_labels(second)
    if wanted is None or there is None or wanted == there:
        return second
    if len(set(there)) != len(there) or set(wanted) != set(there):
        raise Error(
            f"{what}: the labels of the rows are {shown(there)}, of the theory {shown(wanted)}; expected the same ones, "
            "or .to_numpy() for rows in its order"
        )
    return np.asarray(second)[[there.index(label) for label in wanted]]


def _dimension_of(value: Any, grid: "list[float]") -> Any:
    """The dimension of a DataArray whose labels are the x, in any order; None if there is none, or another one like it."""
    found = []
    for name in value.dims:
        labels = _labels(value.coords[name]) if name in value.coords else None
        if labels is not None and len(labels) == len(grid) and None not in _places(labels, grid):
            found.append(name)
    return found[0] if len(found) == 1 else None


def is_scalar(value: Any) -> bool:
    """Whether a value is no array and no list."""
    return value is None or value is np.ma.masked or isinstance(value, (str, bytes, numbers.Number, np.generic))


def name(value: Any, what: str) -> str:
    """A name of letters, digits, _ and -, as series have it in tables."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise Error(f"{what} = {shown(value)}: expected a name of letters, digits, _ and -")
    return str(value)


def text(value: Any, what: str) -> str:
    """Text that can be passed on: without NUL, and with no half of a surrogate pair."""
    if not isinstance(value, str):
        raise Error(f"{what} = {shown(value)}: expected text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Error(f"{what} = {shown(value)}: expected text in Unicode, without lone surrogates") from None
    if "\0" in value:
        raise Error(f"{what} = {shown(value)}: expected text without NUL")
    return str(value)


def one_of(value: Any, what: str, words: "tuple[str, ...]") -> str:
    """One of these words."""
    if not isinstance(value, str) or value not in words:
        raise Error(f"{what} = {shown(value)}: expected {', '.join(words[:-1])} or {words[-1]}")
    return str(value)


def flag(value: Any, what: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{what} = {shown(value)}: expected True or False")
    return bool(value)


def path(value: Any, what: str) -> str:
    """A path as text; names that are not UTF-8 stay what they are."""
    try:
        found = os.fsdecode(os.fspath(value))
        os.fsencode(found)
    except Exception:  # noqa: BLE001  __fspath__ may raise anything
        raise Error(f"{what} = {shown(value)}: expected text or a path") from None
    if "\0" in found:
        raise Error(f"{what} = {shown(value)}: expected a path without NUL")
    return found


def whole(value: Any, what: str, least: int, most: int = 2**63 - 1) -> int:
    """A whole number from `least` to `most`; 1e3 and True are none."""
    odd = isinstance(value, (bool, np.bool_, np.timedelta64)) or not isinstance(value, (int, np.integer))
    if odd or value < least:
        raise Error(f"{what} = {shown(value)}: expected a whole number >= {least}")
    if value > most:
        raise Error(f"{what} = {shown(value)}: expected a whole number <= {most}")
    return int(value)


def coordinate(value: Any, what: str) -> "float | str | None":
    """A coordinate of a point: a finite number, or text; times and dates are text as a table has it. None: no such one."""
    if is_missing(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (str, os.PathLike)):
        word = text(value if isinstance(value, str) else path(value, what), what)
        if not word.isprintable():
            raise Error(f"{what} is {shown(word)}; expected text in one line")
        # Text of digits is a number, as in a table.
        whole_number = len(word) < 400 and re.fullmatch(r"[+-]?[0-9]+", word.strip())
        return coordinate(int(word) if whole_number else _of_text(word, what), what) if _NUMBER.fullmatch(word) else word.strip()
    if _is_time(value):
        return str(value)
    kind = _kind(value)
    if kind is None and (isinstance(value, (numbers.Real, np.number)) or type(value).__name__ == "Decimal"):
        found = number(value, what)
        if not math.isfinite(found):
            raise Error(f"{what} is {shown(value)}; expected a finite number or text")
        if isinstance(value, (int, np.integer)) and int(found) != int(value):
            raise Error(f"{what} is {shown(value)}, beyond 2^53: no double has this value; renumber the points")
        return found
    kind = kind or f"{shown(value)} of type {type(value).__name__}"
    raise Error(f"{what} is {kind}; expected a number, text, a time or a truth value")


def _is_time(value: Any) -> bool:
    import datetime

    times = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
    return isinstance(value, times) or type(value).__name__ in ("Period", "Timestamp", "Timedelta")


def column(values: Iterable[Any]) -> list:
    """A column of a table as a list of plain values; masked ones are None."""
    if isinstance(values, np.ma.MaskedArray):
        return [None if masked else value for value, masked in zip(values.data.tolist(), np.ma.getmaskarray(values))]
    return list(values)
