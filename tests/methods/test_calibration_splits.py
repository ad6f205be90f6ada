"""Test the splitters that keep time and groups inside the training rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from probcal import SigmoidClassifier
from probcal.methods.calibration_splits import GroupHoldout, TimeBlocks

RANDOM = np.random.default_rng(0)
TIMES = RANDOM.permutation(np.arange(120) // 3)
Y = RANDOM.integers(0, 2, 120)


@pytest.mark.parametrize("cv", [TimeBlocks(3), TimeBlocks(7), TimeBlocks(1, first_share=0.75)])
def test_no_calibration_row_is_as_old_as_a_training_row(cv):
    pairs = list(cv.split(None, Y, TIMES))
    assert len(pairs) == cv.get_n_splits()
    for learn, calibrate in pairs:
        assert TIMES[learn].max() < TIMES[calibrate].min()


def test_first_block_never_calibrates_and_every_later_row_does_once():
    pairs = list(TimeBlocks(3).split(None, Y, TIMES))
    calibrated = np.concatenate([calibrate for _, calibrate in pairs])
    assert sorted([*pairs[0][0], *calibrated]) == list(range(120))
    assert [len(calibrate) for _, calibrate in pairs] == [30, 30, 30]


def test_first_block_grows_until_it_has_each_class():
    late = ((np.arange(120) >= 80) & (np.arange(120) % 2 == 0)).astype(int)
    [(learn, calibrate), *_] = TimeBlocks(3).split(None, late, np.arange(120))
    assert learn.max() == 80 and calibrate.min() == 81


@pytest.mark.parametrize(
    ("y", "times", "message"),
    [
        ([0, 0, 0, 0, 0, 1], range(6), "no time has rows of each class before and after it; class 1 has 1 of 6 rows"),
        ([0, 1, 0, 1, 0, 1], [1, 1, 2, 2, 3, 3], "there are 2 different times, too few for 3 blocks"),
        ([0, 1, 0, 1], [1, 2, np.nan, 4], "1 of 4 times are missing, the first in row 2"),
        ([0, 1, 0, 1], None, "give fit the time of each row as groups"),
        ([0, 1, 0, 1], [1, 2], "groups holds 2 values for 4 rows; give the time of each row"),
    ],
)
def test_unusable_times_are_refused(y, times, message):
    with pytest.raises(ValueError, match=message):
        list(TimeBlocks(3).split(None, y, None if times is None else list(times)))


def test_group_holdout_keeps_groups_whole_and_both_classes_on_both_sides():
    groups = np.arange(120) % 17
    [(learn, calibrate)] = GroupHoldout(0.25, random_state=1).split(None, Y, groups)
    assert not set(groups[learn]) & set(groups[calibrate])
    assert set(Y[learn]) == set(Y[calibrate]) == {0, 1}
    assert 20 <= len(calibrate) <= 40


def test_group_holdout_refuses_a_class_in_one_group():
    with pytest.raises(ValueError, match="too few to hold out"):
        list(GroupHoldout().split(None, [0, 0, 0, 0, 1, 1], [1, 2, 3, 4, 5, 5]))


def test_fit_hands_the_times_to_the_splitter():
    X = RANDOM.normal(size=(120, 2))
    method = SigmoidClassifier(LogisticRegression(), cv=TimeBlocks(3), random_state=0)
    assert len(method.fit(X, Y, groups=TIMES).estimators_) == 3
    with pytest.raises(ValueError, match="give fit the time of each row as groups"):
        method.fit(X, Y)
