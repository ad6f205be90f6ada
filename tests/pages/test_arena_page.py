"""Check that docs/arena.md and docs/which-method.md agree with results/arena.

If a test fails after a run, the numbers of the results are right. Rewrite the page.
"""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "arena"
PAGE = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
WHICH = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")


def rows(text):
    """Return the cells of each line of a table, without marks of bold text."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("*", "") for cell in line.strip("|").split("|")] for line in lines]


def section(text, heading):
    return text.partition(f"{heading}\n")[2].partition("\n#")[0]


def saved(name):
    return (RESULTS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("### At equal fits", "## At equal fits"),
        ("### At equal seconds", "## At equal seconds"),
        ("### Against one rule", "## Against one rule"),
        ("### Does the choice hold on other tables?", "## Held-out check"),
    ],
)
def test_tables_of_the_page_come_from_the_saved_answer(here, there):
    shown = rows(section(PAGE, here))[2:]
    assert shown
    assert [row for row in shown if row not in rows(section(saved("answer.md"), there))] == []


def test_calibration_and_refinement_ratings_equal_the_leaderboard():
    boards = re.split(r"\*\*Table \d\. ", saved("leaderboard.md"))[1:]
    by_method = [{row[0]: f"{row[1]} ({row[2]})" for row in rows(board)} for board in boards]
    shown = rows(section(PAGE, "### Calibration and refinement"))[2:]
    assert shown
    for method, *ratings in shown:
        assert ratings == [board[method] for board in by_method[2:]]


def test_ratings_by_learner_equal_the_leaderboard():
    board = rows(re.split(r"\*\*Table \d\. ", saved("leaderboard-by-learner.md"))[1])
    by_method = {row[0]: row[1:] for row in board}
    shown = rows(section(WHICH, "## On a hundred tables"))[2:]
    for place, row in enumerate(shown):
        expected = [by_method[name][place].replace("*", "") for name in METHODS]
        assert row[3:] == expected
        best = max(
            cells[place] for name, cells in by_method.items() if cells[place].startswith("1") and name != "tables"
        )
        assert row[2] == best
    assert len(shown) == len(board[0]) - 1


METHODS = ("isotonic", "beta", "probing.fits100", "bagging.fits100")


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
