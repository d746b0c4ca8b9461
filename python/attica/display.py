"""What notebooks show."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import os
import re
from pathlib import Path
from typing import Any, Callable

_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "tex": "application/x-tex"}
#: What a figure can be drawn as.
FORMATS = ("svg", "pdf", "png", "tex")
_COLOURS = {"AGREE": "#1b7837", "CLAIMS HOLD": "#1b7837", "DISAGREE": "#b2182b", "INCONCLUSIVE": "#8a5a00"}


class Figure:
    """A drawn figure: shown in notebooks, `save(path)` keeps it. `data` are the bytes of the file, `format` its kind."""

    def __init__(
        self, data: bytes, format: str, path: "Path | None" = None, draw: "Callable[[str], bytes] | None" = None
    ) -> None:
        self.data = data
        self.format = format
        self.path = path
        self._draw = draw  # the same figure in another format

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Writes the file, and returns its path."""
        Path(path).write_bytes(self.data)
        return Path(path)

    def in_format(self, format: str) -> "bytes | None":
        """The bytes of the same figure as "svg", "pdf" or "png"; None if it cannot be drawn so."""
        if format == self.format:
            return self.data
        try:
            return self._draw(format) if self._draw else None
        except Exception:  # noqa: BLE001  a notebook shows what there is
            return None

    def _repr_html_(self) -> str:
        # As an image: whatever a page does to SVG of its own does not reach it.
        source = f"data:{_TYPES[self.format]};base64,{base64.b64encode(self.data).decode()}"
        if self.format in ("pdf", "tex"):
            return f'<a href="{source}" download="figure.{self.format}">figure.{self.format}</a>'
        return f'<img src="{source}" style="background: white; max-width: 100%; min-width: 24em" alt="figure">'

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self._repr_html_(), repr(self))

    def __repr__(self) -> str:
        where = f", {self.path}" if self.path else ""
        return f"<attica.Figure: {self.format}, {len(self.data)} bytes{where}>"


def bundle(figure: "Figure | None", page: str, text: str) -> dict[str, Any]:
    """What a notebook keeps of something with a figure: HTML for itself and the web, the figure as PDF, PNG and SVG for what
    a notebook is exported to (LaTeX, Markdown), and text."""
    result: dict[str, Any] = {"text/plain": text, "text/html": page}
    if figure is None or figure.format == "tex":
        return result
    # With PDF there, a notebook's export to LaTeX takes it, and does not look for a program that makes it from SVG.
    for kind in ("png", "pdf", "svg"):
        drawn = figure.in_format(kind)
        if drawn is not None:
            result[_TYPES[kind]] = with_own_names(drawn.decode("utf-8")) if kind == "svg" else base64.b64encode(drawn).decode()
    return result


_counter = itertools.count(1)
_DEFINED = re.compile(r"""\bid=(["'])([^"']+)\1""")


_NAMED = re.compile(r"""(\bid=["']|href=["']#|url\(["']?#)([^"')]+)""")


def with_own_names(svg: str) -> str:
    """An SVG whose names occur in no other one of a page, where they would be mixed up; without XML declaration and doctype."""
    own = f"attica-{hashlib.sha256(svg.encode()).hexdigest()[:8]}-{next(_counter)}-"
    names = {found[1] for found in _DEFINED.findall(svg)}
    svg = _NAMED.sub(lambda use: use[1] + own + use[2] if use[2] in names else use[0], svg)
    return svg[max(0, svg.find("<svg")) :]


def badge(verdict: str) -> str:
    """The verdict in its colour, as HTML."""
    colour = _COLOURS.get(verdict, "#555")
    style = f"background: {colour}; color: white; padding: .15em .6em; border-radius: .3em; font-weight: bold"
    return f'<span style="{style}">{html.escape(verdict)}</span>'
