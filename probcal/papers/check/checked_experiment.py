"""The check of one experiment: all comparisons, the known deviations, and whether anything is new."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from probcal.papers.bands import FEWEST_SPLITS
from probcal.papers.check.accepted import AcceptedDrift, find_drift
from probcal.papers.check.agreement import Agreement, Block, Misprints, build_blocks, compare_digits, measure_agreement
from probcal.papers.check.findings import (
    CheckedResults,
    Finding,
    compare_differences,
    compare_numbers,
    undefined_counts,
)
from probcal.papers.check.judged_claims import ClaimVerdict, MeasuredNumbers, PublishedNumbers, judge
from probcal.papers.check.power import Gate, build_gates
from probcal.papers.claims import Claim
from probcal.papers.deviations import Deviation, known_deviations, misprint_keys
from probcal.papers.published import PublishedPaper
from probcal.store.summary import CellCounts


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
    experiment: CheckedResults
    deviations: Sequence[Deviation]
    """The known deviations of the paper."""
    misprints: Misprints
    """Those of the paper's numbers that no predictions can have."""
    numbers: Findings
    digits: Findings
    """Findings on the printed digits of exact columns on the paper's own splits."""
    differences: Findings
    claims: list[JudgedClaim]
    outdated_deviations: list[OutdatedDeviation]
    drift: AcceptedDrift | None
    """None where nothing was accepted yet."""
    cell_counts: CellCounts
    no_comparison_reason: str | None
    """Reason why nothing was compared, if so."""
    undefined_counts: Counter[str]
    """Metric -> number of done cells without a number of it."""

    @property
    def ok(self) -> bool:
        """Return whether something was compared and there is no new deviation or claim, no drift and no failed cell.

        No column may lack some of its repetitions, and no result may be stale. Columns and data sets of which no cell
        was ever run may be absent.
        """
        has_drift = self.drift is not None and not self.drift.ok
        is_new = self.numbers.new or self.digits.new or self.differences.new or any(claim.new for claim in self.claims)
        cell_counts = self.cell_counts
        has_failures = cell_counts.failed or cell_counts.later_failure or cell_counts.incomplete or cell_counts.stale
        return not (is_new or has_drift or has_failures or self.no_comparison_reason)

    @functools.cached_property
    def agreement(self) -> Agreement | None:
        """Return the figures of agreement with their power, None without a published number to compare."""
        paper = self.experiment.published
        return measure_agreement(self._blocks, paper.plain_column) if paper else None

    @functools.cached_property
    def gates(self) -> list[Gate]:
        """Return what each rule about single numbers lets pass."""
        stored, paper = self.experiment.stored, self.experiment.published
        return build_gates(self._blocks, self.deviations, stored.name, paper.plain_column) if paper else []

    @functools.cached_property
    def _blocks(self) -> list[Block]:
        return build_blocks(self.experiment, self.misprints) if self.experiment.published else []


def check(experiment: CheckedResults, deviations: Sequence[Deviation] | None = None) -> Report:
    """Check one experiment. ``deviations`` are the known ones of the experiment's paper unless given.

    Raises FileProblems for a broken file of deviations or accepted numbers, and StoreError for lost accepted numbers.
    """
    stored, paper = experiment.stored, experiment.published
    if deviations is None:
        deviations = known_deviations(stored.paper) if stored.paper else []
    misprints = misprint_keys(paper, deviations) if paper else frozenset()
    number_findings = _mark_misprints(compare_numbers(experiment), misprints)
    digit_findings = _mark_misprints(compare_digits(number_findings), misprints)
    difference_findings = _mark_misprints(compare_differences(experiment), misprints)
    findings = [*number_findings, *digit_findings, *difference_findings]
    accepted_drift, claims = find_drift(experiment), []
    if paper is not None:
        for claim in paper.claims:
            deviation = next((entry for entry in deviations if entry.explains_claim(stored.name, claim.label)), None)
            paper_verdict, verdict = (
                judge(claim, paper, PublishedNumbers(paper)),
                judge(claim, paper, MeasuredNumbers(experiment)),
            )
            claims.append(JudgedClaim(claim, paper_verdict, verdict, deviation, paper.covers(claim)))
    counts = experiment.cell_counts
    return Report(
        experiment=experiment,
        deviations=deviations,
        misprints=misprints,
        numbers=_group_findings(experiment, number_findings, deviations),
        digits=_group_findings(experiment, digit_findings, deviations),
        differences=_group_findings(experiment, difference_findings, deviations),
        claims=claims,
        outdated_deviations=[
            *_outdated_deviations(experiment, findings, deviations),
            *(
                OutdatedDeviation(f"claim {result.claim.label}", result.known.reason)
                for result in claims
                if result.known and result.ours.verdict == "supported"
            ),
        ],
        drift=accepted_drift,
        cell_counts=counts,
        no_comparison_reason=no_comparison_reason(
            experiment,
            number_findings,
            [result.ours for result in claims if not result.tabled],
            accepted_drift,
            counts.stale.total() == counts.planned - counts.not_run,
        ),
        undefined_counts=undefined_counts(experiment),
    )


def _mark_misprints(findings: list[Finding], misprints: Misprints) -> list[Finding]:
    """Return the findings, of which those on a misprint agree with nothing and deviate from nothing."""
    return [
        replace(finding, state="misprint", distance=None, reason=None)
        if finding.values
        and any((finding.paper_dataset, *column, finding.metric) in misprints for column in finding.columns)
        else finding
        for finding in findings
    ]


def _group_findings(experiment: CheckedResults, findings: list[Finding], deviations: Sequence[Deviation]) -> Findings:
    outliers = [finding for finding in findings if finding.state == "out of band"]
    reasons = [
        (finding, next((entry for entry in deviations if _explains(experiment, entry, finding)), None))
        for finding in outliers
    ]
    return Findings(
        all=findings,
        known=[(finding, deviation) for finding, deviation in reasons if deviation is not None],
        new=[finding for finding, deviation in reasons if deviation is None],
    )


def _explains(experiment: CheckedResults, deviation: Deviation, finding: Finding) -> bool:
    return any(_explains_column(experiment, deviation, finding, column) for column in finding.columns)


def _explains_column(
    experiment: CheckedResults, deviation: Deviation, finding: Finding, column: tuple[str, str]
) -> bool:
    return deviation.explains(experiment.stored.name, finding.kind, finding.paper_dataset, column, finding.metric)


def _outdated_deviations(
    experiment: CheckedResults, findings: list[Finding], deviations: Sequence[Deviation]
) -> list[OutdatedDeviation]:
    """Return the deviating numbers that now agree."""
    titles = {column: title for title, column in experiment.published.columns.items()} if experiment.published else {}
    compared_findings = [finding for finding in findings if finding.state in ("in band", "out of band")]
    outdated_deviations = []
    for deviation in deviations:
        states: dict[str, set[str]] = {}
        for finding in compared_findings:
            for column in finding.columns:
                if _explains_column(experiment, deviation, finding, column):
                    name = f"{finding.dataset} {titles[column]} {finding.metric}"
                    states.setdefault(name, set()).add(finding.state)
        # A number agrees when it is in band, and so are all its differences that the deviation names.
        outdated_deviations += [
            OutdatedDeviation(name, deviation.reason) for name, values in states.items() if values == {"in band"}
        ]
    return outdated_deviations


def no_comparison_reason(
    experiment: CheckedResults,
    numbers: Sequence[Finding],
    verdicts: Sequence[ClaimVerdict],
    drift: AcceptedDrift | None,
    is_stale: bool,
) -> str | None:
    """Return why nothing was compared, or None where something was.

    ``numbers`` is every published number that our results are compared with. ``verdicts`` are those on claims
    without a table in the paper, which are comparisons by themselves. ``drift`` is the comparison with our accepted
    numbers, the only one of an experiment without a paper. ``is_stale`` says that no done cell is current.
    """
    if not experiment.all_done_cells():
        has_failures = any(cell.status != "done" for cell in experiment.results.values())
        hint = ", with --retry-failed for those that failed" if has_failures else ""
        return f"nothing was compared: no cell is done; probcal run with the experiment's config runs them{hint}"
    if is_stale:
        return "nothing current was compared: all done cells are stale; probcal run makes them again"
    is_decided = any(verdict.verdict != "undecided" for verdict in verdicts)
    if experiment.published is None:
        if drift is not None and (drift.compared or drift.gone):
            return None
        return (
            "nothing was compared: the experiment follows no paper and none of its numbers was accepted yet; "
            f"probcal check {experiment.store.folder} --accept accepts the present ones"
        )
    if is_decided or any(finding.distance is not None for finding in numbers):
        return None
    return f"nothing was compared: {_missing_numbers_reason(experiment, experiment.published, numbers)}"


def _missing_numbers_reason(experiment: CheckedResults, published: PublishedPaper, numbers: Sequence[Finding]) -> str:
    stored, paper = experiment.stored, experiment.stored.paper
    if numbers:
        return (
            f"none of the {len(numbers)} published numbers can be judged by our done splits "
            f"(random splits: at least {FEWEST_SPLITS}); probcal run with the experiment's config runs the rest"
        )
    if not any(column.paper_learner for column in stored.columns):
        return (
            "no learner in the config names its counterpart in the paper; add `paper: J48`, or another one of the paper"
        )
    if not published.tables:
        return f"the cells that the claims of {paper} are about are not all done; probcal run runs them"
    if not experiment.paper_metrics:
        return f"{paper} has no table of {', '.join(stored.metrics)}; measure one of {', '.join(published.tables)}"
    return (
        f"none of our columns has a published counterpart; {paper} has {', '.join(published.columns)} of "
        f"{', '.join(published.titles)} (`reading_of` on a card marks another reading of one of these)"
    )
