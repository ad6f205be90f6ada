"""Test that weights count by their ratios: no map and no method depends on their scale or on rows of weight 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import probcal
from probcal import (
    BaggedVoteClassifier,
    ProbingClassifier,
    RescaledClassifier,
    RetrainedClassifier,
    SigmoidCalibrator,
    SigmoidClassifier,
    WeightSweepClassifier,
)
from probcal._validation import relative_weights
from probcal.components.classes import import_class
from probcal.methods.registry import FAMILIES, METHODS
from tests.methods.calibrating import blobs

MAPS = [import_class(path) for path, family in FAMILIES.items() if family == "maps"]
FEW = {
    "bagging": {"n_estimators": 5},
    "probing": {"n_probes": 5},
    "relabeling": {"n_probes": 5},
    "weight_sweep": {"levels": [0.2, 0.5, 0.8]},
}
LEARNER = LogisticRegression()  # its penalty depends on the sum of the weights
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
METHOD_CASES = [
    *(
        pytest.param(import_class(one.path)(LEARNER, random_state=0, **FEW.get(name, {})), id=name)
        for name, one in METHODS.items()
    ),
    pytest.param(RescaledClassifier(LEARNER), id="rescaled"),
    pytest.param(ProbingClassifier(TREE, 5, random_state=0), id="rejection"),
    pytest.param(ProbingClassifier(TREE, 5, weighting="weight"), id="tree"),
    pytest.param(ProbingClassifier(LEARNER, 5, total_weight="n"), id="total weight"),
    pytest.param(WeightSweepClassifier(LEARNER, [0.2, 0.5, 0.8], multiclass="pairs"), id="pairs"),
    pytest.param(SigmoidClassifier(LEARNER, calibration="holdout", random_state=0), id="holdout"),
    pytest.param(SigmoidClassifier(LEARNER, ensemble=True, random_state=0), id="ensemble"),
]
every_map = pytest.mark.parametrize("calibrator", MAPS, ids=lambda one: one.__name__)
every_method = pytest.mark.parametrize("method", METHOD_CASES)
factors = st.floats(-12, 12).map(lambda power: 10.0**power) | st.integers(-40, 40).map(lambda power: 2.0**power)


def scored(n, n_classes, seed):
    """Return (P, y, weights): probabilities, labels and unequal weights of rows of each class."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(n_classes), n)
    y = (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return P, y, rng.choice([1.0, 2.0, 3.0], n) if seed % 2 else rng.exponential(size=n) + 0.01


@every_map
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(2, 3), st.integers(0, 1000), factors)
def test_map_does_not_depend_on_the_scale_of_weights(calibrator, n_classes, seed, factor):
    P, y, weights = scored(60, n_classes, seed)
    one, other = (calibrator().fit(P, y, given).predict_proba(P) for given in (weights, weights * factor))
    np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-9)
    if np.frexp(factor)[0] == 0.5:  # a power of two
        assert np.array_equal(one, other)


@every_map
@pytest.mark.parametrize("n_classes", [2, 3])
def test_map_of_equal_weights_is_the_map_without_weights(calibrator, n_classes):
    P, y, _ = scored(90, n_classes, 0)
    plain = calibrator().fit(P, y).predict_proba(P)
    for weight in (1 / 90, 1e-300, 7.0, 1e300):
        assert np.array_equal(calibrator().fit(P, y, np.full(90, weight)).predict_proba(P), plain)


@every_map
@pytest.mark.parametrize("n_classes", [2, 3])
def test_map_leaves_rows_of_weight_0_out(calibrator, n_classes):
    P, y, weights = scored(90, n_classes, 1)
    weights[n_classes::3] = 0
    kept = weights > 0
    with_them = calibrator().fit(P, y, weights).predict_proba(P)
    assert np.array_equal(with_them, calibrator().fit(P[kept], y[kept], weights[kept]).predict_proba(P))


@every_method
@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_method_does_not_depend_on_the_scale_of_weights(method, n_classes):
    X, y = blobs(120, n_classes)
    weights = np.random.default_rng(0).choice([1.0, 2.0, 3.0], 120)
    plain = method.fit(X, y, weights).predict_proba(X)
    for factor in (1e-12, 1 / weights.sum()):
        np.testing.assert_allclose(method.fit(X, y, weights * factor).predict_proba(X), plain, rtol=1e-6, atol=1e-9)
    for factor in (2.0**-40, 2.0**40):
        assert np.array_equal(method.fit(X, y, weights * factor).predict_proba(X), plain)


@every_method
@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_method_leaves_rows_of_weight_0_out(method, n_classes):
    X, y = blobs(120, n_classes)
    weights = np.random.default_rng(1).choice([0.0, 1.0, 2.0], 120)
    kept = weights > 0
    with_them = method.fit(X, y, weights).predict_proba(X)
    assert np.array_equal(with_them, method.fit(X[kept], y[kept], weights[kept]).predict_proba(X))


@pytest.mark.parametrize(
    "cv", [PredefinedSplit(np.arange(90) % 3), [(np.arange(45), np.arange(45, 90))]], ids=["splitter", "pairs"]
)
def test_given_folds_number_rows_of_weight_0_too(cv):  # fmt: skip
    X, y = blobs(90, 2)
    weights = np.tile([1.0, 1.0, 0.0, 1.0, 2.0], 18)
    kept = weights > 0
    of_kept = np.cumsum(kept) - 1
    pairs = [(of_kept[a[kept[a]]], of_kept[b[kept[b]]]) for a, b in (cv if isinstance(cv, list) else cv.split())]
    method = SigmoidClassifier(GaussianNB(), random_state=0)
    one = clone(method).set_params(cv=cv).fit(X, y, weights).predict_proba(X)
    other = clone(method).set_params(cv=pairs).fit(X[kept], y[kept], weights[kept]).predict_proba(X)
    assert np.array_equal(one, other)


def test_groups_of_rows_of_weight_0_are_left_out():
    X, y = blobs(90, 2)
    weights, groups = np.tile([1.0, 1.0, 0.0], 30), np.arange(90) // 3
    kept = weights > 0
    method = SigmoidClassifier(GaussianNB(), random_state=0)
    one = method.fit(X, y, weights, groups=groups).predict_proba(X)
    other = method.fit(X[kept], y[kept], weights[kept], groups=groups[kept]).predict_proba(X)
    assert np.array_equal(one, other)


@pytest.mark.parametrize("factor", [1e-12, 1 / 90, 1e12])
def test_rows_of_a_stream_do_not_outweigh_shares(factor):
    X, y = blobs(90, 2)
    plain, shares = (
        RetrainedClassifier(GaussianNB(), every=10).fit(X[:60], y[:60], weights).predict_proba_online(X[60:], y[60:])
        for weights in (None, np.full(60, factor))
    )
    np.testing.assert_allclose(shares, plain, rtol=1e-9)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.floats(1e-6, 1e6) | st.just(0.0), min_size=1, max_size=20).filter(any), factors)
def test_rescaled_weights_keep_their_ratios_and_have_mean_1(weights, factor):
    given, scaled = np.array(weights), relative_weights(np.array(weights) * factor)
    np.testing.assert_allclose(scaled, given / given[given > 0].mean(), rtol=1e-11)


def test_whole_weights_of_any_scale_become_the_same_numbers():
    counts = np.random.default_rng(0).integers(1, 50, 500).astype(float)
    scaled = relative_weights(counts)
    assert all(np.array_equal(relative_weights(counts * factor), scaled) for factor in (1e-12, 1 / 3, 1 / 500, 1e9))


def test_frequency_weights_must_be_whole_numbers():
    with pytest.raises(ValueError, match=r"needs whole weights.* row 1 \(counted from 0\) has the weight 0.5"):
        SigmoidCalibrator().fit([0.2, 0.7, 0.9], [0, 1, 1], [1, 0.5, 1], frequency_weights=True)
    with pytest.raises(ValueError, match="frequency_weights must be True or False"):
        SigmoidCalibrator().fit([0.2, 0.7, 0.9], [0, 1, 1], [1, 2, 1], frequency_weights="yes")


def test_bag_of_frequency_weights_has_as_many_rows_as_their_sum():
    class Counting(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            self.rows_ = len(y)
            return super().fit(X, y, sample_weight)

    X, y = blobs(50, 2)
    bagged = BaggedVoteClassifier(Counting(), 2, random_state=0).fit(X, y, np.full(50, 3), frequency_weights=True)
    assert [bag.rows_ for bag in bagged.estimators_] == [150, 150]
    assert bagged.predict_proba(X).min() == pytest.approx(1 / 300)


def test_smallest_probability_counts_rows():
    P, y, weights = scored(60, 2, 0)
    weights[5:10] = 0
    assert probcal.TemperatureCalibrator().fit(P, y, weights / 1e6).smallest_ == pytest.approx(1 / 110, rel=1e-12)
