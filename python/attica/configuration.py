"""From keyword arguments to the assignments of the command line."""

from __future__ import annotations

import os
import re
from typing import Any, Mapping, Sequence

import numpy as np

from . import _attica, values
from .errors import Error, KeywordError, nearest

#: Scalars that a list does not sweep.
_NOT_SWEPT = {"sim.seed", "sim.replicates"}
_DEEPEST = 32


def toml(value: Any) -> str:
    """A value in TOML syntax, numbers so that they read back to the same double."""
    return _toml(value, 0)


def _toml(value: Any, depth: int) -> str:
    if depth > _DEEPEST:
        raise Error(f"a value with lists within lists, deeper than {_DEEPEST}, cannot be configured")
    if isinstance(value, np.ndarray) and value.ndim == 0 and not np.ma.is_masked(value):
        value = value.item()
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64):
        return str(values.whole(value, "an integer", -(2**63)))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (bytes, bytearray)):
        raise Error(f"bytes {values.shown(value)} cannot be configured; expected text")
    if isinstance(value, os.PathLike):
        value = values.path(value, "a path")
    if isinstance(value, str):
        quoted = values.text(value, "text").replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if ord(c) >= 32 and ord(c) != 127 else f"\\u{ord(c):04x}" for c in quoted) + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_toml(element, depth + 1)}" for key, element in value.items()) + "}"
    if value is None or values.is_missing(value):
        raise Error(f"{values.shown(value)} cannot be configured; expected a value (None alone leaves a default)")
    if _is_numeric(value):
        array = values.array(value, "a value")
        if np.ma.is_masked(value):
            raise Error("a masked value cannot be configured; expected numbers")
        # Whole numbers stay whole: a parameter may take nothing else.
        whole = value.tolist() if isinstance(value, np.ndarray) else array.astype(np.int64).tolist()
        return _toml(whole if _is_whole(value) else array.tolist(), depth + 1)
    if isinstance(value, (set, frozenset)):
        raise Error("a set has no order and cannot be configured; expected a list")
    if values.has(value, "__iter__"):
        try:
            elements = list(value)
        except Exception as error:  # noqa: BLE001  a range or a class, say
            raise Error(f"{values.shown(value)} cannot be configured ({values.shown(error)})") from None
        return "[" + ", ".join(_toml(element, depth + 1) for element in elements) + "]"
    if hasattr(type(value), "__float__"):  # Fraction, Decimal
        return repr(values.number(value, "a parameter"))
    raise Error(f"a value of type {type(value).__name__} cannot be configured; expected a number, text, flag or list")


def _is_numeric(value: Any) -> bool:
    """An array or tensor of numbers (not of text or truth values)."""
    if values.has(value, "detach"):
        return "bool" not in str(getattr(value, "dtype", ""))
    return values.has(value, "__array__") and getattr(getattr(value, "dtype", None), "kind", "O") in "iufcmMV"


def _is_whole(value: Any) -> bool:
    return "int" in str(getattr(value, "dtype", ""))


def _key(key: Any) -> str:
    """A key of an inline table; one with other characters than letters, digits, _ and - is quoted."""
    if not isinstance(key, str):
        raise Error(f"a key {values.shown(key)} cannot be configured; expected text")
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml(key, 0)


def _is_several(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return not isinstance(value, (str, os.PathLike)) and values.has(value, "__iter__")


class Keys:
    """The parameters of a study, and what a keyword means among them.

    arguments: what the function that was called takes besides, for who mistypes one of these.
    """

    def __init__(self, target: str, arguments: Sequence[str] = ()) -> None:
        self.target = target
        self.arguments = list(arguments)
        self.table = {parameter["key"]: parameter for parameter in _attica.parameters(os.fsencode(target))}

    def _unique(self, word: str) -> str:
        """The dotted key whose last part this is."""
        found = [key for key in self.table if key.split(".", 1)[-1] == word]
        if len(found) == 1:
            return found[0]
        if found:
            way_out = ", ".join(f'**{{"{key}": ...}}' for key in found)
            raise Error(f"keyword '{word}' of '{self.target}' may be {' or '.join(found)}; write {way_out}")
        words = [key.split(".", 1)[1] for key in self.table if "." in key]
        near = nearest(word, words + self.arguments)
        hint = f"did you mean '{near}'?" if near else f"expected one of {', '.join(sorted(set(words)))}"
        raise KeywordError(f"'{self.target}' has no parameter {values.shown(word)}; {hint}")

    def _assignment(self, shown: str, key: str, value: Any) -> tuple[str, str]:
        if not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", key, re.ASCII):
            raise KeywordError(f"'{self.target}' has no parameter {values.shown(key)}; expected section.name")
        parameter = self.table.get(key)
        section, _, name = key.rpartition(".")
        if parameter and not parameter["list"] and _is_several(value):
            if section in ("model", "sim") and key not in _NOT_SWEPT:
                key = f"sweep.{name}"  # any scalar may be swept
        try:
            text = toml(value)
        except Error as error:
            raise Error(f"parameter '{shown}': {error}") from None
        brief = text if len(text) <= 60 else text[:57] + "..."
        return f"{shown}={brief}", f"{key}={text}"

    def assignments(self, keywords: Mapping[str, Any]) -> list[tuple[str, str]]:
        """(as the user wrote it, "dotted.key=TOML value") for every keyword; None leaves a default."""
        sections = {key.split(".", 1)[0] for key in self.table} | {"model", "theory", "sim", "sweep", "check", "plot"}
        result = []
        for keyword, value in keywords.items():
            if value is None:
                continue
            if "." in keyword:
                result.append(self._assignment(keyword, keyword, value))
            elif keyword in sections and isinstance(value, Mapping):
                for name, inner in value.items():
                    if inner is not None:
                        result.append(self._assignment(f"{keyword}.{name}", f"{keyword}.{name}", inner))
            else:
                # Names that Python reserves take an underscore: lambda_.
                word = keyword[:-1] if keyword.endswith("_") else keyword
                result.append(self._assignment(keyword, self._unique(word), value))
        return result
