"""Test how often the 95 % interval of a count covers the true count, as stated in docs/statistics.md."""

import math
from pathlib import Path

import numpy as np
import pytest

from probcal.reporting.comparison.bootstrap import _resample_splits
from probcal.store.stored_experiment import Row

PAGE = Path(__file__).parents[3] / "docs/statistics.md"
SHARE, SPLITS, DATASETS, TIMES = 0.34, 10, 12, 60
MOST = DATASETS // 2 + 1


def wins(truth, random):
    """Return (n_draws,): the number of data sets where method 1 wins; ``truth``: differences in sd of a split."""
    found = np.zeros(1, dtype=int)
    for place, one in enumerate(truth):
        values = one + math.sqrt(SHARE) * random.normal() + math.sqrt(1 - SHARE) * random.normal(size=SPLITS)
        row = Row(name=f"d{place}", title="x", split="holdout")
        found = found + (_resample_splits(row, dict(enumerate(values)), SHARE).means > 0)
    return found


def held_and_wrongly_supported(truth_of):
    random = np.random.default_rng(2)
    held, wrongly = 0, 0
    for _ in range(TIMES):
        truth = np.asarray(truth_of(random))
        drawn = wins(truth, random)
        low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
        ahead = int((truth > 0).sum())
        held += low <= ahead <= high
        wrongly += ahead < MOST and (drawn >= MOST).mean() >= 0.975
    return held / TIMES, wrongly / TIMES


@pytest.mark.parametrize(
    ("said", "truth_of", "held", "wrongly"),
    [
        ("as often below 0 as above it", lambda random: random.normal(0, 1, DATASETS), (0.93, 1), (0, 0.02)),
        ("all of three standard deviations", lambda _: [3] * DATASETS, (0.97, 1), (0, 0)),
        ("all of a fifth of one", lambda _: [0.2] * DATASETS, (0, 0.05), (0, 0)),
        ("six clear differences and six of a hundredth", lambda _: [3] * 6 + [-0.01] * 6, (0.05, 0.35), (0.65, 0.95)),
    ],
)
def test_coverage_of_counts_matches_the_page(said, truth_of, held, wrongly):
    assert said in " ".join(PAGE.read_text(encoding="utf-8").split())
    for value, (least, most) in zip(held_and_wrongly_supported(truth_of), (held, wrongly), strict=True):
        assert least <= value <= most
