"""The program's verbs as functions: their JSON comes back as a Record."""

from __future__ import annotations

import html
import json
import os
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

from . import _attica, records, values
from .configuration import Keys, toml
from .display import badge
from .errors import Error, KeywordError, checked_keywords, nearest
from .judgement import Judgement, Verdict
from .program import call
from .runs import Run
from .tables import Rows, frame_columns, is_frame

#: 0, DISAGREE or VIOLATED, INCONCLUSIVE or UNDECIDED.
_DONE = (0, 1, 3)
#: The worst first.
_BOUNDS = ("VIOLATED", "UNDECIDED", "HOLDS BUT LOOSE", "HOLDS")


class Record(Mapping[str, Any]):
    """What a verb reports: a mapping with the names of its `--json`; lists of dicts are Rows.

    `verdict` is its word, or "" where the verb gives none. As a condition, a record with a verdict is that verdict, as a
    judgement is; one without raises. `exit_code` is the program's, `text` what it writes for people where that was asked for.
    """

    def __init__(self, verb: str, content: Mapping[str, Any], verdict: str = "", exit_code: int = 0) -> None:
        self.verb, self.exit_code = verb, exit_code
        self.verdict = Verdict(verdict)
        self.data = dict(content)

    def __getitem__(self, name: str) -> Any:
        if name not in self.data:
            near = nearest(str(name), list(self.data))
            raise KeyError(f"'{self.verb}' reports no '{name}'; " + (f"did you mean '{near}'?" if near else f"there are {', '.join(self.data)}"))
        value = self.data[name]
        return Rows(value) if isinstance(value, list) and value and all(isinstance(e, dict) for e in value) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __bool__(self) -> bool:
        return bool(self.verdict)

    def __repr__(self) -> str:
        brief = {name: _brief(value) for name, value in self.data.items() if name != "schema"}
        head = f"{self.verb}: {self.verdict}; " if self.verdict != "" else f"{self.verb}: "
        return head + ", ".join(f"{name}={value}" for name, value in brief.items())

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(_brief(v))}</td></tr>" for n, v in self.data.items())
        return (badge(str(self.verdict)) if self.verdict != "" else "") + f"<table><tbody>{rows}</tbody></table>"


def _brief(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} rows" if value and isinstance(value[0], dict) else values.shown(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value) if isinstance(value, str) else values.shown(value)


class Bibliography(str):
    """BibTeX, as text; `entries` are its rows: key, type, and the fields by name."""

    @property
    def entries(self) -> Rows:
        rows = Rows()
        for kind, key, body in re.findall(r"^@(\w+)\{([^,]+),\n(.*?)\n\}", self, re.DOTALL | re.MULTILINE):
            fields = re.findall(r"^\s*(\w+) = \{(.*?)\},?$", body, re.MULTILINE)
            rows.append({"key": key, "type": kind, **dict(fields)})
        return rows


@contextmanager
def _target(what: Any, parameter: str) -> Iterator[str]:
    """The path of a run, a file, or a table that is written for the program."""
    if isinstance(what, Run):
        yield str(what.folder)
        return
    if isinstance(what, (str, os.PathLike)):
        yield _no_option(values.path(what, f"parameter '{parameter}'"))
        return
    of_columns = isinstance(what, Mapping) and what and not any(values.is_scalar(column) for column in what.values())
    if not is_frame(what) and not of_columns:
        raise Error(f"parameter '{parameter}' = {values.shown(what)}: expected a run, a path or a table")
    from .judging import _write

    columns = frame_columns(what, parameter)
    with tempfile.TemporaryDirectory() as folder:
        lines = zip(*(["" if values.is_missing(v) else _plain(v) for v in column] for column in columns.values()))
        path = _write(Path(folder) / "table.csv", list(columns), lines)
        try:
            yield path
        except Error as error:
            if path not in str(error):
                raise
            # Of a file that is gone; its lines count the names as the first.
            raise Error(str(error).replace(path, f"table '{parameter}'"), error.exit_code) from None


def _no_option(path: str) -> str:
    """A path that the program does not take for an option."""
    return f"./{path}" if path.startswith("-") else path


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _run_folder(run: Any, parameter: str = "run") -> str:
    """The folder of a finished run, by itself, its path or its name."""
    if isinstance(run, Run):
        return str(run.folder)
    name = values.path(run, f"parameter '{parameter}'")
    if (Path(name) / "run.json").exists():
        return name
    try:
        return str(records.find(name))
    except FileNotFoundError as error:
        raise Error(str(error)) from None


def _flags(verb: str, given: Mapping[str, Any]) -> list[str]:
    """Keywords as the options of a verb: upper_bound=True is --upper-bound, window={"T": "20:"} is --window T=20:, lists
    repeat an option, None leaves it out."""
    known = _attica.options(verb)
    arguments: list[str] = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        flag = "--" + name.rstrip("_").replace("_", "-")
        if flag not in known:
            words = [option.strip("-").replace("-", "_") for option in known]
            near = nearest(name, words)
            hint = f"did you mean '{near}'?" if near else f"expected one of {', '.join(words)}"
            raise KeywordError(f"{verb}() has no argument {name!a}; {hint}")
        if value is True:
            arguments.append(flag)
        elif isinstance(value, Mapping):
            for key, element in value.items():
                arguments += [flag, f"{key}={_word(element, name)}"]
        elif isinstance(value, (list, tuple)):
            for element in value:
                arguments += [flag, _word(element, name)]
        else:
            arguments += [flag, _word(value, name)]
    return arguments


def _word(value: Any, name: str) -> str:
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return values.text(value if isinstance(value, str) else str(value), f"parameter '{name}'")


def _json(arguments: Sequence[str], progress: Optional[bool] = False) -> tuple[Any, int]:
    end = call([*arguments, "--json"], progress)
    end.warn()
    if end.code not in _DONE or not end.output.strip():
        raise end.error()
    content = json.loads(end.output)
    if isinstance(content, list):  # the schema of a list's elements is no column
        for row in content:
            row.pop("schema", None)
    return content, end.code


def _settings(target: str, given: Mapping[str, Any], own: Sequence[str]) -> list[str]:
    return [word for _, assignment in Keys(target, list(own)).assignments(given) for word in ("--set", assignment)]


@checked_keywords
def check(
    run: "Run | str | os.PathLike[str]",
    *,
    margin: Optional[float] = None,
    perturb: "str | Sequence[str] | Mapping[str, Any] | None" = None,
    extrapolate: bool = False,
    sensitivity: bool = False,
    self_test: bool = False,
    full: bool = False,
    accept_edits: bool = False,
) -> "Judgement | Record":
    """The verdict on a finished run once more.

    >>> attica.check(r, margin=0.02).verdict
    >>> attica.check(r, perturb={"model.rho": 0.72}).verdict          # the theory at another value
    >>> attica.check(r, perturb="test_error*=1.02").verdict

    margin: in place of the declared one; the run records it, as post hoc. perturb: a theory that is wrong on purpose, as on
    the command line, or a dict of parameters; nothing is written. These return a Judgement. extrapolate: the verdict on the limit of infinite
    size, from a sweep over sizes; sensitivity: the smallest change of every parameter of the theory that the run would have
    detected; self_test (full=True: with more repetitions): the verdict's own error rates. These return a Record.
    """
    folder = _run_folder(run)
    wrong = [perturb] if isinstance(perturb, str) else perturb
    if isinstance(wrong, Mapping):
        wrong = [f"{key}={toml(value)}" for key, value in wrong.items()]
    given = {"margin": margin, "perturb": wrong, "extrapolate": extrapolate, "sensitivity": sensitivity,
             "self_test": self_test, "full": full, "accept_edits": accept_edits}
    content, code = _json(["check", folder, *_flags("check", given)])
    if "points" in content and "verdict" in content and not (extrapolate or sensitivity or self_test):
        return Judgement(content)
    return Record("check", content, content.get("verdict", ""), code)


@checked_keywords
def bound(
    what: Any,
    *,
    expression: Optional[str] = None,
    series: str = "y",
    direction: str = "upper",
    probability: Optional[float] = None,
    constant: Optional[str] = None,
    delta: Optional[float] = None,
    loose: Optional[float] = None,
    only: Optional[str] = None,
    x: Optional[str] = None,
    value: "str | Sequence[str] | None" = None,
    replicate: Optional[str] = None,
    cluster: Optional[str] = None,
    independent: bool = False,
    name: str = "",
    out: "str | os.PathLike[str] | None" = None,
    **keywords: Any,
) -> Record:
    """Stated bounds against measured values: HOLDS, HOLDS BUT LOOSE, VIOLATED or UNDECIDED.

    >>> attica.bound("bound.toml").verdict
    >>> attica.bound(frame, expression="2*n", x="n", value="steps", replicate="run").verdict

    what: a configuration with [[bound]], a run, or a table (a CSV file or anything that `judge` takes as one); for tables,
    and for runs without bounds of their own, expression (with series, direction "upper" or "lower", probability 1 - delta)
    states the bound. Other keywords are parameters, as for `attica.run`. out: the folder of run folders; None leaves none.
    Record: `bounds`, one row each with its points; as a condition HOLDS is true and VIOLATED false.
    """
    own = ("expression", "series", "direction", "probability", "constant", "only", "x", "value", "replicate", "out", "name")
    stated = {"series": series, "expression": expression, "direction": direction, "probability": probability,
              "constant": constant, "delta": delta, "loose": loose, "only": only}
    with _target(what, "what") as target, tempfile.TemporaryDirectory() as scratch:
        arguments = ["bound", target]
        below = scratch if out is None else values.path(out, "parameter 'out'")
        is_run = (Path(target) / "run.json").exists()
        is_table = not is_run and not target.endswith(".toml")
        if expression is not None:
            chosen = {k: v for k, v in stated.items() if v is not None}
            for key, value_of in chosen.items():
                arguments += ["--set", f"bound.b.{key}={toml(value_of)}"]
        elif is_table:
            raise Error("parameter 'expression' is missing; expected the bound, such as \"2*n\"")
        arguments += _flags("bound", {"x": x, "value": value, "replicate": replicate, "cluster": cluster,
                                      "independent": independent, "name": name or None})
        if is_table and not name:
            arguments += ["--name", "bound"]
        if keywords:
            arguments += _settings(target, keywords, own) if not is_table else _plain_settings(keywords)
        if not is_run:
            arguments += ["--out", below]
        content, code = _json(arguments)
        if out is None:
            content.pop("run", None)
    found = [b["verdict"] for b in content["bounds"]]
    worst = next((word for word in _BOUNDS if word in found), "")
    return Record("bound", content, worst, code)


def _plain_settings(keywords: Mapping[str, Any]) -> list[str]:
    return [word for key, value in keywords.items() for word in ("--set", f"{key}={toml(value)}")]


@checked_keywords
def plan(
    study: "str | os.PathLike[str]",
    *,
    preset: str = "",
    margin: Optional[float] = None,
    power: Optional[float] = None,
    resolution: Optional[float] = None,
    threads: Optional[int] = None,
    progress: Optional[bool] = None,
    **keywords: Any,
) -> Record:
    """How many replicates, how much time and disk a verdict takes, from a pilot run of 30 replicates.

    >>> attica.plan("gauss-double-descent", rho=0.9, margin=0.02)["replicates"]

    Keywords are parameters, as for `attica.run`. power: probability of AGREE if the theory is right, 0.9 by default;
    resolution: also the number of replicates at which a theory off by this relative error is detected.
    """
    target = values.path(study, "parameter 'study'")
    arguments = ["plan", target, *_settings(target, keywords, ("preset", "margin", "power", "resolution", "threads"))]
    arguments += _flags("plan", {"preset": preset or None, "margin": margin, "power": power, "resolution": resolution,
                                 "threads": threads})
    content, code = _json(arguments, progress)
    return Record("plan", content, "", code)


@checked_keywords
def fit(what: Any, *, out: "str | os.PathLike[str] | None" = None, **options: Any) -> Record:
    """Scaling exponents with intervals, of a run or of a table.

    >>> attica.fit(frame, x="N", exponent=-1)["exponents"][0]["verdict"]
    >>> attica.fit(table, x=["T", "N"], expect={"T": 1.5, "N": -0.5})
    >>> attica.fit(curves, collapse="L", hold={"x_c": 0})

    what: a run, a CSV file, or a table as `judge` takes it. options are those of `attica fit`: series, x, value, replicate,
    exponent, upper_bound, tolerance, floor (True, or its value), expect, window, correction, collapse, hold, start.
    Record: `exponents` (or what a collapse reports). `verdict` is AGREE if all expected exponents agree, DISAGREE if one is
    violated, INCONCLUSIVE if one is undecided, "" where none was expected. out: where a collapse leaves its figure.
    """
    with _target(what, "what") as target, tempfile.TemporaryDirectory() as scratch:
        arguments = ["fit", target, *_flags("fit", options)]
        if options.get("collapse"):
            arguments += ["--out", scratch if out is None else values.path(out, "parameter 'out'")]
        content, code = _json(arguments)
    return Record("fit", content, _verdict_of_fit(code, options, "run" in content), code)


def _verdict_of_fit(code: int, options: Mapping[str, Any], of_run: bool) -> str:
    """That of the exponents that were expected; of a run without further words its study's predictions are."""
    expected = any(options.get(name) is not None for name in ("exponent", "expect")) or (of_run and "series" not in options)
    return {0: "AGREE", 1: "DISAGREE", 3: "INCONCLUSIVE"}[code] if expected else ""


@checked_keywords
def map(  # noqa: A001  attica.map
    study: "str | os.PathLike[str]",
    *,
    x: str,
    y: str,
    out: "str | os.PathLike[str]" = "maps",
    preset: str = "",
    depth: Optional[int] = None,
    series: "str | Sequence[str] | None" = None,
    replicates: Optional[int] = None,
    margin: Optional[float] = None,
    threads: Optional[int] = None,
    max_time: "str | float | None" = None,
    name: str = "",
    resume: bool = True,
    progress: Optional[bool] = None,
    **keywords: Any,
) -> Record:
    """Where in a plane of two parameters the theory holds.

    >>> m = attica.map("gauss-double-descent", x="sweep.alpha=0.5..2:3", y="model.rho=0..0.9:3", depth=1)
    >>> m["cells"].column("verdict")

    x and y are "KEY=LOW..HIGH[:N][:log]", as on the command line; other keywords are parameters, as for `attica.run`.
    Record: `cells` (x, y, verdict, resolution, ...), `edge`, `counts`, and `map`, the folder with figure and table.
    """
    target = values.path(study, "parameter 'study'")
    arguments = ["map", target, *_settings(target, keywords, ("x", "y", "preset", "depth", "series", "margin"))]
    arguments += _flags("map", {"x": x, "y": y, "preset": preset or None, "depth": depth, "series": series, "margin": margin,
                                "replicates": replicates, "threads": threads, "max_time": max_time, "name": name or None,
                                "resume": resume})
    content, code = _json([*arguments, "--out", values.path(out, "parameter 'out'")], progress)
    return Record("map", content, "", code)


@checked_keywords
def compare(first: "Run | str | os.PathLike[str]", second: "Run | str | os.PathLike[str]", *, accept_edits: bool = False) -> Record:
    """Parameters and series in which two runs differ: `parameters`, and `points` with z of every difference."""
    arguments = ["compare", _run_folder(first, "first"), _run_folder(second, "second")]
    content, code = _json(arguments + (["--accept-edits"] if accept_edits else []))
    return Record("compare", content, "", code)


def _numbered(topics: Sequence[Any]) -> Iterator[str]:
    """Topics as the lines of a file: a number for each that differs, whatever text it is; '-' for none."""
    known: "dict[Any, int]" = {}
    for topic in topics:
        if not values.is_missing(topic) and values.has(topic, "item"):
            topic = topic.item()  # of an array or a tensor
        if values.is_missing(topic) or (isinstance(topic, str) and topic.strip() == "-"):
            yield "-"
        else:
            yield str(known.setdefault(topic if getattr(topic, "__hash__", None) else str(topic), len(known)))


@checked_keywords
def measure(*matrices: Any, tokens: str = "columns", topics: Optional[Sequence[Any]] = None, series: bool = False,
            against: str = "", **keywords: Any) -> Rows:
    """Norms, stable rank, cosines and attention entropy of matrices: a row for each.

    >>> attica.measure(W_Q, "W_K.npy", "model.safetensors:embed.weight").column("stable_rank")
    >>> attica.measure(*tokens, *attention, against="init-propagation", context=64, beta=[1.5])

    matrices: arrays of shape (rows, columns) (NumPy, tensors, lists), or paths of .npy, .npz, .safetensors and CSV files;
      FILE:NAME and FILE:NAME[2] are one array of a file.
    tokens: "columns" or "rows": what a token is, for cosines and topics.
    topics: the topic of every token, None for one without: mean cosine within and between topics, with the p-value of
      their difference under exchange of topics.
    series: the matrices are attention at checkpoints of one training, in their order: one row with the entropies, their
      `fall`, and the `bounce` (H_end - H_min)/(H_0 - H_min) with its 95 % interval over rows of attention.
    against: a study such as init-propagation; with its parameters, the matrices are the layers of a network at step 0:
      tokens as rows, or attention, whose heads may be a first dimension, a matrix for each block in order. Rows then have
      the theory's values too: `off_distance` is the relative difference, `deviations_distance` the same in standard
      deviations between networks.
    """
    tokens = values.one_of(tokens, "parameter 'tokens'", ("columns", "rows"))
    series = values.flag(series, "parameter 'series'")
    if not matrices:
        raise Error("measure() needs matrices: arrays or paths of files")
    if keywords and not against:
        raise Error(f"measure() takes {', '.join(keywords)} only with against=, the study whose parameters they are")
    with tempfile.TemporaryDirectory() as folder:
        paths, names = [], {}
        for k, matrix in enumerate(matrices):
            if isinstance(matrix, (str, os.PathLike)):
                paths.append(_no_option(values.path(matrix, "a path")))
                continue
            array = values.array(matrix, f"matrix {k}")
            if against and array.ndim == 3:
                array = array.reshape(-1, array.shape[-1])
            if array.ndim != 2:
                raise Error(f"matrix {k} has shape {array.shape}; expected (rows, columns)")
            paths.append(str(Path(folder) / f"{k}.npy"))
            names[paths[-1]] = f"matrix {k}"
            np.save(paths[-1], array)
        layers = ["--against", against, *_settings(against, keywords, ["against"])] if against else []
        try:
            options = ["--tokens", tokens] + (["--series"] if series else [])
            if topics is not None:
                listed = Path(folder) / "topics"
                listed.write_text("".join(f"{word}\n" for word in _numbered(topics)), encoding="utf-8")
                options += ["--topics", str(listed)]
            content, _ = _json(["measure", *paths, *options, *layers])
        except Error as error:
            text = str(error)
            for path, called in names.items():
                text = text.replace(path, called)
            raise Error(text, error.exit_code) from None
    if series:
        return Rows({**row, "files": [names.get(file, file) for file in row["files"]]} for row in content)
    return Rows({**row, "file": names.get(row["file"], row["file"])} for row in content)


@checked_keywords
def cite(what: "Run | str | os.PathLike[str]") -> Bibliography:
    """BibTeX of the theory used and of attica itself: text, with `entries` as rows."""
    end = call(["cite", str(what.folder) if isinstance(what, Run) else values.path(what, "parameter 'what'")])
    if end.code != 0:
        raise end.error()
    return Bibliography(end.output)
