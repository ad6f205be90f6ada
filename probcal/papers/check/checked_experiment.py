"""The check of one experiment: all comparisons, the known deviations, and whether anything is new."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from probcal.papers.bands import FEWEST
from probcal.papers.check.accepted import AcceptedDrift, drift
from probcal.papers.check.agreement import Agreement, Block, Misprints, agreement, blocks, digits
from probcal.papers.check.findings import CheckedResults, Finding, differences, numbers, undefined_counts
from probcal.papers.check.judged_claims import ClaimVerdict, MeasuredNumbers, PublishedNumbers, judge
from probcal.papers.check.power import Gate, gates
from probcal.papers.deviations import Deviation, known_deviations, misprinted
from probcal.papers.published import Claim, Published
from probcal.store.summary import Census, census


@dataclass(frozen=True)
class JudgedClaim:
    claim: Claim
    printed: ClaimVerdict
    """Verdict by the paper's own tables."""
    ours: ClaimVerdict
    known: Deviation | None
    """Deviation that explains why it is not supported, if one is known."""
    tabled: bool = True
    """Whether the paper has a table for this claim."""

    @property
    def new(self) -> bool:
        return self.ours.verdict == "not supported" and self.known is None


@dataclass(frozen=True)
class Findings:
    """Hold the findings of one kind.

    ``known`` and ``new`` are out of band. A known deviation explains the known ones.
    """

    all: list[Finding]
    known: list[tuple[Finding, Deviation]]
    new: list[Finding]


@dataclass(frozen=True)
class OutdatedDeviation:
    """Hold a known deviation for which ``what`` no longer deviates."""

    what: str
    reason: str


@dataclass(frozen=True)
class Report:
    checked: CheckedResults
    deviations: Sequence[Deviation]
    """The known deviations of the paper."""
    misprints: Misprints
    """Those of the paper's numbers that no predictions can have."""
    numbers: Findings
    digits: Findings
    """Findings on the printed digits of exact columns on the paper's own splits."""
    differences: Findings
    claims: list[JudgedClaim]
    agreeing: list[OutdatedDeviation]
    drift: AcceptedDrift | None
    """None where nothing was accepted yet."""
    census: Census
    nothing: str | None
    """Reason why nothing was compared, if so."""
    undefined_counts: Counter[str]
    """Metric -> number of finished cells without a number of it."""

    @property
    def ok(self) -> bool:
        """Return whether something was compared and there is no new deviation or claim, no drift and no failed cell."""
        drifted = self.drift is not None and not self.drift.ok
        new = self.numbers.new or self.digits.new or self.differences.new or any(claim.new for claim in self.claims)
        failed = self.census.failed or self.census.failed_since
        return not (new or drifted or failed or self.nothing)

    @functools.cached_property
    def agreement(self) -> Agreement | None:
        """Return the figures of agreement with their power, None without a published number to compare."""
        return agreement(self._blocks, self.checked.published.plain) if self.checked.published else None

    @functools.cached_property
    def gates(self) -> list[Gate]:
        """Return what each rule about single numbers lets pass."""
        outline, paper = self.checked.outline, self.checked.published
        return gates(self._blocks, self.deviations, outline.name, paper.plain) if paper else []

    @functools.cached_property
    def _blocks(self) -> list[Block]:
        return blocks(self.checked, self.misprints) if self.checked.published else []


def check(checked: CheckedResults, known: Sequence[Deviation] | None = None) -> Report:
    """Check one experiment. ``known`` deviations are those of the experiment's paper unless given.

    Raises FileProblems for a broken file of deviations or accepted numbers.
    """
    outline, paper = checked.outline, checked.published
    if known is None:
        known = known_deviations(outline.paper) if outline.paper else []
    misprints = misprinted(paper, known) if paper else frozenset()
    first = _without_misprints(numbers(checked), misprints)
    sharp = _without_misprints(digits(first), misprints)
    second = _without_misprints(differences(checked), misprints)
    every = [*first, *sharp, *second]
    drifted, claims = drift(checked), []
    if paper is not None:
        for claim in paper.claims:
            reason = next((one for one in known if one.explains_claim(outline.name, claim.label)), None)
            printed, ours = judge(claim, paper, PublishedNumbers(paper)), judge(claim, paper, MeasuredNumbers(checked))
            claims.append(JudgedClaim(claim, printed, ours, reason, paper.covers(claim)))
    return Report(
        checked=checked,
        deviations=known,
        misprints=misprints,
        numbers=_explained(checked, first, known),
        digits=_explained(checked, sharp, known),
        differences=_explained(checked, second, known),
        claims=claims,
        agreeing=[
            *_agreeing(checked, every, known),
            *(
                OutdatedDeviation(f"claim {one.claim.label}", one.known.reason)
                for one in claims
                if one.known and one.ours.verdict == "supported"
            ),
        ],
        drift=drifted,
        census=census(outline, checked.results),
        nothing=no_comparison_reason(checked, first, [one.ours for one in claims if not one.tabled], drifted),
        undefined_counts=undefined_counts(checked),
    )


def _without_misprints(findings: list[Finding], misprints: Misprints) -> list[Finding]:
    """Return the findings, of which those on a misprint agree with nothing and deviate from nothing."""
    return [
        replace(one, state="misprint", distance=None, why=None)
        if one.values and any((one.of, *column, one.metric) in misprints for column in one.columns)
        else one
        for one in findings
    ]


def _explained(checked: CheckedResults, findings: list[Finding], known: Sequence[Deviation]) -> Findings:
    out = [finding for finding in findings if finding.state == "out of band"]
    reasons = [(one, next((why for why in known if _explains(checked, why, one)), None)) for one in out]
    return Findings(
        all=findings,
        known=[(one, why) for one, why in reasons if why is not None],
        new=[one for one, why in reasons if why is None],
    )


def _explains(checked: CheckedResults, why: Deviation, finding: Finding) -> bool:
    return any(_names(checked, why, finding, column) for column in finding.columns)


def _names(checked: CheckedResults, why: Deviation, finding: Finding, column: tuple[str, str]) -> bool:
    return why.explains(checked.outline.name, finding.kind, finding.of, column, finding.metric)


def _agreeing(checked: CheckedResults, findings: list[Finding], known: Sequence[Deviation]) -> list[OutdatedDeviation]:
    """Return the deviating numbers that now agree.

    A number agrees when it is in band and all its differences that the deviation names are too.
    """
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
        agreeing += [OutdatedDeviation(what, why.reason) for what, found in states.items() if found == {"in band"}]
    return agreeing


def no_comparison_reason(
    checked: CheckedResults, numbers: Sequence[Finding], untabled: Sequence[ClaimVerdict], drift: AcceptedDrift | None
) -> str | None:
    """Return why nothing was compared, or None where something was.

    ``numbers`` is every published number that our results are compared with. ``untabled`` are the verdicts on claims
    without a table in the paper, which are comparisons by themselves. ``drift`` is the comparison with our accepted
    numbers, the only one of an experiment without a paper.
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
            "nothing was compared: the experiment follows no paper and has no accepted numbers yet; "
            f"probcal check {checked.store.folder} --accept accepts the present ones"
        )
    if decided or any(one.distance is not None for one in numbers):
        return None
    return f"nothing was compared: {_reason(checked, checked.published, numbers)}"


def _reason(checked: CheckedResults, published: Published, numbers: Sequence[Finding]) -> str:
    outline, paper = checked.outline, checked.outline.paper
    if numbers:
        return (
            f"none of the {len(numbers)} published numbers can be judged by our finished splits "
            f"(random splits: at least {FEWEST}); probcal run with the experiment's config runs the rest"
        )
    if not any(column.paper_learner for column in outline.columns):
        return (
            "no learner in the config names its counterpart in the paper; add `paper: J48`, or another one of the paper"
        )
    if not published.tables:
        return f"the cells that the claims of {paper} are about are not all done; probcal run runs them"
    if not checked.paper_metrics:
        return f"{paper} has no table of {', '.join(outline.metrics)}; measure one of {', '.join(published.tables)}"
    return (
        f"none of our columns has a published counterpart; {paper} has {', '.join(published.columns)} of "
        f"{', '.join(published.titles)} (`reading_of` on a card marks another reading of one of these)"
    )
