"""Sections of one experiment on the page, prepared from one snapshot of its results folder."""

from __future__ import annotations

import functools
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from probcal.errors import ProbcalError
from probcal.papers.check.check_text import distance_text, our_mean, signed, summary
from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults, Finding
from probcal.papers.check.power_text import percent
from probcal.reporting.grid import Grid, grouped, in_order
from probcal.reporting.html.boards import Board, boards
from probcal.reporting.html.charts import (
    Charts,
    Picture,
    RankedPicture,
    ReliabilityChart,
    charts_of,
    has_lines_beneath,
    paper_pictures,
    ranked,
    reliable,
    statistics,
)
from probcal.reporting.html.run_details import Line, Provenance, provenance
from probcal.reporting.metric_table import with_paper
from probcal.reporting.tables import shows_methods_as_rows, tables
from probcal.store.cell_result import shown_metric
from probcal.store.folder import CellResult, Store
from probcal.store.outline import Outline
from probcal.store.summary import Census, Results, census, planned_ids, stale_ids

_MOST_COMPARED = 60
"""Number of columns up to which a page compares all pairs. Their tables grow with the square of it."""


class StoreSnapshot(Store):
    """Read each file of the store only once, so that all parts of the page show the same cells."""

    @functools.cached_property
    def _experiment(self) -> dict[str, Any]:
        return super().experiment()

    @functools.cached_property
    def _results(self) -> Results:
        return super().results()

    def experiment(self) -> dict[str, Any]:
        return self._experiment

    def results(self) -> Results:
        return self._results


class ExperimentSections:
    """Hold all parts of one experiment.

    ``id`` is the prefix of its element ids. ``published`` is None where it follows no paper, and ``check`` where there
    is nothing to compare with. ``statistics_fault`` says why there are no statistics, where something is broken.

    Raises StoreError and UnknownPaper as ``probcal table`` does.
    """

    def __init__(self, store: Store, id: str) -> None:
        self._store = StoreSnapshot(store.folder)
        self.id, self.results = id, self._store.results()
        self.untitled = Outline.of(self._store)
        self.outline, self.published = with_paper(self.untitled)

    @functools.cached_property
    def census(self) -> Census:
        return census(self.outline, self.results)

    @functools.cached_property
    def progress(self) -> list[Line]:
        return progress(self.outline, self.results)

    @functools.cached_property
    def tables(self) -> list[Grid]:
        return tables(self._store)

    @functools.cached_property
    def charts(self) -> Charts:
        return charts_of(self.outline, self.results, self.published)

    @functools.cached_property
    def reliable(self) -> ReliabilityChart:
        return reliable(self._store, self.outline, self.results)

    @functools.cached_property
    def ranked(self) -> list[RankedPicture]:
        return ranked(self.outline, self.results)

    @property
    def too_many_pairs(self) -> str:
        """Say why the page compares no pairs of columns, or return nothing."""
        n = len(self.outline.columns)
        if n <= _MOST_COMPARED:
            return ""
        command = f"probcal compare {shlex.quote(str(self._store.folder))} -l {self.outline.columns[0].learner}"
        return (
            f"The {n} columns of learner and method have {n * (n - 1) // 2:,} pairs, too many for a page. "
            f"Compare those of one learner with: {command}"
        )

    @functools.cached_property
    def _statistics(self) -> tuple[list[Grid], str]:
        return ([], "") if self.too_many_pairs else statistics(self._store, len(self.tables) + 1)

    @property
    def statistics(self) -> list[Grid]:
        return self._statistics[0]

    @property
    def statistics_fault(self) -> str:
        return self._statistics[1]

    @functools.cached_property
    def boards(self) -> list[Board]:
        return boards(self.outline, self.results, len(self.tables) + len(self.statistics) + 1)

    @functools.cached_property
    def _figures(self) -> tuple[list[Picture], list[str]]:
        return paper_pictures(self.untitled, self.results)

    @property
    def pictures(self) -> list[Picture]:
        return self._figures[0]

    @property
    def figure_notes(self) -> list[str]:
        return self._figures[1]

    @functools.cached_property
    def check(self) -> dict[str, Any] | None:
        return check_section(self._store)

    @functools.cached_property
    def faults(self) -> list[Fault]:
        return faults([*self.census.failed, *self.census.failed_since])

    @functools.cached_property
    def provenance(self) -> Provenance:
        return provenance(self._store.runs(), self.results)

    @property
    def done(self) -> int:
        return self.census.planned - self.census.not_run - len(self.census.failed)

    @property
    def stale(self) -> int:
        return self.census.stale.total()

    @property
    def metric_names(self) -> list[str]:
        return [shown_metric(metric).short for metric in in_order(self.outline.metrics)]

    @property
    def rows_are_datasets(self) -> bool:
        return not shows_methods_as_rows(self.outline, self.published)

    @property
    def has_beneath(self) -> bool:
        """Return whether a table has lines below the means."""
        return any(has_lines_beneath(grid) for grid in self.tables)

    @property
    def file(self) -> str:
        """Return the file name for the configuration."""
        return f"{PurePosixPath(self.outline.name).name or 'experiment'}.yaml"

    @property
    def commands(self) -> str:
        """Return how to make the results again, from a fresh start, so that no local path is published."""
        folder = shlex.quote(f"results/{self.file.removesuffix('.yaml')}")
        commands = [f"probcal run {shlex.quote(self.file)}", f"probcal table {folder}"]
        commands += [f"probcal check {folder}"] if self.outline.paper else []
        return "\n".join([*commands, f"probcal report {folder}"])

    @property
    def sentences(self) -> list[str]:
        """Return the summary in front of the tables."""
        sentences = []
        if agreeing := self.charts.agreeing:
            counts = [f"{yes} of {known} by {metric}" for metric, yes, known in agreeing]
            sentences.append(f"Published numbers within their band: {', '.join(counts)}.")
        if self.ranked:
            firsts = [f"{one.first} by {one.metric.short}" for one in self.ranked]
            sets = sorted({one.ranks.n_datasets for one in self.ranked})
            over = str(sets[0]) if len(sets) == 1 else f"{sets[0]} to {sets[-1]}"
            sentences.append(f"Best mean rank over {over} data sets: {', '.join(firsts)}.")
        if self.census.empty:
            sentences.append(f"No cells were run for {', '.join(self.census.empty)}.")
        return sentences

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Return (id, title in the contents) of each section that it has."""
        named = [
            ("summary", "Summary", True),
            ("charts", "Compare the methods", self.charts.compares),
            ("tables", "Tables", True),
            ("leaderboard", "Leaderboard", bool(self.boards)),
            ("reliability", "Reliability", bool(self.reliable.lines)),
            ("ranks", "Mean ranks", bool(self.ranked)),
            ("chance", "More than chance?", bool(self.statistics or self.statistics_fault or self.too_many_pairs)),
            ("figures", "Figures", bool(self.pictures or self.figure_notes)),
            ("check", "Compared with " + ("the paper" if self.published else "accepted"), self.check is not None),
            ("failures", "Failed, stale, missing", True),
            ("provenance", "Where the numbers come from", True),
            ("again", "Run it again", True),
        ]
        return [(f"{self.id}-{part}", name) for part, name, there in named if there]


_MOST_CHECKED = 300
"""Most lines of one list. ``probcal check -f json`` has them all."""


def check_section(store: Store) -> dict[str, Any] | None:
    """Return the result of ``probcal check``, or None where there is nothing to compare the results with.

    Where nothing could be checked, ``fault`` says why.
    """
    try:
        report = check(CheckedResults.of(store))
    except ProbcalError as error:
        return {"fault": str(error), "compared": 0, "claims": []}
    if report.checked.published is None and report.drift is None:
        return None
    kinds = (report.numbers, report.digits, report.differences)
    known = grouped([one for kind in kinds for one in kind.known], lambda one: one[1].reason)
    states = Counter(finding.state for finding in report.numbers.all)
    drifted = [
        f"{one.dataset} {one.column} {one.metric}: {one.accepted:.4f} accepted, {one.now:.4f} now"
        for one in (report.drift.out if report.drift else ())
    ]
    gone = report.drift.gone if report.drift else ()
    drifted += [f"{one.dataset} {one.column} {one.metric}: accepted, missing now" for one in gone]
    return {
        "fault": "",
        "ok": report.ok,
        "summary": summary(report),
        "in_band": states["in band"],
        "compared": states["in band"] + states["out of band"],
        "claims": report.claims,
        "verdicts": Counter(one.ours.verdict for one in report.claims),
        "shuffled": percent(report.agreement.shuffled.in_band) if report.agreement else "",
        "new": [_deviation(one) for kind in kinds for one in kind.new][:_MOST_CHECKED],
        "known": {why: [_deviation(finding) for finding, _ in several] for why, several in known.items()},
        "drift": drifted[:_MOST_CHECKED],
    }


def _deviation(one: Finding) -> Line:
    metric = shown_metric(one.metric).short
    return [one.dataset, one.what, metric, signed(one, one.published), our_mean(one), distance_text(one.distance)]


_LONGEST = 6_000
"""Most characters of one traceback. Deep recursion writes more."""


@dataclass(frozen=True)
class Fault:
    """Hold one error of one or more cells."""

    kind: str
    message: str
    traceback: str
    cells: list[str]


def faults(failed: Iterable[CellResult]) -> list[Fault]:
    """Return the errors, the most frequent first. Cells with the same error share one traceback, that of the first."""
    found = grouped(failed, lambda one: (one.error_type or one.status, (one.message or "").strip()))
    every = [
        Fault(kind, _shorten(message), _shorten((cells[0].traceback or "").strip()), [one.id for one in cells])
        for (kind, message), cells in found.items()
    ]
    return sorted(every, key=lambda fault: -len(fault.cells))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n…\n{text[-_LONGEST // 2 :]}"


def progress(outline: Outline, results: Results) -> list[Line]:
    """Return the title of each data set with its cells: planned, done, failed, stale and not run."""
    lines = []
    for row in outline.datasets:
        ids = [one for column in outline.columns for one in planned_ids(outline, row, column)]
        states = [results[one].status for one in ids if one in results]
        done = states.count("done")
        stale = sum(len(stale_ids(outline, results, row, column)) for column in outline.columns)
        counts = (len(ids), done, len(states) - done, stale, len(ids) - len(states))
        lines.append([row.title, *(f"{n:,}" for n in counts)])
    return lines
