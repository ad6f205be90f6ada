"""What drives the winner: permutation importance of each column, in bits of log loss on held-out rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from probcal._io import aligned_lines, counted, printable, shortened, wrap_line
from probcal.data.dataset import Dataset
from probcal.data.splits import stream_seed
from probcal.runner.cell_rows import split_keys, split_rows
from probcal.try_table.measures import MeasureScale
from probcal.try_table.pipeline_code import PipelinePlan
from probcal.try_table.preparation import PreparedTable

Floats = npt.NDArray[np.float64]

HEADER = ("column", "importance in bits", "95 % interval")
_REPEATS = 5
# Predicted rows of all columns and repetitions, over the fits of a method. The number decides and not the clock, so
# that the same table has the same numbers on every machine.
_MOST_PREDICTIONS = 4_000_000
_FEWEST_ROWS = 500
_MOST_LISTED = 10
_LONGEST_NAME = 24
_HALF_WIDTH = 1.959963984540054
"""Quantile .975 of the standard normal distribution."""


@dataclass(frozen=True)
class ColumnImportance:
    """Hold how many bits of log loss a row loses on average without the values of one column of the file."""

    name: str
    bits: float
    low: float
    high: float

    @property
    def cells(self) -> list[str]:
        """Return the cells of a table below ``HEADER``."""
        return [printable(self.name), f"{self.bits:.4f}", f"{self.low:.4f} to {self.high:.4f}"]


@dataclass(frozen=True)
class Importance:
    """Hold the columns, the most important first, and on what they were measured, in words."""

    columns: Sequence[ColumnImportance]
    basis: str

    def terminal_lines(self) -> Iterator[str]:
        """Yield the first columns for a terminal."""
        yield from wrap_line(printable(f"What drives the winner: {self.basis}"), hang=0)
        yield ""
        rows = [[shortened(one.cells[0], _LONGEST_NAME), *one.cells[1:]] for one in self.columns[:_MOST_LISTED]]
        yield from aligned_lines([list(HEADER), *rows])
        if len(self.columns) > _MOST_LISTED:
            yield f"… {counted(len(self.columns) - _MOST_LISTED, 'more column')} in the report"


def permutation_importance(
    prepared: PreparedTable, dataset: Dataset, plan: PipelinePlan, scale: MeasureScale, n_fits: int,
    progress: Callable[[str], None],
) -> Importance:  # fmt: skip
    """Return the permutation importance of each column of the file for the pipeline of ``plan``.

    The pipeline is fitted again on the training rows of each fold of the first repetition. In the held-out rows of the
    fold, the values of one column are permuted, several times, and the log loss is compared with that of the true
    values, row by row (Breiman, 2001; Fisher, Rudin & Dominici, 2019, call it model reliance). Columns that were made
    from one column of the file are permuted together. Probabilities have the bound of the ranking.

    The interval is that of the mean difference over the held-out rows: d +- 1.96 s / sqrt(n), with the weights of the
    rows, and with sums over groups where rows are split by groups. It says how much the importance for *these fitted
    models* would vary with other rows. It says nothing about other training rows, and nothing about causes.

    ``n_fits`` is the number of learners that one prediction of the method takes.
    """
    card, labels = dataset.card, dataset.y if dataset.strata is None else dataset.strata
    X_all, _, _ = prepared.training_rows()
    X = X_all.iloc[prepared.rows].reset_index(drop=True)
    frame = dataset.X
    assert isinstance(frame, pd.DataFrame)
    keys = split_keys(card.split, card.seeding_name, frame)
    columns = _source_columns(prepared)
    n_folds = prepared.split.folds
    splits = [split_rows(card.split, card.seeding_name, frame, labels, n, plan.seed) for n in range(n_folds)]
    n_repeats, n_rows = _work(sum(len(test) for _, test in splits), len(columns), n_fits)
    losses: dict[str, list[Floats]] = {name: [] for name in columns}
    used: list[npt.NDArray[np.intp]] = []
    for number, (train, test) in enumerate(splits, 1):
        progress(f"importance: fold {number} of {n_folds}, {counted(len(columns), 'column')}")
        random = np.random.default_rng(stream_seed(plan.seed, "importance", number))
        n_kept = max(1, math.ceil(len(test) * n_rows))
        test = np.sort(random.permutation(test)[:n_kept])
        weight = None if dataset.weight is None else dataset.weight[train]
        with threadpool_limits(1):
            model = plan.fit(X.iloc[train].reset_index(drop=True), dataset.y[train], keys[train], weight)
            rows, y = X.iloc[test].reset_index(drop=True), dataset.y[test]
            before = _row_losses(model, rows, y, scale)
            for name, members in columns.items():
                change = np.zeros(len(test))
                for _ in range(n_repeats):
                    permuted, order = rows.copy(deep=False), random.permutation(len(test))
                    for member in members:
                        permuted[member] = rows[member].iloc[order].reset_index(drop=True)
                    change += _row_losses(model, permuted, y, scale) - before
                losses[name].append(change / n_repeats)
        used.append(test)
    tested = np.concatenate(used)
    weights: Floats = np.ones(len(tested))
    if dataset.weight is not None:
        weights = np.asarray(dataset.weight[tested], dtype=np.float64)
    elif (of_classes := scale.row_weights(dataset.y[tested])) is not None:
        weights = of_classes
    groups = keys[tested] if prepared.split.kind == "group_k_fold" else None
    found = [_importance(name, np.concatenate(parts), weights, groups) for name, parts in losses.items()]
    ranked = sorted(found, key=lambda one: -one.bits)
    rows_text = f"{counted(len(tested), 'held-out row')}"
    if n_rows < 1:
        rows_text += ", a part of them so that it takes minutes"
    basis = (
        f"bits of log loss that a row loses if the values of a column are permuted, on {rows_text}, "
        f"{counted(n_repeats, 'permutation')}"
    )
    return Importance(ranked, basis)


def _work(n_rows: int, n_columns: int, n_fits: int) -> tuple[int, float]:
    """Return the number of permutations, and the share of the held-out rows that are predicted."""
    budget = _MOST_PREDICTIONS / n_fits / max(1, n_columns)
    repeats = int(min(_REPEATS, max(1, budget // max(1, n_rows))))
    return repeats, min(1.0, max(_FEWEST_ROWS, budget) / n_rows)


def _source_columns(prepared: PreparedTable) -> dict[str, list[str]]:
    """Return each column of the file that is an input -> the inputs that were made from it."""
    columns: dict[str, list[str]] = {}
    for column in prepared.inputs:
        source = column.plan.source if column.plan is not None and column.plan.source else column.name
        columns.setdefault(source, []).append(column.name)
    return columns


def _row_losses(model: object, X: pd.DataFrame, y: npt.NDArray[np.int8], scale: MeasureScale) -> Floats:
    """Return (n_rows,) the log loss of each row in bits, with the bound of the ranking."""
    p = scale.clip(scale.reweight(model.predict_proba(X)))  # type: ignore[attr-defined]  # any classifier
    return np.asarray(-np.log2(p[np.arange(len(y)), y.astype(int)]))


def _importance(name: str, change: Floats, weights: Floats, groups: npt.NDArray[np.intp] | None) -> ColumnImportance:
    total = weights.sum()
    mean = float(weights @ change / total)
    parts = weights * (change - mean)
    if groups is not None:  # rows of one group vary together
        _, codes = np.unique(groups, return_inverse=True)
        parts = np.asarray(np.bincount(codes, parts), dtype=np.float64)
    n = len(parts)
    half = _HALF_WIDTH * math.sqrt(n / max(1, n - 1) * float(parts @ parts)) / total
    return ColumnImportance(name, mean, mean - half, mean + half)
