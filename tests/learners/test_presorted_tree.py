"""The presorted tree against scikit-learn's where no two splits are equally pure, and against itself everywhere."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal import BaggedVoteClassifier, ProbingClassifier
from probcal.learners import PresortedTreeClassifier
from probcal.learners.sorted_columns import CODE, sort_columns
from tests.learners.weka.test_without_the_extra import without

pytest.importorskip("numba", reason="needs probcal[trees]")

both_criteria = pytest.mark.parametrize("criterion", ["gini", "entropy"])


def continuous(n=600, columns=4, classes=2, seed=0):
    """Columns that float32 holds exactly, which is what scikit-learn's tree compares."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).astype(np.float32).astype(np.float64)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n), np.linspace(-1, 1, classes + 1)[1:-1])
    return X, y


def impurity(y, weights, rows, entropy):
    """Weight times impurity of ``rows``, summed up anew."""
    share = np.array([weights[rows & (y == kind)].sum() for kind in np.unique(y[rows])])
    total = share.sum()
    return (share * np.log(total / share)).sum() if entropy else (share * (total - share)).sum() / total


def compared(ours, theirs, X, y, weights):
    """(nodes split alike, nodes split otherwise and equally well) of two trees; fails where one splits better."""
    entropy, tree = ours.criterion == "entropy", theirs.tree_
    alike = otherwise = 0
    waiting = [(0, 0, weights > 0)]
    while waiting:
        node, other, rows = waiting.pop()
        if len(np.unique(y[rows])) < 2:
            continue  # where rounding leaves it an impurity, scikit-learn's goes on
        assert (ours.feature_[node] < 0) == (tree.feature[other] < 0)
        if ours.feature_[node] < 0:
            continue
        left = X[:, ours.feature_[node]] <= ours.threshold_[node]
        its_left = X[:, tree.feature[other]] <= tree.threshold[other]
        if (ours.feature_[node], ours.threshold_[node]) == (tree.feature[other], tree.threshold[other]):
            alike += 1
            waiting.append((ours.left_[node], tree.children_left[other], rows & left))
            waiting.append((ours.left_[node] + 1, tree.children_right[other], rows & ~left))
        else:
            otherwise += 1
            found, its = (
                sum(impurity(y, weights, rows & side, entropy) for side in (one, ~one)) for one in (left, its_left)
            )
            assert found == pytest.approx(its, rel=1e-9)
    return alike, otherwise


def same_tree(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("classes_", "feature_", "threshold_", "left_", "value_")
    )


WEIGHTINGS = {
    "none": lambda y, rng: None,
    "of the classes": lambda y, rng: np.array([1.0, 3.7, 0.3])[y],
    "of the rows": lambda y, rng: rng.uniform(0.5, 2, len(y)),
    "zero for some": lambda y, rng: rng.integers(0, 2, len(y)) * np.array([1.0, 0.37, 2.5])[y],
}


@both_criteria
@pytest.mark.parametrize("min_leaf", [1, 10])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_it_splits_as_scikit_learn_or_equally_well(criterion, min_leaf, classes, weighting):
    alike = otherwise = 0
    for seed in range(3):
        X, y = continuous(classes=classes, seed=seed)
        weights = WEIGHTINGS[weighting](y, np.random.default_rng(2))
        parameters = {"criterion": criterion, "min_samples_leaf": min_leaf}
        ours = PresortedTreeClassifier(**parameters).fit(X, y, weights)
        theirs = DecisionTreeClassifier(**parameters, random_state=0).fit(X, y, weights)
        one = np.ones(len(y)) if weights is None else weights
        found = compared(ours, theirs, X, y, one)
        alike, otherwise = alike + found[0], otherwise + found[1]
    assert alike > otherwise


@both_criteria
def test_without_ties_it_says_what_scikit_learn_says(criterion):
    X, y = continuous()
    new = continuous(seed=1)[0]
    # rows of different weights, so many in a leaf that no two columns part them alike
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    parameters = {"criterion": criterion, "min_samples_leaf": 30}
    ours = PresortedTreeClassifier(**parameters).fit(X, y, weights)
    theirs = DecisionTreeClassifier(**parameters, random_state=0).fit(X, y, weights)
    assert compared(ours, theirs, X, y, weights) == ((ours.feature_ >= 0).sum(), 0)
    assert np.allclose(ours.predict_proba(new), theirs.predict_proba(new), rtol=1e-12)
    assert np.array_equal(ours.predict(new), theirs.predict(new))


@both_criteria
def test_a_depth_may_be_set(criterion):
    X, y = continuous()
    ours = PresortedTreeClassifier(criterion, max_depth=3).fit(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, random_state=0).fit(X, y)
    assert compared(ours, theirs, X, y, np.ones(len(y))) == (7, 0)


def slow_split(X, y, weights, entropy, min_leaf):
    """(impurity, column, threshold) of the best split, every cut tried with sums of its own."""
    tried = [
        (
            sum(impurity(y, weights, X[:, column] <= low if side else X[:, column] > low, entropy) for side in (0, 1)),
            column,
            (low + high) / 2,
        )
        for column in range(X.shape[1])
        for low, high in pairwise(np.unique(X[:, column]))
        if min((X[:, column] <= low).sum(), (X[:, column] > low).sum()) >= min_leaf
    ]
    return min(tried) if tried else None


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.data())
def test_no_split_of_the_root_is_purer(data):
    rows = data.draw(st.integers(2, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X = rng.integers(0, data.draw(st.integers(1, 30)), (rows, 3)).astype(float)
    y = rng.integers(0, data.draw(st.integers(2, 3)), rows)
    y[:2] = 0, 1
    weights = WEIGHTINGS[data.draw(st.sampled_from(["of the classes", "of the rows"]))](y, rng)
    entropy, min_leaf = data.draw(st.booleans()), data.draw(st.integers(1, 4))
    tree = PresortedTreeClassifier("entropy" if entropy else "gini", max_depth=1, min_samples_leaf=min_leaf)
    tree.fit(X, y, weights)
    best = slow_split(X, y, weights, entropy, min_leaf)
    if best is None:
        assert len(tree.feature_) == 1
        return
    left = X[:, tree.feature_[0]] <= tree.threshold_[0]
    stump = slow_split(left[:, None].astype(float), y, weights, entropy, min_leaf)
    assert stump[0] == pytest.approx(best[0], rel=1e-9, abs=1e-9)


@both_criteria
def test_of_columns_of_two_values_every_split_is_as_pure_as_the_purest(criterion):
    rng = np.random.default_rng(0)
    binary_ones = rng.random((300, 12)) < rng.uniform(0.02, 0.98, 12)
    X = np.column_stack([binary_ones, rng.integers(0, 9, (300, 2)) - 4.0]).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 12] + rng.normal(size=300) > 0.5).astype(int)
    weights = np.array([1.0, 2.3])[y]
    tree = PresortedTreeClassifier(criterion, min_samples_leaf=3).fit(X, y, weights)
    waiting, binary = [(0, np.ones(300, dtype=bool))], 0
    while waiting:
        node, rows = waiting.pop()
        shares = np.bincount(y[rows], weights[rows], minlength=2)
        assert tree.value_[node] == pytest.approx(shares / shares.sum(), rel=1e-12)
        if tree.feature_[node] >= 0:
            binary += tree.feature_[node] < 12
            left = X[:, tree.feature_[node]] <= tree.threshold_[node]
            found = sum(impurity(y, weights, rows & side, criterion == "entropy") for side in (left, ~left))
            best = slow_split(X[rows], y[rows], weights[rows], criterion == "entropy", 3)
            assert found == pytest.approx(best[0], rel=1e-9, abs=1e-9)
            waiting += [(tree.left_[node], rows & left), (tree.left_[node] + 1, rows & ~left)]
    assert binary > 5


def test_of_equal_splits_of_a_column_the_lowest_is_taken():
    X = np.array([[1.0, 2.0, 3.0, 4.0]]).T
    tree = PresortedTreeClassifier(max_depth=1).fit(X, [0, 1, 0, 1])  # after the first row as good as before the last
    assert tree.threshold_[0] == 1.5


def test_of_equal_columns_another_is_taken_under_other_weights():
    X, y = np.repeat([[0.0], [1.0]], 10, axis=1), [0, 1]
    taken = {int(PresortedTreeClassifier().fit(X, y, [1, 1 + i]).feature_[0]) for i in range(50)}
    assert len(taken) > 5


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 200), st.integers(1, 40), st.booleans(), st.integers(2, 3))
def test_the_tree_of_a_sample_is_the_tree_of_its_rows_written_out(seed, n, kinds, entropy, classes):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, kinds, (n, 3)) / 7.0, rng.integers(0, classes, n)
    rows = rng.integers(0, n, rng.integers(2, 2 * n))
    if len(np.unique(y[rows])) < 2:
        return
    tree = PresortedTreeClassifier("entropy" if entropy else "gini", min_samples_leaf=2)
    from_codes = pickle.loads(pickle.dumps(tree)).fit(tree.sort_columns(X).take(rows), y[rows])
    assert same_tree(from_codes, tree.fit(X[rows], y[rows]))


class Copied(DecisionTreeClassifier):
    """The tree as a learner that shares nothing between its fits, with copied rows."""

    def fit(self, X, y, sample_weight=None):
        self.tree_of_ours_ = PresortedTreeClassifier().fit(X, y, sample_weight)
        self.classes_ = self.tree_of_ours_.classes_
        return self

    def predict(self, X):
        return self.tree_of_ours_.predict(X)


@pytest.mark.parametrize(
    "method",
    [
        BaggedVoteClassifier(PresortedTreeClassifier(), 5, voting="votes", random_state=0),
        ProbingClassifier(PresortedTreeClassifier(), 5, weighting="rejection", random_state=0),
        ProbingClassifier(PresortedTreeClassifier(), 3, weighting="costing", n_samples=3, random_state=0),
    ],
    ids=["bags", "rejection", "costing"],
)
def test_samples_of_shared_columns_give_what_copied_rows_give(method):
    X, y = load_breast_cancer(return_X_y=True)
    shared = clone(method).fit(X[:300], y[:300]).predict_proba(X[300:])
    copied = clone(method).set_params(estimator=Copied(random_state=0)).fit(X[:300], y[:300]).predict_proba(X[300:])
    assert np.array_equal(shared, copied)


def test_a_sparse_table_gives_the_tree_of_the_dense_one():
    X, y = continuous()
    X[np.abs(X) < 0.8] = 0
    dense, sparse = PresortedTreeClassifier().fit(X, y), PresortedTreeClassifier().fit(sp.csr_matrix(X), y)
    assert same_tree(dense, sparse)
    assert np.array_equal(dense.predict_proba(X), sparse.predict_proba(sp.coo_array(X)))


def test_neighbouring_numbers_are_told_apart():
    low = 0.1
    high = np.nextafter(low, 1)
    tree = PresortedTreeClassifier().fit([[low], [high]], [0, 1])
    assert tree.predict([[low], [high]]).tolist() == [0, 1]


def test_the_largest_numbers_have_a_middle():
    huge = np.finfo(float).max
    assert PresortedTreeClassifier().fit([[-huge], [huge], [huge]], [0, 1, 1]).threshold_[0] == 0


@pytest.mark.parametrize("hole", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused(hole):
    X, y = continuous(20)
    fitted = PresortedTreeClassifier().fit(X, y)
    X[3, 1] = hole
    for refuses in (lambda: PresortedTreeClassifier().fit(X, y), lambda: fitted.predict(X)):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            refuses()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "log_loss"}, "criterion must be one of"),
        ({"max_depth": 0}, "max_depth must be a whole number from 1"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf must be a whole number from 1"),
    ],
)
def test_other_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PresortedTreeClassifier(**parameters).fit(*continuous(20))


def test_names_of_columns_are_kept_and_asked_for():
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = PresortedTreeClassifier().fit(X, y)
    assert tree.feature_names_in_.tolist() == X.columns.tolist()
    assert tree.score(X, y) == 1
    with pytest.raises(ValueError, match="feature names"):
        tree.predict(X.rename(columns={X.columns[0]: "other"}))
    assert isinstance(X, pd.DataFrame)


def test_sorted_columns_list_all_but_the_commonest_value():
    columns = sort_columns(np.array([[0.0, 1.0, 0.0, 0.0]]).T)
    assert columns.entries.tolist() == [(1 << CODE) + 1]  # the second of its values, in row 1
    assert columns.values.tolist() == [0, 1]


@parametrize_with_checks([PresortedTreeClassifier()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
def test_without_numba_it_says_how_to_install_it(tmp_path):
    code = (
        "from probcal.learners import PresortedTreeClassifier as Tree\n"
        "try: Tree().fit([[0.0], [1.0]], [0, 1])\n"
        "except ImportError as error: print(error)"
    )
    done = without(("numba",), tmp_path, "-c", code)
    assert "pip install 'probcal[trees]'" in done.stdout, done.stderr
