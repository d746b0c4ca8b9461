"""The program, as a process of its own: it runs the code of this package's module."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Optional, Sequence

from .errors import Error, warn

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

    def warn(self) -> None:
        """What the program warned of, as warnings of Python."""
        for warning in self.warnings:
            warn(warning)

    def error(self, run: Optional[str] = None) -> Error:
        return Error(self.sentence(), self.code, run)


def wants_progress() -> bool:
    """Whether somebody looks: standard error is a terminal, or this is a notebook."""
    return (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules


class _TerminalLine:
    """A line of standard error that is written over."""

    def __init__(self) -> None:
        self._width = 0

    def show(self, text: str) -> None:
        print("\r" + text.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)


class _NotebookLine:
    """A display of a notebook's cell that is updated, and empty in the end; none at all for what takes a second."""

    _DELAY = 1.0

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._handle: Any = None

    def show(self, text: str) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": text}, raw=True)
        elif time.monotonic() - self._begin > self._DELAY:
            from IPython.display import display

            self._handle = display({"text/plain": text}, raw=True, display_id=True)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _line() -> "_TerminalLine | _NotebookLine":
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return _NotebookLine() if hasattr(shell, "kernel") else _TerminalLine()


class Bar:
    """The progress of calls made here, where somebody looks."""

    def __init__(self, total: int, progress: Optional[bool]) -> None:
        self._total, self._done = total, 0
        self._line = _line() if (wants_progress() if progress is None else progress) else None

    def step(self) -> None:
        self._done += 1
        if self._line and (self._done % max(1, self._total // 100) == 0 or self._done == self._total):
            filled = 30 * self._done // self._total
            self._line.show(f"[{'=' * filled:<30}] {100 * self._done // self._total:3d} %")

    def clear(self) -> None:
        if self._line:
            self._line.clear()


def call(arguments: Sequence[str], progress: Optional[bool] = False) -> Finished:
    """Runs `attica ARGUMENTS`. Ctrl-C (or the notebook's stop) stops it at a checkpoint and raises KeyboardInterrupt.

    progress: True shows the program's bar on sys.stderr, None only where somebody looks.
    """
    from . import _attica

    if any("\0" in argument for argument in arguments):
        raise Error("an argument holds NUL; expected text without it")
    shown = wants_progress() if progress is None else progress
    # The program draws its bar for a terminal only, and for one that knows how to go back in a line: we read it.
    try:
        reading, writing = os.openpty() if shown else os.pipe()
    except OSError:  # a container may have no terminals to give: no bar, then
        shown = False
        reading, writing = os.pipe()
    environment = os.environ | ({"TERM": "xterm"} if shown else {})
    with tempfile.TemporaryFile() as output:
        module = Path(_attica.__file__).resolve()
        program = module.with_name("bin") / "attica"  # of a wheel, over the same library as the module
        environment |= {"LD_ORIGIN_PATH": str(program.parent)}  # for its loader, where there is no /proc
        start = [str(program)] if program.exists() else [sys.executable, "-I", "-c", _START, str(module)]
        try:
            process = subprocess.Popen(
                [*start, *arguments],
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
    line = _line()
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
                line.show(bar[1])
        if not more:
            line.clear()
            return [line for line in lines if line.strip()]
