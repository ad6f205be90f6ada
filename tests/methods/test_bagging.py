"""Test bagging: the votes, the drawn rows and the random streams."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import BaggedVoteClassifier
from tests.stubs import Unweighted

pytestmark = pytest.mark.filterwarnings("error")


class Rows(ClassifierMixin, BaseEstimator):
    """Store the training rows; P(second class) is the mean of their first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.X_, self.y_ = X, y
        self.p_ = float(np.asarray(X)[:, 0].mean())
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.p_, self.p_], (len(X), 1))

    def predict(self, X):
        return self.classes_[np.full(len(X), int(self.p_ > 0.5))]


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 3))
    return X, (rng.random(80) < X[:, 0]).astype(int)


def bagged(estimator=None, **parameters):
    defaults = {"n_estimators": 15, "random_state": 4}
    return BaggedVoteClassifier(estimator or DecisionTreeClassifier(max_features=1), **{**defaults, **parameters})


def test_votes_are_the_share_of_classifiers_for_the_class(noisy):
    X, y = noisy
    fitted = bagged(voting="votes", clip=(0, 1)).fit(X, y)
    share = sum(tree.predict(X) == 1 for tree in fitted.estimators_) / 15
    assert len(set(share)) > 5
    np.testing.assert_allclose(fitted.predict_proba(X), np.column_stack([1 - share, share]), atol=1e-15)


def test_means_are_the_mean_of_predicted_probabilities(noisy):
    X, y = noisy
    fitted = bagged(LogisticRegression(), voting="means").fit(X, y)
    mean = sum(one.predict_proba(X) for one in fitted.estimators_) / 15
    np.testing.assert_allclose(fitted.predict_proba(X), mean, atol=1e-14)


@pytest.mark.parametrize(("learner", "voting"), [(LogisticRegression(), "means"), (LinearSVC(), "votes")])
def test_default_voting_uses_probabilities_if_available(learner, voting, noisy):
    X, y = noisy
    by_default, asked_for = (
        bagged(learner, **chosen).fit(X, y).predict_proba(X) for chosen in ({}, {"voting": voting})
    )
    np.testing.assert_array_equal(by_default, asked_for)


@pytest.mark.parametrize(("clip", "expected"), [("rows", 1 / 80), ((0, 1), 0), ((0.1, 0.9), 0.1)])
def test_unanimous_votes_give_the_clip(clip, expected):
    X = np.array([[0.0]] * 20 + [[1.0]] * 20)
    found = bagged(DecisionTreeClassifier(), clip=clip).fit(X, X[:, 0].astype(int)).predict_proba([[0.0], [1.0]])
    np.testing.assert_allclose(found, [[1 - expected, expected], [expected, 1 - expected]], atol=1e-15)


def test_bag_has_n_rows_drawn_with_replacement(noisy):
    X, y = noisy
    bags = bagged(Rows(), n_estimators=200).fit(X, y).estimators_
    distinct = [len(np.unique(bag.X_[:, 1])) for bag in bags]
    assert {bag.X_.shape for bag in bags} == {(80, 3)}
    # 80 (1 - (79/80)^80) = 50.76 distinct rows on average, with a standard deviation of about 2.8 per bag
    assert np.mean(distinct) == pytest.approx(50.76, abs=4 * 2.8 / np.sqrt(200))


def test_rows_and_labels_of_a_bag_stay_together(noisy):
    X, y = noisy
    label_of = dict(zip(X[:, 1], y, strict=True))
    for bag in bagged(Rows()).fit(X, y).estimators_:
        assert bag.y_.tolist() == [label_of[x] for x in bag.X_[:, 1]]


def test_first_classifiers_do_not_depend_on_n_estimators(noisy):
    X, y = noisy
    few, many = (bagged(n_estimators=n).fit(X, y).estimators_ for n in (3, 12))
    for one, other in zip(few, many[:3], strict=True):
        assert one.random_state == other.random_state
        assert one.predict(X).tolist() == other.predict(X).tolist()


def test_every_bag_has_its_own_rows_and_seed(noisy):
    X, y = noisy
    assert len({tree.random_state for tree in bagged().fit(X, y).estimators_}) == 15
    assert len({bag.X_.tobytes() for bag in bagged(Rows()).fit(X, y).estimators_}) == 15


@pytest.mark.parametrize("voting", ["votes", "means"])
def test_bag_of_one_class_votes_for_that_class(voting):
    # one row of ten is positive: (9/10)^10 = 35 % of the bags lack it, and the stub rejects those
    X, y = np.eye(10), np.array([1] + [0] * 9)
    learner = LogisticRegression() if voting == "means" else Unweighted()
    fitted = bagged(learner, n_estimators=100, voting=voting).fit(X, y)
    missing = [len(bag.classes_) == 1 for bag in fitted.estimators_]
    assert 15 < sum(missing) < 55
    others = [bag for bag, has_one_class in zip(fitted.estimators_, missing, strict=True) if not has_one_class]
    says = [bag.predict_proba(X)[:, 1] if voting == "means" else bag.predict(X) for bag in others]
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], np.sum(says, axis=0) / 100, atol=1e-12)


@pytest.mark.parametrize("bad", [{"voting": "vote"}, {"n_estimators": 0}, {"n_estimators": 2.5}])
def test_invalid_parameters_are_rejected(noisy, bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        bagged(**bad).fit(*noisy)


def test_means_of_a_learner_without_probabilities_are_refused_in_fit(noisy):
    with pytest.raises(ValueError, match="voting='means' needs predict_proba, and LinearSVC has none; set voting='vo"):
        bagged(LinearSVC(), voting="means").fit(*noisy)
