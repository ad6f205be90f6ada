"""Provide small results folders, written as a run writes them."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from probcal.store.folder import CellResult, Store

LABELS = {
    ("j48", "direct"): ("J48", "J48"), ("j48", "bagging"): ("BagJ48", "J48"),
    ("j48", "probing"): ("ProbJ48", "J48"), ("svm", "sigmoid"): ("SigSVM", "SVM"),
    ("svm", "probing"): ("ProbSVM", "SVM"), ("nb", "direct"): ("NB", "NB"),
    ("nb", "sigmoid"): ("SigNB", "NB"), ("nb", "probing"): ("ProbNB", "NB"),
    ("log", "direct"): ("Log", "Log"), ("log", "probing"): ("ProbLog", "Log"),
}  # fmt: skip
PAPER_LEARNERS = {"j48": "J48", "svm": "SVM", "nb": "NB", "log": "Log"}


@dataclass
class Written:
    """Write a results folder.

    ``cells[(dataset, "learner.method")]`` is a list with one entry per repetition: a dict of metrics, a message of
    failure, or None for a cell that was never run.
    """

    folder: Path
    datasets: dict[str, int] = field(default_factory=lambda: {"adult": 1})
    columns: tuple[str, ...] = ("j48.direct", "j48.probing", "log.direct")
    metrics: tuple[str, ...] = ("cxe", "rms", "auc", "c_emp")
    paper: str | None = None
    title: str = "A small experiment"
    titles: dict[str, str] = field(default_factory=dict)
    name: str = "small"
    readings: dict[str, str] = field(default_factory=dict)
    """Data set -> the one that it is a reading of."""
    exceptions: tuple[dict, ...] = ()
    splits: dict[str, str] = field(default_factory=dict)
    """Data set -> kind of its split, where the folder stores it."""
    counterpart: tuple[str, str] | None = None
    """The paper's learner and method of all columns, if they are variants of one."""

    def experiment(self) -> dict:
        columns = []
        for name in self.columns:
            learner, method = name.split(".")
            label, group = LABELS.get((learner, method), (f"{learner} {method}", learner))
            paper_learner, paper_method = self.counterpart or (PAPER_LEARNERS.get(learner, learner), method)
            columns.append(
                {"learner": learner, "method": method, "label": label, "group": group,
                 "paper_learner": paper_learner, "paper_method": paper_method}
            )  # fmt: skip
        return {
            "name": self.name, "title": self.title, "metrics": list(self.metrics), "paper": self.paper,
            "datasets": [
                {"name": d, "title": self.titles.get(d, d.title()), "reading_of": self.readings.get(d),
                 "split": self.splits.get(d)}
                for d in self.datasets
            ],
            "columns": columns, "repetitions": self.datasets, "exceptions": list(self.exceptions),
        }  # fmt: skip

    def write(self, cells: dict[tuple[str, str], list]) -> Store:
        store = Store(self.folder)
        with store.writing(self.name):
            store.write_experiment(self.experiment())
            for (dataset, column), repetitions in cells.items():
                for repetition, outcome in enumerate(repetitions):
                    if outcome is not None:
                        store.add(self._result(dataset, repetition, *column.split("."), outcome))
        return store

    def _result(self, dataset, repetition, learner, method, outcome) -> CellResult:
        cell = (dataset, repetition, learner, method)
        if isinstance(outcome, str):
            return CellResult(*cell, "failed", "run1", 1.0, error_type="ValueError", message=outcome)
        return CellResult(*cell, "done", "run1", 1.0, metrics=outcome)


@pytest.fixture
def small(tmp_path):
    """Return a function: ``small(datasets={"adult": 1}, ...).write(cells)`` gives a Store. Each name has a folder."""
    return lambda name="small", **changes: Written(tmp_path / "results" / name, name=name, **changes)


@pytest.fixture
def ten_columns():
    """Return the columns of the paper, in its order."""
    return tuple(f"{learner}.{method}" for learner, method in LABELS)


@pytest.fixture
def cxe():
    """Return a function: ``cxe(.5, .6)`` gives one done repetition per number."""
    return lambda *numbers: [{"cxe": number} for number in numbers]
