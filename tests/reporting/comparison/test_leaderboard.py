"""Test leaderboards over tables against Demsar (2006), closed forms and hand calculations."""

import csv
import io
import json
import math

import numpy as np
import pytest

from probcal.analysis.rankings import bradley_terry, elo, pairwise_wins, weighted_mean
from probcal.reporting.comparison.leaderboard import (
    Scores,
    Table,
    default_metrics,
    leaderboard,
    leaderboards,
    measure_scores,
)
from probcal.reporting.comparison.ranks import rank_columns
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal, refused
from tests.reporting.comparison.test_ranks import NAMES, TABLE_6

COLUMNS = ("j48.direct", "j48.bagging", "j48.probing")


def scored(losses, alone=0, methods=None, **facts):
    """Make the scores of ``losses``, (n_tables, n_learners, n_methods)."""
    losses = np.asarray(losses, dtype=float)
    n, learners, k = losses.shape
    given = {"n_train": [None] * n, "n_classes": [None] * n, "balance": [None] * n, **facts}
    tables = [
        Table(f"t{i}", f"T{i}", *(given[name][i] for name in ("n_train", "n_classes", "balance"))) for i in range(n)
    ]
    return Scores(
        "cxe", tuple(tables), tuple(f"l{i}" for i in range(learners)), tuple(methods or "abcdefgh"[:k]), losses,
        np.ones_like(losses), alone,
    )  # fmt: skip


def of_method(board, name):
    return next(one for one in board.standings if one.method == name)


def test_a_win_counts_one_and_a_tie_half():
    found = pairwise_wins(np.array([0.1, 0.2, 0.2, math.nan]))
    assert found[0, 1:3].tolist() == [1.0, 1.0]
    assert found[1, :3].tolist()[::2] == [0.0, 0.5]
    assert np.isnan(found[3]).all() and np.isnan(found[:, 3]).all() and np.isnan(np.diag(found)).all()
    assert pairwise_wins(np.array([math.inf, math.inf, 1.0]))[0, 1:].tolist() == [0.5, 0.0]


def test_expected_wins_equal_observed_wins_at_the_maximum():
    """Check the likelihood equations of Bradley & Terry (1952)."""
    won = np.random.default_rng(1).integers(1, 9, (6, 6)).astype(float)
    np.fill_diagonal(won, 0)
    strengths = bradley_terry(won)
    likely = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    assert ((won + won.T) * likely).sum(axis=1) - np.diag(won + won.T) * 0.5 == pytest.approx(won.sum(axis=1))


def test_odds_of_ten_are_400_points_of_elo():
    found = elo(np.array([[0.0, 1e6], [1e5, 0.0]]), anchor=1)
    assert found == pytest.approx([1400.0, 1000.0], abs=1e-3)


def test_a_method_that_always_wins_has_a_finite_rating():
    found = elo(np.array([[0.0, 12.0], [0.0, 0.0]]), anchor=1)
    assert found[0] == pytest.approx(1000 + 400 * math.log10(12.05 / 0.05))


def test_a_weighted_mean_ignores_missing_tables():
    values = np.array([[1.0], [math.nan], [4.0]])
    assert weighted_mean(np.array([[2.0, 5.0, 1.0]]), values).tolist() == [[2.0]]


def test_one_learner_gives_the_ranks_and_test_of_demsar():
    board = leaderboard(scored(-TABLE_6[:, None, :], alone=None, methods=NAMES))
    demsar = rank_columns(TABLE_6, NAMES, "auc")
    ranks = {one.method: one.rank.value for one in board.standings}
    assert ranks == pytest.approx(dict(zip(demsar.labels, demsar.mean_ranks, strict=True)))
    assert board.p == pytest.approx(demsar.p)
    assert board.critical_difference == demsar.critical_difference
    assert [one.win_rate.value for one in board.standings] == pytest.approx([(4 - rank) / 3 for rank in ranks.values()])


def test_a_table_counts_once_for_any_number_of_learners():
    """Check two tables: on one table both learners prefer a, on the other the only learner prefers b."""
    nan = math.nan
    board = leaderboard(scored([[[1, 2], [1, 2]], [[2, 1], [nan, nan]]]))
    assert (board.n_tables, board.n_pairs) == (2, 3)
    assert [one.win_rate.value for one in board.standings] == [0.5, 0.5]
    assert of_method(board, "b").better.value == 0.5


def test_a_method_is_not_ranked_on_tables_without_its_number():
    nan = math.nan
    board = leaderboard(scored([[[2, 1, 3]], [[2, 1, nan]], [[2, 1, 3]]]))
    assert of_method(board, "c").n_tables == 2 and board.n_complete == 2
    assert of_method(board, "b").rank.value == 1.0
    assert of_method(board, "c").rank.value == 3.0


def test_the_learner_alone_has_elo_1000_and_no_comparison():
    board = leaderboard(scored(np.random.default_rng(0).random((9, 2, 4)), alone=2))
    alone = of_method(board, "c")
    assert (alone.elo.value, alone.elo.low, alone.elo.high) == (1000, 1000, 1000)
    assert math.isnan(alone.better.value)


def test_the_width_of_an_interval_matches_the_standard_error():
    """Check the width with random ranks of three methods, which have variance 2/3."""
    board = leaderboard(scored(np.random.default_rng(3).random((60, 1, 3)), alone=None))
    for one in board.standings:
        assert one.rank.high - one.rank.low == pytest.approx(2 * 1.96 * math.sqrt(2 / 3 / 60), rel=0.15)
        assert one.like_best


def test_a_method_is_efficient_unless_a_faster_one_is_better():
    of = scored([[[3, 2, 1]], [[3, 2, 1]], [[3, 2, 1]]])
    of.seconds[:] = [1, 5, 2]
    assert {one.method: one.efficient for one in leaderboard(of).standings} == {"a": True, "b": False, "c": True}
    assert of_method(leaderboard(of), "b").seconds == pytest.approx(5)


def test_tables_are_split_by_size_balance_and_classes():
    losses = np.random.default_rng(0).random((4, 1, 2))
    of = scored(losses, n_train=[100, 500, 9_999, 10_000], balance=[0.1, 0.2, 0.6, None], n_classes=[2, 3, 6, None])
    groups = {
        kind: {one.group: one.n_tables for one in leaderboards(of, kind)} for kind in ("size", "balance", "classes")
    }
    assert list(groups["size"].values()) == [1, 1, 1, 1]
    assert groups["balance"]["rarest class under 1/5 of its equal share"] == 1
    assert groups["classes"] == {"2 classes": 1, "3 to 5 classes": 1, "6 classes or more": 1, "unknown": 1}


def test_the_share_of_the_rarest_class_is_stored():
    store = Store("results/defaults")
    of = measure_scores(StoredExperiment.of(store), store.results(), "cxe")
    mammography = next(one for one in of.tables if one.name == "mammography")
    assert mammography.balance == pytest.approx(2 * 260 / 11183)
    assert (mammography.n_train, mammography.n_classes) == (3000, 2)


@pytest.fixture
def folder(small, cxe):
    """Write three tables. Probing is best on two; bagging is better than the learner alone on two."""
    numbers = {"adult": (0.6, 0.5, 0.4), "sick": (0.6, 0.5, 0.4), "liver": (0.6, 0.7, math.inf)}
    cells = {
        (dataset, column): cxe(value, value)
        for dataset, values in numbers.items()
        for column, value in zip(COLUMNS, values, strict=True)
    }
    return small(datasets=dict.fromkeys(numbers, 2), columns=COLUMNS, metrics=("cxe",)).write(cells).folder


def test_the_command_prints_one_table_for_each_metric(folder):
    output = probcal("leaderboard", folder).output
    assert output.count("**Table") == 1 and "3 tables, 3 pairs of table and learner" in output
    line = next(line for line in output.splitlines() if line.startswith("| bagging"))
    assert "67 %" in line


def test_csv_has_one_line_for_each_method_and_group(folder):
    rows = list(csv.DictReader(io.StringIO(probcal("leaderboard", folder, "-f", "csv", "--by", "learner").output)))
    assert {(row["method"], row["group"]) for row in rows} == {(name.partition(".")[2], "j48") for name in COLUMNS}
    assert {row["method"]: row["better"] for row in rows} == {
        "direct": "", "bagging": "0.666667", "probing": "0.666667"
    }  # fmt: skip


def test_json_is_strict_and_has_every_interval(folder):
    def refuse(constant):
        raise AssertionError(constant)

    [found] = json.loads(probcal("leaderboard", folder, "-f", "json").output, parse_constant=refuse)
    [board] = found["leaderboards"]
    assert board["n_tables"] == 3
    assert board["standings"][0]["elo"].keys() == {"value", "low", "high"}


def test_the_learner_alone_stays_in_a_selection(folder):
    rows = csv.DictReader(io.StringIO(probcal("leaderboard", folder, "-f", "csv", "-m", "probing").output))
    assert {row["method"] for row in rows} == {"direct", "probing"}


def test_a_metric_that_was_not_measured_is_rejected(folder):
    assert 'there is no metric "smece"' in refused("leaderboard", folder, "--metric", "smece")


def test_without_two_methods_there_is_no_leaderboard(small, cxe):
    folder = small(columns=("j48.direct", "log.direct")).write({("adult", "j48.direct"): cxe(0.5)}).folder
    assert "no table has results of two methods" in refused("leaderboard", folder)


def test_log_loss_comes_first_and_only_measured_metrics_are_shown():
    store = Store("results/defaults")
    assert default_metrics(StoredExperiment.of(store), store.results()) == ["cxe", "rms", "c_emp"]
