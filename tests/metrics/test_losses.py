"""Test RMS, Brier score and its parts, cross entropy and l1 against hand calculations and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from metric_rows import has_both, quick, weighted_rows
from sklearn.metrics import brier_score_loss, log_loss

from probcal.metrics import (
    all_metrics,
    brier_score,
    cross_entropy,
    empirical_calibration_error,
    l1_error,
    murphy_decomposition,
    rms_error,
    roc_auc,
)


@pytest.fixture
def coil():
    """Return COIL with one leaf: 348 of 5,822 training rows and 238 of 4,000 test rows are positive."""
    y = np.zeros(4000, dtype=int)
    y[:238] = 1
    return y, np.full(4000, 348 / 5822)


def test_brier_score_is_the_square_of_rms():
    assert brier_score([1, 0], [0.8, 0.4]) == pytest.approx(0.1, rel=1e-15)
    # weights 3 and 1: (3 * .04 + .16) / 4 = .07
    assert brier_score([1, 0], [0.8, 0.4], [3, 1]) == pytest.approx(0.07, rel=1e-15)
    assert rms_error([1, 0], [0.8, 0.4], [3, 1]) == pytest.approx(math.sqrt(0.07), rel=1e-15)


def test_cross_entropy_is_in_bits():
    # the observed labels had probabilities 1/2 and 1 - 3/4 = 1/4: one bit and two bits, mean 1.5
    assert cross_entropy([1, 0], [0.5, 0.75]) == 1.5
    # weights 1 and 3: (1 + 3 * 2) / 4
    assert cross_entropy([1, 0], [0.5, 0.75], sample_weight=[1, 3]) == 1.75


@pytest.mark.parametrize(("base", "unit"), [(math.e, math.log(2)), (10, math.log10(2))])
def test_base_sets_the_unit_of_cross_entropy(base, unit):
    assert cross_entropy([1, 0], [0.5, 0.75], base=base) == pytest.approx(1.5 * unit, rel=1e-15)


def test_cross_entropy_of_one_leaf_on_coil_matches_published_bits(coil):
    # base rate 238/4000 = .0595, prediction 348/5822 = .059773: .0595 * 4.064356 + .9405 * .088919 = .325458 bits,
    # .325458 ln 2 = .225590 nats; Table 1 has .326
    assert cross_entropy(*coil) == pytest.approx(0.325458, abs=1e-6)
    assert cross_entropy(*coil) == pytest.approx(0.326, abs=6e-4)
    assert cross_entropy(*coil, base=math.e) == pytest.approx(0.225590, abs=1e-6)


def test_rms_and_auc_of_one_leaf_on_coil_match_publication(coil):
    # .0595 * .94023^2 + .9405 * .05977^2 = .052600 + .003360 = .055960, and its root is .23656
    assert rms_error(*coil) == pytest.approx(0.23656, abs=1e-5)
    assert roc_auc(*coil) == 0.5


def test_c_emp_of_one_leaf_is_the_base_rate_difference(coil):
    assert empirical_calibration_error(*coil) == pytest.approx(348 / 5822 - 238 / 4000, rel=1e-9)


@pytest.mark.parametrize(("y", "p"), [(1, 0.0), (0, 1.0)])
def test_label_with_predicted_probability_zero_has_infinite_cross_entropy(y, p):
    assert cross_entropy([y, 1], [p, 0.9]) == math.inf
    assert all_metrics([y, 1], [p, 0.9])["cxe"] == math.inf
    assert cross_entropy([y, 1], [p, 0.9], sample_weight=[0, 1]) < math.inf, "but not where it weighs nothing"


def test_infinite_cross_entropy_gives_no_warning():
    with np.errstate(all="raise"):
        assert cross_entropy([1, 1], [0.0, 0.9]) == math.inf


def test_smallest_positive_probability_has_finite_cross_entropy():
    # 5e-324 is 2^-1074, and 1 - 2^-53 the last number before 1
    assert cross_entropy([1], [5e-324]) == pytest.approx(1074)
    assert cross_entropy([0], [1 - 2**-53]) == pytest.approx(53)


@pytest.mark.parametrize("base", [1, 0.5, 0, -2, math.nan, math.inf, "e", None, [2]])
def test_invalid_base_is_rejected(base):
    with pytest.raises(ValueError, match="base"):
        cross_entropy([1], [0.5], base=base)


def test_murphys_parts_agree_with_hand_calculation():
    # prediction .5: frequency 1/2; prediction .8: frequency 1; all rows 3/4. Reliability (0 + .2^2) / 2 = .02,
    # resolution (.25^2 + .25^2) / 2 = .0625, uncertainty .75 * .25 = .1875; .02 - .0625 + .1875 = .145,
    # which is (.25 + .25 + .04 + .04) / 4
    found = murphy_decomposition([1, 0, 1, 1], [0.5, 0.5, 0.8, 0.8])
    assert found == pytest.approx((0.02, 0.0625, 0.1875), rel=1e-12)
    assert found._fields == ("reliability", "resolution", "uncertainty")
    assert brier_score([1, 0, 1, 1], [0.5, 0.5, 0.8, 0.8]) == pytest.approx(0.145, rel=1e-12)


@quick
@given(weighted_rows)
def test_murphys_parts_add_up_to_the_brier_score(rows):
    y, p, weight = zip(*rows, strict=True)
    reliability, resolution, uncertainty = murphy_decomposition(y, p, weight)
    assert reliability - resolution + uncertainty == pytest.approx(brier_score(y, p, weight), abs=1e-12)
    assert min(reliability, resolution, uncertainty) >= 0


def test_tiny_weight_leaves_murphys_parts_finite():
    found = murphy_decomposition([1, 0, 1], [0.2, 0.5, 0.9], [1, 1e-30, 1])
    # .8^2 / 2 + .1^2 / 2 = .325, and every row with a notable weight is positive
    assert found == pytest.approx((0.325, 0, 0), abs=1e-12)


@quick
@given(weighted_rows.filter(has_both))
def test_losses_agree_with_scikit_learn(rows):
    y, p, weight = zip(*rows, strict=True)
    assert brier_score(y, p, weight) == pytest.approx(brier_score_loss(y, p, sample_weight=weight), abs=1e-12)
    inside = np.clip(p, 0.001, 0.999)  # scikit-learn has no infinite loss
    nats = log_loss(y, inside, sample_weight=weight)
    assert cross_entropy(y, inside, base=math.e, sample_weight=weight) == pytest.approx(nats, rel=1e-12)


def test_l1_is_the_mean_distance_from_true_p():
    # .1, 0 and .6: .7 over three rows; weights 1 1 2: (.1 + 0 + 1.2) / 4
    assert l1_error([0.1, 0.5, 1], [0.2, 0.5, 0.4]) == pytest.approx(0.7 / 3, rel=1e-12)
    assert l1_error([0.1, 0.5, 1], [0.2, 0.5, 0.4], [1, 1, 2]) == pytest.approx(0.325, rel=1e-12)


@pytest.mark.parametrize("wrong", [[1.1, 0.5], [math.nan, 0.5], [0.5], [[0.5, 0.5]], ["a", "b"], 0.5])
def test_message_for_invalid_true_p_names_true_p(wrong):
    with pytest.raises(ValueError, match="true_p"):
        l1_error(wrong, [0.5, 0.5])
