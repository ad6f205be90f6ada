"""Test sharpness and the decompositions of Brier score and log loss against hand calculations and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from metric_rows import quick, weighted_rows
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss

from probcal.metrics import all_metrics, murphy_decomposition, score_decomposition, sharpness

RNG = np.random.default_rng(0)
P = RNG.random(300)
Y = (RNG.random(300) < P**2).astype(int)


@pytest.mark.parametrize(
    ("loss", "score"), [("brier", brier_score_loss), ("log", lambda y, p: log_loss(y, p) / math.log(2))]
)
def test_parts_are_differences_of_three_losses(loss, score):
    found = score_decomposition(Y, P, loss=loss)
    recalibrated = IsotonicRegression().fit(P, Y).predict(P)
    assert found.loss == pytest.approx(score(Y, P), rel=1e-9)
    assert found.refinement == pytest.approx(score(Y, recalibrated), abs=1e-9)
    assert found.uncertainty == pytest.approx(score(Y, np.full(300, Y.mean())), rel=1e-9)
    assert found.miscalibration == pytest.approx(found.loss - found.refinement, abs=1e-12)


@quick
@given(weighted_rows)
def test_distinct_recalibration_gives_murphys_decomposition(rows):
    y, p, weight = zip(*rows, strict=True)
    found = score_decomposition(y, p, weight, recalibration="distinct")
    assert found[1:] == pytest.approx(murphy_decomposition(y, p, weight), abs=1e-12)


@quick
@given(weighted_rows)
def test_isotonic_parts_are_never_negative(rows):
    y, p, weight = zip(*rows, strict=True)
    for loss in ("brier", "log"):
        found = score_decomposition(y, p, weight, loss=loss)
        assert min(found.miscalibration, found.discrimination, found.refinement) >= -1e-12


def test_bits_and_nats_differ_by_the_factor_ln_two():
    bits, nats = (score_decomposition(Y, P, loss="log", base=base) for base in ("bits", "nats"))
    assert nats == pytest.approx([one * math.log(2) for one in bits], rel=1e-12)
    assert sharpness(P, loss="log", base="nats") == pytest.approx(sharpness(P, loss="log") * math.log(2), rel=1e-12)


def test_sharpness_agrees_with_hand_calculation():
    # variance of 0 and 1/2 is 1/16; entropies 0 and 1 bit, that of their mean 1/4 is .811278
    assert sharpness([0, 0.5]) == 1 / 16
    assert sharpness([0, 0.5], loss="log") == pytest.approx(0.8112781 - 0.5, abs=1e-7)
    assert sharpness([[1, 0], [0.5, 0.5]]) == 1 / 16
    assert sharpness([0, 0.5], [3, 1]) == pytest.approx(3 / 64)


def test_all_metrics_offers_the_parts_of_the_brier_score():
    found = all_metrics(Y, P, also=["miscalibration", "discrimination", "refinement", "sharpness"])
    expected = score_decomposition(Y, P)
    assert found["miscalibration"] == expected.miscalibration and found["refinement"] == expected.refinement
    assert found["discrimination"] == expected.discrimination and found["sharpness"] == pytest.approx(P.var())


@pytest.mark.parametrize(
    ("options", "message"),
    [({"loss": "hinge"}, "loss must be"), ({"recalibration": "bins"}, "recalibration must be"), ({"base": 1}, "base")],
)
def test_invalid_options_of_decomposition_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        score_decomposition(Y, P, **options)


def test_parts_of_several_classes_are_half_their_sum():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 2, 3], 60)
    y, weight = rng.integers(0, 3, 60), rng.integers(1, 4, 60)
    found = score_decomposition(y, p, weight)
    each = [score_decomposition(y == one, p[:, one], weight) for one in range(3)]
    assert found == pytest.approx(np.sum(each, axis=0) / 2)
    assert found.loss == pytest.approx(found.miscalibration - found.discrimination + found.uncertainty)
    assert sharpness(p, weight) == pytest.approx(sum(sharpness(one, weight) for one in p.T) / 2)
    with pytest.raises(ValueError, match="this metric is for two classes, and p has 3 columns"):
        score_decomposition(y, p, loss="log")
