"""Test which methods win in the arena with equal fits, with equal seconds and on held-out tables."""

import dataclasses
import runpy
from pathlib import Path

import numpy as np
import pytest

from probcal.reporting.comparison.leaderboard import Scores, Table

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "arena_answer.py"))
METHODS = ("direct", "isotonic", "probing.fits20", "bagging.fits20", "as_calarena.beta")
SECONDS = (1, 2, 20, 20, 2)


def of_losses(losses, seconds=SECONDS):
    tables = tuple(Table(str(one), str(one), 100, 2, 1.0) for one in range(len(losses)))
    return Scores("log_loss", tables, ("a", "b"), METHODS, losses, np.broadcast_to(seconds, losses.shape), 0)


def candidates(losses, seconds=SECONDS):
    return SCRIPT["candidates"](of_losses(losses, seconds))


def random_losses(better=()):
    losses = np.random.default_rng(0).uniform(0.4, 0.6, size=(40, 2, 5))
    losses[:, :, list(better)] -= 0.5
    return losses


def test_a_method_that_is_always_better_wins_everywhere():
    [*rows, every] = SCRIPT["equal_fits"](of_losses(random_losses(better=[2])))
    assert [row[:4] for row in rows] == [["probing.fits20", "bagging.fits20", one, "40"] for one in "ab"]
    assert every[2] == "all" and str(every[4]) == "100 % (100 to 100)" and every[5].startswith("-0.")


def test_two_methods_with_equal_losses_share_the_tables():
    losses = random_losses()
    losses[:, :, 3] = losses[:, :, 2]
    assert [*map(str, SCRIPT["equal_fits"](of_losses(losses))[-1][4:])] == [
        "50 % (50 to 50)",
        "+0.0000 (+0.0000 to +0.0000)",
    ]


def test_a_rival_needs_no_more_seconds():
    losses = random_losses(better=[3])
    [row, _] = SCRIPT["equal_seconds"](candidates(losses))
    assert row[:4] == ["probing.fits20", "a", "20", "bagging.fits20"] and row[5].value == 0
    [row, _] = SCRIPT["equal_seconds"](candidates(losses, (1, 2, 20, 21, 2)))
    assert row[3] in ("direct", "isotonic")


def test_tables_are_grouped_by_their_training_rows():
    losses = random_losses()
    losses[:, :, 2] = np.where(np.arange(40) < 10, 0.0, 1.0)[:, None]
    of = of_losses(losses)
    tables = tuple(Table(str(one), str(one), 100 if one < 10 else 3_000, 2, 1.0) for one in range(40))
    rows = SCRIPT["by_rows"](dataclasses.replace(of, tables=tables))
    assert [[*map(str, row[1:])] for row in rows if row[1] == "isotonic"] == [
        ["isotonic", "all", "under 300", "10", "100 % (100 to 100)"],
        ["isotonic", "all", "3,000", "30", "0 % (0 to 0)"],
    ]


@pytest.mark.slow
def test_the_best_method_of_half_the_tables_is_recommended():
    losses = random_losses()
    losses[:, 0, 1] -= 0.5
    losses[:, 1, 3] -= 0.5
    rows = {row[0]: [*map(str, row[1:])] for row in SCRIPT["held_out"](candidates(losses))}
    assert rows["recommended for each learner"][:2] == ["100 % (100 to 100)", "100 % (100 to 100)"]
    assert rows["recommended for each learner"] == rows["best in hindsight"]
    assert rows["always direct"][1:] == ["-", "+0.0000 (+0.0000 to +0.0000)"]
    assert float(rows["always isotonic"][0].split()[0]) == pytest.approx(67, abs=10)


@pytest.mark.slow
def test_a_recommendation_without_a_real_difference_gains_nothing():
    rows = {row[0]: [*map(str, row[1:])] for row in SCRIPT["held_out"](candidates(random_losses()))}
    low, high = (float(one.strip("()")) for one in rows["recommended for each learner"][0].split()[2::2])
    assert low < 50 < high
    assert float(rows["best in hindsight"][0].split()[0]) > 50


@pytest.mark.slow
def test_a_method_missing_on_many_tables_is_not_recommended():
    losses = random_losses(better=[2])
    losses[:10, :, 2] = np.nan
    rows = {row[0]: [*map(str, row[1:])] for row in SCRIPT["held_out"](candidates(losses))}
    assert rows["always probing.fits20"][0] == "100 % (100 to 100)"
    assert rows["best in hindsight"][0] != "100 % (100 to 100)"


def test_variants_of_an_earlier_study_are_not_candidates():
    assert candidates(random_losses()).methods == METHODS[:-1]
