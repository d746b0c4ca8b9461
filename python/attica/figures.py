"""Figures of several runs and tables."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Mapping, Optional

from . import values
from .configuration import toml
from .display import FORMATS, Figure
from .errors import Error, checked_keywords
from .program import call
from .runs import Run



def _plain(value: Any) -> Any:
    """Runs and paths as the text that a figure's file has for them."""
    if isinstance(value, Run):
        return str(value.folder.resolve())
    if isinstance(value, os.PathLike):
        return values.path(value, "a path")
    if isinstance(value, Mapping):
        return {key: _plain(element) for key, element in value.items() if element is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(element) for element in value]
    return value


@checked_keywords
def figure(
    *what: "Run | str | os.PathLike[str] | Mapping[str, Any]",
    format: str = "svg",
    style: Optional[str] = None,
    width: "str | float | None" = None,
    out: "str | os.PathLike[str] | None" = None,
    accept_edits: bool = False,
    **changes: Any,
) -> Figure:
    """Several runs in one figure, or the figure that a file or a dict describes. docs/figures.md has the keys.

    >>> attica.figure(weak, strong, legend="inside")
    >>> attica.figure("paper.toml", format="pdf", out="figures")
    >>> attica.figure({"panels": [{"layers": [{"run": weak, "series": "test_error"}]}]}, size=9)

    what: runs (or their folders), or one path of a TOML file, or one dict in the same keys, in which `run` may be a Run.
    format: "svg", "pdf", "png" or "tex" (TikZ). out: a folder that keeps the file with its numbers and its gnuplot script;
    by default only the figure comes back. changes: other keys of the figure, x={"label": "samples"} for all panels,
    a={"title": "first"} for panel (a). Errors raise attica.Error with the program's sentence.
    """
    values.one_of(format, "parameter 'format'", FORMATS)
    misfit = [w for w in what if not isinstance(w, (Run, str, os.PathLike, Mapping))]
    if misfit:
        raise Error(f"figure() was given {values.shown(misfit[0])}; expected runs, paths or a dict")
    if not what:
        raise Error("figure() needs runs, a figure's file or a dict")
    described = [w for w in what if isinstance(w, Mapping)]
    if described and len(what) != 1:
        raise Error("figure() takes one dict, or runs")
    with tempfile.TemporaryDirectory() as folder:
        targets = [_plain(w) for w in what]
        if described:
            file = Path(folder) / "figure.toml"
            file.write_text("".join(f"{key} = {toml(value)}\n" for key, value in targets[0].items()), encoding="utf-8")
            targets = [str(file)]
        below = folder if out is None else values.path(out, "parameter 'out'")
        arguments = ["figure", *targets, "--format", format, "--out", below, "--quiet"]
        arguments += ["--style", values.text(style, "parameter 'style'")] if style else []
        arguments += ["--accept-edits"] if accept_edits else []
        for key, value in ({"width": width} | changes).items():
            if value is not None:
                arguments += ["--set", f"figure.{key}={toml(_plain(value))}"]
        end = call(arguments)
        if end.code != 0:
            raise end.error()
        end.warn()
        path = next(Path(line) for line in end.output.splitlines() if line.endswith("." + format))
        return Figure(
            path.read_bytes(),
            format,
            None if out is None else path,
            lambda other: figure(*what, format=other, style=style, width=width, **changes).data,
        )
