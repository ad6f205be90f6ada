"""Tables of leaderboards, as Markdown, JSON or CSV with one line for each method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from operator import attrgetter

from probcal._io import counted, csv_number
from probcal.errors import ProbcalError, unknown_name
from probcal.reporting.check.check_text import json_of
from probcal.reporting.comparison.leaderboard import (
    KINDS,
    Estimate,
    Leaderboard,
    LeaderboardEntry,
    baseline_method,
    default_metrics,
    leaderboards,
    measure_scores,
)
from probcal.reporting.comparison.pairs import p_text
from probcal.reporting.grid import (
    NOT_RUN,
    Columns,
    CsvColumns,
    Grid,
    Text,
    csv_lines,
    markdown,
    missing_cells,
    table_of,
)
from probcal.store.cell_result import Results, resolve_metric
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection, StoredExperiment
from probcal.store.summary import cell_counts

_EXPLANATION = (
    "Elo with its 95 % interval over tables (the learner alone has 1000; 400 points more are odds of 10 to 1); mean "
    "rank, bold where it is not significantly different from the best; share of tables on which the method is better "
    "than the learner alone; win rate: share of the other methods that it beats; seconds to fit and predict alone "
    "(geometric mean), bold where no method that is as fast has a higher Elo."
)
_SHORT_EXPLANATION = (
    "Elo (the learner alone has 1000), and the share of tables on which the method is better than the learner alone; "
    "the highest Elo is bold."
)
_FEWEST_TABLES = 5
"""With fewer tables, an interval over tables says little."""


class LeaderboardError(ProbcalError):
    """Signal that fewer than two methods have numbers for one table and learner."""


@dataclass(frozen=True)
class ExperimentBoards:
    """Hold the leaderboards of one experiment: one list for each metric. ``kind`` is what they are split by."""

    name: str
    title: str
    kind: str
    boards: list[list[Leaderboard]]
    has_baseline: bool
    missing_notes: list[str]
    """Notes on cells that failed, were not run or are stale."""


def experiment_boards(store: Store, selection: Selection, metrics: Sequence[str], kind: str) -> ExperimentBoards:
    """Return the leaderboards of the selected part of a store. The learner alone always stays a part of it.

    Raises LeaderboardError when there is nothing to compare, and ProbcalError for a metric that no result has.
    """
    full_experiment, results = StoredExperiment.of(store), store.results()
    baseline = baseline_method(full_experiment)
    # Without the learner alone, nothing would say what Elo 1000 stands for.
    methods = (*selection.methods, baseline) if selection.methods and baseline else selection.methods
    stored = Selection(selection.datasets, selection.learners, methods).select(full_experiment)
    measured_metrics = sorted({name for cell in results.values() for name in cell.metrics})
    for metric in metrics:
        if metric not in measured_metrics:
            raise ProbcalError(f"{store.folder}: {unknown_name('metric', metric, measured_metrics)}")
        if resolve_metric(metric).no_end:
            raise ProbcalError(f"{metric} ranks no methods: {resolve_metric(metric).no_end}")
    metric_boards = [
        leaderboards(measure_scores(stored, results, metric), kind)
        for metric in metrics or default_metrics(stored, results)
    ]
    if not any(metric_boards):
        raise LeaderboardError(f"{store.folder}: no table has results of two methods for one learner")
    return ExperimentBoards(
        stored.name,
        stored.title,
        kind,
        [boards for boards in metric_boards if boards],
        baseline is not None,
        missing_cells(cell_counts(stored, results)),
    )


def leaderboard_grids(experiment: ExperimentBoards) -> list[Grid]:
    """Return one table for each metric: of all numbers, or of the groups side by side where they are split."""
    tables = [_group_grid(boards) if experiment.kind else board_grid(boards[0]) for boards in experiment.boards]
    for grid in tables[1:]:
        grid.notes[:] = [note for note in grid.notes if note not in tables[0].notes]
    if not experiment.has_baseline:
        tables[0].notes.append(
            "The learner alone was not run, so the mean Elo is 1000 and nothing is compared with it."
        )
    tables[0].notes.extend(experiment.missing_notes)
    return [
        replace(grid, number=number, explanation=grid.explanation if number == 1 else "read like Table 1.")
        for number, grid in enumerate(tables, 1)
    ]


def board_grid(board: Leaderboard) -> Grid:
    """Return the table of one leaderboard, without a number."""
    notes = [
        f"{counted(board.n_tables, 'table')}, {counted(board.n_pairs, 'pair')} of table and learner. A table "
        "counts once, whatever its number of learners."
    ]
    if not math.isnan(board.p):
        p = p_text(board.p)
        notes.append(
            f"Friedman's test on the {board.n_complete} tables with every method: p "
            f"{p if p.startswith('<') else f'= {p}'}. Mean ranks that"
            f" are closer than Nemenyi's critical difference, {board.critical_difference:.2f}, are not significantly"
            " different."
        )
    name = f"{resolve_metric(board.metric).long}, {resolve_metric(board.metric).good_end}"
    title = f"{name}: {board.group}" if board.group else name
    return table_of(title, _EXPLANATION, _COLUMNS, board.standings, notes)


def _group_grid(boards: Sequence[Leaderboard]) -> Grid:
    groups = [{entry.method: entry for entry in board.standings} for board in boards]
    methods = list(dict.fromkeys(method for entries in groups for method in entries))
    order = {
        method: -sum(entries[method].elo.value for entries in groups if method in entries)
        / sum(method in entries for entries in groups)
        for method in methods
    }
    rows = []
    for method in sorted(methods, key=lambda name: (order[name], name)):
        rows.append([Text(method)])
        for entries, board in zip(groups, boards, strict=True):
            if entry := entries.get(method):
                is_first = entry.elo.value == board.standings[0].elo.value
                share = _percent_text(entry.better.value)
                rows[-1].append(Text(_text(entry.elo.value), f" ({share})", bold=is_first))
            else:
                rows[-1].append(Text(NOT_RUN))
    rows.append([Text("tables"), *(Text(str(board.n_tables)) for board in boards)])
    metric = resolve_metric(boards[0].metric)
    name = f"{metric.long}, {metric.good_end}, by {boards[0].kind}"
    small_groups = [board.group for board in boards if board.n_tables < _FEWEST_TABLES]
    notes = (
        [f"Fewer than {_FEWEST_TABLES} tables, which show little: {', '.join(small_groups)}."] if small_groups else []
    )
    return Grid(name, _SHORT_EXPLANATION, ["method", *(board.group for board in boards)], rows, notes)


def _text(number: float, form: str = ".0f") -> str:
    return NOT_RUN if math.isnan(number) else format(number, form)


def _interval_text(estimate: Estimate, form: str = ".0f", factor: int = 1) -> str:
    low, high = factor * estimate.low, factor * estimate.high
    return NOT_RUN if math.isnan(low) else f"{low:{form}} to {high:{form}}"


def _percent_text(number: float) -> str:
    return NOT_RUN if math.isnan(number) else f"{100 * number:.0f} %"


def _rank_text(entry: LeaderboardEntry) -> Text:
    return Text(f"{entry.rank.value:.2f}", f" ({_interval_text(entry.rank, '.1f')})", bold=entry.like_best)


def _better_text(entry: LeaderboardEntry) -> Text:
    interval = "" if math.isnan(entry.better.low) else f" ({_interval_text(entry.better, factor=100)})"
    return Text(_percent_text(entry.better.value), interval)


_COLUMNS: Columns[LeaderboardEntry] = [
    ("method", lambda entry: entry.method),
    ("Elo", lambda entry: _text(entry.elo.value)),
    ("95 %", lambda entry: _interval_text(entry.elo)),
    ("mean rank", _rank_text),
    ("better", _better_text),
    ("win rate", lambda entry: _percent_text(entry.win_rate.value)),
    ("seconds", lambda entry: Text(_text(entry.seconds, ".3g"), bold=entry.efficient)),
]

ALL_TABLES = "all tables and learners"
_FEWEST_METHODS = 3
"""A leaderboard of fewer methods, or of fewer than ``_FEWEST_TABLES``, is on no page."""


@dataclass(frozen=True)
class Board:
    """Hold one leaderboard of a page, with the choices of the filters that show it."""

    metric: str
    group: str
    grid: Grid


def page_boards(stored: StoredExperiment, results: Results, first: int) -> list[Board]:
    """Return the leaderboards with at least three methods and five tables, numbered from ``first``.

    A page shows one of them at a time. A kind with a single group shows nothing new.
    """
    boards: list[Board] = []
    for metric in default_metrics(stored, results):
        scores = measure_scores(stored, results, metric)
        for kind in ("", *KINDS):
            candidates = leaderboards(scores, kind)
            for board in candidates if len(candidates) > 1 or not kind else ():
                if len(board.standings) < _FEWEST_METHODS or board.n_tables < _FEWEST_TABLES:
                    continue
                grid = board_grid(board)
                explanation = "read like the first of these tables." if boards else grid.explanation
                group = f"{kind}: {board.group}" if kind else ALL_TABLES
                grid = replace(grid, number=first + len(boards), explanation=explanation)
                boards.append(Board(resolve_metric(metric).short, group, grid))
    return boards


_CsvLine = tuple[str, Leaderboard, LeaderboardEntry]


def _estimate_columns(name: str) -> CsvColumns[_CsvLine]:
    """Return the columns of one estimate: its value and the bounds of its interval."""
    get = attrgetter(name)
    return [
        (name, lambda line: csv_number(get(line[2]).value)),
        (f"{name}_low", lambda line: csv_number(get(line[2]).low)),
        (f"{name}_high", lambda line: csv_number(get(line[2]).high)),
    ]


_CSV_COLUMNS: CsvColumns[_CsvLine] = [
    ("experiment", lambda line: line[0]),
    ("metric", lambda line: line[1].metric),
    ("by", lambda line: line[1].kind),
    ("group", lambda line: line[1].group),
    ("method", lambda line: line[2].method),
    *_estimate_columns("elo"),
    *_estimate_columns("rank"),
    *_estimate_columns("better"),
    *_estimate_columns("win_rate"),
    ("seconds", lambda line: csv_number(line[2].seconds)),
    ("efficient", lambda line: int(line[2].efficient)),
    ("like_best", lambda line: int(line[2].like_best)),
    ("n_tables", lambda line: line[2].n_tables),
]


def leaderboard_text(experiments: Sequence[ExperimentBoards], format: str) -> str:
    """Return the leaderboards as markdown, json or csv."""
    if format == "markdown":
        return "\n".join(markdown(experiment.title, leaderboard_grids(experiment)) for experiment in experiments)
    all_boards = [(experiment.name, [*chain.from_iterable(experiment.boards)]) for experiment in experiments]
    if format == "json":
        parts = [{"experiment": name, "leaderboards": [*map(asdict, boards)]} for name, boards in all_boards]
        return json_of(parts, nan=None)
    lines = ((name, board, entry) for name, boards in all_boards for board in boards for entry in board.standings)
    return csv_lines(_CSV_COLUMNS, lines)
