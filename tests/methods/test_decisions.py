"""Test decisions of the lowest cost and decisions with a guaranteed rate."""

import math
import random
import warnings
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from probcal import CostSensitiveClassifier, GuaranteedRateClassifier, PrefitClassifier

X, Y = make_classification(600, flip_y=0.2, random_state=0)
LEARNER = LogisticRegression()


class Given(ClassifierMixin, BaseEstimator):
    """Predict the first column as the probability of the second class."""

    classes_ = np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def given():
    return FrozenEstimator(Given())


def test_two_costs_are_a_threshold_that_includes_its_probability():
    model = CostSensitiveClassifier(given(), costs=(1, 4)).fit([[0.1], [0.9]], [0, 1])
    assert model.threshold_ == 0.2
    assert model.predict(np.array([[0.19999], [0.2], [0.3]])).tolist() == [0, 1, 1]
    np.testing.assert_allclose(model.expected_costs(np.array([[0.3]])), [[0.3 * 4, 0.7 * 1]])


def test_right_decisions_may_cost_or_gain_too():
    # Elkan 2001, equation 2: p* = (c10 - c00) / (c10 - c00 + c01 - c11), his c(decided, true)
    model = CostSensitiveClassifier(given(), costs=[[1, 3], [10, 2]]).fit([[0.1], [0.9]], [0, 1])
    assert model.threshold_ == pytest.approx((3 - 1) / (3 - 1 + 10 - 2))
    always = CostSensitiveClassifier(given(), costs=[[5, 3], [10, 2]]).fit([[0.1], [0.9]], [0, 1])
    assert always.threshold_ is None and always.predict(np.array([[0.0], [1.0]])).tolist() == [1, 1]


def test_huge_costs_and_frames_of_costs_are_read_as_they_are():
    assert CostSensitiveClassifier(given(), costs=(1e308, 1e308)).fit([[0.1], [0.9]], [0, 1]).threshold_ == 0.5
    matrix = pd.DataFrame([[0, 1], [2, 0]], index=["a", "b"], columns=["a", "b"])
    assert CostSensitiveClassifier(given(), costs=matrix).fit([[0.1], [0.9]], [0, 1]).threshold_ == pytest.approx(1 / 3)


@pytest.mark.parametrize("costs", [None, (2, 7), [[0, 1], [3, -1]]])
def test_no_other_decision_has_a_lower_expected_cost(costs):
    model = CostSensitiveClassifier(LEARNER, costs=costs).fit(X, Y)
    matrix = {None: [[0, 1], [1, 0]], (2, 7): [[0, 2], [7, 0]]}[costs] if not isinstance(costs, list) else costs
    expected = np.array([[sum(p[i] * matrix[i][j] for i in (0, 1)) for j in (0, 1)] for p in model.predict_proba(X)])
    np.testing.assert_allclose(model.expected_costs(X), expected)
    chosen = expected[np.arange(len(X)), model.predict(X)]
    np.testing.assert_allclose(chosen, expected.min(axis=1))


def test_costs_of_several_classes_and_of_columns():
    data, target = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["a", "b", "c"])[target]
    amount = np.linspace(0.1, 5, len(data))
    frame = data.assign(amount=amount)
    costs = [[0, 1, 1], [1, 0, "amount"], [2, 1, 0]]
    model = CostSensitiveClassifier(LogisticRegression(max_iter=5000), costs=costs).fit(frame, labels)
    p = model.predict_proba(frame)
    expected = p @ np.array([[0, 1, 1], [1, 0, 0], [2, 1, 0]]) + np.outer(p[:, 1] * amount, [0, 0, 1])
    np.testing.assert_allclose(model.expected_costs(frame), expected)
    assert model.predict(frame).tolist() == model.classes_[expected.argmin(axis=1)].tolist()
    assert model.threshold_ is None


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ((1, 2, 3), r"costs must have the shape \(2, 2\), and are \(1, 2, 3\)"),
        ([[0, 1]], r"costs must have the shape \(2, 2\)"),
        (5, r"costs must have the shape \(2, 2\), and are 5"),
        (("fee", 1), "costs name the column 'fee', and X has no such column"),
        ((1, np.nan), "costs must be finite numbers"),
    ],
)
def test_costs_that_do_not_fit_are_refused(costs, message):
    with pytest.raises(ValueError, match=message):
        CostSensitiveClassifier(LEARNER, costs=costs).fit(X, Y)


def test_missing_cost_of_a_row_is_refused():
    frame = pd.DataFrame(X).add_prefix("x").assign(fee=1.0)
    model = CostSensitiveClassifier(LEARNER, costs=("fee", 1)).fit(frame, Y)
    with pytest.raises(ValueError, match="costs must be finite numbers, and some are missing or infinite"):
        model.expected_costs(frame.assign(fee=np.nan))


def drawn(rng, n, slope=1.0):
    """Return predictions and labels. With another slope than 1 the predictions are not calibrated."""
    z = rng.normal(-1, 2, n)
    return expit(z)[:, None], (rng.random(n) < expit(slope * z)).astype(int)


@pytest.mark.parametrize("slope", [pytest.param(1.0, marks=pytest.mark.slow), 0.5])
@pytest.mark.parametrize(("rate", "at_least"), [("precision", 0.7), ("recall", 0.8)])
def test_the_rate_is_missed_less_often_than_the_confidence_says(rate, at_least, slope):
    rng = np.random.default_rng(0)
    p, y = drawn(rng, 400_000, slope)
    missed = shown = 0
    for _ in range(400):
        new = rng.integers(0, len(y), 300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = GuaranteedRateClassifier(given(), rate=rate, at_least=at_least, confidence=0.9)
            threshold = model.fit(p[new], y[new]).threshold_
        if np.isfinite(threshold):
            chosen = p[:, 0] >= threshold
            true = y[chosen].mean() if rate == "precision" else y[chosen].sum() / y.sum()
            shown += 1
            missed += true < at_least
    # 40 of 400 are allowed; 57 more has a probability below .001 at exactly that rate
    assert missed <= 57
    assert shown > 50 or (rate, slope) == ("precision", 0.5)


def test_precision_that_rises_and_falls_with_the_threshold_is_guaranteed():
    # labels by bands of probability: from the top down the precision is .9, .675, .75, .675, .72, .675, ...
    rng = np.random.default_rng(4)
    p = rng.random((300_000, 1))
    y = (rng.random(300_000) < np.where((8 * p[:, 0]).astype(int) % 2 == 1, 0.9, 0.45)).astype(int)
    missed = shown = 0
    for _ in range(600):
        new = rng.integers(0, len(y), 300)
        with warnings.catch_warnings(action="ignore"):
            model = GuaranteedRateClassifier(given(), at_least=0.7, confidence=0.9).fit(p[new], y[new])
        if np.isfinite(model.threshold_):
            shown += 1
            missed += y[p[:, 0] >= model.threshold_].mean() < 0.7
    # 60 of 600 are allowed; 84 or more has a probability below .001 at exactly that rate
    assert shown > 50 and missed < 84


def graph_of_tests(p, y, at_least, level):
    """Return the lowest threshold that the generic graphical procedure shows: Bretz et al. 2009, algorithm 1.

    Exact fractions, a matrix of transitions, and the hypothesis that is tested next drawn at random, as the algorithm
    allows.
    """
    log_odds = [round(-12 + 0.05 * place, 2) for place in range(481)]
    first = math.log(at_least / (1 - at_least)) + 0.5
    level_of = dict.fromkeys(range(481), 0.0)
    for k in range(-40, 41):
        if -12 <= first + k < 12:
            nearest = min(range(481), key=lambda place: abs(log_odds[place] - first - k))
            level_of[nearest] += 1 / (1 + abs(k)) ** 2
    total = sum(level_of.values())
    level_of = {place: level * share / total for place, share in level_of.items()}
    to = {i: {i - 1: 1.0} if i else {} for i in range(481)}
    target = Fraction(str(at_least))

    @cache
    def tail(n, hits):
        return float(sum(math.comb(n, k) * target**k * (1 - target) ** (n - k) for k in range(hits, n + 1)))

    chosen = [y[p >= expit(x)] for x in log_odds]
    p_value = [tail(len(labels), int(labels.sum())) if len(labels) else 1.0 for labels in chosen]
    rng, rejected = random.Random(0), []
    while free := [i for i in level_of if p_value[i] < level_of[i]]:
        one = rng.choice(free)
        rejected.append(one)
        freed, targets = level_of.pop(one), to.pop(one)
        for other, share in targets.items():
            level_of[other] += freed * share
        for i, of_i in to.items():
            back = of_i.pop(one, 0.0)
            for other, share in targets.items():
                if other != i:
                    of_i[other] = of_i.get(other, 0.0) + back * share
    return float(expit(log_odds[min(rejected)])) if rejected else math.inf


@pytest.mark.parametrize("at_least", [0.3, 0.8, 0.95])
@pytest.mark.parametrize("slope", [1.0, 2.5])
def test_threshold_of_precision_is_that_of_the_generic_graph_in_exact_fractions(at_least, slope):
    p, y = drawn(np.random.default_rng(8), 250, slope)
    with warnings.catch_warnings(action="ignore"):
        threshold = GuaranteedRateClassifier(given(), at_least=at_least).fit(p, y).threshold_
    assert threshold == pytest.approx(graph_of_tests(p[:, 0], y, at_least, 0.05), rel=1e-9)


@pytest.mark.parametrize(
    ("at_least", "share", "recall"), [(0.7, 0.97, 0.53), pytest.param(0.8, 0.4, 0.1, marks=pytest.mark.slow)]
)
def test_a_precision_is_shown_more_often_than_by_ten_starts_or_by_holm(at_least, share, recall):
    # benchmarks/decision_peers.py: in 300 samples, ten equal starts showed .937 and .07 with a mean recall of .491 and
    # .009, and Holm's test of MAPIE 1.6 .977 and .193 with .453 and .039
    rng = np.random.default_rng(0)
    z = rng.normal(size=400_000)
    p, y = expit(2 * z), rng.random(400_000) < expit(1.2 * z)
    found = []
    for _ in range(300):
        new = rng.integers(0, len(y), 1000)
        with warnings.catch_warnings(action="ignore"):
            model = GuaranteedRateClassifier(given(), at_least=at_least).fit(p[new, None], y[new])
        found.append(y[p >= model.threshold_].sum() / y.sum())
    assert np.mean(np.array(found) > 0) > share and np.mean(found) > recall


@pytest.mark.parametrize("at_least", [1e-300, 1e-9, 1 - 1e-9])
def test_any_precision_between_0_and_1_can_be_asked_for(at_least):
    p, y = drawn(np.random.default_rng(8), 250)
    with warnings.catch_warnings(action="ignore"):
        threshold = GuaranteedRateClassifier(given(), at_least=at_least).fit(p, y).threshold_
    assert np.isfinite(threshold) == (at_least < 0.5)


def test_more_rows_bring_the_threshold_nearer_to_the_true_one():
    rng = np.random.default_rng(1)
    p, y = drawn(rng, 200_000)
    order = np.argsort(p[:, 0])
    recall = 1 - np.cumsum(y[order]) / y.sum()
    best = p[order, 0][np.searchsorted(-recall, -0.8)]
    found = [
        GuaranteedRateClassifier(given(), rate="recall", at_least=0.8).fit(p[:n], y[:n]).threshold_
        for n in (200, 2000, 200_000)
    ]
    assert found[0] < found[1] < found[2] <= best and best - found[2] < 0.05 * best


def test_too_few_rows_show_nothing_and_say_so():
    with pytest.warns(UserWarning, match=r"No threshold has a precision of 0.99 .*give more rows"):
        model = GuaranteedRateClassifier(LEARNER, at_least=0.99, random_state=0).fit(X, Y)
    assert model.threshold_ == np.inf and not model.predict(X).any()
    few = GuaranteedRateClassifier(given(), rate="recall").fit(np.array([[0.2], [0.9]]), [0, 1])
    assert few.threshold_ == 0 and few.predict(np.array([[0.0]])).tolist() == [1]


def test_all_rows_test_a_model_that_learns_nothing():
    fitted = PrefitClassifier(lambda rows: rows[:, 0], [0, 1])
    p, y = drawn(np.random.default_rng(2), 300)
    frozen = GuaranteedRateClassifier(given(), rate="recall").fit(p, y)
    assert GuaranteedRateClassifier(fitted, rate="recall").fit(p, y).guarantee_ == frozen.guarantee_
    assert "(300 held-out rows)" in frozen.guarantee_


def test_held_out_rows_do_not_train():
    seen = []

    class Recording(LogisticRegression):
        def fit(self, X, y):
            seen.append(set(X[:, 0]))
            return super().fit(X, y)

        def predict_proba(self, X):
            seen.append(set(X[:, 0]))
            return super().predict_proba(X)

    GuaranteedRateClassifier(Recording(), rate="recall", random_state=3).fit(X, Y)
    trained, tested = seen
    assert len(trained) == len(tested) == 300 and not trained & tested


def test_with_groups_the_rate_of_new_groups_is_missed_as_seldom_as_promised():
    # ten nearly equal rows of each of 60 patients: 600 rows say as much as 60
    rng = np.random.default_rng(0)
    z = rng.normal(-1, 2, 100_000)
    y = (rng.random(len(z)) < expit(z)).astype(int)
    missed, thresholds = {"rows": 0, "groups": 0}, []
    for seed in range(300):
        one = rng.integers(0, len(z), 60).repeat(10)
        p = expit(z[one] + rng.normal(scale=0.1, size=len(one)))[:, None]
        for name, groups in {"rows": None, "groups": one}.items():
            model = GuaranteedRateClassifier(
                given(), rate="recall", at_least=0.8, confidence=0.9, random_state=seed
            ).fit(p, y[one], groups=groups)
            missed[name] += y[expit(z) >= model.threshold_].sum() < 0.8 * y.sum()
        thresholds.append(model.threshold_)
    # 30 of 300 are allowed; 47 or more has a probability below .001 at exactly that rate
    assert missed["groups"] < 47 and np.median(thresholds) > 0.05
    assert missed["rows"] > 60
    assert "(60 held-out groups, a random row of each)" in model.guarantee_


def test_equal_groups_test_like_their_single_rows():
    p, y = drawn(np.random.default_rng(5), 400)
    single = GuaranteedRateClassifier(given(), rate="recall", at_least=0.8).fit(p, y)
    repeated = GuaranteedRateClassifier(given(), rate="recall", at_least=0.8, random_state=0)
    repeated.fit(p.repeat(7, axis=0), y.repeat(7), groups=np.arange(400).repeat(7))
    assert repeated.threshold_ == single.threshold_


def test_no_group_both_trains_and_tests_and_a_calibrating_classifier_gets_the_groups():
    seen = []

    class Recording(LogisticRegression):
        def fit(self, X, y, groups):
            seen.append((set(X[:, 0]), set(groups)))
            return super().fit(X, y)

        def predict_proba(self, X):
            seen.append((set(X[:, 0]), None))
            return super().predict_proba(X)

    groups = np.array([f"patient {row % 100}" for row in range(len(X))])
    model = GuaranteedRateClassifier(Recording(), rate="recall", holdout_size=0.4, random_state=3)
    model.fit(X, Y, groups=groups)
    (trained, groups_of_training), (tested, _) = seen
    of_value = dict(zip(X[:, 0], groups, strict=True))
    assert {of_value[value] for value in trained} == groups_of_training and len(groups_of_training) == 60
    assert len(trained) == 360 and len(tested) == 40
    assert len({of_value[value] for value in tested} - groups_of_training) == 40


def test_weights_and_missing_groups_are_refused_with_the_reason():
    model = GuaranteedRateClassifier(LEARNER)
    with pytest.raises(TypeError, match="fit takes no sample_weight: the guarantee counts rows, which count alike"):
        model.fit(X, Y, sample_weight=np.ones(len(Y)))
    with pytest.raises(ValueError, match="1 of 600 groups are missing, the first in row 0"):
        model.fit(X, Y, groups=[None, *range(599)])
