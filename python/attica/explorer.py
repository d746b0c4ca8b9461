"""The explorer of a theory in a notebook's cell."""

from __future__ import annotations

import html
import os
import tempfile
from pathlib import Path
from typing import Any, Mapping, Optional

import numpy as np

from . import values
from .configuration import Keys, toml
from .errors import Error, checked_keywords
from .program import call
from .runs import Run


class Explorer:
    """A page with the curves of a theory, and a slider for each parameter of its grid. A notebook shows it in the cell."""

    def __init__(self, page: str, height: int) -> None:
        self.page, self.height = page, height

    def save(self, file: "str | os.PathLike[str]") -> Path:
        """Writes the page, which needs no network and no program."""
        path = Path(values.path(file, "parameter 'file'"))
        path.write_text(self.page, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.page, quote=True)}" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{self.height}px;border:0" title="attica explore"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Explorer({len(self.page)} characters; a notebook shows it, save(file) writes it)"


@checked_keywords
def explore(
    what: "Run | str | os.PathLike[str]",
    *,
    grid: Optional[Mapping[str, Any]] = None,
    preset: str = "",
    height: int = 720,
    **keywords: Any,
) -> Explorer:
    """The theory of a study, a configuration or a run, to be looked at in the cell: `attica explore --export`.

    >>> attica.explore("gauss-double-descent", grid={"rho": [0.1, 0.5, 0.9]})

    what: a study, a TOML file, or a run, whose points are drawn. grid: values of up to three parameters, computed now; each
    gets a slider. Other keywords are parameters, as for `attica.theory`. height: of the cell in pixels. For all parameters
    at once start `attica explore` in a terminal.
    """
    target = str(what.folder) if isinstance(what, Run) else values.path(what, "parameter 'what'")
    preset = values.text(preset, "parameter 'preset'")
    height = values.whole(height, "parameter 'height'", 100)
    arguments = ["explore", target]
    if preset:
        arguments += ["--preset", preset]
    if (grid or keywords) and isinstance(what, Run):
        raise Error("explore() of a run takes its parameters; for others name the study")
    if grid or keywords:
        keys = Keys(target, ["grid", "preset", "height"])
        for _, assignment in keys.assignments(keywords):
            arguments += ["--set", assignment]
        for name, computed in (grid or {}).items():
            one = np.ravel(next(iter(computed.values())) if isinstance(computed, Mapping) else computed)
            if one.size == 0:
                raise Error(f"grid: no values of '{name}'")
            key = keys.assignments({name: one[0].item()})[0][1].partition("=")[0].strip()
            arguments += ["--grid", f"{key}={toml(computed)}"]
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "explore.html"
        end = call([*arguments, "--export", str(page), "--quiet"])
        if end.code != 0:
            raise end.error()
        end.warn()
        return Explorer(page.read_text(encoding="utf-8"), height)
