"""Tables of leaderboards, as Markdown, JSON or CSV with one line for each method."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from probcal._io import Field, counted, csv_text
from probcal.analysis.leaderboard import (
    Estimate,
    Leaderboard,
    LeaderboardEntry,
    leaderboards,
    learner_alone,
    scores,
    shown_metrics,
)
from probcal.analysis.pairs import p_text
from probcal.errors import ProbcalError, unknown_name
from probcal.papers.check.check_text import json_of
from probcal.reporting.grid import NOT_RUN, Grid, Text, markdown, missing_cells
from probcal.store.cell_result import shown_metric
from probcal.store.folder import Store
from probcal.store.outline import Outline, Selection
from probcal.store.summary import census

_EVERYTHING = Selection()
_EXPLANATION = (
    "Elo with its 95 % interval over tables (the learner alone has 1000; 400 points more are odds of 10 to 1); mean "
    "rank, bold where it is not significantly different from the best; share of tables on which the method is better "
    "than the learner alone; win rate: share of the other methods that it beats; seconds to fit and predict alone "
    "(geometric mean), bold where no method that is as fast has a higher Elo."
)
_SHORT = (
    "Elo (the learner alone has 1000), and the share of tables on which the method is better than the learner alone; "
    "the highest Elo is bold."
)
_FEW = 5
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
    has_alone: bool
    missing: list[str]
    """Notes on cells that failed, were not run or are stale."""


def experiment_boards(
    store: Store, selection: Selection = _EVERYTHING, metrics: Sequence[str] = (), kind: str = ""
) -> ExperimentBoards:
    """Return the leaderboards of the selected part of a store. The learner alone always stays a part of it.

    Raises LeaderboardError when there is nothing to compare, and ProbcalError for a metric that no result has.
    """
    whole, results = Outline.of(store), store.results()
    alone = learner_alone(whole)
    methods = (*selection.methods, alone) if selection.methods and alone else selection.methods
    outline = Selection(selection.datasets, selection.learners, methods).of(whole)
    measured = sorted({name for one in results.values() for name in one.metrics})
    for metric in metrics:
        if metric not in measured:
            raise ProbcalError(f"{store.folder}: {unknown_name('metric', metric, measured)}")
        if shown_metric(metric).no_end:
            raise ProbcalError(f"{metric} ranks no methods: {shown_metric(metric).no_end}")
    found = [
        leaderboards(scores(outline, results, metric), kind) for metric in metrics or shown_metrics(outline, results)
    ]
    if not any(found):
        raise LeaderboardError(f"{store.folder}: no table has results of two methods for one learner")
    return ExperimentBoards(
        outline.name,
        outline.title,
        kind,
        [one for one in found if one],
        alone is not None,
        missing_cells(census(outline, results)),
    )


def grids(of: ExperimentBoards) -> list[Grid]:
    """Return one table for each metric: of all numbers, or of the groups side by side where they are split."""
    found = [_side_by_side(one) if of.kind else board_grid(one[0]) for one in of.boards]
    for grid in found[1:]:
        grid.notes[:] = [note for note in grid.notes if note not in found[0].notes]
    if not of.has_alone:
        found[0].notes.append("The learner alone was not run, so the mean Elo is 1000 and nothing is compared with it.")
    found[0].notes.extend(of.missing)
    return [
        replace(one, number=number, explanation=one.explanation if number == 1 else "read like Table 1.")
        for number, one in enumerate(found, 1)
    ]


def board_grid(board: Leaderboard) -> Grid:
    """Return the table of one leaderboard, without a number."""
    header = ["method", "Elo", "95 %", "mean rank", "better", "win rate", "seconds"]
    rows = [
        [
            Text(one.method),
            Text(_whole(one.elo.value)),
            Text(_interval(one.elo, _whole)),
            Text(f"{one.rank.value:.2f}", f" ({_interval(one.rank, _one)})", bold=one.like_best),
            Text(_percent(one.better.value), _in_parentheses(one.better)),
            Text(_percent(one.win_rate.value)),
            Text(_seconds(one.seconds), bold=one.efficient),
        ]
        for one in board.standings
    ]
    name = f"{shown_metric(board.metric).long}, {shown_metric(board.metric).good_end}"
    return Grid(0, f"{name}: {board.group}" if board.group else name, _EXPLANATION, header, rows, _notes(board))


def _side_by_side(boards: Sequence[Leaderboard]) -> Grid:
    """Return a table with a column for each group."""
    by_group = [{one.method: one for one in board.standings} for board in boards]
    methods = list(dict.fromkeys(method for of in by_group for method in of))
    order = {
        method: -sum(of[method].elo.value for of in by_group if method in of) / sum(method in of for of in by_group)
        for method in methods
    }
    rows = [
        [Text(method), *(_entry(of.get(method), board) for of, board in zip(by_group, boards, strict=True))]
        for method in sorted(methods, key=lambda one: (order[one], one))
    ]
    rows.append([Text("tables"), *(Text(str(board.n_tables)) for board in boards)])
    metric = shown_metric(boards[0].metric)
    name = f"{metric.long}, {metric.good_end}, by {boards[0].kind}"
    few = [board.group for board in boards if board.n_tables < _FEW]
    notes = [f"Fewer than {_FEW} tables, which show little: {', '.join(few)}."] if few else []
    return Grid(0, name, _SHORT, ["method", *(board.group for board in boards)], rows, notes)


def _entry(one: LeaderboardEntry | None, board: Leaderboard) -> Text:
    if one is None:
        return Text(NOT_RUN)
    return Text(
        _whole(one.elo.value), f" ({_percent(one.better.value)})", bold=one.elo.value == board.standings[0].elo.value
    )


def _notes(board: Leaderboard) -> list[str]:
    notes = [
        f"{counted(board.n_tables, 'table')}, {counted(board.n_pairs, 'pair')} of table and learner. A table "
        "counts once, whatever its number of learners."
    ]
    if not math.isnan(board.p):
        notes.append(
            f"Friedman's test on the {board.n_complete} tables with every method: p {_p(board.p)}. Mean ranks that are"
            f" closer than Nemenyi's critical difference, {board.critical_difference:.2f}, are not significantly"
            " different."
        )
    return notes


def _p(number: float) -> str:
    text = p_text(number)
    return text if text.startswith("<") else f"= {text}"


def _whole(number: float) -> str:
    return NOT_RUN if math.isnan(number) else f"{number:.0f}"


def _one(number: float) -> str:
    return f"{number:.1f}"


def _percent(number: float) -> str:
    return NOT_RUN if math.isnan(number) else f"{100 * number:.0f} %"


def _seconds(number: float) -> str:
    return NOT_RUN if math.isnan(number) else f"{number:.3g}"


def _interval(one: Estimate, text: Callable[[float], str]) -> str:
    return NOT_RUN if math.isnan(one.low) else f"{text(one.low)} to {text(one.high)}"


def _in_parentheses(one: Estimate) -> str:
    return "" if math.isnan(one.low) else f" ({100 * one.low:.0f} to {100 * one.high:.0f})"


def text(every: Sequence[ExperimentBoards], format: str) -> str:
    """Return the leaderboards as markdown, json or csv."""
    if format == "json":
        return json_of([_as_json(one) for one in every])
    if format == "csv":
        return _csv(every)
    return "\n".join(markdown(one.title, grids(one)) for one in every)


_ESTIMATES = ("elo", "rank", "better", "win_rate")
_OTHERS = ("seconds", "efficient", "like_best", "n_tables")


def _csv(every: Sequence[ExperimentBoards]) -> str:
    estimates = [column for name in _ESTIMATES for column in (name, f"{name}_low", f"{name}_high")]
    rows: list[list[Field]] = [["experiment", "metric", "by", "group", "method", *estimates, *_OTHERS]]
    for of in every:
        for board in (board for boards in of.boards for board in boards):
            for one in board.standings:
                numbers = [
                    _number(number)
                    for name in _ESTIMATES
                    for number in (getattr(one, name).value, getattr(one, name).low, getattr(one, name).high)
                ]
                flags: list[Field] = [_number(one.seconds), int(one.efficient), int(one.like_best), one.n_tables]
                rows.append([of.name, board.metric, board.kind, board.group, one.method, *numbers, *flags])
    return csv_text(rows)


def _number(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.6g}"


def _as_json(of: ExperimentBoards) -> dict[str, Any]:
    return {
        "experiment": of.name,
        "leaderboards": [_without_nan(asdict(board)) for boards in of.boards for board in boards],
    }


def _without_nan(value: Any) -> Any:
    """Return ``value`` with null for what is unknown."""
    if isinstance(value, dict):
        return {name: _without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value
