"""Test the AUC and the ROC curve against scikit-learn and hand calculations."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import example, given
from hypothesis import strategies as st
from metric_rows import has_both, quick, rows, weighted_rows
from sklearn.metrics import roc_auc_score

from probcal.metrics import roc_auc, roc_curve
from probcal.metrics.checked_rows import checked
from probcal.metrics.ranking import RankedRows


def test_auc_counts_correctly_ordered_pairs():
    # positives .35 .8 against negatives .1 .4: of four pairs only (.35, .4) is in the wrong order
    assert roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.75


@quick
@given(rows.filter(has_both))
def test_auc_is_the_share_of_correctly_ordered_pairs(rows):
    positive = [p for label, p in rows if label == 1]
    negative = [p for label, p in rows if label == 0]
    in_order = sum((a > b) + (a == b) / 2 for a in positive for b in negative)
    assert roc_auc(*zip(*rows, strict=True)) == pytest.approx(in_order / len(positive) / len(negative), abs=1e-12)


@quick
@given(weighted_rows.filter(has_both))
def test_weighted_auc_agrees_with_scikit_learn(rows):
    y, p, weight = zip(*rows, strict=True)
    assert roc_auc(y, p, weight) == pytest.approx(roc_auc_score(y, p, sample_weight=weight), abs=1e-12)


@pytest.mark.parametrize("label", [0, 1])
def test_auc_of_one_class_is_rejected(label):
    with pytest.raises(ValueError, match="both classes"):
        roc_auc([label] * 3, [0.1, 0.5, 0.9])
    with pytest.raises(ValueError, match="both classes"):
        roc_auc([label, label, 1 - label], [0.1, 0.5, 0.9], [1, 1, 0])


def test_auc_of_several_classes_is_mean_of_one_versus_rest():
    # class 0: .6 against .2 .1: 1; class 1: .3 against .3 .5: one tie, one wrong: 1/4; class 2: .4 against
    # .1 .5: 1/2. Mean 7/12
    p = [[0.6, 0.3, 0.1], [0.2, 0.3, 0.5], [0.1, 0.5, 0.4]]
    assert roc_auc([0, 1, 2], p) == pytest.approx(7 / 12, rel=1e-12)


def test_auc_of_several_classes_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 2, 1, 1], size=200).round(2)
    p[:, 0] += 1 - p.sum(axis=1)
    p = np.clip(p, 0, 1)
    y, weight = rng.integers(0, 4, 200), rng.random(200)
    theirs = np.mean([roc_auc_score(y == one, p[:, one], sample_weight=weight) for one in range(4)])
    assert roc_auc(y, p, weight) == pytest.approx(theirs, abs=1e-12)
    assert roc_auc(y, p) == pytest.approx(roc_auc_score(y, p, multi_class="ovr"), abs=1e-12)


def test_auc_with_an_absent_class_is_rejected():
    with pytest.raises(ValueError, match="every class"):
        roc_auc([0, 1, 1], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


extremes = st.sampled_from([-0.0, 0.0, 5e-324, 1e-310, 1 - 2**-53, 1.0])


@quick
@example([(1, -0.0), (0, 0.0), (1, 5e-324), (0, 1.0)])
@given(st.lists(st.tuples(st.integers(0, 1), extremes | st.floats(0, 1)), min_size=1, max_size=25))
def test_ranked_rows_are_sorted_by_prediction_and_label(rows):
    ranked = RankedRows.of(checked(*zip(*rows, strict=True)))
    assert list(zip(ranked.p.tolist(), ranked.y.tolist(), strict=True)) == sorted((p, y) for y, p in rows)
    assert ranked.p[ranked.ends].tolist() == sorted({p for _, p in rows})


@quick
@given(rows)
def test_running_sums_are_taken_at_the_ends_of_ties(rows):
    y, p = zip(*rows, strict=True)
    expected = [0.0, *(sum(label - one for label, one in rows if one <= level) for level in sorted(set(p)))]
    for weight in (None, [2.0] * len(y)):
        assert RankedRows.of(checked(y, p, weight)).sums == pytest.approx(expected)


def drawn(n, distinct=None):
    rng = np.random.default_rng(1)
    p = rng.random(n) if distinct is None else rng.integers(0, distinct, n) / distinct
    return (rng.random(n) < p).astype(int), p


def test_roc_curve_of_few_predictions_agrees_with_scikit_learn():
    y, p = drawn(500, distinct=20)
    expected_x, expected_y, _ = sklearn.metrics.roc_curve(y, p, drop_intermediate=False)
    x, y = roc_curve(y, p)
    np.testing.assert_allclose(x, expected_x, atol=1e-12)
    np.testing.assert_allclose(y, expected_y, atol=1e-12)


def test_thinned_roc_curve_preserves_the_area():
    y, p = drawn(20_000)
    x, height = roc_curve(y, p, n_points=100)
    assert len(x) <= 100
    assert (x[0], height[0]) == (0, 0) and (x[-1], height[-1]) == pytest.approx((1, 1))
    assert (np.diff(x) >= 0).all() and (np.diff(height) >= 0).all()
    assert np.trapezoid(height, x) == pytest.approx(roc_auc(y, p), abs=1e-3)


def test_roc_curve_of_one_class_is_rejected():
    with pytest.raises(ValueError, match="both classes"):
        roc_curve([1, 1], [0.2, 0.3])


def test_weights_and_repeated_rows_give_the_same_roc_curve():
    rng = np.random.default_rng(0)
    y, p, weight = rng.integers(0, 2, 60), rng.random(60).round(1), rng.integers(1, 4, 60)
    found = roc_curve(y, p, sample_weight=weight)
    assert np.array(found) == pytest.approx(np.array(roc_curve(np.repeat(y, weight), np.repeat(p, weight))))
