"""Check that docs/own-table.md agrees with results/arena."""

from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "arena"


def test_the_page_of_own_tables_says_what_the_forest_is_worth():
    page = (ROOT / "docs" / "own-table.md").read_text(encoding="utf-8")
    cells = pd.read_parquet(RESULTS / "cells.parquet")
    is_usual = cells.learner.isin(["logistic", "nb", "tree", "forest", "hist"])
    cells = cells[is_usual & cells.method.isin(["direct", "sigmoid", "isotonic", "beta"])]
    means = cells.groupby(["dataset", "learner", "method"]).cxe.mean()
    best = means.groupby(["dataset", "learner"]).min().unstack()
    others = best.drop(columns="forest").min(axis=1)
    gain = (others - best.forest)[best.forest < others]
    said = " ".join(page.split())
    assert f"best of these learners on {len(gain)} of {len(best)} tables" in said
    assert f"is {gain.median():.3f} bits below".replace("0.", ".") in said
    assert (
        f"has {others.mean():.3f} bits on average, in place of {best.min(axis=1).mean():.3f}".replace("0.", ".") in said
    )
