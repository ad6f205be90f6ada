"""Test isotonic regression against the hull of Algorithm 1, scikit-learn and SciPy. ``tests/theory`` has Claim 5."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression
from sklearn.calibration import CalibratedClassifierCV
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from probcal import IsotonicClassifier
from probcal.methods.calibrators.isotonic import fit_isotonic, isotonic_values
from tests.methods.calibrating import Given, blobs, noisy

pytestmark = pytest.mark.filterwarnings("error")


def hull(points):
    """Return the slopes of Algorithm 1, steps 2 to 4, in exact fractions: the lowest chord at each place."""
    x, s = [Fraction(0)], [Fraction(0)]
    for width, rise in points:
        x.append(x[-1] + Fraction(width))
        s.append(s[-1] + Fraction(rise))
    heights = []
    for i in range(len(x)):
        chords = [
            s[a] + (s[b] - s[a]) * (x[i] - x[a]) / (x[b] - x[a]) if b > a else s[i]
            for a in range(i + 1)
            for b in range(i, len(x))
        ]
        heights.append(min(chords))
    return [float((z1 - z0) / (x1 - x0)) for (z0, z1), (x0, x1) in zip(pairwise(heights), pairwise(x), strict=True)]


def isotonic_of(scores, y, new=None, weights=None):
    knots = fit_isotonic(np.asarray(scores, dtype=float), np.asarray(y, dtype=bool), weights)
    return np.interp(scores if new is None else new, *knots)


labels = st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(1, 5)), min_size=1, max_size=14)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(labels)
def test_values_are_exactly_the_slopes_of_the_hull(rows):
    scores, y, weights = (np.array(column) for column in zip(*rows, strict=True))
    places = sorted(set(scores))
    points = [(weights[scores == one].sum(), (weights * y)[scores == one].sum()) for one in places]
    widths, rises = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    expected = hull((int(width), int(rise)) for width, rise in points)
    assert isotonic_values(rises, widths).tolist() == expected
    assert isotonic_of(scores, y, places, weights.astype(float)).tolist() == expected


def test_values_agree_with_hand_calculation():
    # labels 0 1 0 0 1 1 0 1: cumulative sums 0 0 1 1 1 2 3 3 4; the hull touches them at 1, 4, 7 and 8, so that
    # its slopes are 0 over 1 row, 1/3 over 3, 2/3 over 3 and 1 over 1
    y = [0, 1, 0, 0, 1, 1, 0, 1]
    assert isotonic_of(range(8), y).tolist() == [0, *[1 / 3] * 3, *[2 / 3] * 3, 1]


@pytest.mark.parametrize("n", [2, 30, 1000, 20_000])
@pytest.mark.parametrize("decimals", [0, 1, 16])
@pytest.mark.parametrize("weighted", [False, True])
def test_values_agree_with_scikit_learn_and_scipy(n, decimals, weighted):
    scores, y = noisy(n, seed=n)
    scores = np.round(scores, decimals)
    weights = np.random.default_rng(n).exponential(size=n) if weighted else None
    ours = isotonic_of(scores, y, weights=weights)
    peer = IsotonicRegression(out_of_bounds="clip").fit(scores, y, sample_weight=weights)
    np.testing.assert_allclose(ours, peer.predict(scores), rtol=0, atol=1e-13)
    between = np.linspace(-5, 5, 999)
    np.testing.assert_allclose(isotonic_of(scores, y, between, weights), peer.predict(between), rtol=0, atol=1e-9)
    # SciPy does not pool equal scores, so it gets their means
    places, at = np.unique(scores, return_inverse=True)
    weight = np.bincount(at, weights)
    means = np.bincount(at, y if weights is None else y * weights) / weight
    scipys = isotonic_regression(means, weights=weight.astype(float)).x
    np.testing.assert_allclose(isotonic_of(scores, y, places, weights), scipys, rtol=0, atol=1e-13)


def test_scores_closer_than_single_precision_are_not_pooled():
    # scikit-learn pools such float32 scores, because their resolution is 1e-6
    scores = np.array([0.5, 0.5 + 6e-8], dtype=np.float32)
    assert isotonic_of(scores, [0, 1], scores).tolist() == [0, 1]
    X = np.column_stack([scores, scores, scores])
    method = IsotonicClassifier(Given(), calibration="train", clip=(0, 1))
    assert method.fit(X, [0, 1]).predict_proba(X)[:, 1].tolist() == [0, 1]


def test_map_is_linear_between_scores_and_constant_outside():
    X = np.array([[0.0], [1.0], [1.0], [3.0]])
    fitted = IsotonicClassifier(Given(), calibration="train", clip=(0, 1)).fit(X, [0, 0, 1, 1])
    asked = np.array([[-9.0], [0], [0.5], [1], [2], [3], [9]])
    assert fitted.predict_proba(asked)[:, 1].tolist() == [0, 0, 0.25, 0.5, 0.75, 1, 1]


def test_constant_score_gives_the_base_rate():
    fitted = IsotonicClassifier(Given(), calibration="train").fit(np.ones((5, 1)), [0, 1, 0, 1, 1])
    assert fitted.predict_proba([[0.0], [1.0]])[:, 1].tolist() == [0.6, 0.6]


def test_predictions_are_clipped_only_on_request():
    X = np.arange(20.0)[:, None]
    y = X[:, 0] > 9
    plain, clipped = (
        IsotonicClassifier(Given(), calibration="train", clip=clip).fit(X, y).predict_proba(X)[:, 1]
        for clip in ((0, 1), (0.02, 0.9))
    )
    assert plain.tolist() == [0] * 10 + [1] * 10
    assert clipped.tolist() == [0.02] * 10 + [0.9] * 10


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ensemble", [True, False])
def test_cross_validated_isotonic_agrees_with_calibrated_classifier_cv(n_classes, weighted, ensemble):
    X, y = blobs(300, n_classes)
    weights = np.random.default_rng(0).exponential(size=300)
    weights = weights / weights.mean() if weighted else None  # ours are rescaled to a mean of 1, and the peer's are not
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    learner = LinearSVC(random_state=0)
    ours = IsotonicClassifier(learner, cv=cv, ensemble=ensemble, clip=(0, 1)).fit(X, y, weights)
    peer = CalibratedClassifierCV(learner, method="isotonic", cv=cv, ensemble=ensemble).fit(X, y, weights)
    asked, _ = blobs(500, n_classes, seed=1)
    np.testing.assert_allclose(ours.predict_proba(asked), peer.predict_proba(asked), rtol=0, atol=1e-9)


def test_row_with_0_from_every_map_has_equal_probabilities():
    # the score of each class is high only on its own rows, and the predicted row has three low scores
    X = np.column_stack([np.zeros(6), np.kron(np.eye(3), np.ones((2, 1)))])
    fitted = IsotonicClassifier(Given(), calibration="train", scores="probability", clip=(0, 1))
    fitted.fit(X, [0, 0, 1, 1, 2, 2])
    np.testing.assert_allclose(fitted.predict_proba(np.zeros((1, 4))), np.full((1, 3), 1 / 3))
