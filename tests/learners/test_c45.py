"""Test C45Classifier against the stored trees of J48 in j48_trees.json, and test that its shortcuts agree."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal import BaggedVoteClassifier, ProbingClassifier
from tests.learners.j48_trees import OPTIONS, WEIGHTINGS, mixed_table, native_tree
from tests.learners.weka.test_without_the_extra import without

pytest.importorskip("numba", reason="needs the extra trees")

from probcal.learners import C45Classifier

J48 = json.loads(Path(__file__).with_name("j48_trees.json").read_text())


@pytest.mark.parametrize("case", J48)
def test_trees_equal_the_stored_trees_of_j48(case):
    wanted = J48[case]
    X, y = mixed_table(wanted["n_classes"])
    fitted = C45Classifier(**OPTIONS[wanted["options"]]).fit(X, y, sample_weight=WEIGHTINGS[wanted["weighting"]](y))
    assert native_tree(fitted) == wanted["tree"]
    assert (fitted.predict_proba(X) ** 2).sum() == pytest.approx(wanted["sum_of_squares"], abs=1e-6)


def test_coded_rows_give_the_tree_of_the_original_rows():
    X, y = mixed_table(2)
    X["text"] = np.where(np.arange(len(y)) == 5, "rare", np.where(X.iloc[:, 0] > 14, "large", "small"))
    rows = np.delete(np.random.default_rng(0).integers(0, len(y), len(y)), 0)
    rows = rows[rows != 5]
    coded = C45Classifier().sort_columns(X)
    shared, copied = C45Classifier().fit(coded.take(rows), y[rows]), C45Classifier().fit(X.iloc[rows], y[rows])
    assert native_tree(shared) == native_tree(copied)
    assert shared.columns_ == copied.columns_
    assert np.array_equal(shared.predict_proba(X), copied.predict_proba(X))


@pytest.mark.parametrize(
    "method",
    [
        lambda tree: ProbingClassifier(tree, 7, weighting="weight", random_state=0),
        lambda tree: ProbingClassifier(tree, 5, weighting="rejection", random_state=0),
        lambda tree: BaggedVoteClassifier(tree, 5, voting="means", random_state=0),
    ],
    ids=["weights", "rejection", "bags"],
)
def test_shared_columns_equal_separate_fits(method):
    class Separate(C45Classifier):
        class_weight_shortcut = None
        sort_columns = None

        def fit(self, X, y, sample_weight=None):
            self.inner_ = C45Classifier().fit(X, y, sample_weight)
            self.classes_ = self.inner_.classes_
            return self

        def predict_proba(self, X):
            return self.inner_.predict_proba(X)

    X, y = mixed_table(2)
    shared = method(C45Classifier()).fit(X, y).predict_proba(X)
    assert np.array_equal(shared, method(Separate()).fit(X, y).predict_proba(X))


def test_threads_do_not_change_predictions():
    X, y = mixed_table(2)
    one, two = (
        ProbingClassifier(C45Classifier(), 5, weighting="rejection", random_state=0, n_jobs=n).fit(X, y) for n in (1, 2)
    )
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_missing_value_follows_all_branches_by_weight():
    X = pd.DataFrame({"x": [1.0] * 6 + [2.0] * 4})
    fitted = C45Classifier().fit(X, [0] * 6 + [1] * 4)
    assert fitted.predict_proba(pd.DataFrame({"x": [np.nan, 1.5, 1.0]})) == pytest.approx(
        np.array([[0.6, 0.4], [0, 1], [1, 0]])
    )


def test_branch_shares_of_a_row_sum_to_1():
    rng, n_rows = np.random.default_rng(371), 60
    level, number = rng.integers(0, 7, n_rows), rng.normal(size=n_rows)
    y = ((number > rng.normal(size=7)[level]) ^ (rng.integers(0, 2, 7)[level] == 1)).astype(int)
    X = pd.DataFrame({"level": pd.Categorical(level), "number": number})
    fitted = C45Classifier(pruned=False, min_samples_leaf=1).fit(X, y, sample_weight=rng.random(n_rows))
    above_all = pd.DataFrame({"level": pd.Categorical([None]), "number": [5.0]})
    assert fitted.predict_proba(above_all).tolist() == [[1, 0]]  # the shares of the branches sum to 1 + 2.2e-16


def test_column_layout_needs_no_second_compilation():
    from probcal.learners.c45 import growth, tree

    X, y = mixed_table(2)
    for columns in (X.columns, X.columns[:1], X.columns[-1:], [X.columns[0], X.columns[-1]]):
        C45Classifier().fit(X[columns], y).predict_proba(X[columns])
    for function in (growth.grow, tree.prune, tree.probabilities):
        layouts = {kind.layout for signature in function.signatures for kind in signature if hasattr(kind, "layout")}
        assert layouts == {"C"}


def test_split_point_is_largest_training_value_below_the_midpoint():
    X = np.array([[1.0], [1.0], [1.4], [1.4], [2.0], [2.0]])
    real = C45Classifier(pruned=False).fit(X[[0, 1, 4, 5]], [0, 0, 1, 1]).tree_[1]
    assert real[0, 0] == 1.0


def test_text_and_truth_values_are_nominal():
    X = pd.DataFrame({"text": ["a", "b"] * 8, "truth": [True, False, False, True] * 4})
    fitted = C45Classifier().fit(X, [0, 1] * 8)
    assert native_tree(fitted) == [0, None, [[8.0, 0.0], [0.0, 8.0]]]
    assert fitted.predict(X).tolist() == [0, 1] * 8


def test_a_deep_tree_does_not_overflow_the_stack():
    X = np.arange(6000.0)[:, None]
    fitted = C45Classifier(min_samples_leaf=1).fit(X, np.arange(6000) // 2 % 2)
    assert fitted.predict_proba(X).shape == (6000, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0.6}, "confidence must be a number above 0 and at most 0.5"),
        ({"confidence": "low"}, "confidence must be a number above 0 and at most 0.5"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number from 1"),
        ({"pruned": "yes"}, "pruned must be one of"),
    ],
)
def test_invalid_parameters_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        C45Classifier(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_message_names_the_column_with_infinite_values():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]})
    with pytest.raises(ValueError, match="column 'b' holds infinite values"):
        C45Classifier().fit(X, [0, 1])


def test_columns_without_numbers_or_categories_are_rejected():
    X = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(TypeError, match="column 'day' holds datetime64"):
        C45Classifier().fit(X, [0, 1])


@parametrize_with_checks([C45Classifier()])
def test_c45_passes_the_estimator_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_adjacent_floats_count_as_one_value():
    numbers = np.array([[0.1], [np.nextafter(0.1, 1)]] * 4)
    assert len(C45Classifier(pruned=False).fit(numbers, [0, 1] * 4).tree_[0]) == 1


@pytest.mark.slow
def test_message_without_numba_names_the_install_command(tmp_path):
    code = (
        "from probcal.learners import C45Classifier as Tree\n"
        "try: Tree().fit([[0.0], [1.0]], [0, 1])\n"
        "except ImportError as error: print(error)"
    )
    done = without(("numba",), tmp_path, "-c", code)
    assert 'pip install "numba>=0.60"' in done.stdout, done.stderr
