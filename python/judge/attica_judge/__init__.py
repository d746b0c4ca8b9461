"""attica_judge: does a theory describe a simulation? The judge of attica alone, under the BSD licence.

    from attica_judge import judge, plan
    j = judge(theory=[1.0, 2.0], replicates=[[0.9, 1.1, ...], [2.1, 1.9, ...]], margin=0.05)
    print(j["text"])        # what `attica judge` prints; j["verdict"]: AGREE, DISAGREE, INCONCLUSIVE or NONE
    plan(margin=0.05, sd=0.3, points=10)["replicates"]

It needs neither NumPy nor a compiler. Rules and error rates: docs/statistics.md of attica.
"""

import ctypes
import json
import math
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

_library = ctypes.CDLL(str(Path(__file__).with_name("libattica_judge.so")))
_library.attica_judge.restype = ctypes.c_void_p
_library.attica_judge.argtypes = [ctypes.c_char_p]
_library.attica_judge_free.argtypes = [ctypes.c_void_p]
_library.attica_judge_free.restype = None
_library.attica_judge_version.restype = ctypes.c_char_p

__version__ = _library.attica_judge_version().decode()
__all__ = ["Error", "judge", "plan"]


class Error(ValueError):
    """What the judge refuses, in a sentence."""


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    answer = _library.attica_judge(json.dumps(request, allow_nan=False).encode())
    if not answer:
        raise MemoryError
    try:
        result = json.loads(ctypes.string_at(answer))
    finally:
        _library.attica_judge_free(answer)
    if "error" in result:
        raise Error(result["error"])
    return result


def _numbers(values: Iterable[Any]) -> list[Optional[float]]:
    """A value that is not finite is a failed replicate."""
    return [float(value) if math.isfinite(value) else None for value in values]


def judge(
    theory: Sequence[float],
    replicates: Sequence[Iterable[float]],
    *,
    margin: float = 0.0,
    absolute: float = 0.0,
    finite_size: Union[float, Sequence[float]] = 0.0,
    numerical_error: Union[float, Sequence[float]] = 0.0,
    x: Optional[Sequence[float]] = None,
    tails: str = "guarded",
    independent: bool = False,
    series: str = "y",
) -> dict[str, Any]:
    """The verdict on P values of a theory, each with the replicates of its simulation.

    Number k of every row belongs to replicate k. margin is relative to |theory|; absolute, finite_size (what the theory
    leaves out) and numerical_error are in its units. tails: "normal" for averages of many terms, "rate" for counts. The order
    of replicates is tested for correlation unless they are independent. The record is what `attica judge` writes as
    check.json: verdict, summary, points, resolution and more; "text" is what it prints.
    """
    request: dict[str, Any] = {
        "verb": "judge",
        "theory": [float(value) for value in theory],
        "replicates": [_numbers(row) for row in replicates],
        "margin": float(margin),
        "absolute": float(absolute),
        "tails": tails,
        "independent": bool(independent),
        "series": series,
    }
    for name, given in (("finite_size", finite_size), ("numerical_error", numerical_error)):
        request[name] = [float(v) for v in given] if hasattr(given, "__len__") else float(given)  # type: ignore[union-attr, arg-type]
    if x is not None:
        request["x"] = [float(value) for value in x]
    return _answer(request)


def plan(margin: float, sd: float, *, difference: float = 0.0, power: float = 0.9, points: int = 1) -> dict[str, Any]:
    """Replicates with which all points agree with probability `power`, if each differs from the theory by `difference` and its
    replicates have the standard deviation `sd`: {"replicates": n}, None if the margin is not above the difference. margin is
    absolute here."""
    request = {"verb": "plan", "margin": margin, "sd": sd, "difference": difference, "power": power, "points": points}
    return _answer(request)
