"""The program, as a process of its own: it runs the code of this package's module."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional, Sequence

from .errors import Error

# The module alone, without the package and NumPy: a tenth of a second less.
_START = (
    "import importlib.util, sys; "
    "spec = importlib.util.spec_from_file_location('_attica', sys.argv[1]); "
    "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module); "
    "sys.exit(module.program(['attica', *sys.argv[2:]]))"
)
_BAR = re.compile(r"^(?:\x1b\[K)?(\[[= ]*\]\s+\d+ %.*)?$")


class Finished:
    """How the program ended: exit code, and what it wrote."""

    def __init__(self, code: int, output: str, talk: list[str]) -> None:
        self.code = code
        self.output = output
        self.warnings = [line[len("warning: ") :] for line in talk if line.startswith("warning: ")]
        self.errors = [line for line in talk if "error: " in line]
        self.talk = talk

    def sentence(self) -> str:
        """What went wrong, in the program's words."""
        lines = self.errors or self.talk[-1:] or [f"attica ended with exit code {self.code}"]
        return "\n".join(line.removeprefix("attica: error: ") for line in lines)

    def error(self, run: Optional[str] = None) -> Error:
        return Error(self.sentence(), self.code, run)


def wants_progress() -> bool:
    """Whether somebody looks: standard error is a terminal, or this is a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def call(arguments: Sequence[str], progress: Optional[bool] = False) -> Finished:
    """Runs `attica ARGUMENTS`. Ctrl-C (or the notebook's stop) stops it at a checkpoint and raises KeyboardInterrupt.

    progress: True shows the program's bar on sys.stderr, None only where somebody looks.
    """
    from . import _attica

    shown = wants_progress() if progress is None else progress
    # The program draws its bar for a terminal only, and for one that knows how to go back in a line: we read it.
    try:
        reading, writing = os.openpty() if shown else os.pipe()
    except OSError:  # a container may have no terminals to give: no bar, then
        shown = False
        reading, writing = os.pipe()
    environment = os.environ | ({"TERM": "xterm"} if shown else {})
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, str(Path(_attica.__file__).resolve()), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=writing,
                env=environment,
                start_new_session=True,  # a signal of the terminal comes to us alone, and is passed on once
            )
        finally:
            os.close(writing)
        try:
            talk = _listen(reading, shown)
            code = process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.wait()
            raise
        finally:
            os.close(reading)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return Finished(code if code >= 0 else 128 - code, text, talk)


def _listen(reading: int, shown: bool) -> list[str]:
    """All lines until the end, progress bars shown and left out."""
    pending = b""
    lines: list[str] = []
    width = 0
    while True:
        try:
            more = os.read(reading, 65536)
        except OSError:  # how a pseudo-terminal says that nobody writes any more
            more = b""
        *pieces, pending = re.split(rb"\r\n|\n|\r", pending + more)
        if not more:
            pieces.append(pending)
        elif pending.startswith(b"\x1b[K["):
            pieces.append(pending)  # a bar ends with no line break
            pending = b""
        for piece in pieces:
            text = piece.decode("utf-8", "replace")
            bar = _BAR.match(text)
            if bar is None:
                lines.append(text.replace("\x1b[K", ""))
            elif shown and bar[1]:
                print("\r" + bar[1].ljust(width), end="", file=sys.stderr, flush=True)
                width = len(bar[1])
        if not more:
            if width:
                print("\r" + " " * width + "\r", end="", file=sys.stderr, flush=True)
            return [line for line in lines if line.strip()]
