"""The exceptions of the package."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from typing import Any, Callable, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Error(Exception):
    """What attica refuses to do, in the program's own sentence.

    `exit_code` is the program's: 2 usage or configuration, 4 numerical failure, 5 output and run folders, 75 stopped at a
    checkpoint. A run that ended with a numerical failure is left in `run`, the path of its folder; else that is None.
    """

    def __init__(self, message: str, exit_code: int = 2, run: "str | None" = None) -> None:
        # Names of files may hold halves of surrogate pairs, which nobody can print.
        super().__init__(message.encode("utf-8", "backslashreplace").decode())
        self.exit_code = exit_code
        self.run = run


class KeywordError(Error, TypeError):
    """A call with an argument that the function does not have, or without one that it needs."""


def checked_keywords(function: _Function) -> _Function:
    """Calls that do not fit the signature raise KeywordError, which names the nearest argument."""
    signature = inspect.signature(function)
    keywords = [p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())

    @functools.wraps(function)
    def called(*positional: Any, **named: Any) -> Any:
        __tracebackhide__ = True  # of pytest
        try:
            signature.bind(*positional, **named)
        except TypeError as error:
            raise _misfit(function.__name__, str(error), [] if takes_any else list(named), keywords) from None
        return function(*positional, **named)

    return called  # type: ignore[return-value]


def _misfit(function: str, sentence: str, named: "list[str]", keywords: "list[str]") -> KeywordError:
    for name in named:
        if name not in keywords:
            near = nearest(name, keywords)
            hint = f"did you mean '{near}'?" if near else f"expected one of {', '.join(keywords)}"
            return KeywordError(f"{function}() has no argument {name!a}; {hint}")
    return KeywordError(f"{function}(): {sentence}; it has the arguments {', '.join(keywords)}")


def warn(message: str) -> None:
    """A warning at the line of the user's that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def nearest(word: str, candidates: "list[str]") -> str:
    """Of the candidates, the one a typist most likely meant; empty if none is near."""
    from . import _attica

    return _attica.nearest(word.encode("utf-8", "replace").decode(), candidates)
