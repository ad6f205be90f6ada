"""Results of ``probcal check`` for the page: claims with their verdicts, deviations with their reasons, drift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from probcal.errors import ProbcalError
from probcal.metrics.registry import metric_named
from probcal.papers.check.accepted import AcceptedDrift
from probcal.papers.check.check_text import counts, distance_text, our_mean, signed, summary
from probcal.papers.check.checked_experiment import Report, check
from probcal.papers.check.findings import Finding
from probcal.papers.check.measured_results import Checked
from probcal.reporting.html.run_history import DataSetProgress, Provenance, Run
from probcal.store.folder import Store

_MOST = 300
"""Most lines of one list. ``probcal check -f json`` has them all."""


@dataclass(frozen=True)
class ClaimRow:
    verdict: str
    label: str
    quote: str
    statement: str
    ours: str
    paper: str
    reason: str
    """Reason why it is not supported, if one is known."""
    new: bool


@dataclass(frozen=True)
class DeviationRow:
    """Hold one number out of its band."""

    dataset: str
    column: str
    metric: str
    published: str
    ours: str
    distance: str


@dataclass(frozen=True)
class CheckSection:
    ok: bool
    summary: str
    in_band: int
    compared: int
    claims: list[ClaimRow]
    new: list[DeviationRow]
    known: dict[str, list[DeviationRow]]
    """Reason -> numbers."""
    drift: list[str]
    fault: str = ""
    """Reason why nothing could be checked."""

    @property
    def supported(self) -> int:
        return sum(one.verdict == "supported" for one in self.claims)

    @property
    def undecided(self) -> int:
        return sum(one.verdict == "undecided" for one in self.claims)

    @property
    def known_count(self) -> int:
        return sum(len(several) for several in self.known.values())


def checked(store: Store) -> CheckSection | None:
    """Return the check of the experiment, or None where there is nothing to compare the results with."""
    try:
        report = check(Checked.of(store))
    except ProbcalError as error:
        return CheckSection(False, "", 0, 0, [], [], {}, [], str(error))
    if report.checked.published is None and report.drift is None:
        return None
    return _check_of(report)


def _check_of(report: Report) -> CheckSection:
    known: dict[str, list[DeviationRow]] = {}
    for finding, why in [*report.numbers.known, *report.differences.known]:
        known.setdefault(why.reason, []).append(_deviation_row(finding))
    states = [finding.state for finding in report.numbers.all]
    return CheckSection(
        ok=report.ok,
        summary=summary(report),
        in_band=states.count("in band"),
        compared=states.count("in band") + states.count("out of band"),
        claims=[
            ClaimRow(
                verdict=one.ours.verdict,
                label=one.claim.label,
                quote=one.claim.quote,
                statement=one.claim.statement(),
                ours=one.ours.said or counts(one.ours),
                paper=counts(one.printed) if one.tabled else "",
                reason=one.known.reason if one.known and one.ours.verdict == "not supported" else "",
                new=one.new,
            )
            for one in report.claims
        ],
        new=[_deviation_row(one) for one in [*report.numbers.new, *report.differences.new]][:_MOST],
        known=known,
        drift=_drift_lines(report.drift)[:_MOST] if report.drift else [],
    )


def _drift_lines(drift: AcceptedDrift) -> list[str]:
    moved = [
        f"{one.dataset} {one.column} {one.metric}: {one.accepted:.4f} accepted, {one.now:.4f} now" for one in drift.out
    ]
    gone = [f"{one.dataset} {one.column} {one.metric}: accepted, missing now" for one in drift.gone]
    return moved + gone


def _deviation_row(finding: Finding) -> DeviationRow:
    return DeviationRow(
        finding.dataset,
        finding.what,
        metric_named(finding.metric).short,
        signed(finding, finding.published),
        our_mean(finding),
        distance_text(finding.distance),
    )


Texts = list[str]


def deviation_cells(one: DeviationRow) -> Texts:
    return [one.dataset, one.column, one.metric, one.published, one.ours, one.distance]


def progress_cells(one: DataSetProgress) -> Texts:
    return [one.title, *(f"{n:,}" for n in (one.planned, one.done, one.failed, one.stale, one.not_run))]


def run_cells(one: Run) -> Texts:
    commit = one.commit + (" and changes" if one.commit and one.changed else "")
    return [one.id, f"{one.cells:,}", one.started, one.ended or "not finished, or killed", one.command, commit,
            one.seed, one.python, one.machine]  # fmt: skip


def names_cells(one: tuple[str, list[str]]) -> Texts:
    name, values = one
    return [name, ", ".join(values)]


def data_rows(one: Provenance) -> list[Texts]:
    return [[name, source, digest] for name, several in one.data.items() for source, digest in several]


FILTERS: dict[str, Callable[..., Any]] = {
    "deviation_row": deviation_cells,
    "progress_row": progress_cells,
    "run_row": run_cells,
    "names_row": names_cells,
    "data_rows": data_rows,
}
