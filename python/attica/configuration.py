"""From keyword arguments to the assignments of the command line."""

from __future__ import annotations

import os
from typing import Any, Mapping

import numpy as np

from . import _attica
from .errors import Error

#: Scalars that a list does not sweep.
_NOT_SWEPT = {"sim.seed", "sim.replicates"}


def toml(value: Any) -> str:
    """A value in TOML syntax, numbers so that they read back to the same double."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if ord(c) >= 32 and ord(c) != 127 else f"\\u{ord(c):04x}" for c in quoted) + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml(element)}" for key, element in value.items()) + "}"
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return toml(value.item())
    if hasattr(value, "__iter__"):
        return "[" + ", ".join(toml(element) for element in value) + "]"
    raise Error(f"a value of type {type(value).__name__} cannot be configured; expected a number, text, flag or list")


def _is_several(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return not isinstance(value, (str, os.PathLike)) and hasattr(value, "__iter__")


class Keys:
    """The parameters of a study, and what a keyword means among them."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.table = {parameter["key"]: parameter for parameter in _attica.parameters(target)}

    def _unique(self, word: str) -> str:
        """The dotted key whose last part this is."""
        found = [key for key in self.table if key.split(".", 1)[1] == word]
        if len(found) == 1:
            return found[0]
        if found:
            way_out = ", ".join(f'**{{"{key}": ...}}' for key in found)
            raise Error(f"keyword '{word}' of '{self.target}' may be {' or '.join(found)}; write {way_out}")
        words = [key.split(".", 1)[1] for key in self.table]
        near = _attica.nearest(word, words)
        hint = f"did you mean '{near}'?" if near else f"expected one of {', '.join(sorted(set(words)))}"
        raise Error(f"'{self.target}' has no parameter '{word}'; {hint}")

    def _assignment(self, shown: str, key: str, value: Any) -> tuple[str, str]:
        parameter = self.table.get(key)
        section, name = key.split(".", 1)
        if parameter and not parameter["list"] and _is_several(value):
            if section in ("model", "sim") and key not in _NOT_SWEPT:
                key = f"sweep.{name}"  # any scalar may be swept
        text = toml(value)
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
