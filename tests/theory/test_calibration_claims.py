"""Test Claims 1, 2 and 4, Lemmas 1 and 2 and Example 2 of Gao, Parameswaran & Peng (2017), by counting everything.

H holds 1[p1 < f(x) <= p2] for every f of F and all p1, p2; H_{p1,p2} holds them for one pair. R_D is the Rademacher
complexity over all 2^n signs. A class F is its predictions on the rows of D: (n_functions, n).
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import combinations, product
from math import comb, e, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from probcal import CostSensitiveClassifier
from probcal.metrics import expected_cost
from tests.methods.calibrating import Given
from tests.theory.complexities import intervals, of_all_intervals, rademacher

quick = settings(max_examples=60, deadline=None, derandomize=True)


# Claim 1


@st.composite
def calibrated_groups(draw):
    """Draw (share, value) of the groups {f = value} of a calibrated f, all fractions, with different values."""
    parts = st.tuples(st.integers(1, 9), st.integers(0, 8).map(lambda k: F(k, 8)))
    groups = draw(st.lists(st.lists(parts, min_size=1, max_size=3), min_size=1, max_size=6))
    total = sum(mass for group in groups for mass, _ in group)
    share: dict[F, F] = {}
    for group in groups:
        mass = sum(one for one, _ in group)
        value = sum(one * truth for one, truth in group) / mass  # what makes f calibrated
        share[value] = share.get(value, F(0)) + F(mass, total)
    return sorted((value, one) for value, one in share.items())


def loss(groups, decisions, a, b):
    """Return the expected loss of deciding 1 where ``decisions`` do: a for a false positive, b for a false negative."""
    return sum(s * (a * (1 - v) if one else b * v) for (v, s), one in zip(groups, decisions, strict=True))


@quick
@given(calibrated_groups(), st.integers(1, 9), st.integers(1, 9))
def test_claim_1_no_rule_has_a_smaller_loss_than_the_threshold(groups, a, b):
    best = min(loss(groups, rule, a, b) for rule in product((False, True), repeat=len(groups)))
    assert loss(groups, [value >= F(a, a + b) for value, _ in groups], a, b) == best
    # The same by the library, with a threshold that rounding may put on the other side of an equal value
    p = np.array([float(value) for value, _ in groups])
    X = np.column_stack([p, 1 - p, p])
    method = CostSensitiveClassifier(Given(), costs=(a, b)).fit(np.tile(X, (2, 1)), np.repeat([0, 1], len(X)))
    assert float(loss(groups, method.predict(X) == 1, a, b)) == pytest.approx(float(best), abs=1e-12)
    truth = np.tile([0, 1], len(groups))
    weight = [float(s * v if y else s * (1 - v)) for v, s in groups for y in (0, 1)]
    cost = expected_cost(truth, np.repeat(p, 2), a / (a + b), sample_weight=weight)
    assert cost * (a + b) == pytest.approx(float(best), abs=1e-12)


def test_claim_1_needs_a_calibrated_classifier():
    # f says .6 where the truth is .2: with a = b, the threshold 1/2 decides 1 and loses .8 instead of .2
    assert loss([(F(1, 5), F(1))], [F(3, 5) >= F(1, 2)], 1, 1) == F(4, 5)
    assert loss([(F(1, 5), F(1))], [False], 1, 1) == F(1, 5)


# Lemma 1: no verifier tells a distribution from all those of sure labels, if no row is drawn twice


@quick
@given(
    st.lists(st.integers(0, 4).map(lambda k: F(k, 4)), min_size=3, max_size=3),
    st.lists(st.booleans(), min_size=36, max_size=36),
)
def test_lemma_1_some_distribution_of_sure_labels_passes_as_often(truth, passes):
    # X has three equally likely rows, and D two rows. V is any function of D.
    draws = list(product(product(range(3), (0, 1)), repeat=2))
    verdict = dict(zip(draws, passes, strict=True))

    def passing(of):
        return sum(verdict[d] * F(1, 9) * np.prod([of[x] if y else 1 - of[x] for x, y in d]) for d in draws)

    twice = F(1, 3)  # delta_2: the probability of an equal pair
    sure = [passing(labels) for labels in product((F(0), F(1)), repeat=3)]
    assert max(sure) >= passing(truth) - twice
    # The proof: their mean, weighted by P(Y = 1 | X), is the same but for the draws of equal rows.
    weights = [np.prod([q if one else 1 - q for one, q in zip(labels, truth, strict=True)])
               for labels in product((0, 1), repeat=3)]  # fmt: skip
    assert abs(sum(w * one for w, one in zip(weights, sure, strict=True)) - passing(truth)) <= twice


# Claim 2


def test_claim_2_linear_classifiers_shatter_fewer_rows_than_columns():
    rng = np.random.default_rng(0)
    n, d, bound = 6, 8, 0.3
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1).max()
    assert np.linalg.matrix_rank(X) == n
    predictions = []
    for signs in product((-1.0, 1.0), repeat=n):
        w = np.linalg.lstsq(X, np.array(signs), rcond=None)[0]
        a = -np.linalg.norm(w) / bound  # so that a w has the margins -1 and 1 although |w| is at most the bound
        predictions.append(1 / (1 + np.exp(a * (X @ (w * bound / np.linalg.norm(w))))))
    assert rademacher(threshold_class(np.array(predictions))) == 0.5
    # More rows than columns: the rows 0, 1, 2 of one column, of which no sigmoid takes the middle or the ends alone
    lines = expit(np.outer([-9, 9, 9], [1, 1, 1]) * np.array([[0.5, -0.5, -1.5]]))
    assert rademacher(threshold_class(lines)) < 0.5


def threshold_class(predictions):
    """Return the patterns of H."""
    return np.unique(np.vstack([intervals(f) for f in predictions]), axis=0).astype(int)


# Lemma 2


@st.composite
def classes(draw, most_rows=7):
    """Draw predictions (n_functions, n) out of at most four values."""
    n = draw(st.integers(2, most_rows))
    values = draw(st.lists(st.integers(0, 10), min_size=1, max_size=4, unique=True))
    row = st.lists(st.sampled_from(values), min_size=n, max_size=n)
    return np.array(draw(st.lists(row, min_size=1, max_size=6))) / 10


@quick
@given(classes(), st.lists(st.booleans(), min_size=7, max_size=7))
def test_lemma_2_neither_labels_nor_predictions_raise_the_complexity(predictions, labels):
    y = np.array(labels[: predictions.shape[1]])
    # f with its own intervals: those of the other functions give no other patterns of f
    h_1 = np.vstack([intervals(f) & y for f in predictions]).astype(int)
    h_2 = np.vstack([intervals(f) * f for f in predictions])
    whole = rademacher(threshold_class(predictions))
    assert rademacher(h_1) <= whole + 1e-12
    assert rademacher(h_2) <= whole + 1e-12


def test_lemma_2_holds_with_equality_for_positive_labels_and_sure_predictions():
    predictions = np.array(list(product((0.0, 1.0), repeat=4)))
    patterns = threshold_class(predictions)
    assert rademacher(np.vstack([intervals(f) * f for f in predictions])) == rademacher(patterns) == 0.5


# Claim 4 and Example 2


def thresholds_of(predictions):
    return [-1.0, *np.unique(predictions)]


def pattern_set(predictions, low, high):
    """Return H_{p1,p2} on the rows as a set of tuples."""
    return {tuple(one) for one in ((low < predictions) & (predictions <= high)).astype(int).tolist()}


def vc_dimension(patterns):
    """Return the largest number of rows on which ``patterns`` have all labels, by trying every set of rows."""
    n = len(next(iter(patterns)))
    return max(
        k
        for k in range(n + 1)
        if any(len({tuple(p[i] for i in rows) for p in patterns}) == 2**k for rows in combinations(range(n), k))
    )


def claim_4(n, d, n_values):
    return sqrt((2 * d * (log(n / d) + 1) + 4 * log(n_values + 1)) / n)


@quick
@given(classes())
def test_claim_4_bounds_the_complexity_and_the_number_of_patterns(predictions):
    n, values = predictions.shape[1], np.unique(predictions)
    pairs = list(product(thresholds_of(predictions), repeat=2))
    d = max(1, *(vc_dimension(pattern_set(predictions, *pair)) for pair in pairs))
    if n <= d + 1:
        return
    patterns = threshold_class(predictions)
    # the steps of the proof: Sauer's lemma for each pair, the union, Massart's lemma
    assert all(
        len(pattern_set(predictions, *pair)) <= sum(comb(n, k) for k in range(d + 1)) <= (e * n / d) ** d
        for pair in pairs
    )
    assert len(patterns) <= (len(values) + 1) ** 2 * (e * n / d) ** d
    assert rademacher(patterns) <= sqrt(2 * log(len(patterns)) / n) + 1e-12
    assert rademacher(patterns) <= claim_4(n, d, len(values))


@pytest.mark.parametrize("n", [50, 200, 1000])
def test_claim_4_says_something_about_one_classifier_on_many_rows(n):
    # n distinct predictions of one classifier: H_{p1,p2} has one function, so d = 1 is more than enough
    assert of_all_intervals(n) < claim_4(n, 1, n) < 10 * of_all_intervals(n)
    assert claim_4(1000, 1, 1000) < 0.25 < 0.5


def example_2(n):
    """Return the predictions of the 2^n functions f_i(x) = i / 2^n - 1[x in A_i] / 2^(n+1)."""
    subsets = np.array(list(product((0, 1), repeat=n)))
    return np.arange(1, 2**n + 1)[:, None] / 2**n - subsets / 2 ** (n + 1)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_example_2_fixed_thresholds_hide_a_class_that_shatters_everything(n):
    predictions = example_2(n)
    cuts = thresholds_of(predictions)
    fixed = [pattern_set(predictions, low, high) for low in cuts for high in cuts if low < high]
    assert max(len(one) for one in fixed) <= 4
    # at most 2, as printed; 2 needs two sets that differ, and a third row
    assert max(vc_dimension(one) for one in fixed) == (2 if n > 2 else 1)
    patterns = threshold_class(predictions)
    assert len(patterns) == 2**n and vc_dimension({tuple(one) for one in patterns.tolist()}) == n
    assert rademacher(patterns) == 0.5
    # Claim 4 is no contradiction: P* has 2^(n+1) values here, and ln |P*| grows as fast as n
    assert claim_4(10**6, 2, 2.0**100) < 0.5 < claim_4(100, 2, 2.0**101)


def test_example_2_complexity_of_fixed_thresholds_is_smaller():
    predictions = example_2(5)
    cuts = thresholds_of(predictions)
    fixed = {tuple(sorted(pattern_set(predictions, a, b))) for a in cuts for b in cuts if a < b}
    assert max(rademacher(one) for one in fixed) < 0.3
