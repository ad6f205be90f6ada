"""Test row weights: which count as rows, what is refused, how they reach the learner, and ``class_weight``."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import (
    BaggedVoteClassifier,
    IsotonicClassifier,
    ProbingClassifier,
    RelabelingClassifier,
    SigmoidClassifier,
    VennAbersClassifier,
    WeightSweepClassifier,
)
from probcal.methods._base import fit_weighted, takes_weights
from probcal.methods.direct import DirectClassifier
from probcal.methods.probing import importance_weights

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
DETERMINISTIC = [
    ProbingClassifier(TREE, 15, weighting="weight"),
    ProbingClassifier(LogisticRegression(C=1e3, tol=1e-8), 15, total_weight="n", weighting="weight"),
    WeightSweepClassifier(GaussianNB(), weighting="weight"),
    DirectClassifier(TREE),
]
DRAWING = [
    ProbingClassifier(TREE, 15, weighting="rejection", random_state=0),
    ProbingClassifier(TREE, 15, weighting="costing", random_state=0),
    BaggedVoteClassifier(TREE, 15, random_state=0),
    RelabelingClassifier(TREE, 15, random_state=0),
]


def noisy(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    return X, y, rng.integers(0, 4, n)


def test_total_weight_n_is_the_sum_of_row_weights():
    weights = importance_weights(np.array([True, False, False]), 0.2, "n", np.array([2.0, 1.0, 3.0]))
    # 4 * 2, 1, 3 sum to 12: scaled to 2 + 1 + 3 = 6
    assert weights.tolist() == [4, 0.5, 1.5]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 149, "150 rows"),
        ([[1.0]] * 150, "150 rows"),
        ([-1.0] + [1.0] * 149, "negative"),
        ([np.nan] + [1.0] * 149, "missing"),
        ([0.0] * 150, "zero for all"),
    ],
    ids=["too few", "a column", "negative", "missing", "all zero"],
)
@pytest.mark.parametrize("method", [DETERMINISTIC[0], *DRAWING], ids=str)
def test_invalid_weights_are_rejected(method, weights, message):
    X, y, _ = noisy()
    with pytest.raises(ValueError, match=message):
        method.fit(X, y, weights)


def test_pipeline_accepts_weights_if_its_last_step_does():
    scaler = StandardScaler()
    assert takes_weights(make_pipeline(scaler, TREE))
    assert takes_weights(make_pipeline(scaler, make_pipeline(scaler, TREE)))
    assert not takes_weights(make_pipeline(scaler, KNeighborsClassifier()))
    assert not takes_weights(make_pipeline(scaler, "passthrough"))
    assert not takes_weights(KNeighborsClassifier())


@pytest.mark.parametrize("nested", [False, True])
def test_probing_a_pipeline_equals_probing_its_last_step(nested):
    X, y, _ = noisy()
    inner = Pipeline([("again", StandardScaler()), ("tree", TREE)]) if nested else TREE
    pipeline = Pipeline([("scale", StandardScaler()), ("last", inner)])
    assert np.array_equal(
        ProbingClassifier(pipeline, 15, random_state=0, weighting="weight").fit(X, y).votes(X),
        ProbingClassifier(TREE, 15, random_state=0, weighting="weight").fit(X, y).votes(X),
    )


def test_unweighted_learner_is_sampled_by_probing_and_rejected_elsewhere():
    X, y, weight = noisy()
    assert len(ProbingClassifier(KNeighborsClassifier(), 5, random_state=0).fit(X, y, weight).estimators_) == 5
    with pytest.raises(ValueError, match="KNeighborsClassifier cannot be fitted with weights"):
        DirectClassifier(KNeighborsClassifier()).fit(X, y, weight)


@pytest.mark.parametrize("method", [SigmoidClassifier, IsotonicClassifier, DirectClassifier, RelabelingClassifier])
def test_method_of_an_unweighted_learner_is_sampled_when_probed(method):
    X, y, _ = noisy()
    assert takes_weights(method(TREE))
    assert not takes_weights(method(KNeighborsClassifier()))
    assert len(ProbingClassifier(method(KNeighborsClassifier()), 3, random_state=0).fit(X, y).estimators_) == 3


@pytest.mark.parametrize("method", [BaggedVoteClassifier, ProbingClassifier, WeightSweepClassifier])
def test_sampling_methods_accept_weights_for_any_learner(method):
    assert takes_weights(method(KNeighborsClassifier()))


def unweighted_scaler():
    return StandardScaler().set_fit_request(sample_weight=False)


class TestWithMetadataRouting:
    """Test weights with scikit-learn's metadata routing, which passes them to objects that request them."""

    @pytest.fixture(autouse=True)
    def routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            yield

    def test_pipeline_gets_weights_by_the_request_of_its_last_step(self):
        X, y, weight = noisy()
        asking = LogisticRegression().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(unweighted_scaler(), asking)
        assert takes_weights(pipeline)
        fitted = fit_weighted(pipeline, X, y, weight.astype(float))
        plain = LogisticRegression().fit(StandardScaler().fit_transform(X), y, weight)
        assert np.allclose(fitted[-1].coef_, plain.coef_)

    def test_method_in_a_pipeline_gets_requested_weights(self):
        X, y, weight = noisy()
        probing = ProbingClassifier(TREE, 9, weighting="weight")
        pipeline = make_pipeline(unweighted_scaler(), probing.set_fit_request(sample_weight=True))
        routed = pipeline.fit(X, y, sample_weight=weight).predict_proba(X)
        assert np.array_equal(routed, probing.fit(X, y, weight).predict_proba(X))
        assert not np.array_equal(routed, probing.fit(X, y).predict_proba(X))

    @pytest.mark.parametrize("method", [DirectClassifier, SigmoidClassifier, IsotonicClassifier, VennAbersClassifier])
    def test_learner_gets_weights_only_if_requested(self, method):
        X, y, weight = noisy()

        class Spy(LogisticRegression):
            def fit(self, X, y, sample_weight=None):
                self.given_ = sample_weight
                return super().fit(X, y, sample_weight)

        for wanted in (True, False):
            fitted = method(Spy().set_fit_request(sample_weight=wanted)).fit(X, y, sample_weight=weight)
            learner = fitted.estimators_[0] if hasattr(fitted, "estimators_") else fitted.estimator_
            assert (learner.given_ is not None) == wanted

    def test_learner_without_a_weight_request_is_rejected(self):
        X, y, weight = noisy()
        with pytest.raises(UnsetMetadataPassedError, match="set_fit_request"):
            SigmoidClassifier(LogisticRegression()).fit(X, y, sample_weight=weight)


METHODS = {
    "probing": lambda learner: ProbingClassifier(learner, 3),
    "relabeling": lambda learner: RelabelingClassifier(learner, 3),
    "sweep": lambda learner: WeightSweepClassifier(learner, [0.3, 0.6]),
}
BALANCED = LogisticRegression(class_weight="balanced")
Y = np.tile([0, 0, 0, 1], 30)
X = np.random.default_rng(0).normal(size=(120, 2)) + Y[:, None]


def told(method):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        method.fit(X, Y)
    return [one for one in given if issubclass(one.category, UserWarning) and "class_weight" in str(one.message)]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (BALANCED, "class_weight='balanced'"),
        (DecisionTreeClassifier(class_weight={0: 1, 1: 5}), "class_weight={0: 1, 1: 5}"),
        (make_pipeline(StandardScaler(), LinearSVC(class_weight="balanced")), "class_weight='balanced'"),
        (BaggingClassifier(BALANCED, 2), "estimator__class_weight='balanced'"),
    ],
    ids=["learner", "weights by hand", "last step", "nested"],
)
def test_class_weight_of_the_learner_gives_one_warning_with_advice(method, learner, name):
    [warning] = told(method(learner))
    assert f"has {name}: " in str(warning.message)
    assert str(warning.message).endswith(f"probabilities are wrong; set {name.partition('=')[0]}=None")
    assert warning.filename == __file__


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(), DecisionTreeClassifier(), make_pipeline(SelectFromModel(BALANCED), LogisticRegression())],
    ids=["none", "tree", "another step's"],
)
def test_learner_without_class_weight_gives_no_warning(method, learner):
    assert told(method(learner)) == []


def test_method_without_class_weights_gives_no_warning():
    assert told(SigmoidClassifier(BALANCED)) == []
