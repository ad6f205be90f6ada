"""Check before a trial that every split with groups or a time has the rows that learning and calibrating need."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import counted
from probcal.config.entries import Component
from probcal.data.card_split import Split
from probcal.data.dataset import Dataset
from probcal.errors import DataError
from probcal.runner.cell_rows import calibration_cv, calibration_rows, calibration_seed, split_keys, split_rows
from probcal.try_table.split_choice import SplitChoice

# Apart from split_choice, because predict.py imports that one, and would need a second more to import the runner.

# If every class is in so many groups, each fold has groups of each class, so that nothing is drawn to find out.
_ENOUGH_GROUPS = 50


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
