"""Test what Langford & Zadrozny (2005) say in section 4 beside their Theorem 2: the cost of the clip, and the order.

Section 4.2: project the prediction into [.001, .999] "and incur a maximal loss of about log(1/.001) epsilon + .001
(when D(1) = D(0))". The loss is the cross entropy above that of D(1|x) in nats: E KL(D(1|x) || prediction). Epsilon is
the average relative importance weighted loss. The sentence is exact for sure rows, D(1|x) = 0 or 1, whose classifiers
are all right or all wrong. It is false for other rows, by a factor of five and more. ``worst_cost`` is what holds.
"""

from __future__ import annotations

from fractions import Fraction as F
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import rel_entr

from probcal import ProbingClassifier
from probcal.methods.probing import importance_weights
from probcal.methods.refinement import ThresholdLoss
from probcal.metrics import rms_error, roc_auc
from tests.oracles.relative_loss import Distribution, even, relative_loss
from tests.stubs import Told

CLIP = 0.001
HALF = F(1, 2)


def regret(q, p):
    """Return KL(q || p) of Bernoulli distributions, in nats."""
    q, p = np.asarray(q, dtype=float), np.asarray(p, dtype=float)
    return rel_entr(q, p) + rel_entr(1 - q, 1 - p)


def predictions(answers, n_values):
    """Return (prediction of each x, answers) of Probing with evenly spread thresholds and its default clip."""
    X = np.arange(n_values, dtype=float).reshape(-1, 1)
    method = ProbingClassifier(Told(answers), len(answers), discretisation="uniform", weighting="weight")
    method.fit(np.tile(X, (2, 1)), np.repeat([0, 1], n_values))
    return method.predict_proba(X)[:, 1]


def mean_regret(distribution, p):
    truth = [float(one) for one in distribution.truth]
    return float(np.dot([float(share) for share in distribution.share], regret(truth, p)))


def printed_bound(epsilon):
    return log(1 / CLIP) * epsilon + CLIP


def worst_cost(squared_error):
    """Return the largest mean regret of predictions within the clip, by their mean squared distance from D(1|x).

    For one x at distance d it is KL(d + .001 || .001), as KL is convex along q - p = d, and at least KL(0 || .001).
    For several x it is the concave hull over d^2. The hull of a grid is a little too low.
    """
    distance = np.append(np.linspace(0, 1 - CLIP, 4001), 1)
    cost = np.maximum(regret(np.minimum(distance + CLIP, 1), CLIP), -log(1 - CLIP))
    hull: list[int] = []
    for i in range(len(distance)):
        while len(hull) > 1:
            a, b = hull[-2:]
            if (cost[b] - cost[a]) * (distance[i] ** 2 - distance[a] ** 2) > (cost[i] - cost[a]) * (
                distance[b] ** 2 - distance[a] ** 2
            ):
                break
            hull.pop()
        hull.append(i)
    return float(np.interp(squared_error, distance[hull] ** 2, cost[hull])) + 1e-3


@pytest.mark.parametrize("wrong", [F(0), F(1, 100), F(1, 10), HALF])
def test_clip_of_sure_rows_costs_the_printed_bound(wrong):
    # D(1|x) = 1, 1, 0; of the first, every classifier is wrong
    distribution = Distribution((wrong, HALF - wrong, HALF), (F(1), F(1), F(0)))
    answers = ((0, 1, 0),) * 999
    epsilon = relative_loss(distribution, answers)
    # above the last threshold, .999, the classifiers of sure rows are wrong as well: a square of .001 in all
    assert epsilon == pytest.approx(float(wrong), abs=2e-6)
    cost = mean_regret(distribution, predictions(answers, 3))
    assert cost == pytest.approx(float(wrong) * log(1000) - (1 - float(wrong)) * log(0.999), rel=1e-9)
    assert cost == pytest.approx(printed_bound(epsilon), abs=1.5e-3)
    assert f"{log(1 / CLIP):.1f}" == "6.9"


@pytest.mark.parametrize(("q", "factor"), [(F(1, 100), 8), (F(1, 10), 5), (F(1, 2), 1.5)])
def test_clip_of_uncertain_rows_costs_more_than_the_printed_bound(q, factor):
    # half of the rows have D(1|x) = q and are predicted 0, the others 1 - q and 1: epsilon is q^2
    distribution = Distribution((HALF, HALF), (q, 1 - q))
    answers = ((0, 1),) * 999
    epsilon = relative_loss(distribution, answers)
    assert epsilon == pytest.approx(float(q) ** 2, abs=1e-3)
    cost = mean_regret(distribution, predictions(answers, 2))
    assert cost == pytest.approx(float(regret(float(q), CLIP)), rel=1e-9)
    assert cost > factor * printed_bound(float(q) ** 2)


def test_clip_without_errors_costs_at_most_a_thousandth():
    q = np.append(np.geomspace(1e-12, 0.5, 2000), 0)
    assert regret(q, np.clip(q, CLIP, 1 - CLIP)).max() == -log(1 - CLIP) == pytest.approx(0.0010005, abs=1e-7)


def test_clip_without_errors_near_certainty_may_still_break_the_bound():
    # D(1|x) = 1, predicted s: epsilon is (1 - s)^2 for balanced classes, and the cost -ln(s)
    s = 0.92
    assert -log(s) > printed_bound((1 - s) ** 2) + 0.03


def test_cost_without_the_clip_grows_without_limit():
    # section 4.2: the finer the thresholds, the more costs a row of which all classifiers are wrong
    costs = []
    for n_probes in (9, 99, 999):
        method = ProbingClassifier(Told(((0,),) * n_probes), n_probes, discretisation="uniform", clip=(0, 1))
        p = method.set_params(weighting="weight").fit([[0.0], [0.0]], [0, 1]).predict_proba([[0.0]])[0, 1]
        costs.append(float(regret(1, p)))
    # the minimax prediction of [0, d] is near d / e, so ten times finer thresholds cost ln 10 more
    assert np.diff(costs) == pytest.approx([log(10)] * 2, rel=0.01)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 99), st.integers(1, 100), st.floats(0, 1))
def test_minimax_prediction_costs_the_same_at_both_ends(low, wide, between):
    # Footnote 2. No other prediction of the interval has a smaller worst cost.
    a, b = low / 100, min(low + wide, 100) / 100
    p = ThresholdLoss("log_loss", "printed").interval(a, b).p
    assert regret(a, p) == pytest.approx(regret(b, p), abs=1e-12)
    other = min(max(a + between * (b - a), 1e-9), 1 - 1e-9)
    assert max(regret(a, other), regret(b, other)) >= regret(a, p) - 1e-12


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=5), st.integers(1, 19))
def test_corollary_1_least_weighted_error_is_the_threshold(truth, percent):
    p, positive = percent / 20, np.array([True, False])
    for_one, for_zero = importance_weights(positive, p)
    for q in np.array(truth) / 20:
        wrong_if = {1: (1 - q) * for_zero, 0: q * for_one}  # what each label costs at an x with D(1|x) = q
        assert wrong_if[int(q > p)] <= min(wrong_if.values()) + 1e-12


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5))
def test_squared_error_of_labels_is_that_of_probabilities_plus_a_constant(pairs):
    # section 4.1, with the constant E D(1|x) (1 - D(1|x))
    truth, p = np.array(pairs).T
    y, weight = np.tile([1, 0], len(p)), np.column_stack([truth, 1 - truth]).ravel()
    of_labels = rms_error(y, np.repeat(p, 2), sample_weight=weight) ** 2
    assert of_labels == pytest.approx(np.mean((truth - p) ** 2) + np.mean(truth * (1 - truth)), abs=1e-12)


@st.composite
def answered(draw):
    """Draw a distribution of both classes and any predictions of its probes."""
    truth = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=4).filter(lambda t: 0 < sum(t) < 1000 * len(t)))
    share = draw(st.lists(st.integers(1, 99), min_size=len(truth), max_size=len(truth)))
    labels = st.tuples(*[st.integers(0, 1)] * len(truth))
    answers = tuple(draw(st.lists(labels, min_size=1, max_size=4)) * draw(st.sampled_from([1, 10, 50])))
    return Distribution(tuple(F(s, sum(share)) for s in share), tuple(F(t, 1000) for t in truth)), answers


@settings(derandomize=True, deadline=None, max_examples=40)
@given(answered())
def test_cost_of_clipped_predictions_follows_from_theorem_2(problem):
    distribution, answers = problem
    p, d = predictions(answers, len(distribution.share)), 1 / (len(answers) + 1)
    # a minimax prediction of an interval lies within d of the measure of all p with prediction 1
    theorem = 2 * float(distribution.larger_class) * relative_loss(distribution, answers)
    distance = sqrt(theorem) + d + CLIP
    assert mean_regret(distribution, p) <= worst_cost(min(distance**2, 1))


@pytest.mark.parametrize("epsilon", [1e-4, 1e-2, 0.09])
def test_worst_cost_is_reached_within_a_tenth(epsilon):
    assert regret(sqrt(epsilon), CLIP) <= worst_cost(epsilon) <= 1.1 * regret(sqrt(epsilon), CLIP) + 2e-3


def test_an_error_of_one_in_a_hundred_thousand_can_turn_the_whole_order():
    # Section 4.3: the right prediction is .5, the given one .49999, and all others lie between
    others = np.linspace(0.49999, 0.5, 1002)[1:-1]
    y = np.append(1, np.zeros(1000))
    right, given_answer = np.append(0.5, others), np.append(0.49999, others)
    assert (roc_auc(y, right), roc_auc(y, given_answer)) == (1, 0)
    assert 0 < rms_error(y, given_answer) - rms_error(y, right) < 1e-8


def auc_example(n, n_probes):
    """Return (AUC, epsilon, E(D(1|x) - prediction)^2, probability of the first x) of the example of section 4.3.

    One x has D(1|x) = 1 and the prediction 0, and n have D(1|x) = 1/n and the prediction 1/n.
    """
    distribution = Distribution((F(1, n + 1), F(n, n + 1)), (F(1), F(1, n)))
    answers = tuple((0, int(p <= F(1, n))) for p in even(n_probes))
    p = predictions(answers, 2)
    auc = roc_auc(np.append(1, np.zeros(n)), np.append(p[0], np.full(n, p[1])))
    squared_error = distribution.squared_error([F(0), F(1, n)])
    return auc, relative_loss(distribution, answers), squared_error


@pytest.mark.parametrize("n", [10, 100, 400])
def test_auc_is_zero_although_only_one_row_is_wrong(n):
    auc, epsilon, squared_error = auc_example(n, 2 * n - 1)
    assert auc == 0
    assert squared_error == pytest.approx(1 / (n + 1))
    # epsilon by a sum over p, with p Z_p = p D(0) + (1 - p) D(1) and D(1) = 2 / (n + 1)
    p, positive = (np.arange(10**6) + 0.5) / 10**6, 2 / (n + 1)
    assert epsilon == pytest.approx(np.mean((1 - p) / (p * (1 - positive) + (1 - p) * positive)) / (n + 1), rel=1e-4)
    assert squared_error <= 2 * (1 - positive) * epsilon


def test_relative_loss_of_the_auc_example_falls_below_any_rate():
    losses = [auc_example(n, 2 * n - 1)[1] for n in (10, 50, 250)]
    assert losses[0] > 2 * losses[1] > 4 * losses[2] > 0
    # it falls as ln(n) / n: the one wrong row is positive, and most probes weigh it n times
    assert losses[2] == pytest.approx((log(250 / 2) - 1) / 250, rel=0.1)
