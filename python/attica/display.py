"""What notebooks show."""

from __future__ import annotations

import base64
import html
import os
from pathlib import Path

_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "tex": "application/x-tex"}
_COLOURS = {"AGREE": "#1b7837", "CLAIMS HOLD": "#1b7837", "DISAGREE": "#b2182b", "INCONCLUSIVE": "#8a5a00"}


class Figure:
    """A drawn figure: shown in notebooks, `save(path)` keeps it. `data` are the bytes of the file, `format` its kind."""

    def __init__(self, data: bytes, format: str, path: "Path | None" = None) -> None:
        self.data = data
        self.format = format
        self.path = path

    def save(self, path: "str | os.PathLike[str]") -> Path:
        """Writes the file, and returns its path."""
        Path(path).write_bytes(self.data)
        return Path(path)

    def _repr_html_(self) -> str:
        # As an image, not inline: names within two SVG of one page would be mixed up.
        source = f"data:{_TYPES[self.format]};base64,{base64.b64encode(self.data).decode()}"
        if self.format in ("pdf", "tex"):
            return f'<a href="{source}" download="figure.{self.format}">figure.{self.format}</a>'
        return f'<img src="{source}" style="background: white; max-width: 100%; min-width: 24em" alt="figure">'


def badge(verdict: str) -> str:
    """The verdict in its colour, as HTML."""
    colour = _COLOURS.get(verdict, "#555")
    style = f"background: {colour}; color: white; padding: .15em .6em; border-radius: .3em; font-weight: bold"
    return f'<span style="{style}">{html.escape(verdict)}</span>'
