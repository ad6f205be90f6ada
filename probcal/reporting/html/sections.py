"""Sections of one experiment on the page, prepared from one snapshot of its results folder."""

from __future__ import annotations

import functools
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from probcal.errors import ProbcalError
from probcal.metrics.registry import metric_named
from probcal.papers.check.check_text import distance_text, our_mean, signed, summary
from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import Checked, Finding
from probcal.papers.check.power_text import percent
from probcal.reporting.grid import grouped, in_order
from probcal.reporting.html.boards import boards
from probcal.reporting.html.charts import (
    charts_of,
    has_lines_beneath,
    paper_pictures,
    ranked,
    reliable,
    statistics,
)
from probcal.reporting.metric_table import with_paper
from probcal.reporting.tables import reads_by_method, tables
from probcal.store.folder import CellResult, Store
from probcal.store.outline import Outline
from probcal.store.summary import Results, census, planned_ids, stale_ids

Line = list[str]
"""The cells of one line of a table."""


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
        store = StoreSnapshot(store.folder)
        untitled, results = Outline.of(store), store.results()
        self.id, self.results = id, results
        self.outline, self.published = with_paper(untitled)
        self.census = census(self.outline, results)
        self.progress = progress(self.outline, results)
        self.tables = tables(store)
        self.charts = charts_of(self.outline, results, self.published)
        self.reliable = reliable(store, self.outline, results)
        self.ranked = ranked(self.outline, results)
        self.statistics, self.statistics_fault = statistics(store, len(self.tables) + 1)
        self.boards = boards(self.outline, results, len(self.tables) + len(self.statistics) + 1)
        self.pictures, self.figure_notes = paper_pictures(untitled, results)
        self.check = check_section(store)
        self.faults = faults([*self.census.failed, *self.census.failed_since])
        self.provenance = provenance(store.runs(), results)

    @property
    def done(self) -> int:
        return self.census.planned - self.census.not_run - len(self.census.failed)

    @property
    def stale(self) -> int:
        return self.census.stale.total()

    @property
    def metric_names(self) -> list[str]:
        return [metric_named(metric).short for metric in in_order(self.outline.metrics)]

    @property
    def rows_are_datasets(self) -> bool:
        return not reads_by_method(self.outline, self.published)

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
            ("chance", "More than chance?", bool(self.statistics or self.statistics_fault)),
            ("figures", "Figures", bool(self.pictures)),
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
        report = check(Checked.of(store))
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
    metric = metric_named(one.metric).short
    return [one.dataset, one.what, metric, signed(one, one.published), our_mean(one), distance_text(one.distance)]


@dataclass(frozen=True)
class Provenance:
    """Hold the lines of the tables about the runs that the results come from. Unknown values are empty texts."""

    runs: list[Line]
    unknown: int
    """Number of results whose run left no record."""
    versions: dict[str, list[str]]
    data: list[Line]
    """Data set, source, digest of the data."""
    code: dict[str, list[str]]
    """Module -> digests of its code."""


def provenance(runs: Mapping[str, Mapping[str, Any]], results: Results) -> Provenance:
    """Return the provenance. ``runs`` come from the store, where any value may have any type."""
    cells = Counter(result.run for result in results.values())
    known = {name: run for name, run in runs.items() if cells[name]}
    versions = [{"probcal": run.get("probcal"), **_mapping(run.get("versions"))} for run in known.values()]
    return Provenance(
        runs=[_run(name, run, cells[name]) for name, run in known.items()],
        unknown=sum(n for name, n in cells.items() if name not in runs),
        versions=_values_by_name(versions),
        data=_data(known.values()),
        code=_values_by_name(_mapping(run.get("code")) for run in known.values()),
    )


def _run(name: str, run: Mapping[str, Any], cells: int) -> Line:
    git, command = _mapping(run.get("git")), run.get("command")
    commit, changed = _text(git.get("commit")), git.get("changed") is True
    blas = run.get("linear_algebra")
    machine = [_text(run.get("system")), f"{_text(run.get('processors'))} processors" if run.get("processors") else ""]
    machine += [_text(one) for one in blas] if isinstance(blas, list) else []
    return [
        name,
        f"{cells:,}",
        _time(run.get("started")),
        _time(run.get("ended")) or "not finished, or killed",
        shlex.join(_text(word) for word in command) if isinstance(command, list) else "",
        commit + (" and changes" if commit and changed else ""),
        _text(run.get("seed")),
        _text(run.get("python")),
        ", ".join(filter(None, machine)),
    ]


def _values_by_name(parts: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, value in part.items():
            if text := _text(value):
                found.setdefault(str(name), {})[text] = None
    return {name: list(values) for name, values in found.items()}


def _data(runs: Iterable[Mapping[str, Any]]) -> list[Line]:
    records = [(str(name), _mapping(one)) for run in runs for name, one in _mapping(run.get("data")).items()]
    lines = [(name, _text(one.get("source")), _text(one.get("fingerprint"))) for name, one in records]
    return [list(line) for line in sorted(dict.fromkeys(lines), key=lambda line: line[0])]


def _time(value: Any) -> str:
    """Return ``2026-01-02T03:04:05+00:00`` in a readable form, and any other text unchanged."""
    return _text(value).replace("T", " ").replace("+00:00", " UTC")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


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
