"""Test that one fit of kernel naive Bayes gives the votes of separate fits for all class weights."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_loop import assert_no_vote_changes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from probcal.fast_paths import column_sums
from probcal.fast_paths.fast_path import make_fast_path
from probcal.learners import KernelNaiveBayes

pytestmark = pytest.mark.filterwarnings("error")
LEVELS = ["a", "b", "c"]


def mixed(n_rows=400, seed=0):
    """Return (frame, labels): a number, whole numbers with gaps, and a nominal column with gaps."""
    rng = np.random.default_rng(seed)
    y = np.array(["no", "yes"])[(rng.random(n_rows) < 0.3).astype(int)]
    n = rng.lognormal(size=n_rows) + (y == "yes")
    whole = np.where(rng.random(n_rows) < 0.2, np.nan, rng.poisson(3, n_rows) - (y == "yes"))
    nominal = pd.Categorical.from_codes(rng.integers(-1, 3, n_rows), categories=LEVELS)
    return pd.DataFrame({"n": n, "whole": whole, "c": nominal}), y


@pytest.mark.parametrize("total_weight", [None, "n"])
def test_the_shortcut_does_not_change_votes(total_weight):
    (X, y), (asked, _) = mixed(), mixed(seed=1)
    fitted = assert_no_vote_changes(KernelNaiveBayes(), X, y, asked, total_weight=total_weight)
    assert fitted.threshold_models_[0].batched.all()


def test_a_pipeline_step_does_not_change_votes():
    X, y = mixed()
    assert_no_vote_changes(make_pipeline(FunctionTransformer(), KernelNaiveBayes()), X, y, n_probes=20)


numbers = st.one_of(st.none(), st.integers(-4, 4).map(lambda n: n / 2), st.floats(-50, 50))
weights = st.sampled_from([0.0, 0.01, 1.0, 1.0, 40.0])
some_rows = st.lists(st.tuples(numbers, st.none() | st.sampled_from(LEVELS), weights, st.booleans()), min_size=2)
factors = st.floats(-9, 9).map(lambda power: 10**power)


@given(some_rows, factors, factors)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_derived_classifier_equals_a_fitted_one(rows, first, second):
    rows = [(1.0, "a", 1.0, False), (2.0, None, 1.0, True), *rows]
    values, levels, row_weights, y = map(list, zip(*rows, strict=True))
    row_weights, y = np.array(row_weights), np.array(y)
    frame = pd.DataFrame({"n": np.array(values, dtype=float), "c": pd.Categorical(levels, categories=LEVELS)})
    [derived] = make_fast_path(KernelNaiveBayes()).fit(
        KernelNaiveBayes(), frame, y, np.array([[first, second]]), row_weights
    )
    fitted = KernelNaiveBayes().fit(frame, y, row_weights * np.where(y, second, first))
    np.testing.assert_allclose(derived.decision_function(frame), fitted.decision_function(frame), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(derived.predict_proba(frame), fitted.predict_proba(frame), rtol=0, atol=1e-12)


def test_a_class_without_values_has_the_same_kernel_after_reweighting():
    X, y = np.array([[np.nan], [np.nan], [1.0], [4.0]]), np.array([0, 0, 1, 1])
    derived = KernelNaiveBayes().fit(X, y).reweighted(9.0, 2.0)
    fitted = KernelNaiveBayes().fit(X, y, np.array([9.0, 9, 2, 2]))
    assert derived.decision_function([[0.0], [2.0]]) == pytest.approx(fitted.decision_function([[0.0], [2.0]]))


@pytest.mark.parametrize("extreme", [0.0, 1e-200, 1e200, np.inf, np.nan])
def test_extreme_weights_are_left_to_the_learner(extreme):
    X, y = mixed(50)
    found = make_fast_path(KernelNaiveBayes()).fit(
        KernelNaiveBayes(), X, y, np.array([[1.0, extreme], [1.0, 0.5]]), None
    )
    assert found[0] is None and found[1] is not None


def test_margins_do_not_depend_on_block_size(monkeypatch):
    X, y = mixed()
    fast_path = make_fast_path(KernelNaiveBayes())
    made = fast_path.fit(KernelNaiveBayes(), X, y, np.array([[1.0, 3.0], [1.0, 0.5]]), None)
    expected = np.column_stack([one.decision_function(X) for one in made])
    for at_once in (2, 60, 10_000):
        monkeypatch.setattr(column_sums, "_MARGINS_AT_ONCE", at_once)
        rows = fast_path.rows(made, X)
        assert len(rows) == len(X)
        blocks = [fast_path.margins(made, rows[start : start + 90])[0] for start in range(0, len(X), 90)]
        assert (np.concatenate(blocks) == expected).all()


def test_reweighting_one_class_shares_the_other():
    X, y = mixed(50)
    base = KernelNaiveBayes().fit(X, y)
    derived = base.reweighted(1.0, 2.0)
    for old, new in zip(base.columns_, derived.columns_, strict=True):
        assert new.classes[0] is old.classes[0] and new.classes[1] is not old.classes[1]
