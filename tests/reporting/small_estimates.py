"""Provide small results folders with stored predictions, written as a run writes them."""

from __future__ import annotations

import numpy as np

from probcal.reporting.prediction_curves import StoredPredictions
from probcal.store.folder import CellResult, Store
from probcal.store.stored_experiment import ResultColumn, Row

COLUMNS = ("tree.direct", "tree.probing", "nb.direct", "nb.probing")


def experiment(columns=COLUMNS, **changes):
    return {
        "name": "small", "title": "Small", "metrics": ["auc"],
        "columns": [
            {"learner": one.split(".")[0], "method": one.split(".")[1], "label": one, "group": one.split(".")[0]}
            for one in columns
        ],
        "datasets": [{"name": "wine", "title": "Wine", "split": "holdout"}],
        "repetitions": {"wine": 2}, "exceptions": [], "stale": {}, **changes,
    }  # fmt: skip


def drawn(seed, n=40):
    """Return (y, p) of n rows. The predictions have ties."""
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 21, n) / 20
    return (rng.random(n) < p).astype(int), p


def folder_of(folder, cells=None, **changes):
    """Write ``cells``: (data set, column, repetition) -> (y, p). By default, each column has two repetitions."""
    asked = experiment(**changes)
    if cells is None:
        names = [f"{one['learner']}.{one['method']}" for one in asked["columns"]]
        every = [("wine", name, repetition) for name in names for repetition in (0, 1)]
        cells = {one: drawn(number) for number, one in enumerate(every)}
    store = Store(folder)
    with store.writing("small"):
        store.write_experiment(asked)
        for (dataset, column, repetition), (y, p) in cells.items():
            cell = (dataset, repetition, *column.split("."), "done", "run1", 1.0)
            store.add(CellResult(*cell, metrics={"auc": 0.75}, n_train=2 * len(y), n_test=len(y)), y, p)
    return store


def estimates(y, p, appearances=1.0, top_label=False):
    """Return StoredPredictions of one column on wine."""
    row, column = Row(name="wine", title="Wine"), ResultColumn(learner="nb", method="direct", label="NB", group="NB")
    return StoredPredictions(row, column, np.asarray(y, float), np.asarray(p, float), 1, appearances, top_label)
