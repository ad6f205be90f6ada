"""Test intervals in closed form against published values, a slow oracle and the bootstrap."""

from __future__ import annotations

import math

import numpy as np
import pytest

from probcal.metrics.checked_rows import checked_numbers
from probcal.metrics.closed_forms import (
    auc_interval,
    brier_interval,
    log_loss_interval,
    mean_interval,
    share_interval,
)
from probcal.metrics.drawn_rows import Blocks, DrawnRows
from probcal.metrics.ranking import RankedRows

LEVEL = 0.95


def drawn_predictions(n, seed=0, weighted=False):
    random = np.random.default_rng(seed)
    p = random.beta(1, 2, n).round(2).clip(0.01, 0.99)
    y = (random.random(n) < p**0.8).astype(int)
    return checked_numbers(y, p, random.random(n) + 0.5 if weighted else None)


@pytest.mark.parametrize(
    ("positive", "n", "expected"),
    [
        # Newcombe (1998), Statistics in Medicine 17, Table I, method 3
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_share_interval_is_wilsons(positive, n, expected):
    y = np.repeat([1, 0], [positive, n - positive])
    assert share_interval(checked_numbers(y, np.full(n, 0.5)), LEVEL) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_auc_interval_is_that_of_all_pairs(weighted):
    rows = drawn_predictions(150, weighted=weighted)
    positive, negative = rows.y == 1, rows.y == 0
    w_positive, w_negative = rows.weight[positive], rows.weight[negative]
    pairs = (np.sign(rows.p[positive][:, None] - rows.p[negative]) + 1) / 2
    of_positive = pairs @ w_negative / w_negative.sum()
    of_negative = w_positive @ pairs / w_positive.sum()
    auc = w_positive @ of_positive / w_positive.sum()
    variance = 0.0
    for placement, weight in ((of_positive, w_positive), (of_negative, w_negative)):
        n = weight.sum() ** 2 / (weight**2).sum()
        variance += (weight**2 * (placement - auc) ** 2).sum() / weight.sum() ** 2 * n / (n - 1)
    half = 1.959963984540054 * math.sqrt(variance)
    assert auc_interval(RankedRows.of(rows), LEVEL) == pytest.approx((auc - half, auc + half), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_closed_forms_agree_with_the_bootstrap(weighted):
    rows = drawn_predictions(4000, 1, weighted)
    blocks, numbers = Blocks.of(rows.y, rows.p, rows.weight, 1000)
    cells = numbers + len(blocks.p) * (rows.y == 1)
    random = np.random.default_rng(2)
    counts = [
        np.bincount(
            cells, rows.weight * np.bincount(random.integers(4000, size=4000), minlength=4000), 2 * len(blocks.p)
        )
        for _ in range(2000)
    ]
    negative, positive = np.split(np.array(counts), 2, axis=1)
    draws = DrawnRows(blocks, positive, negative)
    for interval, drawn in (
        (share_interval(rows, LEVEL), draws.base_rate()),
        (mean_interval(rows, rows.p, LEVEL), draws.mean_probability()),
        (log_loss_interval(rows, LEVEL), draws.log_loss()),
        (brier_interval(rows, LEVEL), draws.squared_error()),
        (auc_interval(RankedRows.of(rows), LEVEL), draws.auc()),
    ):
        width = interval[1] - interval[0]
        assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(interval, abs=0.05 * width)


def test_an_infinite_loss_and_a_missing_class_have_no_interval():
    rows = checked_numbers([0, 1, 1], [0.0, 0.0, 1.0], None)
    assert np.isnan(log_loss_interval(rows, LEVEL)).all()
    assert np.isnan(auc_interval(RankedRows.of(checked_numbers([1, 1], [0.2, 0.3], None)), LEVEL)).all()


def test_losses_of_several_classes_have_intervals():
    random = np.random.default_rng(0)
    p = random.dirichlet([1, 1, 1], 2000)
    rows = checked_numbers((random.random((2000, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=2), p, None)
    low, high = log_loss_interval(rows, LEVEL, math.e)
    assert low < -np.mean(np.log(rows.p_of_label)) < high
    assert high - low == pytest.approx(2 * 1.96 * np.std(-np.log(rows.p_of_label)) / np.sqrt(2000), rel=1e-3)
    low, high = brier_interval(rows, LEVEL)
    assert 0 < low < high < 1
