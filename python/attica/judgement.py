"""Verdicts, and what they rest on."""

from __future__ import annotations

import html
from typing import Any, Mapping, Optional

from .display import badge
from .errors import Error
from .tables import Rows


class Verdict(str):
    """AGREE, DISAGREE, INCONCLUSIVE, CLAIMS HOLD or NONE, as text.

    As a condition, AGREE and CLAIMS HOLD are true and DISAGREE is false. INCONCLUSIVE and NONE are neither: `bool()` of
    them raises, so that data which do not decide are not mistaken for a decision.
    """

    def __bool__(self) -> bool:
        if self in ("AGREE", "CLAIMS HOLD"):
            return True
        if self == "DISAGREE":
            return False
        why = "the data do not decide" if self == "INCONCLUSIVE" else "nothing was compared"
        raise Error(f"the verdict is {self}: {why}; compare it with == instead", 3 if self == "INCONCLUSIVE" else 2)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return badge(str(self))


class Judgement:
    """What was found out by comparing a theory with replicates. `record` is what check.json holds."""

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
        p_agree, p_disagree and more. `difference` is simulation - theory; both have the units of the series."""
        own = ("series", "point")
        return Rows(
            {"series": p["series"], **p["point"], **{k: v for k, v in p.items() if k not in own}}
            for p in self.record["points"]
        )

    @property
    def claims(self) -> Rows:
        """Named statements on the replicates: name, statement, verdict, detail, p-values."""
        return Rows(self.record.get("claims", []))

    @property
    def resolution(self) -> Rows:
        """How wrong the theory of a series could be, by a common factor, before these data would no longer come to AGREE
        (`not_agree`) or would come to DISAGREE (`disagree`); relative, None where no error below 1 would be noticed."""
        return Rows(self.record.get("resolution", []))

    @property
    def coarsest_resolution(self) -> Optional[float]:
        """The largest `not_agree` over the series; None if there is none."""
        return self.record.get("coarsest_resolution")

    def __repr__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        word = str(self.verdict)
        rest = self.summary[len(word) :].lstrip(": ") if self.summary.startswith(word) else self.summary
        return f"<p>{badge(word)} {html.escape(rest)}</p>"
