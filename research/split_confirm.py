"""The printed numbers of the exact columns, and Weka's J48 and Logistic on a candidate split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from probcal.learners.weka import WekaClassifier
from probcal.metrics import cross_entropy, rms_error, roc_auc
from probcal.papers.published import PublishedPaper
from research.split_data import Rows
from research.split_scores import Numbers, finite_numbers, largest_difference

METRICS = ("rms", "cxe", "auc")
LEARNERS = {"J48": ("trees.J48", ""), "Log": ("functions.Logistic", "")}
"""Columns that Weka computes from the training rows in any order, the quick one first.

SMO and Bagging depend on the order, which a candidate does not tell.
"""
MISPRINTS = {("ionosphere", "Log", "cxe")}
"""Printed numbers that cannot be (see the head of langford-zadrozny-2005.yaml)."""


def printed_numbers(dataset: str, column: str) -> Numbers:
    """Return the finite printed numbers of a column of the paper for a data set, ``dataset`` a card of any reading."""
    paper = PublishedPaper.read("langford-zadrozny-2005")
    learner, method = paper.columns[column]
    name = dataset if dataset in paper.titles else dataset.split("-", maxsplit=1)[0]
    numbers = finite_numbers([(metric, paper.number(name, learner, method, metric)) for metric in METRICS])
    return {metric: value for metric, value in numbers.items() if (name, column, metric) not in MISPRINTS}


def weka_numbers(rows: Rows, train: np.ndarray, column: str) -> Numbers:
    """Return RMS, CXE (bits) and AUC of a column of the paper on a split. Raises WekaMissing without Weka."""
    name, options = LEARNERS[column]
    model = WekaClassifier(name, options=options).fit(rows.X[train], rows.y[train])
    p, y = model.predict_proba(rows.X[~train])[:, 1], rows.y[~train]
    return {"rms": rms_error(y, p), "cxe": cross_entropy(y, p), "auc": roc_auc(y, p)}


def confirmations(rows: Rows, train: np.ndarray) -> Iterator[tuple[str, float]]:
    """Yield each column with its largest difference from the printed numbers, in units of the last digit."""
    for column in LEARNERS:
        yield column, largest_difference(weka_numbers(rows, train, column), printed_numbers(rows.name, column))
