"""One experiment, checked: all that was compared, what is known of it, and whether anything is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from probcal.papers.bands import FEWEST
from probcal.papers.check.accepted import Drift, drift
from probcal.papers.check.findings import Finding, differences, numbers
from probcal.papers.check.judged_claims import Judged, Ours, Printed, judge
from probcal.papers.check.measured_results import Checked, without_number
from probcal.papers.deviations import Deviation, known_deviations
from probcal.papers.published import Claim, Published
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


def why_nothing(
    checked: Checked, numbers: Sequence[Finding], untabled: Sequence[Judged], drift: Drift | None
) -> str | None:
    """None where something was compared. ``numbers``: every published number that ours stand beside.

    ``untabled``: what came of claims about what the paper has no table of, which are a comparison by themselves.
    ``drift``: what came of our accepted numbers, all that an experiment without a paper is compared with.
    """
    if not checked.every_finished():
        some_failed = any(one.status != "done" for one in checked.results.values())
        failed = ", with --retry-failed for those that failed" if some_failed else ""
        return f"nothing was compared: no cell is done; probcal run with the experiment's config runs them{failed}"
    decided = any(one.verdict != "undecided" for one in untabled)
    if checked.published is None:
        if drift is not None and (drift.compared or drift.gone):
            return None
        return (
            "nothing was compared: the experiment follows no paper, and none of its numbers was accepted yet; "
            f"probcal check {checked.store.folder} --accept takes those that are there"
        )
    if decided or any(one.distance is not None for one in numbers):
        return None
    return f"nothing was compared: {_reason(checked, checked.published, numbers)}"


def _reason(checked: Checked, published: Published, numbers: Sequence[Finding]) -> str:
    outline, paper = checked.outline, checked.outline.paper
    if numbers:
        return (
            f"none of the {len(numbers)} published numbers can be judged by the splits of ours that are finished "
            f"(random ones: {FEWEST} at least); probcal run with the experiment's config runs the rest"
        )
    if not any(column.paper_learner for column in outline.columns):
        return "no learner says which of the paper's it is; add `paper: J48`, or another of its learners, to the config"
    if not published.tables:
        return f"the cells that the claims of {paper} are about are not all done; probcal run runs them"
    if not checked.paper_metrics:
        return f"{paper} has no table of {', '.join(outline.metrics)}; measure one of {', '.join(published.tables)}"
    return (
        f"no column of ours stands beside a published one; {paper} has {', '.join(published.columns)} of "
        f"{', '.join(published.titles)} (`reading_of` says that another data set is a reading of one of these)"
    )
