"""Verdicts inside test suites: replicates are drawn until the comparison is decided, within a budget of time.

    from attica.testing import assert_agrees

    def test_mean_square():
        assert_agrees(theory=lambda n: 1 / n, simulate=lambda n, rng: rng.normal(size=int(n)).mean() ** 2, x=[4, 16], margin=0.1)

pytest has the same as the fixture `agrees` (`pytest -p pytest_attica`, or by itself where the package is installed).
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from typing import Any, Optional, Sequence

from numpy.typing import ArrayLike

from . import values
from .errors import Error, checked_keywords
from .judgement import Judgement, _finding, _place
from .judging import _allowance, _Brought, _check, _grid, _Key, _Simulator, _TheoryCurve, judge, predictions

#: Seconds of a comparison where nothing else is said.
SECONDS = 10.0
#: Largest probability that a correct theory fails.
FAILS = 0.01
#: Largest probability that a theory which is off by the margin or more at some point passes.
PASSES = 0.05

_FEWEST = 30
_MOST_LOOKS = 16  # 30 * 2^15 = 983040 replicates
_IDENTICAL = 240  # so many replicates without any spread: more of them decide nothing
_SHOWN = 5


class Disagreement(AssertionError):
    """The theory does not describe the simulation. `judgement` has every point."""

    def __init__(self, message: str, judgement: Judgement) -> None:
        super().__init__(message)
        self.judgement = judgement


class Inconclusive(AssertionError):
    """The budget did not suffice for a verdict. `judgement` has every point. pytest counts it as xfail."""

    def __init__(self, message: str, judgement: Judgement) -> None:
        super().__init__(message)
        self.judgement = judgement


@checked_keywords
def assert_agrees(
    *,
    theory: Any,
    simulate: Any,
    x: Optional[ArrayLike] = None,
    margin: Optional[float] = None,
    absolute: float = 0.0,
    seconds: Optional[float] = None,
    replicates: Optional[int] = None,
    seed: Optional[int] = None,
    tails: str = "guarded",
    series: str = "y",
) -> Judgement:
    """Passes if theory and simulation agree within the margin; draws replicates until that is decided.

    >>> assert_agrees(theory=lambda n: 1 / n, simulate=lambda n, rng: rng.normal(size=int(n)).mean() ** 2, x=[4], margin=0.2)

    theory, simulate, x, margin, absolute, tails, series: as for `attica.judge`; simulate is g(x, rng), g(x, seed) or, much
      faster, g(x, rng, n). Given replicates (an array or a table) are judged as they are.
    seconds: the budget, wall time; 10 by default. replicates: at most so many at every x, 983040 by default.
    seed: of the random numbers. By default it follows from the name of the test under pytest, else it is 1: the same test
      draws the same numbers every time.

    DISAGREE raises Disagreement with the worst points. Without a verdict within the budget it raises Inconclusive with the
    replicates needed; under pytest that is an xfail. Returns the judgement. A correct theory fails with a probability of at
    most 1 %, over all x and all looks at the data; a theory that is off by the margin or more at some x passes with at most
    5 %. These are probabilities of one comparison.
    """
    __tracebackhide__ = True
    plugin = sys.modules.get("pytest_attica")
    defaults = plugin.defaults() if plugin else {}  # of the test that runs: seed, seconds
    if defaults.get("seconds_forced") is not None:
        seconds = defaults["seconds_forced"]
    if seconds is None:
        seconds = defaults.get("seconds", SECONDS)
    if seed is None:
        seed = defaults.get("seed", 1)
    begin = time.perf_counter()
    judgement = decided(
        theory=theory, simulate=simulate, x=x, margin=margin, absolute=absolute, seconds=seconds, replicates=replicates,
        seed=seed, tails=tails, series=series,
    )
    took = time.perf_counter() - begin
    if plugin:
        plugin.keep(judgement, took)
    if judgement.verdict == "DISAGREE":
        raise Disagreement(message(judgement, took), judgement)
    if judgement.verdict != "AGREE" and not (plugin and plugin.waits(message(judgement, took))):
        raise Inconclusive(message(judgement, took), judgement)
    return judgement


def decided(
    *,
    theory: Any,
    simulate: Any,
    x: Optional[ArrayLike],
    margin: Optional[float],
    absolute: float = 0.0,
    seconds: float = SECONDS,
    replicates: Optional[int] = None,
    seed: int = 1,
    tails: str = "guarded",
    series: str = "y",
) -> Judgement:
    """The verdict as soon as there is one, INCONCLUSIVE when time or replicates are used up.

    Looks are at 30, 60, 120, ... replicates, or at `replicates` and its halves, quarters, ...; they share half of each
    level, and the last look (at `replicates`, or when the time is up) has the other half. The number of looks does not depend on
    the data, so that the two error rates are at most FAILS and PASSES by Bonferroni's inequality, whatever the dependence. A
    point that is decided stays decided, and is not simulated any further; DISAGREE of one point ends the comparison.
    """
    margin = None if margin is None else _allowance("margin", margin)
    absolute = _allowance("absolute", absolute)
    seconds = _allowance("seconds", seconds)
    seed = values.whole(seed, "parameter 'seed'", 0)
    cap = None if replicates is None else values.whole(replicates, "parameter 'replicates'", 1)
    tails = values.one_of(tails, "parameter 'tails'", ("guarded", "normal", "rate"))
    series = values.name(series, "parameter 'series'")
    predicted, grid, series = predictions(theory, simulate, x, series)
    _require_margins(predicted, margin, absolute)
    if not callable(simulate):
        return judge(
            theory=theory, simulate=simulate, x=x, margin=margin, absolute=absolute, tails=tails, series=series, out=None
        )
    deadline = time.perf_counter() + seconds
    brought = _Brought(None, False, True)
    simulator = _Simulator(simulate, _grid(grid), series, seed, None)
    looks = _looks(cap)
    sequence = _Sequence(len(looks))
    open_places = list(range(len(simulator.x)))
    drawn = 0
    record: dict[str, Any] = {}
    for look in looks:
        drawn, in_time = _draw(simulator, drawn, look, open_places, deadline)
        last = not in_time or look == looks[-1]
        record = sequence.judged(_check(predicted, simulator.curves, margin, absolute, tails, brought), drawn, last)
        open_places = [k for k, at in enumerate(simulator.x) if at in sequence.undecided]
        if last or record["verdict"] != "INCONCLUSIVE" or sequence.stuck:
            break
    record["sequential"] = {"looks": sequence.looks, "fails": FAILS, "passes": PASSES, "seed": seed}
    return Judgement(record)


def _looks(cap: Optional[int]) -> list[int]:
    if cap is None:
        return [_FEWEST * 2**k for k in range(_MOST_LOOKS)]
    found = [cap]
    while found[0] // 2 >= _FEWEST and len(found) < _MOST_LOOKS:
        found.insert(0, found[0] // 2)
    return found


def _draw(simulator: _Simulator, begin: int, end: int, places: Sequence[int], deadline: float) -> tuple[int, bool]:
    """Replicates up to `end` or until the time is up: how many there are, and whether there was time for all of them."""
    step = 64 if simulator.vectorised else 1
    while begin < end:
        upto = min(end, begin + step)
        simulator.extend(begin, upto, lambda: None, places)
        begin = upto
        if time.perf_counter() > deadline:
            return begin, False
    return begin, True


def _require_margins(theory: "dict[_Key, _TheoryCurve]", margin: Optional[float], absolute: float) -> None:
    """A comparison without a margin has no verdict: refused before anything is simulated."""
    for (name, _), curve in theory.items():
        for k, value in enumerate(curve.value):
            compared = curve.compared[k] if curve.compared else True
            tolerance = curve.finite_size[k] if curve.finite_size else 0.0
            if not compared or absolute or (value != 0 if margin else tolerance > 0):
                continue
            if margin:
                raise Error(f"theory of '{name}' is 0 at x = {curve.x[k]}, and has no relative margin: give 'absolute'")
            raise Error("parameter 'margin' is missing; expected the relative difference that counts as agreement, or 'absolute'")


class _Sequence:
    """The points of a comparison at its looks: what is decided stays so."""

    def __init__(self, planned: int) -> None:
        self._interim = 0.5 / max(1, planned - 1)  # shares of a level
        self._last = 0.5 if planned > 1 else 1.0
        self._decided: dict[int, tuple[str, int]] = {}  # by the number of the point: verdict, replicates
        self.looks: list[int] = []
        self.undecided: set[float] = set()
        self.stuck = False  # more replicates decide nothing

    def judged(self, record: dict[str, Any], replicates: int, last: bool) -> dict[str, Any]:
        """The record of all replicates so far, with the verdicts of this rule in place of those of a fixed number."""
        self.looks.append(replicates)
        share = self._last if last else self._interim
        points = record["points"]
        family = max(1, record["counts"]["compared"])
        self.undecided, blocked = set(), True
        for k, point in enumerate(points):
            if k not in self._decided:
                reason = point.get("reason", "")
                if point["p_disagree"] <= share * FAILS / family:
                    self._decided[k] = ("DISAGREE", replicates)
                elif point["p_agree"] <= share * PASSES:
                    self._decided[k] = ("AGREE", replicates)
                else:
                    self.undecided.add(point["x"])
                    failed = "replicates failed" in reason
                    blocked &= failed or (point["sem"] == 0 and point["n"] >= _IDENTICAL)
            if k in self._decided:
                point["verdict"], point["decided_at"] = self._decided[k]
                point.pop("reason", None)
            else:
                _look_ahead(point, family)
        self.stuck = blocked and bool(self.undecided)
        return _counted(record)


def _look_ahead(point: dict[str, Any], family: int) -> None:
    """How many replicates would decide an open point with probability 0.9 if its difference and spread are as seen."""
    point["verdict"] = "INCONCLUSIVE"
    if not point.get("sem") or "replicates failed" in point.get("reason", "") or point["n"] < 8:
        return
    room = point["margin"] - abs(point["difference"])
    share = PASSES / 2 if room > 0 else FAILS / 4 / family
    score = statistics.NormalDist().inv_cdf(1 - share) + statistics.NormalDist().inv_cdf(0.9)
    spread = point["sem"] * math.sqrt(point["n"])
    needed = (score * spread / room) ** 2 if room else math.inf
    if needed < 1e12:
        point["replicates_needed"] = max(math.ceil(needed), point["n"] + 1)
        point["reason"] = f"about {_rounded(point['replicates_needed'])} replicates would decide"
    else:
        point.pop("replicates_needed", None)
        point["reason"] = "difference too close to the margin for any number of replicates"


def _rounded(count: float) -> int:
    """A number of replicates to two digits, upwards."""
    unit = 10 ** max(0, int(math.floor(math.log10(count))) - 1)
    return int(math.ceil(count / unit) * unit)


def _counted(record: dict[str, Any]) -> dict[str, Any]:
    points, counts = record["points"], record["counts"]
    found = [point["verdict"] for point in points]
    counts["agree"], counts["disagree"] = found.count("AGREE"), found.count("DISAGREE")
    counts["inconclusive"] = found.count("INCONCLUSIVE")
    whole = counts["compared"] > 0 and counts["agree"] == counts["compared"]
    record["verdict"] = "DISAGREE" if counts["disagree"] else "AGREE" if whole else "INCONCLUSIVE"
    record["summary"] = (
        f"{record['verdict']}: {counts['agree']} of {counts['compared']} points agree, {counts['disagree']} disagree, "
        f"{counts['inconclusive']} inconclusive"
    )
    return record


def message(judgement: Judgement, took: Optional[float] = None) -> str:
    """The verdict in a line, and the worst points below it."""
    record = judgement.record
    points = [point for point in record["points"] if point["verdict"] == judgement.verdict]
    if judgement.verdict == "AGREE" or not points:
        return judgement.summary
    seed = record.get("sequential", {}).get("seed")
    where = f"; {max(point['n'] for point in record['points'])} replicates"
    where += "" if took is None else f" in {took:.1f} s"
    where += "" if seed is None else f", seed {seed}"
    if judgement.verdict == "DISAGREE":
        points.sort(key=lambda point: point["margin"] - abs(point["difference"]))
    else:
        points.sort(key=lambda point: -(point.get("replicates_needed") or math.inf))
    lines = [judgement.summary + where]
    for point in points[:_SHOWN]:
        finding = _finding(point)
        if judgement.verdict == "DISAGREE":
            beyond = abs(point["difference"]) - point["margin"]
            finding += f" (margin): {beyond:.3g} beyond it, p = {max(point['p_disagree'], 1e-15):.1g}"
        lines.append(f"  {_place(point)}: {finding}")
    if len(points) > _SHOWN:
        lines.append(f"  and {len(points) - _SHOWN} more")
    needed = replicates_needed(judgement)
    if took and needed and judgement.verdict == "INCONCLUSIVE":
        simulated = max(point["n"] for point in record["points"])
        lines.append(f"  time for it: about {_rounded(max(1.0, took * needed / max(1, simulated)))} s (--attica-seconds)")
    return "\n".join(lines)


def replicates_needed(judgement: Judgement) -> Optional[int]:
    """The largest number of replicates that an undecided point needs; None if there is none that helps, or no such point."""
    open_points = [point for point in judgement.record["points"] if point["verdict"] == "INCONCLUSIVE"]
    found = [point.get("replicates_needed") for point in open_points]
    return max(found) if found and all(found) else None
