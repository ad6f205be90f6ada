"""Sections of one experiment on the page, prepared from one snapshot of its results folder."""

from __future__ import annotations

import functools
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from probcal.errors import ProbcalError, StoreError
from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults, Finding
from probcal.reporting.check.check_text import finding_texts, percent_text, summary_text
from probcal.reporting.comparison.claim_support import ComparisonError, compare
from probcal.reporting.comparison.comparison_tables import comparison_grids
from probcal.reporting.comparison.leaderboard_tables import Board, page_boards
from probcal.reporting.grid import Grid, group_by, number_tables, order_metrics, span_text
from probcal.reporting.html.charts import (
    Charts,
    RankedPicture,
    ReliabilityChart,
    build_charts,
    has_minor_lines,
    paper_pictures,
    rank_pictures,
    reliability_chart,
)
from probcal.reporting.html.page import Picture
from probcal.reporting.html.run_details import Line, Provenance, provenance
from probcal.reporting.tables import has_method_rows, tables
from probcal.store.cell_result import Results, resolve_metric
from probcal.store.folder import CellResult, Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import CellCounts, planned_ids, stale_ids

_MOST_COMPARED = 60
"""Number of columns up to which a page compares all pairs. Their tables grow with the square of it."""


class StoreSnapshot(Store):
    """Read each file of the store only once, so that all parts of the page show the same cells."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.folder)
        self._store = store

    @functools.cached_property
    def _experiment(self) -> dict[str, Any]:
        return self._store.experiment()

    @functools.cached_property
    def _results(self) -> Results:
        return super().results()

    def experiment(self) -> dict[str, Any]:
        return self._experiment

    def results(self) -> Results:
        return self._results


class Statistics(NamedTuple):
    """Hold the tables of the comparison, or why there are none."""

    grids: Sequence[Grid] = ()
    fault: str = ""
    """What is broken."""
    note: str = ""


class ExperimentSections:
    """Hold all parts of one experiment.

    ``id`` is the prefix of its element ids. ``published`` is None where it follows no paper, and ``check`` where there
    is nothing to compare with.

    Raises StoreError and UnknownPaper as ``probcal table`` does.
    """

    def __init__(self, store: Store, id: str) -> None:
        self._store = StoreSnapshot(store)
        self.id, self.results = id, self._store.results()
        # Figures choose shorter titles than the tables, so they need those of the experiment, too.
        self.own_experiment = StoredExperiment.of(self._store)
        self.experiment = CheckedResults.of(self._store)
        self.stored, self.published = self.experiment.stored, self.experiment.published

    @functools.cached_property
    def cell_counts(self) -> CellCounts:
        return self.experiment.cell_counts

    @functools.cached_property
    def progress(self) -> list[Line]:
        return progress_lines(self.stored, self.results)

    @functools.cached_property
    def tables(self) -> list[Grid]:
        return tables(self._store)

    @functools.cached_property
    def charts(self) -> Charts:
        return build_charts(self.experiment)

    @functools.cached_property
    def reliable(self) -> ReliabilityChart:
        return reliability_chart(self._store, self.stored, self.results)

    @functools.cached_property
    def ranked(self) -> list[RankedPicture]:
        return rank_pictures(self.stored, self.results)

    @functools.cached_property
    def statistics(self) -> Statistics:
        """Return the tables of the comparison, numbered after the others."""
        stored, n = self.stored, len(self.stored.columns)
        if n > _MOST_COMPARED:
            command = f"probcal compare {shlex.quote(str(self._store.folder))} -l {stored.columns[0].learner}"
            return Statistics(
                note=f"The {n} columns of learner and method have {n * (n - 1) // 2:,} pairs, too many for a page. "
                f"Compare those of one learner with: {command}"
            )
        try:
            grids = comparison_grids(compare(self._store))
        except ComparisonError:
            return Statistics()
        except StoreError as error:
            return Statistics(fault=str(error))
        return Statistics(number_tables(grids, len(self.tables) + 1))

    @functools.cached_property
    def boards(self) -> list[Board]:
        return page_boards(self.stored, self.results, len(self.tables) + len(self.statistics.grids) + 1)

    @functools.cached_property
    def figures(self) -> tuple[list[Picture], list[str]]:
        """Return the pictures, and notes on what is missing in them."""
        return paper_pictures(self.own_experiment, self.results)

    @functools.cached_property
    def check(self) -> dict[str, Any] | None:
        return check_section(self.experiment)

    @functools.cached_property
    def faults(self) -> list[Fault]:
        return group_faults([*self.cell_counts.failed, *self.cell_counts.later_failure])

    @functools.cached_property
    def provenance(self) -> Provenance:
        return provenance(self._store.runs(), self.results)

    @property
    def done(self) -> int:
        return self.cell_counts.planned - self.cell_counts.not_run - len(self.cell_counts.failed)

    @property
    def stale(self) -> int:
        return self.cell_counts.stale.total()

    @property
    def metric_names(self) -> list[str]:
        return [resolve_metric(metric).short for metric in order_metrics(self.stored.metrics)]

    @property
    def rows_are_datasets(self) -> bool:
        return not has_method_rows(self.experiment)

    @property
    def has_beneath(self) -> bool:
        """Return whether a table has lines below the means."""
        return any(has_minor_lines(grid) for grid in self.tables)

    @property
    def file(self) -> str:
        """Return the file name for the configuration."""
        return f"{PurePosixPath(self.stored.name).name or 'experiment'}.yaml"

    @property
    def commands(self) -> str:
        """Return how to make the results again, from a fresh start, so that no local path is published."""
        folder = shlex.quote(f"results/{self.file.removesuffix('.yaml')}")
        commands = [f"probcal run {shlex.quote(self.file)}", f"probcal table {folder}"]
        commands += [f"probcal check {folder}"] if self.stored.paper else []
        return "\n".join([*commands, f"probcal report {folder}"])

    @property
    def sentences(self) -> list[str]:
        """Return the summary in front of the tables."""
        sentences = []
        if agreements := self.charts.agreements:
            counts = [f"{n_in_band} of {n_compared} by {metric}" for metric, n_in_band, n_compared in agreements]
            sentences.append(f"Published numbers within their band: {', '.join(counts)}.")
        if self.ranked:
            winners = [f"{picture.best_text} by {picture.metric.short}" for picture in self.ranked]
            span = span_text(picture.ranks.n_datasets for picture in self.ranked)
            sentences.append(f"Best mean rank over {span} data sets: {', '.join(winners)}.")
        if self.cell_counts.empty:
            sentences.append(f"No cells were run for {', '.join(self.cell_counts.empty)}.")
        return sentences

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Return (id, title in the contents) of each section that it has."""
        sections = [
            ("summary", "Summary", True),
            ("charts", "Compare the methods", self.charts.compares),
            ("tables", "Tables", True),
            ("leaderboard", "Leaderboard", bool(self.boards)),
            ("reliability", "Reliability", bool(self.reliable.lines)),
            ("ranks", "Mean ranks", bool(self.ranked)),
            ("chance", "More than chance?", any(self.statistics)),
            ("figures", "Figures", any(self.figures)),
            ("check", "Compared with " + ("the paper" if self.published else "accepted"), self.check is not None),
            ("failures", "Failed, stale, missing", True),
            ("provenance", "Where the numbers come from", True),
            ("again", "Run it again", True),
        ]
        return [(f"{self.id}-{part}", name) for part, name, is_present in sections if is_present]


_MOST_CHECKED = 300
"""Most lines of one list. ``probcal check -f json`` has them all."""


def check_section(experiment: CheckedResults) -> dict[str, Any] | None:
    """Return the result of ``probcal check``, or None where there is nothing to compare the results with.

    Where nothing could be checked, ``fault`` says why.
    """
    try:
        report = check(experiment)
    except ProbcalError as error:
        # The page shows all that can be shown, and says here what cannot.
        return {"fault": str(error), "compared": 0, "claims": []}
    if report.experiment.published is None and report.drift is None:
        return None
    kinds = (report.numbers, report.digits, report.differences)
    deviations = group_by([pair for kind in kinds for pair in kind.known], lambda pair: pair[1].reason)
    states = Counter(finding.state for finding in report.numbers.all)
    drift_lines = []
    if report.drift:
        drift_lines += [
            f"{mean.dataset} {mean.column} {mean.metric}: {mean.accepted:.4f} accepted, {mean.now:.4f} now"
            for mean in report.drift.out
        ]
        drift_lines += [
            f"{mean.dataset} {mean.column} {mean.metric}: accepted, missing now" for mean in report.drift.gone
        ]
    return {
        "fault": "",
        "ok": report.ok,
        "summary": summary_text(report),
        "in_band": states["in band"],
        "compared": states["in band"] + states["out of band"],
        "claims": report.claims,
        "verdicts": Counter(claim.ours.verdict for claim in report.claims),
        "shuffled": percent_text(report.agreement.shuffled.in_band) if report.agreement else "",
        "new": [_deviation_line(finding) for kind in kinds for finding in kind.new][:_MOST_CHECKED],
        "known": {reason: [_deviation_line(finding) for finding, _ in pairs] for reason, pairs in deviations.items()},
        "drift": drift_lines[:_MOST_CHECKED],
    }


def _deviation_line(finding: Finding) -> Line:
    return finding_texts(finding, resolve_metric(finding.metric).short)


_LONGEST_TEXT = 6_000
"""Most characters of one traceback. Deep recursion writes more."""


@dataclass(frozen=True)
class Fault:
    """Hold one error of one or more cells."""

    kind: str
    message: str
    traceback: str
    cells: list[str]


def group_faults(failures: Iterable[CellResult]) -> list[Fault]:
    """Return the errors, the most frequent first. Cells with the same error share one traceback, that of the first."""
    groups = group_by(failures, lambda result: (result.error_type or result.status, (result.message or "").strip()))
    fault_list = [
        Fault(kind, _shorten(message), _shorten((cells[0].traceback or "").strip()), [result.id for result in cells])
        for (kind, message), cells in groups.items()
    ]
    return sorted(fault_list, key=lambda fault: -len(fault.cells))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT // 2]}\n…\n{text[-_LONGEST_TEXT // 2 :]}"


def progress_lines(stored: StoredExperiment, results: Results) -> list[Line]:
    """Return the title of each data set with its cells: planned, done, failed, stale and not run."""
    lines = []
    for row in stored.datasets:
        ids = [name for column in stored.columns for name in planned_ids(stored, row, column)]
        states = [results[name].status for name in ids if name in results]
        n_done = states.count("done")
        n_stale = sum(len(stale_ids(stored, results, row, column)) for column in stored.columns)
        counts = (len(ids), n_done, len(states) - n_done, n_stale, len(ids) - len(states))
        lines.append([row.title, *(f"{n:,}" for n in counts)])
    return lines
