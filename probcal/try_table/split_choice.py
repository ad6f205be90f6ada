"""The rows of a trial: a stratified sample, and folds, folds of groups or parts in order of time that can be used."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from probcal._io import counted
from probcal.config.entries import Component
from probcal.data.dataset import Dataset
from probcal.data.splits import Kind, Split, stream_seed
from probcal.errors import DataError, ProbcalError
from probcal.reading.text_column import text_of
from probcal.runner.cell_rows import calibration_cv, calibration_rows, calibration_seed, split_keys, split_rows
from probcal.try_table.column_types import TableColumn, as_categories

_USUAL_FOLDS = (5, 4, 3, 2)
_MOST_FOLDS = 100
MOST_ROWS = 10_000
MOST_NUMBERS = 4_000_000
"""Largest number of rows times columns as learners get them. Wide tables use fewer rows."""
# Smallest sample for the widest table.
_SMALLEST_SAMPLE = 1_000
RARE_SHARE = 0.05
"""A class with a smaller share of the rows keeps as many of them as the sample has room for."""
# Largest share of a sample that all rare classes together get.
_LARGEST_RARE_PART = 0.25
# If every class is in so many groups, each fold has groups of each class, so that nothing is drawn to find out.
_ENOUGH_GROUPS = 50


@dataclass(frozen=True)
class SplitChoice:
    """Describe which rows train and which test. Each fold of each repetition is one split."""

    kind: Kind
    folds: int
    repeats: int = 1
    column: str | None = None
    """The column of groups or of time, which is no input."""

    @property
    def n_splits(self) -> int:
        """Return the number of splits."""
        return self.folds * self.repeats

    @property
    def test_share(self) -> float:
        """Return the share of the rows of a split that test. In order of time it is the mean over the splits."""
        return 2 / (self.folds + 3) if self.kind == "time_ordered" else 1 / self.folds

    @property
    def train_share(self) -> float:
        """Return the mean share of the table on which a split trains."""
        return 0.5 if self.kind == "time_ordered" else 1 - 1 / self.folds

    def card_entry(self) -> dict[str, Any]:
        """Return the split as a card writes it."""
        key = {"group_k_fold": "group", "time_ordered": "order"}.get(self.kind)
        return {"kind": self.kind, "folds": self.folds} | ({key: self.column, "nested": True} if key else {})

    @property
    def note_on_calibration(self) -> str | None:
        """Return in words on which rows a method calibrates. None for splits without groups and time."""
        if self.kind == "group_k_fold":
            return f'A method calibrates on rows of another "{self.column}" than those from which it learned the scores'
        if self.kind == "time_ordered":
            return f'A method calibrates on rows of a later "{self.column}" than those from which it learned the scores'
        return None

    def sentence(self, n_rows: int) -> str:
        """Return in words which of ``n_rows`` rows train and test."""
        if self.kind == "time_ordered":
            part = n_rows // (self.folds + 1)
            return (
                f'{self.folds} splits in order of "{self.column}": each tests about {part:,} rows and trains on all '
                f'rows before them; rows of the same "{self.column}" stay together'
            )
        test = n_rows // self.folds
        scheme = "stratified folds"
        if self.kind == "group_k_fold":
            scheme = f'folds, where all rows of one "{self.column}" are in one fold'
        times = "" if self.repeats == 1 else f"{self.repeats} times "
        return (
            f"{self.n_splits} splits, {times}{self.folds} {scheme}: {n_rows - test:,} training rows, {test:,} test rows"
        )


def choose_splits(n_splits: int, group: str | None = None, time: str | None = None) -> SplitChoice:
    """Return the splits for the options of the command line.

    Folds come in whole repetitions. So 10 splits are five folds, twice, and 7 splits are seven folds.

    Raises ProbcalError for a group together with a time, and for a prime number of splits over 100.
    """
    if group is not None and time is not None:
        raise ProbcalError(
            "--group and --time: rows are split by groups or in order of time, not both. Give --group if you will "
            "predict for new groups, and --time if you will predict later rows of the same groups"
        )
    folds = next((k for k in _USUAL_FOLDS if n_splits % k == 0), n_splits) if time is None else n_splits
    if folds > _MOST_FOLDS:
        raise ProbcalError(f"--splits {n_splits}: gives {n_splits:,} folds, over {_MOST_FOLDS}; give a multiple of 5")
    if time is not None:
        return SplitChoice("time_ordered", folds, column=time)
    kind: Kind = "stratified_k_fold" if group is None else "group_k_fold"
    return SplitChoice(kind, folds, n_splits // folds, group)


def group_column(name: str, raw: pa.ChunkedArray) -> TableColumn:
    """Return the column of groups. A row without a value is a group of its own."""
    text = as_categories(text_of(raw)).astype(object)
    missing = text.isna()
    if missing.all():
        raise DataError(f'--group: column "{name}" is empty')
    groups = text.where(~missing, "row " + pd.Series(np.arange(1, len(text) + 1)).astype(str) + " without a value")
    n_groups, largest = groups.nunique(), int(groups.value_counts().iloc[0])
    n_missing = int(missing.sum())
    suffix = f"; {counted(n_missing)} without a value, each a group of its own" if n_missing else ""
    description = f"{counted(n_groups, 'group')} of up to {counted(largest)}; no input{suffix}"
    return TableColumn(name, "group", description, 0, groups.astype("category"))


def weight_column(name: str, weight: npt.NDArray[np.float64]) -> TableColumn:
    """Return the column of the weights of the rows, (n_rows,), all above 0."""
    low, high = weight.min(), weight.max()
    return TableColumn(name, "weight", f"{low:.4g} to {high:.4g}; no input", 0, pd.Series(weight))


def time_column(name: str, column: TableColumn) -> TableColumn:
    """Return the column of time, read as dates or numbers. Raise DataError where it is neither or has gaps."""
    if column.kind not in ("date", "number"):
        raise DataError(f'--time: column "{name}" holds no dates and no numbers ({column.kind}: {column.about})')
    if column.missing:
        raise DataError(
            f'--time: column "{name}" is empty in {counted(column.missing)}; fill them in, or remove these rows'
        )
    description = column.about.removesuffix(", as days since 1970")
    return TableColumn(name, "time", f"{description}; no input", 0, column.values)


def refuse_few_groups(columns: Sequence[TableColumn], rows: npt.NDArray[np.intp], split: SplitChoice) -> None:
    """Raise DataError where the used ``rows`` have fewer groups than there are folds."""
    for column in columns:
        if column.kind == "group":
            n_groups = column.values.iloc[rows].nunique()
            if n_groups < split.folds:
                raise DataError(
                    f'--group: column "{column.name}" has {counted(n_groups, "different value")}, too few for '
                    f"{split.folds} folds; give fewer --splits, or another column"
                )


def refuse_unusable_splits(
    dataset: Dataset, names: npt.NDArray[Any], methods: Iterable[Component], split: SplitChoice, seed: int
) -> None:
    """Raise DataError where a training part of ``split`` lacks a class, or cannot calibrate one of the ``methods``.

    ``dataset`` holds the used rows, with the nested split on its card. ``names``, (n_classes,), are the classes.
    """
    card_split = dataset.card.split
    if not card_split.nested:
        return
    cvs = {repr(cv): cv for method in methods if (cv := calibration_cv(method, card_split)) is not None}
    labels = names[dataset.y]
    if split.kind == "group_k_fold" and _groups_of_rarest_class(dataset, labels) >= _ENOUGH_GROUPS:
        return
    if fault := _fault(dataset, labels, [*cvs.values()], card_split, split, seed):
        folds = _possible_folds(dataset, labels, [*cvs.values()], split, seed)
        raise DataError(fault if folds is None else f"{fault.partition('; ')[0]}; give --splits {folds}")


def _groups_of_rarest_class(dataset: Dataset, labels: npt.NDArray[Any]) -> int:
    keys = split_keys(dataset.card.split, dataset.card.name, _frame(dataset))
    return min(len(np.unique(keys[labels == label])) for label in np.unique(labels))


def _fault(
    dataset: Dataset, labels: npt.NDArray[Any], cvs: list[Any], card_split: Split, split: SplitChoice, seed: int
) -> str:
    """Return which split has too few rows for what, or an empty text."""
    name, X = dataset.card.seeding_name, _frame(dataset)
    strata = dataset.y if dataset.strata is None else dataset.strata
    keys, classes = split_keys(card_split, name, X), np.unique(labels)
    option = f'--{"time" if split.kind == "time_ordered" else "group"} "{split.column}"'
    for number in range(split.n_splits):
        try:
            train, _ = split_rows(card_split, name, X, strata, number, seed)
        except DataError as error:
            return f"{option}: {str(error).removeprefix(f'{name}: ')}; give more rows, or another column"
        part = f"{option}: split {number + 1} of {split.n_splits} trains on {counted(len(train))}"
        if len(absent := np.setdiff1d(classes, labels[train])):
            return f'{part}, none of "{absent[0]}"; give more rows, or another column'
        for cv in cvs:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a class in fewer groups than folds has fewer folds
                    calibration_rows(labels[train], keys[train], cv, calibration_seed(seed, name, number))
            except ValueError as error:
                reason = str(error).partition("; ")[0]
                return f"{part}, too few to calibrate on some of them: {reason}; methods such as  -m direct need none"
    return ""


def _possible_folds(
    dataset: Dataset, labels: npt.NDArray[Any], cvs: list[Any], split: SplitChoice, seed: int
) -> int | None:
    """Return the largest smaller number of splits in order of time without a fault, or None."""
    for folds in range(split.folds - 1, 1, -1) if split.kind == "time_ordered" else ():
        fewer, card_split = replace(split, folds=folds), dataset.card.split.model_copy(update={"folds": folds})
        if not _fault(dataset, labels, cvs, card_split, fewer, seed):
            return folds
    return None


def _frame(dataset: Dataset) -> pd.DataFrame:
    assert isinstance(dataset.X, pd.DataFrame)
    return dataset.X


def sample_size(n_rows: int, n_columns: int, limit: int | None) -> int:
    """Return how many rows of a table are used. ``n_columns`` counts one column for each level."""
    if limit is not None:
        return min(n_rows, limit)
    return min(n_rows, MOST_ROWS, max(_SMALLEST_SAMPLE, MOST_NUMBERS // max(1, n_columns)))


def stratified_sample(labels: npt.NDArray[Any], size: int, seed: int) -> npt.NDArray[np.intp]:
    """Return (size,) sorted row numbers of a stratified sample. Each class count is exact to one row."""
    n = len(labels)
    if size >= n:
        return np.arange(n)
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    shuffled = np.random.default_rng(stream_seed(seed, "sample", n, size)).permutation(n)
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    # even steps over the rows in order of their classes give each class its share
    positions = np.floor((np.arange(size) + 0.5) * n / size).astype(np.intp)
    return np.sort(order[positions])


@dataclass(frozen=True)
class RowSample:
    """Hold the numbers of the used rows, sorted, and the classes of which it keeps more rows than their share."""

    rows: npt.NDArray[np.intp]
    enriched_classes: Mapping[str, int]
    """Class -> number of its rows in the sample."""


def draw_sample(classes: npt.NDArray[Any], labels: npt.NDArray[Any], size: int, seed: int) -> RowSample:
    """Return a sample of ``size`` rows. A class of less than 5 % of the rows keeps all of them, if there is room.

    The other rows are a stratified sample by label. ``classes`` and ``labels`` are (n_rows,). Several labels can be one
    class.
    """
    n, classes = len(labels), classes.astype(str)
    names, counts = np.unique(classes, return_counts=True)
    rare_counts = {str(name): int(rows) for name, rows in zip(names, counts, strict=True) if rows < RARE_SHARE * n}
    if size >= n or not rare_counts:
        return RowSample(stratified_sample(labels, size, seed), {})
    quota = int(_LARGEST_RARE_PART * size / len(rare_counts))
    parts = []
    for name, rows in rare_counts.items():
        class_rows = np.flatnonzero(classes == name)
        n_drawn = min(rows, max(quota, round(size * rows / n)))
        draw = np.random.default_rng(stream_seed(seed, "rare", name, n, size))
        parts.append(class_rows if n_drawn == rows else np.sort(draw.choice(class_rows, n_drawn, replace=False)))
        rare_counts[name] = n_drawn
    common_rows = np.flatnonzero(~np.isin(classes, list(rare_counts)))
    common_sample = common_rows[stratified_sample(labels[common_rows], size - sum(map(len, parts)), seed)]
    return RowSample(np.sort(np.concatenate([*parts, common_sample])), rare_counts)
