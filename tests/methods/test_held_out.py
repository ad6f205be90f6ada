"""Test which rows fit the learner and which are held out, and the messages about rare classes."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from probcal import (
    BetaCalibrationClassifier,
    HistogramBinningClassifier,
    IsotonicClassifier,
    MatrixScalingClassifier,
    QuadraticClassifier,
    SigmoidCalibrator,
    SigmoidClassifier,
    SplineClassifier,
    VennAbersClassifier,
)
from probcal.methods.calibrators._calibration_rows import FoldScores, prefers_fold_maps
from tests.methods.calibrating import blobs

pytestmark = pytest.mark.filterwarnings("error")
MAPPED = [SigmoidClassifier, IsotonicClassifier, BetaCalibrationClassifier]


class Told(ClassifierMixin, BaseEstimator):
    """Add to ``told`` the rows (their first column) of each fit and each prediction."""

    told = None

    def __init__(self, tag=None):
        self.tag = tag

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.rows_ = X[:, 0].tolist()
        Told.told.append(("fit", self.rows_, None if sample_weight is None else list(sample_weight)))
        return self

    def predict_proba(self, X):
        Told.told.append(("asked", X[:, 0].tolist(), self.rows_))
        p = (X[:, 0] + 1) / (len(X) * 100)
        return np.column_stack([1 - p, p])


@pytest.fixture
def told():
    Told.told = []
    return Told.told


ROWS, LABELS = np.arange(40.0)[:, None], np.array([0, 0, 0, 1] * 10)


def fits_and_questions(told):
    return [rows for what, rows, _ in told if what == "fit"], [rows for what, rows, _ in told if what == "asked"]


@pytest.mark.parametrize(("size", "kept"), [(0.25, 10), (0.26, 11), (8, 8), (np.int64(12), 12), (1, None)])
@pytest.mark.parametrize("method", [IsotonicClassifier, VennAbersClassifier])
def test_held_out_rows_are_stratified_and_unseen_by_the_learner(told, method, size, kept):
    if kept is None:
        with pytest.raises(ValueError, match="between 2 and 38 rows"):
            method(Told(), calibration="holdout", holdout_size=size).fit(ROWS, LABELS)
        return
    method(Told(), calibration="holdout", holdout_size=size, random_state=0).fit(ROWS, LABELS)
    [seen], [asked] = fits_and_questions(told)
    assert len(asked) == kept
    assert sorted(seen + asked) == [*range(40)]
    # a quarter of the rows is positive
    assert abs(LABELS[np.array(asked, dtype=int)].sum() - kept / 4) < 1


@pytest.mark.parametrize("method", MAPPED)
def test_cross_validation_scores_only_unseen_rows(told, method):
    method(Told(), cv=4, ensemble=False, random_state=0).fit(ROWS, LABELS)
    questions = [(rows, seen) for what, rows, seen in told if what == "asked"]
    assert len(questions) == 4
    assert sorted(row for rows, _ in questions for row in rows) == [*range(40)]
    for rows, seen in questions:
        assert sorted(rows + seen) == [*range(40)]
        assert sum(LABELS[np.array(rows, dtype=int)]) in (2, 3)  # 10 positive rows in 4 folds
    assert told[-1][:2] == ("fit", [*range(40)])


def test_ensemble_fits_no_learner_on_all_rows(told):
    method = SigmoidClassifier(Told(), cv=4, ensemble=True, random_state=0).fit(ROWS, LABELS)
    seen, asked = fits_and_questions(told)
    assert len(seen) == len(asked) == len(method.estimators_) == len(method.calibrators_) == 4
    assert all(sorted(one + other) == [*range(40)] for one, other in zip(seen, asked, strict=True))
    with pytest.raises(AttributeError, match="there are 4, one per fold: see calibrators_, or set ensemble=False"):
        _ = method.calibrator_


def test_one_map_uses_the_scores_of_agreeing_folds():
    X, y = blobs(1200, 2)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    fitted = SigmoidClassifier(LogisticRegression(), cv=cv, random_state=0).fit(X, y)
    learners = [LogisticRegression().fit(X[learn], y[learn]) for learn, _ in cv.split(X, y)]
    rows = np.concatenate([rows for _, rows in cv.split(X, y)])
    of_folds = zip(learners, cv.split(X, y), strict=True)
    scores = np.concatenate([one.decision_function(X[rows]) for one, (_, rows) in of_folds])
    one_map = SigmoidCalibrator("score").fit(scores, y[rows])
    expected = np.mean([one_map.predict_proba(one.decision_function(X)) for one in learners], axis=0)
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=1e-12)
    assert fitted.calibrator_ is fitted.calibrators_[3]


class Stretched(LogisticRegression):
    """Return scores with a scale that depends on the fitted rows."""

    def decision_function(self, X):
        return super().decision_function(X) * np.exp(10 * np.sin(1e6 * self.coef_[0, 0]))

    def predict_proba(self, X):
        raise AssertionError("not asked for")


def test_folds_with_different_score_scales_have_separate_maps():
    X, y = blobs(400, 2)
    found, each = (
        SigmoidClassifier(Stretched(), ensemble=ensemble, random_state=0).fit(X, y) for ensemble in ("auto", True)
    )
    assert len({id(one) for one in found.calibrators_}) == 5
    np.testing.assert_array_equal(found.predict_proba(X), each.predict_proba(X))


def test_folds_too_small_to_split_share_one_map():
    scores, labels = np.arange(6.0), np.array([0, 1, 1, 0, 0, 1])
    folds = [FoldScores(scores[:3], labels[:3], None), FoldScores(scores[3:], labels[3:], None)]
    assert not prefers_fold_maps(lambda: SigmoidCalibrator("score"), folds, 0)


@pytest.mark.parametrize("cv", [KFold(4), StratifiedKFold(3), list(KFold(2, shuffle=True, random_state=0).split(ROWS))])
def test_cv_can_be_a_splitter_or_a_list(told, cv):
    SigmoidClassifier(Told(), cv=cv).fit(ROWS, LABELS)
    expected = [test for _, test in (cv if isinstance(cv, list) else cv.split(ROWS, LABELS))]
    assert fits_and_questions(told)[1] == [rows.tolist() for rows in expected]


RARE = np.array(["a"] * 30 + ["b"] * 9 + ["c"])


@pytest.mark.parametrize("method", [IsotonicClassifier, VennAbersClassifier])
def test_class_of_one_row_cannot_be_held_out(method):
    with pytest.raises(ValueError, match="class 'c' has 1 row, and two are needed: one to learn from"):
        method(LogisticRegression(), calibration="holdout").fit(ROWS, RARE)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (0.01, "holdout_size=0.01 keeps 1 of 40 rows to calibrate on; each part needs one row"),
        (2000, "holdout_size=2000 keeps 2000 of 40 rows"),
        (0.99, "keep between 2 and 38 rows"),
        (0.05, "class 1 has 10 of the rows, and none is among the rows to calibrate on; raise holdout_size"),
    ],
)
def test_holdout_size_that_leaves_a_class_out_is_rejected(size, message):
    labels = LABELS if size != 0.05 else np.array([0] * 490 + [1] * 10)
    size, rows = (2, np.zeros((500, 1))) if size == 0.05 else (size, ROWS)
    with pytest.raises(ValueError, match=message):
        IsotonicClassifier(LogisticRegression(), calibration="holdout", holdout_size=size).fit(rows, labels)


@pytest.mark.parametrize("method", [SigmoidClassifier(LogisticRegression()), VennAbersClassifier(GaussianNB())])
def test_class_of_one_row_cannot_be_in_two_folds(method):
    with pytest.raises(ValueError, match=r"class 'c' has 1 row, and two are needed.*set calibration='train'"):
        method.fit(ROWS, RARE)


@pytest.mark.parametrize("n_rare", [2, 4])
@pytest.mark.parametrize("ensemble", [True, False])
def test_rare_class_limits_the_number_of_folds(told, n_rare, ensemble):
    labels = np.repeat([0, 1], [40 - n_rare, n_rare])
    with pytest.warns(UserWarning, match=f"class 1 has {n_rare} rows, fewer than cv=5 folds, so there are {n_rare}"):
        method = SigmoidClassifier(Told(), ensemble=ensemble, random_state=0).fit(ROWS, labels)
    _, asked = fits_and_questions(told)
    assert sorted(row for rows in asked for row in rows) == [*range(40)]
    assert all(labels[np.array(rows, dtype=int)].sum() == 1 for rows in asked)
    assert len(method.estimators_) == (n_rare if ensemble else 1)


def test_class_in_few_groups_limits_the_number_of_folds(told):
    group, labels = np.arange(40) // 2, np.repeat([0, 1], [34, 6])
    with pytest.warns(UserWarning, match="class 1 has 3 groups, fewer than cv=5 folds, so there are 3 folds"):
        SigmoidClassifier(Told(), random_state=0).fit(ROWS, labels, groups=group)
    for rows in fits_and_questions(told)[1]:
        assert labels[np.array(rows, dtype=int)].sum() == 2
    with pytest.raises(ValueError, match="class 1 is in 1 group only, and two are needed"):
        SigmoidClassifier(Told()).fit(ROWS, labels, groups=labels + 2 * (labels == 0) * group)


def test_splitter_without_training_rows_of_a_class_is_rejected():
    # the last quarter of 40 rows holds all rows of "b", 9, and of "c", 1
    with pytest.raises(ValueError, match="class 'b' is missing from the rows to learn from in fold 4 of 4"):
        SigmoidClassifier(LogisticRegression(), cv=KFold(4)).fit(ROWS, RARE)


@pytest.mark.parametrize(
    ("method", "name", "values"),
    [
        (SigmoidClassifier, "calibration", ["test"]),
        (SigmoidClassifier, "ensemble", [1]),
        (SigmoidClassifier, "holdout_size", [0, 1.0, 0.0, -0.25, -3, True, "2000"]),
        (SigmoidClassifier, "cv", [1, True, "5", None]),
        (SigmoidClassifier, "scores", ["margin"]),
        (SigmoidClassifier, "clip", [(0.5, 0.5), (-1, 1), "none", 0.1]),
        (IsotonicClassifier, "clip", [(0.5, 0.5), (-1, 1), "none", 0.1]),
        (IsotonicClassifier, "centered", ["yes"]),
        (BetaCalibrationClassifier, "parameters", ["a", None]),
        (BetaCalibrationClassifier, "targets", ["both"]),
        (QuadraticClassifier, "targets", ["both"]),
        (SplineClassifier, "penalty", [-1, "none", np.inf]),
        (HistogramBinningClassifier, "bins", ["equal"]),
        (HistogramBinningClassifier, "n_bins", [0, 2.5]),
        (HistogramBinningClassifier, "smoothing", [None]),
        (MatrixScalingClassifier, "penalty", [1.0]),
    ],
)
def test_invalid_parameters_are_rejected_by_name(method, name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"{name} must be"):
            method(GaussianNB(), **{name: value}).fit(*blobs(30, 2))
