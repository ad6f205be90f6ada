"""Provide a small results folder like that of ``configs/protection.yaml``: one data set, many columns, curves."""

from __future__ import annotations

from probcal.store.folder import CellResult, Store

COLUMNS = ("base.untruncated", "base.0.1", "base.0.01", "jumper.0.1", "jumper.0.01", "sigmoid")
PAPER = {
    "base.untruncated": "base", "base.0.1": "base-0.1", "base.0.01": "base-0.01", "jumper.0.1": "simple-0.1",
    "jumper.0.01": "simple-0.01",
}  # fmt: skip


def experiment(**changes) -> dict:
    columns = [
        {
            "learner": "forest", "method": one, "label": f"RF {one}", "group": "RF",
            "paper_learner": "forest", "paper_method": PAPER.get(one),
        }
        for one in changes.pop("columns", COLUMNS)
    ]  # fmt: skip
    datasets = [{"name": "bank-marketing", "title": "Bank marketing", "split": "chronological"}]
    return {
        "name": "small", "title": "A stream", "metrics": ["auc", "errors", "log10_loss", "log10_martingale"],
        "paper": None, "seed": 2021, "datasets": datasets, "columns": columns, "repetitions": {"bank-marketing": 2},
        **changes,
    }  # fmt: skip


def write(folder, cells, curves=None, **changes) -> Store:
    """Write ``cells``, which have metrics of each repetition, and ``curves`` of the first. Keys are columns."""
    store = Store(folder)
    with store.writing("small"):
        store.write_experiment(experiment(**changes))
        for column, repetitions in cells.items():
            for repetition, metrics in enumerate(repetitions):
                kept = (curves or {}).get(column, {}) if not repetition else {}
                cell = ("bank-marketing", repetition, "forest", column, "done", "run1", 1.0)
                store.add(CellResult(*cell, metrics=metrics, curves=kept))
    return store
