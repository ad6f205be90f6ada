"""Test that metrics of many draws equal those of each draw by itself."""

import numpy as np
import pytest

from probcal.metrics.drawn_rows import Blocks, DrawnRows
from probcal.metrics.registry import ASKED_METRICS, METRICS, Prediction, metric_named

DRAWN = [name for name in (*METRICS, *ASKED_METRICS) if metric_named(name).drawn is not None]
APPROXIMATE = {"ici": 2e-3, "e50": 4e-3, "e90": 4e-3, "smece": 5e-4}
"""Their curves have the widths of all rows, and the smooth error has a coarser grid."""
N_DRAWS = 20


def draws_of(n: int, decimals: int | None, most_blocks: int | None = None):
    random = np.random.default_rng(n)
    odds = random.normal(-1, 1.5, n)
    p = 1 / (1 + np.exp(-odds))
    y = (random.random(n) < 1 / (1 + np.exp(-0.8 * odds))).astype(np.int64)
    p = p if decimals is None else p.round(decimals).clip(0.01, 0.99)
    weight = random.choice([0.5, 1.0, 2.0], n)
    times = random.multinomial(n, np.full(n, 1 / n), size=N_DRAWS)
    blocks, numbers = Blocks.of(y, p, weight, most_blocks)
    cells = numbers + len(blocks.p) * y
    sums = np.array([np.bincount(cells, weight * drawn, 2 * len(blocks.p)) for drawn in times])
    drawn_rows = DrawnRows(blocks, sums[:, len(blocks.p) :], sums[:, : len(blocks.p)])
    return drawn_rows, [Prediction(y, p, weight * drawn, coarse=True) for drawn in times]


@pytest.mark.parametrize("decimals", [None, 2])
@pytest.mark.parametrize("name", DRAWN)
def test_draws_together_equal_each_draw(name, decimals):
    drawn_rows, predictions = draws_of(1500, decimals)
    values = metric_named(name).drawn(drawn_rows)
    each = [metric_named(name).value(prediction) for prediction in predictions]
    assert values == pytest.approx(each, abs=APPROXIMATE.get(name, 1e-9))


@pytest.mark.parametrize("name", DRAWN)
def test_pooled_predictions_move_a_metric_by_little_of_its_spread(name):
    drawn_rows, predictions = draws_of(20_000, None, most_blocks=1000)
    assert len(drawn_rows.blocks.p) < 2000
    values = metric_named(name).drawn(drawn_rows)
    each = np.array([metric_named(name).value(prediction) for prediction in predictions])
    moved = values - each
    assert np.abs(moved - moved.mean()).max() < 0.2 * values.std() + 1e-12  # the mean is removed in an interval


def test_draws_without_a_class_have_no_auc_and_no_slope():
    blocks, _ = Blocks.of(np.array([0, 1]), np.array([0.2, 0.7]), np.ones(2))
    drawn = DrawnRows(blocks, np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]]))
    with np.errstate(invalid="ignore"):
        assert np.isnan(drawn.auc()).all()
    assert np.isnan(drawn.slope()).all() and np.isnan(drawn.intercept()).all()


def test_drawn_label_of_probability_0_has_an_infinite_loss():
    blocks, _ = Blocks.of(np.array([1, 0, 1]), np.array([0.0, 0.5, 0.7]), np.ones(3))
    drawn = DrawnRows(blocks, np.array([[1.0, 0, 1], [0, 0, 1]]), np.array([[0.0, 1, 0], [0, 1, 0]]))
    assert drawn.log_loss().tolist() == [np.inf, pytest.approx(-(np.log2(0.5) + np.log2(0.7)) / 2)]


@pytest.mark.parametrize("name", ["cxe", "slope", "intercept"])
def test_two_columns_keep_a_small_probability_of_class_0(name):
    negative = np.array([1e-20, 0.01, 1e-3, 0.4, 0.7, 0.99])
    p, y = np.column_stack([negative, 1 - negative]), np.array([0, 1, 1, 0, 1, 0])
    blocks, numbers = Blocks.of(y, p, np.ones(6))
    positive, other = (np.bincount(numbers, y == label, len(blocks.p))[None].astype(float) for label in (1, 0))
    expected = metric_named(name).value(Prediction(y, p))
    assert np.isfinite(expected)
    assert metric_named(name).drawn(DrawnRows(blocks, positive, other)) == pytest.approx([expected])
