"""Test c_emp, KS and ECE against hand calculations and sums over all intervals and bins."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_rows import quick, rows, weighted_rows

from probcal.metrics import empirical_calibration_error, expected_calibration_error, kolmogorov_smirnov_error


@pytest.mark.parametrize(
    ("y", "c_emp", "ks"),
    [
        # running sums in the order .2 .4 .6 .8: 0 -.2 .4 -.2 0, range .6 of 4 rows, largest absolute sum .4
        ((0, 1, 0, 1), 0.15, 0.1),
        # 0 .8 1.4 1.8 2, range 2 of 4
        ((1, 1, 1, 1), 0.5, 0.5),
        # 0 -.2 -.6 -1.2 -1, range 1.2 of 4
        ((0, 1, 0, 0), 0.3, 0.3),
    ],
)
def test_c_emp_is_range_and_ks_largest_of_running_sums(y, c_emp, ks):
    # the labels belong to .6 .8 .2 .4
    assert empirical_calibration_error(y, (0.6, 0.8, 0.2, 0.4)) == pytest.approx(c_emp, rel=1e-12)
    assert kolmogorov_smirnov_error(y, (0.6, 0.8, 0.2, 0.4)) == pytest.approx(ks, rel=1e-12)


def test_weighted_errors_are_divided_by_total_weight():
    # in order: .2 (weight .2) -.04, .4 (.1) -.04, .6 (.4) -.24, .8 (.3) +.06: sums 0 -.04 -.08 -.32 -.26
    y, p, weight = (0, 1, 0, 0), (0.6, 0.8, 0.2, 0.4), (0.4, 0.3, 0.2, 0.1)
    assert empirical_calibration_error(y, p, weight) == pytest.approx(0.32, rel=1e-12)
    assert kolmogorov_smirnov_error(y, p, weight) == pytest.approx(0.32, rel=1e-12)
    # bins of width 1/2: .2 .4 -.08 and .6 .8 -.18
    assert expected_calibration_error(y, p, 2, sample_weight=weight) == pytest.approx(0.26, rel=1e-12)


@quick
@given(weighted_rows)
def test_c_emp_is_the_largest_error_of_all_intervals(rows):
    y, p, weight = zip(*rows, strict=True)
    ends = [-1.0, *sorted(set(p))]
    worst = max(
        abs(math.fsum(w * (a - b) for a, b, w in rows if p1 < b <= p2)) for p1, p2 in itertools.combinations(ends, 2)
    )
    assert empirical_calibration_error(y, p, weight) == pytest.approx(worst / sum(weight), abs=1e-12)


@quick
@given(weighted_rows)
def test_ks_is_the_largest_error_of_intervals_from_zero(rows):
    y, p, weight = zip(*rows, strict=True)
    worst = max(abs(math.fsum(w * (a - b) for a, b, w in rows if b <= p2)) for p2 in p)
    found = kolmogorov_smirnov_error(y, p, weight)
    assert found == pytest.approx(worst / sum(weight), abs=1e-12)
    c_emp = empirical_calibration_error(y, p, weight)
    assert c_emp / 2 - 1e-12 <= found <= c_emp + 1e-12


@quick
@given(rows)
def test_c_emp_is_equal_for_both_classes(rows):
    y, p = np.array(rows).T
    p = np.round(p * 64) / 64  # so that 1 - p is exact
    mirrored = empirical_calibration_error(1 - y, 1 - p)
    assert mirrored == pytest.approx(empirical_calibration_error(y, p), abs=1e-12)


def test_ece_is_the_weighted_sum_of_bin_differences():
    # up to .5: frequency 1/2, mean prediction .1; above: frequency 1/2, mean .925. (2 * .4 + 2 * .425) / 4
    y, p = [1, 0, 1, 0], [0.1, 0.1, 0.9, 0.95]
    assert expected_calibration_error(y, p, n_bins=2) == pytest.approx(0.4125, rel=1e-12)
    # one bin: frequency 1/2, mean prediction 2.05/4
    assert expected_calibration_error(y, p, n_bins=1) == pytest.approx(0.0125, rel=1e-12)


def test_upper_edge_belongs_to_its_bin():
    # .5 lies in the lower of two bins: .4 is in the same bin, (1 - .9) / 2; .6 is in the other, (.5 + .6) / 2
    assert expected_calibration_error([1, 0], [0.5, 0.4], n_bins=2) == pytest.approx(0.05, rel=1e-12)
    assert expected_calibration_error([1, 0], [0.5, 0.6], n_bins=2) == pytest.approx(0.55, rel=1e-12)
    # .2 is 3/15: .14 is in the same bin, (1 - .34) / 2; .21 is in the next bin, (.8 + .21) / 2
    assert expected_calibration_error([1, 0], [0.2, 0.14]) == pytest.approx(0.33, rel=1e-12)
    assert expected_calibration_error([1, 0], [0.2, 0.21]) == pytest.approx(0.505, rel=1e-12)
    # 0 lies in the first bin, and 1 in the last
    assert expected_calibration_error([1, 0, 1, 0], [0, 0.05, 1, 0.95]) == pytest.approx(1.9 / 4, rel=1e-12)


def test_quantile_bins_have_equal_weight_and_split_no_ties():
    # .1 .2 and .3 .9: |1 - .3| and |1 - 1.2|, .9 of 4
    assert expected_calibration_error([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.9], 2, "quantile") == pytest.approx(0.225)
    # the three rows at .1 are more than half, and .9 is the other bin: |1 - .3| + .9 = 1.6 of 4
    assert expected_calibration_error([1, 0, 0, 0], [0.1, 0.1, 0.1, 0.9], 2, "quantile") == pytest.approx(0.4)
    # .1 of weight 3 is half of 6 and fills a bin: 3 * .9; the other bin: 0 - .2 + 1 - .3 + 0 - .9 = -.4; 3.1 of 6
    found = expected_calibration_error([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.9], 2, "quantile", [3, 1, 1, 1])
    assert found == pytest.approx(3.1 / 6)


@quick
@given(weighted_rows, st.integers(1, 20))
def test_ece_agrees_with_a_sum_over_bins_of_equal_width(rows, n_bins):
    expected = _in_bins(rows, [one / n_bins for one in range(1, n_bins)])
    y, p, weight = zip(*rows, strict=True)
    assert expected_calibration_error(y, p, n_bins, sample_weight=weight) == pytest.approx(expected, abs=1e-12)


@quick
@given(weighted_rows, st.integers(1, 20), st.sampled_from([1, 0.1, 1e-300, 3e300]))
def test_ece_agrees_with_a_sum_over_bins_of_equal_weight(rows, n_bins, unit):
    y, p, weight = zip(*rows, strict=True)
    shares = {one: Fraction(sum(w for _, b, w in rows if b <= one), sum(weight)) for one in p}
    edges = [min(p for p, share in shares.items() if share >= Fraction(i, n_bins)) for i in range(1, n_bins)]
    found = expected_calibration_error(y, p, n_bins, "quantile", np.multiply(weight, unit))
    assert found == pytest.approx(_in_bins(rows, edges), abs=1e-12)


def _in_bins(rows, edges):
    total = sum(weight for _, _, weight in rows)
    found = 0.0
    for low, high in itertools.pairwise([-1.0, *edges, 1.0]):
        inside = [(y, p, w) for y, p, w in rows if low < p <= high]
        share = sum(w for _, _, w in inside)
        if share:
            rate = sum(w * y for y, _, w in inside) / share
            mean = sum(w * p for _, p, w in inside) / share
            found += share / total * abs(rate - mean)
    return found


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, True, "3", None])
def test_invalid_number_of_bins_is_rejected(n_bins):
    with pytest.raises(ValueError, match="n_bins"):
        expected_calibration_error([0, 1], [0.1, 0.5], n_bins)


def test_unknown_strategy_is_rejected():
    with pytest.raises(ValueError, match='"uniform" or "quantile", not \'width\''):
        expected_calibration_error([0, 1], [0.1, 0.5], strategy="width")
