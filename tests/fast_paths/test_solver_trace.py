"""Test that the replay predicts where scikit-learn's newton-cholesky stops and how it labels rows near the boundary."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from probcal import ProbingClassifier
from probcal.fast_paths.logistic import LogisticFastPath, SolverTrace
from probcal.fast_paths.logistic_solver import CLOSE_ENOUGH, LogisticLoss, LogisticSolver, Search

LEARNER = LogisticRegression(solver="newton-cholesky", tol=1e-8)
THRESHOLDS = np.array([0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])


def table(n_rows, n_columns=12):
    X, y = make_classification(n_rows, n_columns, n_informative=6, flip_y=0.1, weights=[0.7], random_state=0)
    return np.ascontiguousarray(X), y


def stop(X, y, p, row_weights=None, tol=1e-8):
    """Return the coefficients and the intercept where scikit-learn's solver stops."""
    weights = np.where(y == 1, (1 - p) / p, 1.0) * (1.0 if row_weights is None else row_weights)
    fitted = clone(LEARNER).set_params(tol=tol).fit(X, y, sample_weight=weights)
    return np.append(fitted.coef_[0], fitted.intercept_)


def replayed(X, y, p, *, samples, tol=1e-8):
    """Return the search of the minimum for p, and the lists of its ends."""
    weighting = np.array([1.0, (1 - p) / p])
    total = weighting @ np.bincount(y)
    penalties = np.append(np.full(X.shape[1], 1 / total), 0.0)
    search = Search(weighting / total, penalties, np.zeros(X.shape[1] + 1), accuracy=CLOSE_ENOUGH)
    loss = LogisticLoss(X, y == 1, None, True)
    at_zero = loss.at_zero()
    LogisticSolver().solve(loss, [search], at_zero.hessians)
    replay = SolverTrace(loss, tol, at_zero)
    return search, [*(replay.sampled_stopping_points(search) if samples else ()), replay.stopping_points(search)]


def beyond_error(search, ends, real):
    """Return the smallest distance of ``ends`` from the ``real`` end, less the stated error."""
    return min(search.length(one.offset - real) - one.error for one in ends)


@pytest.mark.parametrize("tol", [1e-8, 1e-11])
@pytest.mark.parametrize("p", THRESHOLDS)
def test_steps_on_all_rows_end_as_in_scikit_learn(p, tol):
    X, y = table(4000)
    search, [ends] = replayed(X, y, p, samples=False, tol=tol)
    assert beyond_error(search, ends, stop(X, y, p, tol=tol) - search.point) <= 1e-11  # accuracy of the search


@pytest.mark.parametrize(
    "p", [pytest.param(p, marks=pytest.mark.slow if at % 3 else ()) for at, p in enumerate(THRESHOLDS)]
)
def test_sampled_ends_are_within_their_stated_error(p):
    X, y = table(150_000)
    search, lists = replayed(X, y, p, samples=True)
    assert len(lists) == 3  # 4,096 rows, 16,384 and all
    real = stop(X, y, p) - search.point
    for ends in lists:
        assert not ends or beyond_error(search, ends, real) <= 1e-11  # accuracy of the search
    assert lists[1]


@pytest.fixture(scope="module")
def on_the_line():
    """Return a table, a threshold, a row, a direction and a score.

    At this threshold of many, scikit-learn stops farthest from the minimum. The row is on the boundary of the
    minimum. Along the direction scores grow by 1. The score is that of scikit-learn for the row, in place of 0.
    """
    X, y = table(4000)
    found = []
    for p in np.linspace(0.05, 0.95, 40):
        minimum, moved = stop(X, y, p, tol=1e-12), stop(X, y, p)
        direction = minimum[:-1] / (minimum[:-1] @ minimum[:-1])
        row = X[0] - (X[0] @ minimum[:-1] + minimum[-1]) * direction
        found.append((abs(row @ moved[:-1] + moved[-1]), p, row, direction, row @ moved[:-1] + moved[-1]))
    _, p, row, direction, shift = max(found, key=lambda one: one[0])
    return X, y, p, row, direction, shift


def beside(on_the_line, times):
    """Return the classifier, the rows and the learner's scores; the last row has ``times`` the shift at the minimum."""
    X, y, p, row, direction, shift = on_the_line
    # the tiny weight of the row moves neither the minimum nor the end of scikit-learn
    rows, labels = np.vstack([X, row + times * shift * direction]), np.append(y, 0)
    weights = np.append(np.ones(len(y)), 1e-9)
    (one,) = LogisticFastPath().fit(LEARNER, rows, labels, np.array([[1.0, (1 - p) / p]]), weights)
    at = stop(rows, labels, p, weights)
    return one, rows, rows @ at[:-1] + at[-1]


@pytest.mark.parametrize("times", [-50, -10, -3, -2, 1, 3, 10, 50])
def test_rows_near_the_boundary_get_the_label_of_the_learner(on_the_line, times):
    *_, shift = on_the_line
    assert abs(shift) > 3e-9
    one, rows, scores = beside(on_the_line, times)
    np.testing.assert_array_equal(one.predict(rows) == 1, scores > 0)


@pytest.mark.parametrize("times", [-0.7, -0.5, -0.3])
def test_a_row_between_both_boundaries_is_left_to_the_learner(on_the_line, times):
    one, _, scores = beside(on_the_line, times)
    *_, shift = on_the_line
    assert np.sign(scores[-1]) == np.sign(shift) == -np.sign(times * shift)
    assert one is None


@pytest.mark.slow
def test_few_probes_of_overlapping_rows_are_left_to_the_learner():
    X, y = table(100_000, 20)
    (probing,) = ProbingClassifier(LEARNER, 40, random_state=0).fit(X, y).threshold_models_
    assert (~probing.batched).sum() <= 1
