"""Which rows a map is fitted on: a held-out part, or folds, and whether each fold needs a map of its own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv, train_test_split

from probcal._validation import is_count, take_rows
from probcal.methods.calibrators._calibrator import Calibrator

Rows = tuple[np.ndarray, np.ndarray]
"""Row numbers: (to learn from, to calibrate on)."""


def held_out_rows(labels: np.ndarray, size: float, seed: int) -> Rows:
    """Return a stratified split of the rows. ``size`` is the share or number of rows to calibrate on.

    The rows are those of scikit-learn's ``train_test_split(stratify=labels)``. Raises ValueError when a class would be
    missing from either part.
    """
    classes, counts = np.unique(labels, return_counts=True)
    n_rows = len(labels)
    n_held_out = int(size) if is_count(size) else math.ceil(size * n_rows)
    _check_two_rows(classes, counts)
    if not len(classes) <= n_held_out <= n_rows - len(classes):
        raise ValueError(
            f"holdout_size={size} keeps {n_held_out} of {n_rows} rows to calibrate on; each part needs one row of each "
            f"of {len(classes)} classes at least, so keep between {len(classes)} and {n_rows - len(classes)} rows"
        )
    learn, calibrate = train_test_split(np.arange(n_rows), test_size=n_held_out, stratify=labels, random_state=seed)
    for rows, purpose, advice in ((learn, "learn from", "lower"), (calibrate, "calibrate on", "raise")):
        for label in np.setdiff1d(classes, labels[rows]):
            raise ValueError(
                f"class {label_text(label)} has {int((labels == label).sum())} of the rows, and none is among the rows "
                f"to {purpose}; {advice} holdout_size, or give more rows of that class"
            )
    return learn, calibrate


def folds(
    X: Any, labels: np.ndarray, cv: Any, seed: int, groups: Any = None, counted: np.ndarray | None = None
) -> list[Rows]:
    """Return the rows of each fold: ``cv`` stratified shuffled folds, or those of a splitter or list of pairs.

    With ``groups``, (n_rows,), no group is in two of ``cv`` folds. A splitter gets them. A class with fewer than ``cv``
    rows, or in fewer than ``cv`` groups, gives as many folds as these, with a UserWarning.

    ``counted`` is a bool for each row. The others are left out, and the folds number the counted rows only. A splitter
    or a list of pairs numbers all rows, so these are split first.

    Raises ValueError for a class with one row or in one group, for row numbers that do not exist, and when a fold has
    no row to calibrate on, or no row of a class to learn from.
    """
    if not is_count(cv):
        given = check_cv(cv).split(X, labels, groups)
        pairs = [(np.asarray(learn), np.asarray(calibrate)) for learn, calibrate in given]
        for number, pair in enumerate(pairs, 1):
            for rows in pair:
                _check_row_numbers(rows, len(labels), f"fold {number} of {len(pairs)}")
        if counted is not None:
            place, labels = np.cumsum(counted) - 1, labels[counted]
            pairs = [(place[learn][counted[learn]], place[rows][counted[rows]]) for learn, rows in pairs]
    else:
        if counted is not None:
            labels, groups = labels[counted], None if groups is None else take_rows(groups, counted)
        n_folds = _possible_folds(labels, cv, groups)
        splitter = (StratifiedKFold if groups is None else StratifiedGroupKFold)(
            n_folds, shuffle=True, random_state=seed
        )
        pairs = list(splitter.split(np.zeros(len(labels)), labels, groups))
    classes = np.unique(labels)
    if not pairs:
        raise ValueError("cv holds no fold")
    for number, (learn, calibrate) in enumerate(pairs, 1):
        fold = f"fold {number} of {len(pairs)}"
        if not learn.size or not calibrate.size:
            purpose = "calibrate on" if learn.size else "learn from"
            kind = "rows" if counted is None else "rows of positive weight"
            raise ValueError(f"{fold} has no {kind} to {purpose}; give cv such folds that both parts have rows")
        for label in np.setdiff1d(classes, labels[learn]):
            raise ValueError(
                f"class {label_text(label)} is missing from the rows to learn from in {fold}; "
                "use stratified folds, such as cv=5"
            )
    return pairs


def _check_row_numbers(rows: np.ndarray, n_rows: int, fold: str) -> None:
    """Raise ValueError unless ``rows`` are whole numbers below ``n_rows``, or a mask of that length."""
    if not rows.size:
        return
    if rows.ndim != 1 or rows.dtype.kind not in "iub" or (rows.dtype.kind == "b" and len(rows) != n_rows):
        raise ValueError(f"{fold} must hold two lists of row numbers; see the parameter cv")
    if rows.dtype.kind != "b" and not -n_rows <= rows.min() <= rows.max() < n_rows:
        wrong = rows.max() if rows.max() >= n_rows else rows.min()
        raise ValueError(f"{fold} holds the row number {wrong}, and there are {n_rows} rows, counted from 0")


def _possible_folds(labels: np.ndarray, cv: int, groups: Any) -> int:
    """Return ``cv``, or the number of rows (of groups) of the rarest class if this is smaller, which is warned of."""
    classes, counts = np.unique(labels, return_counts=True)
    _check_two_rows(classes, counts)
    what = "rows"
    if groups is not None:
        what, counts = "groups", np.array([len(np.unique(np.asarray(groups)[labels == label])) for label in classes])
        if counts.min() < 2:
            raise ValueError(
                f"class {label_text(classes[counts.argmin()])} is in 1 group only, and two are needed: one to learn "
                "from and one to calibrate on; give more groups with it, or no groups"
            )
    if counts.min() < cv:
        warnings.warn(
            f"class {label_text(classes[counts.argmin()])} has {counts.min()} {what}, fewer than cv={cv} folds, so "
            f"there are {counts.min()} folds; give more {what} of it, or set cv={counts.min()}",
            stacklevel=5,
        )
    return int(min(cv, counts.min()))


def _check_two_rows(classes: np.ndarray, counts: np.ndarray) -> None:
    """Raise ValueError for a class with one row."""
    if counts.min() < 2:
        raise ValueError(
            f"class {label_text(classes[counts.argmin()])} has 1 row, and two are needed: one to learn from and one to "
            "calibrate on; give more rows of it, leave it out, or set calibration='train'"
        )


def is_holdout_size(size: Any) -> bool:
    """Return whether ``size`` is a share between 0 and 1 or a number of rows."""
    return is_count(size) or bool(isinstance(size, float | np.floating) and 0 < size < 1)


def check_folds(cv: Any) -> None:
    """Raise ValueError unless ``cv`` is a number of folds from 2, a splitter, or a list of pairs of row numbers."""
    if is_count(cv) and cv >= 2:
        return
    if (not hasattr(cv, "split") and not isinstance(cv, list | tuple)) or isinstance(cv, str):
        raise ValueError(f"cv must be a whole number of folds from 2, or a splitter of scikit-learn, not {cv!r}")
    if isinstance(cv, list | tuple) and not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in cv):
        raise ValueError("cv must be a list of pairs: the row numbers to learn from, and those to calibrate on")


def label_text(label: Any) -> str:
    """Return a label as text for a message."""
    return repr(label.item() if isinstance(label, np.generic) else label)


class FoldScores(NamedTuple):
    """Hold the scores of a fold, with n rows, by the classifier that was trained without it.

    The weights are above 0, and on the scale of ``fit_weights`` for the rows of all folds.
    """

    scores: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None


def prefers_fold_maps(make: Callable[[], Calibrator], folds: Sequence[FoldScores], seed: int) -> bool:
    """Return whether a map of each fold predicts its rows better than one map of all folds.

    A random half of each fold fits the maps, the other half judges them by log loss, and then the other way round. The
    classifiers of the folds may give scores on different scales, as naive Bayes does where a variance is close to 0.
    One map is then wrong for all of them. With few rows a map of one fold is worse. The answer is False if a class has
    fewer than two rows in a fold.
    """
    classes = np.unique(np.concatenate([one.labels for one in folds]))
    if min((one.labels == label).sum() for one in folds for label in classes) < 2:
        return False
    splitter = StratifiedKFold(2, shuffle=True, random_state=seed)
    halves = [[half for _, half in splitter.split(one.labels, one.labels)] for one in folds]
    own = shared = 0.0
    for fitting, judging in ((0, 1), (1, 0)):
        fits = [_rows(one, half[fitting]) for one, half in zip(folds, halves, strict=True)]
        judges = [_rows(one, half[judging]) for one, half in zip(folds, halves, strict=True)]
        one_map = fitted(make(), joined(fits))
        own += sum(_loss(fitted(make(), fit), judge) for fit, judge in zip(fits, judges, strict=True))
        shared += sum(_loss(one_map, judge) for judge in judges)
    return own < shared


def fitted(calibrator: Calibrator, part: FoldScores) -> Calibrator:
    """Fit a map on the rows of ``part``."""
    return calibrator._fit_scaled(part.scores, part.labels, part.weights)


def joined(folds: Sequence[FoldScores]) -> FoldScores:
    """Return the rows of all folds as one."""
    weights: Any = [one.weights for one in folds]
    return FoldScores(
        np.concatenate([one.scores for one in folds]),
        np.concatenate([one.labels for one in folds]),
        None if weights[0] is None else np.concatenate(weights),
    )


def _rows(fold: FoldScores, rows: np.ndarray) -> FoldScores:
    return FoldScores(fold.scores[rows], fold.labels[rows], None if fold.weights is None else fold.weights[rows])


def _loss(calibrator: Calibrator, part: FoldScores) -> float:
    """Return the log loss in nats, summed over the rows."""
    p = calibrator.predict_proba(part.scores)
    with np.errstate(divide="ignore"):  # a map with clip=(0, 1) may predict 0
        losses = -np.log(p[np.arange(len(p)), np.searchsorted(calibrator.classes_, part.labels)])
    return float(losses.sum() if part.weights is None else losses @ part.weights)
