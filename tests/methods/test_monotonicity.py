"""Test the report of how often classifiers of rising thresholds contradict each other."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from probcal.methods.vote_contradictions import monotonicity
from tests.stubs import Perfect

LEVELS = np.linspace(0.01, 0.99, 40)[:, None]
Y = np.tile([0, 1], 20)


def test_votes_changed_by_sorting_are_counted():
    # thresholds .2 .5 .8: 1 1 0 is sorted; 0 1 1 becomes 1 1 0, two changes; 0 1 0 becomes 1 0 0, two changes
    answers = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0]], dtype=bool)
    report = monotonicity(np.array([0.2, 0.5, 0.8]), answers)
    assert report.changed_votes.tolist() == [0, 2, 2, 0]
    assert report.changed_at.tolist() == [2, 1, 1]
    assert report.changed_rows == 0.5
    assert report.changed == pytest.approx(4 / 12)
    assert str(report) == "the sort acted on 50.0% of 4 rows and changed 33.33% of the votes, at most 2 of 3 in a row"


def test_sorting_changes_no_vote_of_a_perfect_learner():
    report = ProbingClassifier(Perfect(), 15, weighting="weight").fit(LEVELS, Y).monotonicity(LEVELS)
    assert report.changed == report.changed_rows == 0


def test_several_classes_have_one_report_each():
    X, y = load_iris(return_X_y=True)
    reports = (
        ProbingClassifier(DecisionTreeClassifier(), 7, multiclass="normalised", weighting="weight")
        .fit(X, y)
        .monotonicity(X)
    )
    assert [len(report.changed_votes) for report in reports] == [150] * 3
