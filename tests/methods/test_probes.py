"""Test the votes of probes, and when log-odds lie on one side of a threshold for certain."""

import numpy as np
import pytest

from probcal.methods._probes import ProbePredictor, _LogOdds


@pytest.mark.parametrize(
    ("point", "certain"), [(-1.0, True), (-0.05, False), (0.05, False), (0.5, True), (0.95, False), (2.0, True)]
)
def test_points_within_the_error_of_a_value_are_uncertain(point, certain):
    for error in (0.1, np.array([0.1, 0.1])):
        assert _LogOdds(np.array([0.0, 1.0]), error).all_on_one_side(point) is certain


def test_missing_log_odds_are_never_certain():
    assert not _LogOdds(np.array([0.0, np.nan]), 0.1).all_on_one_side(0.5)


class FixedMargins:
    def margins(self, classifiers, X):
        return np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 1e-300]]), 0.0


def test_margin_of_exactly_zero_is_no_vote():
    votes = ProbePredictor(FixedMargins(), deduplicate_rows=False).votes
    assert votes([None] * 3, np.ones(3, dtype=bool), np.array([0, 1]), np.zeros((2, 1))).tolist() == [1, 2]
