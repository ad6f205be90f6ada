"""Draws the pictures of docs/plots.md: python docs/figures/plots.py [FOLDER], by default beside this file.

From results/uci-random, and there from estimates.json alone: what `probcal plot results/uci-random -d adult` draws, in
small.
"""

from __future__ import annotations

import sys
from pathlib import Path

from probcal.reporting.drawing import drawing_style
from probcal.reporting.prediction_figures import ESTIMATE_KINDS, estimate_figures
from probcal.reporting.prediction_summaries import pictures_of
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection, StoredExperiment

RESULTS = Path(__file__).parents[2] / "results" / "uci-random"


def main(folder: Path) -> None:
    store = Store(RESULTS)
    stored, results = Selection(("adult",)).select(StoredExperiment.of(store)), store.results()
    with drawing_style():
        for name, figure in estimate_figures(
            stored, results, pictures_of(store, stored, results).figures, ESTIMATE_KINDS
        ):
            figure.savefig(folder / f"{name}.png", dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
