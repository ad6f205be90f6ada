"""Test Theorem 2 of Langford & Zadrozny (2005, section 4) on distributions with known D(1|x).

    E_x (D(1|x) - estimate(x))^2  <=  2 max(D(1), D(0)) epsilon,
    epsilon = E_{p ~ U(0,1)} [l_p(c_p) - min_c l_p(c)],

l_p is the importance weighted loss divided by Z_p = D(0) + D(1)(1-p)/p. The bound holds for all classifiers c_p. The
theorem's estimate is the measure of all p with prediction 1. With thresholds at distance d, the reported midpoint of an
interval is within d/2 of this estimate. So its error is larger by at most d + d^2/4.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings, target
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from tests.oracles.relative_loss import Distribution, even, first_zero, mean_answer, relative_loss
from tests.stubs import Adversarial, Constant, Inconsistent, Perfect, Told

ROUNDING = 1e-12
HALF = F(1, 2)
BALANCED = Distribution((HALF, HALF), (F(1, 4), F(3, 4)))


@st.composite
def distributions(draw):
    """Draw one to five values of x with D(1|x) in thousandths, also 0 and 1, and both classes."""
    truth = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=5).filter(lambda t: 0 < sum(t) < 1000 * len(t)))
    share = draw(st.lists(st.integers(1, 200), min_size=len(truth), max_size=len(truth)))
    return Distribution(tuple(F(s, sum(share)) for s in share), tuple(F(t, 1000) for t in truth))


@st.composite
def answered(draw):
    """Draw a distribution and arbitrary predictions of 1 to 12 probes."""
    distribution = draw(distributions())
    labels = st.tuples(*[st.integers(0, 1)] * len(distribution.share))
    return distribution, tuple(draw(st.lists(labels, min_size=1, max_size=12)))


def probing(estimator, n_probes, X, y, **parameters):
    return ProbingClassifier(
        estimator, n_probes, loss="squared_error", discretisation="uniform", clip=(0, 1), random_state=0, **parameters
    ).fit(X, y)


def on_values(stub, n_probes, values):
    """Return (method, X): Probing of a stub, with every value of x once with each label."""
    X = np.array(values, dtype=float).reshape(-1, 1)
    method = probing(stub, n_probes, np.tile(X, (2, 1)), np.repeat([0, 1], len(X)), weighting="weight")
    return method, X


def answers_of(method, X):
    return [tuple((probe.predict(X) == method.classes_[1]).astype(int).tolist()) for probe in method.estimators_]


def bound(distribution, answers, thresholds=None):
    """Return the right-hand side: 2 max(D(1), D(0)) epsilon."""
    return float(2 * distribution.larger_class) * relative_loss(distribution, answers, thresholds)


def assert_bounded(distribution, method, X):
    """Check Theorem 2 for the measure of all p with prediction 1, and with d + d^2/4 for the reported prediction."""
    d, answers, reported = 1 / (method.n_probes + 1), answers_of(method, X), method.predict_proba(X)[:, 1]
    np.testing.assert_allclose(method.thresholds_, d * np.arange(1, method.n_probes + 1), rtol=1e-12)
    assert method.votes(X).tolist() == np.sum(answers, axis=0).tolist()
    np.testing.assert_allclose(reported - np.array(mean_answer(answers), dtype=float), d / 2, rtol=1e-9)
    limit = bound(distribution, answers)
    assert distribution.squared_error(mean_answer(answers)) <= limit + ROUNDING
    assert distribution.squared_error(reported) <= limit + d + d**2 / 4 + ROUNDING
    return limit


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(answered())
def test_bound_holds_for_any_predictions_of_probes(problem):
    distribution, answers = problem
    method, X = on_values(Told(answers), len(answers), range(len(distribution.share)))
    limit = assert_bounded(distribution, method, X)
    target(distribution.squared_error(mean_answer(answers)) / limit if limit else 0.0)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    distributions(),
    st.sampled_from([Perfect(), Adversarial(), Inconsistent(), Constant(0), Constant(1)]),
    st.integers(1, 60),
)
def test_bound_holds_for_perfect_adversarial_random_and_constant_probes(distribution, stub, n_probes):
    method, X = on_values(stub, n_probes, distribution.truth)
    assert_bounded(distribution, method, X)


LEARNERS = {
    "tree": DecisionTreeClassifier(max_leaf_nodes=6, random_state=0),
    "logistic": LogisticRegression(),
    "naive Bayes": GaussianNB(),
}


@pytest.mark.parametrize("weighting", ["weight", "rejection"])
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@settings(derandomize=True, deadline=None, max_examples=3)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(8, 300))
def test_bound_holds_for_probes_learned_from_a_sample(learner, weighting, seed, n_rows):
    """Check learners on few and many rows, for a truth that no linear learner can represent."""
    rng = np.random.default_rng(seed)
    values = np.array([[a, b] for a in range(4) for b in range(3)], dtype=float)
    share, truth = rng.integers(1, 50, size=12), rng.integers(0, 101, size=12)
    distribution = Distribution(tuple(F(int(s), int(share.sum())) for s in share), tuple(F(int(t), 100) for t in truth))
    drawn = np.append(rng.choice(12, size=n_rows, p=share / share.sum()), [0, 11])
    y = np.append(rng.random(n_rows) < truth[drawn[:-2]] / 100, [False, True]).astype(int)
    assert_bounded(distribution, probing(learner, 20, values[drawn], y, weighting=weighting), values)


@pytest.mark.parametrize("n_probes", [19, 399])
def test_bound_is_reached_exactly_for_balanced_classes(n_probes):
    """Check the worst case of the proof: all errors are next to D(1|x), on one side. Here p Z_p = max(D(1), D(0))."""
    answers = tuple((int(p <= F(6, 10)), int(p <= F(9, 10))) for p in even(n_probes))
    method, X = on_values(Told(answers), n_probes, [0, 1])
    limit = assert_bounded(BALANCED, method, X)
    squared_error = (0.35**2 + 0.15**2) / 2
    assert BALANCED.squared_error(mean_answer(answers)) == pytest.approx(squared_error, abs=ROUNDING)
    assert limit == pytest.approx(squared_error, abs=ROUNDING)


def test_one_wrong_probe_violates_the_bound_without_sorting():
    """Check that the theorem "fundamentally relies upon the sort" (section 3): the first p with prediction 0 fails."""
    right = tuple((int(p <= F(1, 4)), int(p <= F(3, 4))) for p in even(99))
    method, X = on_values(Told(((0, 0), *right[1:])), 99, [0, 1])
    limit = assert_bounded(BALANCED, method, X)
    unsorted = BALANCED.squared_error(first_zero(answers_of(method, X)))
    assert unsorted == (0.25**2 + 0.75**2) / 2
    assert unsorted > 10 * (limit + 0.01 + 0.01**2 / 4)


class ErringNearPointNine(Perfect):
    """Predict correctly, except for x = .1 at thresholds near .9, where the prediction is 1."""

    def answer(self, x):
        return super().answer(x) or (x == 0.1 and abs(self.threshold_ - 0.9) < 0.02)


def test_thresholds_that_crowd_together_break_the_bound():
    """Check that Theorem 2 needs evenly spaced thresholds; Algorithm 1 chooses thresholds where most rows are.

    Most rows have D(1|x) = .9. Many thresholds are close together there, so errors of their probes for D(1|x) = .1 cost
    little. But each error moves the prediction by one interval, and the intervals above .1 are wide.
    """
    X = np.vstack([np.full((2000, 1), 0.9), (np.arange(16).reshape(-1, 1) + 0.5) / 16])
    method = ProbingClassifier(ErringNearPointNine(), 24, loss="squared_error", weighting="weight", clip=(0, 1))
    method.fit(X, np.arange(len(X)) % 2)
    distribution, values = Distribution((HALF, HALF), (F(9, 10), F(1, 10))), np.array([[0.9], [0.1]])
    widest = np.diff([0, *method.thresholds_, 1]).max()
    limit = bound(distribution, answers_of(method, values), method.thresholds_) + widest + widest**2 / 4
    assert distribution.squared_error(method.predict_proba(values)[:, 1]) > limit
