"""Theories that are written as text: equations in a dict."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import _attica, gauss, values
from .errors import Error, KeywordError, nearest, warn
from .theories import Theory

_KEYS = {
    "solve": ("unknowns", "fixed", "zero", "follow", "domain", "starts", "choose", "branches"),
    "flow": ("time", "start", "rate", "each", "stiff", "event"),
    "map": ("time", "start", "next", "each"),
}
_CALLED = {"solve": "solve", "flow": "flow", "map": "recursion"}
_COMMON = ("let", "lists", "series", "model", "x", "max_seconds")


class TextTheory(Theory):
    """The theory of equations in a dict, a mapping from series to curves as every Theory; `judge` takes it as a whole, or
    one of its series."""

    _folder: "tempfile.TemporaryDirectory[str]"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _toml(value: Any, where: str) -> str:
    """A value as TOML writes it: formulas, numbers, flags, tables and lists of them."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quoted(str(k))} = {_toml(v, f'{where}.{k}')}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_toml(v, where) for v in value) + "]"
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Error(f"'{where}' = {values.shown(value)}: expected a formula in quotes, a number or a table") from None
    return repr(number)


def _lists(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Arrays of numbers become files: (values, weights) has two columns."""
    made: dict[str, Any] = {}
    for name, one in given.items():
        weighted = isinstance(one, tuple) and len(one) == 2 and np.ndim(one[0]) == 1
        if not weighted and (isinstance(one, (str, Mapping)) or np.ndim(one) != 1):
            made[name] = one
            continue
        numbers = values.array(one[0] if weighted else one, f"lists.{name}")
        weights = values.array(one[1], f"weights of lists.{name}") if weighted else np.ones_like(numbers)
        if numbers.shape != weights.shape:
            raise Error(f"'lists.{name}': {numbers.size} numbers and {weights.size} weights; expected as many")
        file = folder / f"list-{len(made)}.csv"
        rows = (f"{v!r},{w!r}\n" for v, w in zip(numbers.tolist(), weights.tolist()))
        file.write_text("value,weight\n" + "".join(rows), encoding="utf-8")
        made[name] = {"file": str(file), "column": "value", "weight": "weight"}
    return made


def _words(value: Any) -> "set[str]":
    """Names that the formulas of a value hold."""
    if isinstance(value, str):
        return set(re.findall(r"[A-Za-z_]\w*", value, re.ASCII))
    if isinstance(value, Mapping):
        return set().union(*map(_words, value.values()))
    return set().union(*map(_words, value)) if isinstance(value, (list, tuple)) else set()


def _require_used(kind: str, text: Mapping[str, Any], numbers: Mapping[str, Any], x: str) -> None:
    """Refuses numbers that no formula reads: a name that was mistyped, or a key of the dict given as a keyword."""
    words = {word for key, value in text.items() if key != "model" for word in _words(value)}
    missing = words - set(text.get("model", {})) - set(numbers)
    for name in numbers:
        if name in words or name == x:
            continue
        if name in (*_KEYS[kind], *_COMMON):
            raise KeywordError(f"attica.{_CALLED[kind]}() has no argument '{name}'; it is a key of the dict of equations")
        near = nearest(name, sorted(missing)) or nearest(name, sorted(words))
        hint = f"did you mean '{near}'?" if near else "numbers are those that its formulas contain"
        if kind != "solve" and "time" not in text and np.ndim(numbers[name]) > 0:
            hint = f"is it the time? Then add \"time\": \"{name}\" to the dict, or give it before other lists"
        raise KeywordError(f"attica.{_CALLED[kind]}(): no formula contains '{name}'; {hint}")


def _computed(kind: str, text: Mapping[str, Any], numbers: Mapping[str, Any]) -> TextTheory:
    if not isinstance(text, Mapping):
        raise Error(f"attica.{_CALLED[kind]} takes a dict of equations, not {values.shown(text)}")
    known = (*_KEYS[kind], *_COMMON)
    for key in text:
        if key not in known:
            near = nearest(str(key), known)
            raise Error(f"unknown key '{key}'; " + (f"did you mean '{near}'?" if near else f"expected one of {', '.join(known)}"))
    given = {name[:-1] if name.endswith("_") else name: value for name, value in numbers.items()}
    model = {**text.get("model", {}), **{n: v for n, v in given.items() if np.ndim(v) == 0}}
    swept = {n: values.array(v, f"parameter '{n}'") for n, v in given.items() if np.ndim(v) > 0}
    x = text.get("x", text.get("time") if text.get("time") in swept else None)
    x = next(iter(swept), None) if x is None else x
    if x is None or x not in swept:
        raise Error("no x: give its values as a keyword, as in alpha=[0.5, 1, 2]")
    _require_used(kind, text, given, x)
    held = tempfile.TemporaryDirectory(prefix="attica-text-")
    folder = Path(held.name)
    lines = ['study = "own"', f"x = {_quoted(x)}"]
    for section, table in (("model", model), ("sweep", swept)):
        table = {name: value for name, value in table.items() if section == "sweep" or name not in swept}
        if table:
            lines += [f"[{section}]", *(f"{_quoted(n)} = {_toml(v, n)}" for n, v in table.items())]
    if "max_seconds" in text:
        lines += ["[theory]", f"max_seconds = {_toml(text['max_seconds'], 'max_seconds')}"]
    for section in ("let", "lists", "series"):
        table = text.get(section, {})
        if section == "series" and isinstance(table, str):
            table = {"y": table}
        if not isinstance(table, Mapping):
            raise Error(f"'{section}' = {values.shown(table)}: expected a dict by name")
        table = _lists(table, folder) if section == "lists" else table
        if table:
            lines += [f"[theory.{section}]", *(f"{_quoted(str(n))} = {_toml(v, f'{section}.{n}')}" for n, v in table.items())]
    lines.append(f"[theory.{kind}]")
    lines += [f"{key} = {_toml(text[key], key)}" for key in _KEYS[kind] if key in text]
    if kind != "solve" and "time" not in text:
        lines.append(f"time = {_quoted(x)}")
    card = folder / "theory.toml"
    card.write_text("\n".join(lines) + "\n", encoding="utf-8")
    try:
        record = _attica.theory(os.fsencode(str(card)), "", [])
    except Error as error:
        raise Error(str(error).replace(str(card), f"attica.{_CALLED[kind]}"), error.exit_code, error.run) from None
    for warning in record["warnings"]:
        warn(warning)
    _put_in_order(record["series"], x, swept[x])
    made = TextTheory(record, (str(card), "", []))
    made._folder = held
    return made


def _put_in_order(curves: "list[dict[str, Any]]", x: str, given: np.ndarray) -> None:
    """The values of every curve in the order of the x that were given: the program sorts them."""
    place = {float(at): k for k, at in enumerate(given)}
    for curve in curves:
        if curve["x_name"] != x:
            continue
        order = sorted(range(len(curve["x"])), key=lambda k: place[float(curve["x"][k])])
        for name in ("x", "y", "finite_size", "numerical_error", "compared"):
            curve[name] = np.asarray(curve[name])[order]


def solve(text: Mapping[str, Any], /, **numbers: Any) -> TextTheory:
    """The theory of self-consistent equations, in this process.

    >>> t = attica.solve({"lists": {"s": eigenvalues}, "unknowns": {"kappa": "lambda + 1"},
    ...                   "fixed": {"kappa": "lambda + kappa/alpha*mean(v, s, v/(v + kappa))"},
    ...                   "series": {"kappa": "kappa"}}, alpha=[0.5, 1, 2], lambda_=0.1)
    >>> t["kappa"].y

    text: the keys of [theory.solve] (unknowns, fixed or zero, follow, domain, starts, choose, branches), and let, lists
      (numbers of shape (n,), a pair of numbers and weights, or as in a card), series and model.
    numbers: the values of x as a list (the first list, or text["x"]), further lists of values, and numbers of the model. A
      name that Python reserves takes a trailing underscore.
    A point without a solution is left out, with its reason as a warning. docs/theory-in-text.md describes the formulas.
    """
    return _computed("solve", text, numbers)


def recursion(text: Mapping[str, Any], /, **numbers: Any) -> TextTheory:
    """The theory of a recursion, as `solve`: the keys of [theory.map] (time, start, next, each)."""
    return _computed("map", text, numbers)


def flow(*arguments: Any, **keywords: Any) -> Any:
    """The theory of ordinary differential equations in a dict, or gradient flow on a covariance.

    `flow(text, **numbers)`: as `solve`, with the keys of [theory.flow] (time, start, rate, each, stiff, event).

    >>> attica.flow({"start": {"m": "0.02"}, "rate": {"m": "1 - m^2"}, "series": {"m": "m"}}, t=[0.5, 1, 2])["m"].y

    `flow(Sigma, M, times, order="leading")`: gradient flow dw/dt = -gradient of (1/2M) sum of squares from w = 0, averages
    over the sites. Sigma: shape (L, L). M: samples, a number or shape (m,). times: t >= 0 in units of 1/(eigenvalue of
    Sigma), a number or shape (t,). Returns arrays of shape (m, t): test_error, train_error, signal_error, noise_error,
    numerical_error, finite_size_test, finite_size_train.
    """
    if arguments and isinstance(arguments[0], Mapping):
        if len(arguments) > 1:
            raise Error("attica.flow takes one dict of equations; numbers are keywords, as t=[1, 2, 3]")
        return _computed("flow", arguments[0], keywords)
    return gauss.flow(*arguments, **keywords)
