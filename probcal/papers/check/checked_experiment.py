"""One experiment, checked: all that was compared, what is known of it, and whether anything is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from probcal.papers.check.accepted import Drift, drift
from probcal.papers.check.findings import Finding, differences, numbers, why_nothing
from probcal.papers.check.judged_claims import Judged, Ours, Printed, judge
from probcal.papers.check.measured_results import Checked, without_number
from probcal.papers.deviations import Deviation, known_deviations
from probcal.papers.published import Claim
from probcal.store.summary import Census, census


@dataclass(frozen=True)
class JudgedClaim:
    claim: Claim
    printed: Judged
    """By the paper's own tables."""
    ours: Judged
    known: Deviation | None
    """Why it is not supported, where that is known."""
    tabled: bool = True
    """Whether the paper has a table of what it speaks of."""

    @property
    def new(self) -> bool:
        return self.ours.verdict == "not supported" and self.known is None


@dataclass(frozen=True)
class Findings:
    """Those of one kind. ``known`` and ``new`` are out of band, the known ones with their reason."""

    all: list[Finding]
    known: list[tuple[Finding, Deviation]]
    new: list[Finding]


@dataclass(frozen=True)
class Agreeing:
    """A known deviation of which ``what`` no longer deviates."""

    what: str
    reason: str


@dataclass(frozen=True)
class Report:
    checked: Checked
    numbers: Findings
    differences: Findings
    claims: list[JudgedClaim]
    agreeing: list[Agreeing]
    drift: Drift | None
    """None where nothing was accepted yet."""
    census: Census
    nothing: str | None
    """Why nothing was compared, where that is so."""
    without_number: Counter[str]
    """Metric -> how many finished cells have no number of it."""

    @property
    def ok(self) -> bool:
        """Something was compared and nothing is new: no number, difference or claim, no drift, no failed cell."""
        drifted = self.drift is not None and not self.drift.ok
        new = self.numbers.new or self.differences.new or any(claim.new for claim in self.claims)
        failed = self.census.failed or self.census.failed_since
        return not (new or drifted or failed or self.nothing)


def check(checked: Checked, known: Sequence[Deviation] | None = None) -> Report:
    """``known`` deviations are those of the experiment's paper unless given.

    Raises FileProblems for a broken file of deviations or accepted numbers.
    """
    outline, paper = checked.outline, checked.published
    if known is None:
        known = known_deviations(outline.paper) if outline.paper else []
    first, second = _explained(checked, numbers(checked), known), _explained(checked, differences(checked), known)
    drifted, claims = drift(checked), []
    for claim in paper.claims if paper else ():
        reason = next((one for one in known if one.explains_claim(outline.name, claim.label)), None)
        printed, ours = (judge(claim, paper, source) for source in (Printed(paper), Ours(checked, paper)))  # type: ignore[arg-type]  # a claim is of a paper
        claims.append(JudgedClaim(claim, printed, ours, reason, paper.tells(claim)))  # type: ignore[union-attr]
    return Report(
        checked=checked,
        numbers=first,
        differences=second,
        claims=claims,
        agreeing=[
            *_agreeing(checked, [*first.all, *second.all], known),
            *(
                Agreeing(f"claim {one.claim.label}", one.known.reason)
                for one in claims
                if one.known and one.ours.verdict == "supported"
            ),
        ],
        drift=drifted,
        census=census(outline, checked.results),
        nothing=why_nothing(checked, first.all, [one.ours for one in claims if not one.tabled], drifted),
        without_number=without_number(checked),
    )


def _explained(checked: Checked, findings: list[Finding], known: Sequence[Deviation]) -> Findings:
    out = [finding for finding in findings if finding.state == "out of band"]
    reasons = [(one, next((why for why in known if _explains(checked, why, one)), None)) for one in out]
    return Findings(
        all=findings,
        known=[(one, why) for one, why in reasons if why is not None],
        new=[one for one, why in reasons if why is None],
    )


def _explains(checked: Checked, why: Deviation, finding: Finding) -> bool:
    return any(_names(checked, why, finding, column) for column in finding.columns)


def _names(checked: Checked, why: Deviation, finding: Finding, column: tuple[str, str]) -> bool:
    return why.explains(checked.outline.name, finding.kind, finding.of, column, finding.metric)


def _agreeing(checked: Checked, findings: list[Finding], known: Sequence[Deviation]) -> list[Agreeing]:
    """A number that is named agrees when it and its differences, of those the deviation speaks of, are in band."""
    titles = {column: title for title, column in checked.published.columns.items()} if checked.published else {}
    compared = [finding for finding in findings if finding.state in ("in band", "out of band")]
    agreeing = []
    for why in known:
        states: dict[str, set[str]] = {}
        for finding in compared:
            for column in finding.columns:
                if _names(checked, why, finding, column):
                    what = f"{finding.dataset} {titles[column]} {finding.metric}"
                    states.setdefault(what, set()).add(finding.state)
        agreeing += [Agreeing(what, why.reason) for what, found in states.items() if found == {"in band"}]
    return agreeing
