"""Check the kinds of figures of docs/plots.md, and the committed summaries of predictions."""

import shutil
from pathlib import Path

import pytest

from probcal.reporting.figures import KINDS
from probcal.reporting.prediction_summaries import pictures_of
from probcal.store.folder import ESTIMATES, Store
from probcal.store.stored_experiment import StoredExperiment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
KEPT = sorted(path.parent.name for path in (ROOT / "results").glob(f"*/{ESTIMATES}"))


def test_every_kind_of_figure_is_on_the_page():
    assert [kind for kind in KINDS if f"\n| `{kind}` |" not in PAGE] == []


@pytest.mark.parametrize("name", KEPT)
def test_committed_summaries_of_predictions_match_the_committed_results(name, tmp_path):
    for file in ("experiment.json", "cells.jsonl", "cells.parquet", ESTIMATES):
        if (ROOT / "results" / name / file).exists():
            shutil.copy(ROOT / "results" / name / file, tmp_path)
    store = Store(tmp_path)
    stored = StoredExperiment.of(store)
    found = pictures_of(store, stored, store.results())
    assert found.figures, f"probcal plot results/{name} where predictions.bin is renews it"
    assert found.notes(stored) == [], f"probcal plot results/{name} where predictions.bin is renews it"
