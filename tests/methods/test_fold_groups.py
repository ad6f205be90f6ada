"""Test that groups and folds of calibrating methods are used, or refused with the reason."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from probcal import SigmoidClassifier
from probcal.methods.calibration_splits import TimeBlocks
from probcal.papers.kull_silva_filho_flach_2017_ejs.mean_map import MeanMapClassifier

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 2))
Y = (X[:, 0] + RANDOM.normal(size=120) > 0).astype(int)
GROUPS = np.arange(120) % 30
LEARNER = LogisticRegression()


def predicted(groups, cv=5):
    return SigmoidClassifier(LEARNER, cv=cv, random_state=0).fit(X, Y, groups=groups).predict_proba(X)


@pytest.mark.parametrize("cv", [5, GroupKFold(3)])
@pytest.mark.parametrize(
    "groups",
    [
        pd.DataFrame({"group": GROUPS}),
        GROUPS[:, None],
        pd.Series(GROUPS, dtype="Int64"),
        GROUPS.astype(object),
        GROUPS.astype(np.float16),
    ],
)
def test_groups_of_every_form_make_the_same_folds(groups, cv):
    np.testing.assert_array_equal(predicted(groups, cv), predicted(GROUPS, cv))


def test_large_group_numbers_stay_apart():
    large = [2**53 + group for group in GROUPS.tolist()]
    np.testing.assert_array_equal(predicted(pd.Series(large, dtype="Int64")), predicted(GROUPS))


@pytest.mark.parametrize("cv", [5, GroupKFold(3), TimeBlocks(2)])
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([None, *GROUPS[1:].tolist()], "1 of 120 groups are missing, the first in row 0"),
        (np.where(GROUPS == 4, np.nan, GROUPS), "4 of 120 groups are missing, the first in row 4"),
        (["a", *GROUPS[1:].tolist()], "groups mixes groups of the types int and str"),
        (GROUPS[:100], "groups holds 100 values for 120 rows; give the group of each row"),
        (pd.DataFrame({"a": GROUPS, "b": GROUPS}), r"groups must be of shape \(n_rows,\), with one group for each row"),
        ("group", r"groups must be of shape \(n_rows,\)"),
    ],
)
def test_unusable_groups_are_refused(groups, message, cv):
    with pytest.raises(ValueError, match=message):
        predicted(groups, cv)


@pytest.mark.parametrize(
    "method",
    [
        SigmoidClassifier(LEARNER, calibration="train"),
        SigmoidClassifier(LEARNER, calibration="holdout"),
        SigmoidClassifier(LogisticRegression().fit(X, Y), calibration="prefit"),
        SigmoidClassifier(FrozenEstimator(LogisticRegression().fit(X, Y))),
        SigmoidClassifier(LEARNER, cv=[(np.arange(60), np.arange(60, 120))]),
        MeanMapClassifier(LEARNER, cv=[(np.arange(60), np.arange(60, 120))]),
    ],
)
def test_groups_that_would_not_be_used_are_refused(method):
    with pytest.raises(ValueError, match="groups"):
        method.fit(X, Y, groups=GROUPS)
    method.fit(X, Y)


def test_times_that_have_no_order_are_refused():
    with pytest.raises(ValueError, match="groups must hold times as numbers or dates"):
        predicted([f"day {group}" for group in GROUPS], TimeBlocks(2))
    dates = pd.Series(pd.date_range("2026-01-01", periods=30)[GROUPS])
    np.testing.assert_array_equal(predicted(dates, TimeBlocks(2)), predicted(GROUPS, TimeBlocks(2)))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([(np.arange(120), np.array([]))], "fold 1 of 1 has no rows to calibrate on"),
        ([(np.arange(60), np.arange(60, 120)), ([], np.arange(120))], "fold 2 of 2 has no rows to learn from"),
        ([(np.arange(60), np.arange(60, 121))], "fold 1 of 1 holds the row number 120, and there are 120 rows"),
        ([(np.arange(60), [-121])], "fold 1 of 1 holds the row number -121"),
        ([(np.arange(60) / 2, np.arange(60, 120))], "fold 1 of 1 must hold two lists of row numbers"),
        ([1, 2], "cv must be a list of pairs"),
        ([(1, 2, 3)], "cv must be a list of pairs"),
    ],
)
def test_unusable_folds_are_refused(cv, message):
    with pytest.raises(ValueError, match=message):
        SigmoidClassifier(LEARNER, cv=cv).fit(X, Y)
