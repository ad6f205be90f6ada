"""Test that trees of many class weights on columns sorted once equal the trees of the naive loop, node for node."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from probcal import ProbingClassifier
from probcal.methods.probing import importance_weights
from tests.learners.j48_trees import mixed_table

pytest.importorskip("numba", reason="needs the extra trees")

from probcal.learners import C45Classifier


def same(one, other):
    parts = zip((one.classes_, *one.tree_), (other.classes_, *other.tree_), strict=True)
    return all(np.array_equal(*pair) for pair in parts)


def drawn_table(rng, n, kinds):
    """Return numbers and categories with many equal and some missing values."""
    X = pd.DataFrame(rng.integers(0, kinds, (n, 4)) / 3, columns=list("abcd"))
    X["b"] = X["b"].where(rng.random(n) > 0.1)
    X["c"] = pd.Categorical(rng.integers(0, min(kinds, 7), n))
    X["d"] = pd.Categorical(rng.integers(0, 3, n)).set_categories([0, 1, 3])
    return X


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(4, 400),
    st.integers(1, 60),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(1, 5),
)
def test_every_tree_equals_that_of_the_naive_loop(seed, n, kinds, weighted, binary, pruned, min_leaf):
    rng = np.random.default_rng(seed)
    X, labels = drawn_table(rng, n, kinds), np.array(["no", "yes"])[rng.integers(0, 2, n)]
    labels[:2] = "no", "yes"
    row_weights = rng.integers(0, 4, n) / 3 if weighted else None
    if weighted:
        row_weights[:2] = 1
    thresholds = rng.uniform(0.01, 0.99, 6)
    tree = C45Classifier(min_samples_leaf=min_leaf, binary_splits=binary, pruned=pruned)
    class_weights = np.column_stack([np.ones(6), (1 - thresholds) / thresholds])
    fast_path = tree.class_weight_shortcut()
    batched = [
        *fast_path.fit(tree, X, labels, class_weights[:2], row_weights),
        *fast_path.fit(tree, X, labels, class_weights[2:], row_weights),
    ]
    for one, p in zip(batched, thresholds, strict=True):
        weights = importance_weights(labels == "yes", p, row_weights=row_weights)
        assert same(one, clone(tree).fit(X, labels, sample_weight=weights))


def test_margins_are_labels_and_have_no_error():
    X, y = mixed_table(2)
    tree = C45Classifier()
    fast_path = tree.class_weight_shortcut()
    trees = fast_path.fit(tree, X, y, np.array([[1.0, 0.2], [1.0, 5.0]]), None)
    for rows in (X, X.copy()):  # the training rows are already coded
        margins, error = fast_path.margins(trees, rows)
        assert error == 0
        assert np.array_equal(margins > 0, np.column_stack([one.predict(X) == 1 for one in trees]))


def test_a_tree_stores_no_training_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 20))
    tree = C45Classifier()
    [grown] = tree.class_weight_shortcut().fit(tree, X, (X[:, 0] > 0).astype(int), np.ones((1, 2)), None)
    assert len(pickle.dumps(grown)) < 3000


def test_the_given_learner_stays_unfitted():
    X, y = mixed_table(2)
    tree = C45Classifier(min_samples_leaf=3)
    tree.class_weight_shortcut().fit(tree, X, y, np.ones((1, 2)), None)
    assert vars(tree) == vars(C45Classifier(min_samples_leaf=3))


@pytest.mark.parametrize("weights", [[0.0, 1.0], [1.0, 0.0]])
def test_a_class_may_have_weight_zero(weights):
    X, y = mixed_table(2)
    tree = C45Classifier()
    [grown] = tree.class_weight_shortcut().fit(tree, X, y, np.array([weights]), None)
    assert (grown.predict(X) == np.argmax(weights)).all()


def test_shortcuts_do_not_change_votes_with_rescaled_weights():
    random = np.random.default_rng(0)
    X, asked = random.normal(size=(300, 4)), random.normal(size=(1000, 4))
    y = (X.sum(axis=1) + random.normal(size=300) > 0).astype(int)
    fast, slow = (
        ProbingClassifier(C45Classifier(), 40, total_weight="n", shortcuts=on, random_state=0)
        .fit(X, y, sample_weight=np.random.default_rng(1).random(300))
        .votes(asked)
        for on in (True, False)
    )
    assert (fast == slow).all()
