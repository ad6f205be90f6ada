"""Provide a change of a stored cell, and the summary line of ``probcal check``."""

from probcal.store.cell_result import CellResult


def change(store, dataset="adult", column="nb.direct", repetition=0, **metrics):
    """Add a new result with other metrics for one cell."""
    learner, method = column.split(".")
    before = store.results()[f"{dataset}/{repetition}/{learner}/{method}"].metrics
    with store.writing("small"):
        cell = (dataset, repetition, learner, method, "done", "run2", 1.0)
        store.add(CellResult(*cell, metrics={**before, **metrics}))


def summary(result):
    return result.stdout.splitlines()[-1]
