"""Check the tables of docs/isoprobability.md against the committed results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from probcal.metrics.registry import metric_named
from probcal.reporting.grid import NOT_RUN
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import cell_counts, summarise

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "isoprobability.md").read_text(encoding="utf-8")
TOY, REAL = Store(ROOT / "results" / "isoprobability"), Store(ROOT / "results" / "isoprobability-real")
OF_TOY = [
    ("gaussians-250", "l1"),
    ("gaussians", "l1"),
    ("gaussians-4000", "l1"),
    ("gaussians", "l2"),
    ("gaussians", "l_max"),
    ("gaussians", "crossings"),
]
OF_REAL = [(dataset, metric) for metric in ("rms", "cxe") for dataset in ("adult", "diabetes", "ionosphere", "liver")]


def means(store, wanted):
    """Return the printed means of each column, by its label, in the order of ``wanted``."""
    stored, results = StoredExperiment.of(store), store.results()
    rows = {row.name: row for row in stored.datasets}
    found = {}
    for column in stored.columns:
        summaries = [summarise(stored, results, rows[name], column, metric) for name, metric in wanted]
        found[column.label] = [
            NOT_RUN if one.mean is None else "∞" if one.infinite else f"{one.mean:.{metric_named(metric).decimals}f}"
            for one, (_, metric) in zip(summaries, wanted, strict=True)
        ]
    return found


@pytest.mark.parametrize(
    ("section", "store", "wanted"), [("Against the truth", TOY, OF_TOY), ("On real data", REAL, OF_REAL)]
)
def test_tables_show_the_means_of_the_committed_results(section, store, wanted):
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| [A-Z]", line)]
    shown = {label: numbers for label, *numbers in lines}
    found = means(store, wanted)
    assert shown == {label: found[label] for label in shown}
    assert found.keys() - shown.keys() <= {"TwoWeightsSVC"}


@pytest.mark.parametrize("store", [TOY, REAL], ids=lambda store: store.folder.name)
def test_no_committed_result_is_failed_missing_or_stale(store):
    found = cell_counts(StoredExperiment.of(store), store.results())
    assert (found.failed, found.not_run, found.stale.total()) == ([], 0, 0)
