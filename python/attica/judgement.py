"""Verdicts, and what they rest on."""

from __future__ import annotations

import html
import math
from typing import Any, Mapping, Optional

from .display import badge
from .errors import Error
from .tables import Rows


class Verdict(str):
    """AGREE, DISAGREE, INCONCLUSIVE, CLAIMS HOLD or NONE, as text; of bounds HOLDS, HOLDS BUT LOOSE, VIOLATED or UNDECIDED.

    As a condition, AGREE, CLAIMS HOLD and the two HOLDS are true, DISAGREE and VIOLATED false. INCONCLUSIVE, UNDECIDED and
    NONE are neither: `bool()` of them raises, so that data which do not decide are not mistaken for a decision.
    """

    def __bool__(self) -> bool:
        if self in ("AGREE", "CLAIMS HOLD", "HOLDS", "HOLDS BUT LOOSE"):
            return True
        if self in ("DISAGREE", "VIOLATED"):
            return False
        if self == "":
            raise Error("there is no verdict: nothing was expected")
        undecided = self in ("INCONCLUSIVE", "UNDECIDED")
        why = "the data do not decide" if undecided else "nothing was compared"
        raise Error(f"the verdict is {self}: {why}; compare it with == instead", 3 if undecided else 2)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return badge(str(self))


class Judgement:
    """What was found out by comparing a theory with replicates. `record` is what check.json holds.

    As a condition it is its verdict: AGREE and CLAIMS HOLD are true, DISAGREE is false, and `bool()` of an INCONCLUSIVE or
    NONE raises, so that `assert attica.judge(...)` never passes with a theory that was not confirmed.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.record = record

    @property
    def verdict(self) -> Verdict:
        """Of all points and claims together."""
        return Verdict(self.record["verdict"])

    @property
    def summary(self) -> str:
        """A line: the verdict and the counts behind it."""
        return self.record.get("summary", str(self.verdict))

    @property
    def points(self) -> Rows:
        """Every compared point: series, its coordinates, x_name, x, theory, mean, sem, n, difference, margin, verdict,
        p_agree, p_disagree and more. `difference` is simulation - theory; both have the units of the series. A coordinate
        that is called as another column, like `n`, has the column `point_n`."""
        return Rows(_row(p) for p in self.record["points"])

    @property
    def claims(self) -> Rows:
        """Named statements on the replicates: name, statement, verdict, detail, p-values."""
        return Rows(self.record.get("claims", []))

    @property
    def resolution(self) -> Rows:
        """How wrong the theory of a series could be, by a common factor, before these data would no longer yield AGREE
        (`not_agree`) or would yield DISAGREE (`disagree`); relative, None where no error below 1 would be noticed."""
        return Rows(self.record.get("resolution", []))

    @property
    def coarsest_resolution(self) -> Optional[float]:
        """The largest `not_agree` over the series; None if there is none."""
        return self.record.get("coarsest_resolution")

    def _worst(self) -> Optional[Mapping[str, Any]]:
        points = self.record["points"]
        disagree = [p for p in points if p["verdict"] == "DISAGREE"]
        if disagree:
            return max(disagree, key=lambda p: abs(p["difference"]) / p["margin"] if p["margin"] else math.inf)
        undecided = [p for p in points if p["verdict"] == "INCONCLUSIVE"]
        return max(undecided, key=_replicates_needed) if undecided else None

    @property
    def worst_point(self) -> Optional[dict[str, Any]]:
        """Of the points that disagree, the one furthest off in units of its margin; else, of those that are undecided, the
        one that needs most replicates. A row as in `points`; None if every point agrees."""
        worst = self._worst()
        return None if worst is None else _row(worst)

    def __bool__(self) -> bool:
        try:
            return bool(self.verdict)
        except Error as error:
            raise Error(f"{error}; {self!r}", error.exit_code) from None

    def __repr__(self) -> str:
        worst = self._worst()
        if worst is not None:
            return f"{self.summary}; worst: {_place(worst)}: {_finding(worst)}"
        coarsest = self.coarsest_resolution if self.verdict == "AGREE" else None
        return self.summary if coarsest is None else f"{self.summary}; an error of {100 * coarsest:.2g} % would have been detected"

    def _repr_html_(self) -> str:
        word = str(self.verdict)
        rest = self.summary[len(word) :].lstrip(": ") if self.summary.startswith(word) else self.summary
        return f"<p>{badge(word)} {html.escape(rest)}</p>"


def _replicates_needed(point: Mapping[str, Any]) -> float:
    needed = point.get("replicates_needed")
    return needed if isinstance(needed, (int, float)) else math.inf


def _row(point: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in point.items() if name not in ("series", "point")}
    coordinates = {f"point_{name}" if name in rest else name: value for name, value in point["point"].items()}
    return {"series": point["series"], **coordinates, **rest}


def _place(point: Mapping[str, Any]) -> str:
    coordinates = list(point["point"].items())
    if point["x_name"] != "none":
        coordinates.append((point["x_name"], point["x"]))
    at = ", ".join(f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}" for name, value in coordinates)
    return f"{point['series']} at {at}" if at else point["series"]


def _finding(point: Mapping[str, Any]) -> str:
    if point["verdict"] == "INCONCLUSIVE" and point.get("reason"):
        return point["reason"]
    numbers = [
        f"{word} {point[key]:.5g}" + (f" +- {point[error]:.2g}" if point.get(error) is not None else "")
        for word, key, error in (("simulation", "mean", "sem"), ("theory", "theory", "margin"))
        if point.get(key) is not None
    ]
    return ", ".join(numbers)
