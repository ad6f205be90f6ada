"""Test decision curves and net benefit against hand calculations and the expected cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_rows import quick, weighted_rows

from probcal.metrics import decision_curve, expected_cost, net_benefit


def test_net_benefit_agrees_with_hand_calculation():
    # at .5: two true positives and one false positive of four rows, odds 1: (2 - 1) / 4; at .2 the odds are 1/4
    y, p = [0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9]
    assert net_benefit(y, p, 0.5) == 0.25
    found = decision_curve(y, p, [0.2, 0.5])
    assert found.net_benefit == pytest.approx([(2 - 1 / 4) / 4, 0.25])
    assert found.treat_all == pytest.approx([(2 - 2 / 4) / 4, 0])


@quick
@given(weighted_rows, st.floats(0, 0.99))
def test_net_benefit_follows_from_expected_cost(rows, t):
    y, p, weight = map(np.array, zip(*rows, strict=True))
    rate = np.average(y, weights=weight)
    expected = ((1 - t) * rate - expected_cost(y, p, t, weight)) / (1 - t)
    assert net_benefit(y, p, t, weight) == pytest.approx(expected, abs=1e-9)


def test_prediction_equal_to_threshold_is_treated():
    assert net_benefit([0, 1], [0.2, 0.5], 0.5) == 0.5


def test_default_thresholds_are_whole_percents():
    assert decision_curve([0, 1], [0.2, 0.5]).thresholds == pytest.approx(np.linspace(0.01, 0.99, 99))


@pytest.mark.parametrize("thresholds", [[1.0], [-0.1], [np.nan], [], [[0.1]]])
def test_invalid_thresholds_are_rejected(thresholds):
    with pytest.raises(ValueError, match="thresholds"):
        decision_curve([0, 1], [0.2, 0.5], thresholds)
