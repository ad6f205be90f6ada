"""RMS, CXE, AUC and c_emp: worked by hand, against brute force, and what they refuse."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.metrics import (
    ABOUT,
    METRICS,
    all_metrics,
    cross_entropy,
    empirical_calibration_error,
    rms_error,
    roc_auc,
)
from probcal.store import CellResult

EVERY_METRIC = [rms_error, cross_entropy, roc_auc, empirical_calibration_error, all_metrics]
few_levels = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]) | st.floats(0, 1)
rows = st.lists(st.tuples(st.integers(0, 1), few_levels), min_size=1, max_size=25)
quick = settings(max_examples=150, deadline=None, derandomize=True)


@pytest.fixture
def coil():
    """COIL with one leaf: 348 of 5,822 training rows are positive, 238 of 4,000 test rows."""
    y = np.zeros(4000, dtype=int)
    y[:238] = 1
    return y, np.full(4000, 348 / 5822)


def test_rms_is_the_root_of_the_mean_square():
    # (1 - .8)^2 = .04 and (0 - .4)^2 = .16: mean .1
    assert rms_error([1, 0], [0.8, 0.4]) == pytest.approx(math.sqrt(0.1), rel=1e-15)


def test_cross_entropy_is_in_bits():
    # the labels that came had 1/2 and 1 - 3/4 = 1/4: one bit and two bits, mean 1.5
    assert cross_entropy([1, 0], [0.5, 0.75]) == 1.5


@pytest.mark.parametrize(("base", "unit"), [(math.e, math.log(2)), (10, math.log10(2))])
def test_another_base_is_another_unit(base, unit):
    assert cross_entropy([1, 0], [0.5, 0.75], base=base) == pytest.approx(1.5 * unit, rel=1e-15)


def test_one_leaf_on_coil_costs_what_the_paper_prints_in_bits_and_not_in_nats(coil):
    # positive 238/4000 = .0595, estimate 348/5822 = .059773: .0595 * 4.064356 + .9405 * .088919 = .325458 bits,
    # .325458 ln 2 = .225590 nats; Table 1 has .326
    assert cross_entropy(*coil) == pytest.approx(0.325458, abs=1e-6)
    assert cross_entropy(*coil) == pytest.approx(0.326, abs=6e-4)
    assert cross_entropy(*coil, base=math.e) == pytest.approx(0.225590, abs=1e-6)


def test_one_leaf_on_coil_has_the_published_rms_and_auc(coil):
    # .0595 * .94023^2 + .9405 * .05977^2 = .052600 + .003360 = .055960, and its root is .23656
    assert rms_error(*coil) == pytest.approx(0.23656, abs=1e-5)
    assert roc_auc(*coil) == 0.5


def test_one_leaf_on_coil_is_miscalibrated_by_the_difference_of_the_rates(coil):
    assert empirical_calibration_error(*coil) == pytest.approx(348 / 5822 - 238 / 4000, rel=1e-9)


def test_auc_counts_the_pairs_that_are_in_order():
    # positives .35 .8 against negatives .1 .4: of four pairs only (.35, .4) is the wrong way round
    assert roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.75


def test_a_tied_pair_is_half_in_order():
    # (.5, .5) counts one half and (.5, .2) one: 1.5 of 2
    assert roc_auc([1, 0, 0], [0.5, 0.5, 0.2]) == 0.75


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        # running sums in the order .2 .4 .6 .8: 0 -.2 .4 -.2 0, range .6 of 4 rows
        ((0, 1, 0, 1), 0.15),
        # 0 .8 1.4 1.8 2, range 2 of 4
        ((1, 1, 1, 1), 0.5),
        # 0 -.2 -.6 -1.2 -1, range 1.2 of 4
        ((0, 1, 0, 0), 0.3),
    ],
)
def test_c_emp_is_the_range_of_the_running_sums(y, expected):
    # the labels belong to .6 .8 .2 .4
    assert empirical_calibration_error(y, (0.6, 0.8, 0.2, 0.4)) == pytest.approx(expected, rel=1e-12)


def test_c_emp_with_weights_is_over_their_total():
    # in order: .2 (weight .2) -.04, .4 (.1) -.04, .6 (.4) -.24, .8 (.3) +.06: sums 0 -.04 -.08 -.32 -.26
    y, p, weight = (0, 1, 0, 0), (0.6, 0.8, 0.2, 0.4), (0.4, 0.3, 0.2, 0.1)
    assert empirical_calibration_error(y, p, weight) == pytest.approx(0.32, rel=1e-12)


def test_c_emp_weighs_a_row_of_weight_two_as_two_rows():
    y, p, weight = [0, 1, 1, 0], [0.2, 0.2, 0.7, 0.9], [2, 1, 3, 2]
    twice = empirical_calibration_error(np.repeat(y, weight), np.repeat(p, weight))
    assert empirical_calibration_error(y, p, weight) == pytest.approx(twice, rel=1e-12)


def test_c_emp_counts_from_before_the_first_row():
    # every residual is positive, .9 + .8 + .7 + .6 = 3 of 4 rows: all of them are the worst interval
    assert empirical_calibration_error([1, 1, 1, 1], [0.1, 0.2, 0.3, 0.4]) == pytest.approx(0.75, rel=1e-12)


def test_c_emp_of_constant_zeros_is_the_rate():
    assert empirical_calibration_error([0, 1, 0, 0], [0, 0, 0, 0]) == 0.25


@quick
@given(rows)
def test_c_emp_is_the_worst_of_all_intervals(rows):
    y, p = zip(*rows, strict=True)
    ends = [-1.0, *sorted(set(p))]
    worst = max(abs(math.fsum(a - b for a, b in rows if p1 < b <= p2)) for p1, p2 in itertools.combinations(ends, 2))
    assert empirical_calibration_error(y, p) == pytest.approx(worst / len(rows), abs=1e-12)


@quick
@given(rows.filter(lambda rows: 0 < sum(label for label, _ in rows) < len(rows)))
def test_auc_is_the_share_of_pairs_in_order(rows):
    positive = [p for label, p in rows if label == 1]
    negative = [p for label, p in rows if label == 0]
    in_order = sum((a > b) + (a == b) / 2 for a in positive for b in negative)
    assert roc_auc(*zip(*rows, strict=True)) == pytest.approx(in_order / len(positive) / len(negative), abs=1e-12)


@quick
@given(rows, st.randoms(use_true_random=False))
def test_no_metric_depends_on_the_order_of_the_rows(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    before, after = (all_metrics(*zip(*one, strict=True)) for one in (rows, shuffled))
    assert after == pytest.approx(before, rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(("y", "p"), [(1, 0.0), (0, 1.0)])
def test_a_label_that_was_called_impossible_costs_infinity(y, p):
    assert cross_entropy([y, 1], [p, 0.9]) == math.inf
    assert all_metrics([y, 1], [p, 0.9])["cxe"] == math.inf


def test_the_smallest_probability_that_is_not_zero_costs_a_finite_price():
    # 5e-324 is 2^-1074, and 1 - 2^-53 the last number before 1
    assert cross_entropy([1], [5e-324]) == pytest.approx(1074)
    assert cross_entropy([0], [1 - 2**-53]) == pytest.approx(53)


def test_certain_and_right_costs_nothing():
    found = all_metrics([0, 1], [0, 1])
    assert found == {"rms": 0, "cxe": 0, "auc": 1, "c_emp": 0}
    assert math.copysign(1, found["cxe"]) == 1, "and not minus nothing"


@pytest.mark.parametrize("metric", EVERY_METRIC)
def test_inputs_are_not_modified(metric):
    y, p = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.9, 0.1, 0.0])
    y.flags.writeable = p.flags.writeable = False
    metric(y, p)
    assert y.tolist() == [1, 0, 1, 0]
    assert p.tolist() == [0.9, 0.9, 0.1, 0.0]


@pytest.mark.parametrize("metric", EVERY_METRIC)
@pytest.mark.parametrize(
    ("y", "p"),
    [
        pytest.param([0, 1], [math.nan, 0.5], id="NaN estimate"),
        pytest.param([0, 1], [None, 0.5], id="None estimate"),
        pytest.param([0, 1], pd.Series([pd.NA, 0.5], dtype="Float64"), id="NA estimate"),
        pytest.param([0, 1], [1.2, 0.5], id="above 1"),
        pytest.param([0, 1], [-1e-9, 0.5], id="below 0"),
        pytest.param([0, 1], [math.inf, 0.5], id="infinite"),
        pytest.param([0, 1], ["a", "b"], id="text estimate"),
        pytest.param([0, 1], [0.5j, 0.5], id="complex estimate"),
        pytest.param([0, 1, 1], [0.1, 0.5], id="lengths"),
        pytest.param([1, 2], [0.1, 0.5], id="labels 1 2"),
        pytest.param([-1, 1], [0.1, 0.5], id="labels -1 1"),
        pytest.param(["0", "1"], [0.1, 0.5], id="text labels"),
        pytest.param(pd.Series(["0", "1"]), [0.1, 0.5], id="text labels in a series"),
        pytest.param([math.nan, 1], [0.1, 0.5], id="NaN label"),
        pytest.param(pd.Series([pd.NA, 1], dtype="Int64"), [0.1, 0.5], id="NA label"),
        pytest.param([], [], id="empty"),
        pytest.param([[0, 1]], [[0.1, 0.5]], id="2-D"),
        pytest.param([[0], [1]], [[0.1], [0.5]], id="columns"),
        pytest.param(1, 0.5, id="scalars"),
    ],
)
def test_what_is_no_label_or_no_probability_is_refused(metric, y, p):
    with pytest.raises(ValueError):
        metric(y, p)


@pytest.mark.parametrize("y", [[False, True, True], np.array([0, 1, 1], dtype="u1"), np.array([0, 1, 1], dtype=object)])
@pytest.mark.parametrize("p", [(0.5, 0.25, 1), np.array([0.5, 0.25, 1], dtype="f4"), pd.Series([0.5, 0.25, 1])])
def test_labels_and_estimates_come_in_any_container(y, p):
    # squares .25 .5625 0: sum .8125
    assert rms_error(y, p) == pytest.approx(math.sqrt(0.8125 / 3))


@pytest.mark.parametrize("base", [1, 0.5, 0, -2, math.nan])
def test_a_base_that_makes_no_loss_is_refused(base):
    with pytest.raises(ValueError, match="base"):
        cross_entropy([1], [0.5], base=base)


@pytest.mark.parametrize("weight", [[1], [1, -1], [0, 0], [math.nan, 1], [math.inf, 1], [[1, 1]], ["a", "b"]])
def test_weights_that_weigh_nothing_sensible_are_refused(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        empirical_calibration_error([0, 1], [0.1, 0.5], weight)


@pytest.mark.parametrize("label", [0, 1])
def test_auc_of_one_class_is_refused(label):
    with pytest.raises(ValueError, match="both classes"):
        roc_auc([label] * 3, [0.1, 0.5, 0.9])


@pytest.mark.parametrize("label", [0, 1])
def test_a_test_set_of_one_class_keeps_the_metrics_that_have_a_value(label):
    y, p = [label] * 3, [0.1, 0.5, 0.9]
    found = all_metrics(y, p)
    assert math.isnan(found.pop("auc"))
    assert found == {"rms": rms_error(y, p), "cxe": cross_entropy(y, p), "c_emp": empirical_calibration_error(y, p)}


def test_an_auc_without_a_value_and_an_infinite_cross_entropy_are_stored_as_such():
    result = CellResult("d", 0, "l", "m", "done", "r", 1.0, metrics=all_metrics([1, 1], [0.0, 0.5]))
    kept = CellResult.from_json(result.to_json())
    assert math.isnan(kept.metrics["auc"])
    assert kept.metrics["cxe"] == math.inf
    assert kept.metrics["rms"] == result.metrics["rms"]


def test_every_metric_has_a_name_and_a_description():
    assert set(all_metrics([0, 1], [0.1, 0.9])) == set(METRICS) == set(ABOUT)
