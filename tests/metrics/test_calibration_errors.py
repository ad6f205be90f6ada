"""c_emp, KS and ECE: worked by hand, and against all intervals and bins."""

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
        # running sums in the order .2 .4 .6 .8: 0 -.2 .4 -.2 0, range .6 of 4 rows, farthest .4
        ((0, 1, 0, 1), 0.15, 0.1),
        # 0 .8 1.4 1.8 2, range 2 of 4
        ((1, 1, 1, 1), 0.5, 0.5),
        # 0 -.2 -.6 -1.2 -1, range 1.2 of 4
        ((0, 1, 0, 0), 0.3, 0.3),
    ],
)
def test_c_emp_is_the_range_of_the_running_sums_and_ks_the_farthest(y, c_emp, ks):
    # the labels belong to .6 .8 .2 .4
    assert empirical_calibration_error(y, (0.6, 0.8, 0.2, 0.4)) == pytest.approx(c_emp, rel=1e-12)
    assert kolmogorov_smirnov_error(y, (0.6, 0.8, 0.2, 0.4)) == pytest.approx(ks, rel=1e-12)


def test_with_weights_they_are_over_their_total():
    # in order: .2 (weight .2) -.04, .4 (.1) -.04, .6 (.4) -.24, .8 (.3) +.06: sums 0 -.04 -.08 -.32 -.26
    y, p, weight = (0, 1, 0, 0), (0.6, 0.8, 0.2, 0.4), (0.4, 0.3, 0.2, 0.1)
    assert empirical_calibration_error(y, p, weight) == pytest.approx(0.32, rel=1e-12)
    assert kolmogorov_smirnov_error(y, p, weight) == pytest.approx(0.32, rel=1e-12)
    # bins of width 1/2: .2 .4 -.08 and .6 .8 -.18
    assert expected_calibration_error(y, p, 2, sample_weight=weight) == pytest.approx(0.26, rel=1e-12)


def test_c_emp_counts_from_before_the_first_row():
    # every residual is positive, .9 + .8 + .7 + .6 = 3 of 4 rows: all of them are the worst interval
    assert empirical_calibration_error([1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4]) == pytest.approx(0.75, rel=1e-12)


def test_c_emp_of_constant_zeros_is_the_rate():
    assert empirical_calibration_error([0, 1, 0, 0], [0, 0, 0, 0]) == 0.25


@quick
@given(weighted_rows)
def test_c_emp_is_the_worst_of_all_intervals(rows):
    y, p, weight = zip(*rows, strict=True)
    ends = [-1.0, *sorted(set(p))]
    worst = max(
        abs(math.fsum(w * (a - b) for a, b, w in rows if p1 < b <= p2)) for p1, p2 in itertools.combinations(ends, 2)
    )
    assert empirical_calibration_error(y, p, weight) == pytest.approx(worst / sum(weight), abs=1e-12)


@quick
@given(weighted_rows)
def test_ks_is_the_worst_of_all_intervals_from_below(rows):
    y, p, weight = zip(*rows, strict=True)
    worst = max(abs(math.fsum(w * (a - b) for a, b, w in rows if b <= p2)) for p2 in p)
    found = kolmogorov_smirnov_error(y, p, weight)
    assert found == pytest.approx(worst / sum(weight), abs=1e-12)
    c_emp = empirical_calibration_error(y, p, weight)
    assert c_emp / 2 - 1e-12 <= found <= c_emp + 1e-12


@quick
@given(rows)
def test_c_emp_of_the_other_class_is_the_same(rows):
    y, p = np.array(rows).T
    p = np.round(p * 64) / 64  # so that 1 - p is exact
    mirrored = empirical_calibration_error(1 - y, 1 - p)
    assert mirrored == pytest.approx(empirical_calibration_error(y, p), abs=1e-12)


def test_ks_reads_from_the_low_estimates_up():
    # .25 (1) .75, .5 (0) -.5: sums 0 .75 .25; of the other class .5 (1) .5, .75 (0) -.75: 0 .5 -.25
    assert kolmogorov_smirnov_error([1, 0], [0.25, 0.5]) == 0.375
    assert kolmogorov_smirnov_error([0, 1], [0.75, 0.5]) == 0.25


def test_ece_sums_the_differences_of_the_bins():
    # up to .5: one of two rows against a mean of .1; above: one of two against .925. (2 * .4 + 2 * .425) / 4
    y, p = [1, 0, 1, 0], [0.1, 0.1, 0.9, 0.95]
    assert expected_calibration_error(y, p, n_bins=2) == pytest.approx(0.4125, rel=1e-12)
    # one bin: the rate 1/2 against the mean 2.05/4
    assert expected_calibration_error(y, p, n_bins=1) == pytest.approx(0.0125, rel=1e-12)


def test_an_upper_edge_belongs_to_its_bin():
    # .5 lies in the lower of two bins: with .4 in one, (1 - .9) / 2; with .6 in two, (.5 + .6) / 2
    assert expected_calibration_error([1, 0], [0.5, 0.4], n_bins=2) == pytest.approx(0.05, rel=1e-12)
    assert expected_calibration_error([1, 0], [0.5, 0.6], n_bins=2) == pytest.approx(0.55, rel=1e-12)
    # .2 is 3/15: with .14, of the same bin, (1 - .34) / 2; with .21, of the next, (.8 + .21) / 2
    assert expected_calibration_error([1, 0], [0.2, 0.14]) == pytest.approx(0.33, rel=1e-12)
    assert expected_calibration_error([1, 0], [0.2, 0.21]) == pytest.approx(0.505, rel=1e-12)
    # 0 and 1 lie in the first and the last
    assert expected_calibration_error([1, 0, 1, 0], [0, 0.05, 1, 0.95]) == pytest.approx(1.9 / 4, rel=1e-12)


def test_quantile_bins_hold_equal_weight_and_part_no_ties():
    # .1 .2 and .3 .9: |1 - .3| and |1 - 1.2|, .9 of 4
    assert expected_calibration_error([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.9], 2, "quantile") == pytest.approx(0.225)
    # three times .1 is more than half, .9 is the rest: |1 - .3| + .9 = 1.6 of 4
    assert expected_calibration_error([1, 0, 0, 0], [0.1, 0.1, 0.1, 0.9], 2, "quantile") == pytest.approx(0.4)
    # .1 of weight 3 is half of 6 by itself: 3 * .9, and 0 - .2 + 1 - .3 + 0 - .9 = -.4; 3.1 of 6
    found = expected_calibration_error([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.9], 2, "quantile", [3, 1, 1, 1])
    assert found == pytest.approx(3.1 / 6)


@quick
@given(weighted_rows, st.integers(1, 20))
def test_ece_is_the_sum_over_bins_of_equal_width(rows, n_bins):
    expected = _in_bins(rows, [one / n_bins for one in range(1, n_bins)])
    y, p, weight = zip(*rows, strict=True)
    assert expected_calibration_error(y, p, n_bins, sample_weight=weight) == pytest.approx(expected, abs=1e-12)


@quick
@given(weighted_rows, st.integers(1, 20), st.sampled_from([1, 0.1, 1e-300, 3e300]))
def test_ece_is_the_sum_over_bins_of_equal_weight(rows, n_bins, unit):
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
def test_a_number_of_bins_that_is_none_is_refused(n_bins):
    with pytest.raises(ValueError, match="n_bins"):
        expected_calibration_error([0, 1], [0.1, 0.5], n_bins)


def test_another_strategy_is_refused():
    with pytest.raises(ValueError, match='"uniform" or "quantile", not \'width\''):
        expected_calibration_error([0, 1], [0.1, 0.5], strategy="width")
