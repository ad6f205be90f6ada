"""Leaderboards of the page: one table for each metric and group of tables, of which its filters show one at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from probcal.reporting.comparison.leaderboard import KINDS, Leaderboard, default_metrics, leaderboards, measure_scores
from probcal.reporting.comparison.leaderboard_tables import board_grid
from probcal.reporting.grid import Grid
from probcal.store.cell_result import Results, resolve_metric
from probcal.store.outline import Outline

ALL_TABLES = "all tables and learners"
_FEWEST_METHODS, _FEWEST_TABLES = 3, 5
"""A smaller leaderboard, or one of fewer tables, shows little that the other tables do not."""


@dataclass(frozen=True)
class Board:
    """Hold one leaderboard, with the choices of the filters that show it."""

    metric: str
    group: str
    grid: Grid


def boards(outline: Outline, results: Results, first: int) -> list[Board]:
    """Return the leaderboards with at least three methods and five tables, numbered from ``first``."""
    board_list: list[Board] = []
    for metric in default_metrics(outline, results):
        metric_scores = measure_scores(outline, results, metric)
        large_boards = [board for kind in ("", *KINDS) for board in _large_boards(leaderboards(metric_scores, kind))]
        for board in large_boards:
            grid = board_grid(board)
            explanation = grid.explanation if not board_list else "read like the first of these tables."
            grid = replace(grid, number=first + len(board_list), explanation=explanation)
            group = f"{board.kind}: {board.group}" if board.kind else ALL_TABLES
            board_list.append(Board(resolve_metric(metric).short, group, grid))
    return board_list


def _large_boards(candidates: list[Leaderboard]) -> list[Leaderboard]:
    """Return the leaderboards that are large enough. A kind with a single group shows nothing new."""
    if len(candidates) == 1 and candidates[0].kind:
        return []
    return [
        board for board in candidates if len(board.standings) >= _FEWEST_METHODS and board.n_tables >= _FEWEST_TABLES
    ]
