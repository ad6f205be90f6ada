"""Test WekaClassifier against Weka's own command line, which reads ARFF files and uses none of our code."""

from __future__ import annotations

import csv
import io
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal.learners import WekaClassifier
from probcal.learners.weka import WekaError, classifier
from probcal.learners.weka.jvm import _runtime, weka_jar

pytestmark = pytest.mark.java
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("trees.J48", "-C 0.25 -M 2"),
        ("trees.J48", "-U"),
        ("bayes.NaiveBayes", "-K"),
        ("functions.Logistic", ""),
        ("functions.SMO", "-M"),
        ("trees.RandomForest", "-I 10"),
    ],
)
def test_probabilities_equal_those_of_wekas_command_line(mixed, tmp_path, name, options):
    X, y, weights = mixed
    weights = weights if name != "functions.Logistic" else np.ones(len(y))
    train, test = np.arange(200), np.arange(200, 300)
    files = [tmp_path / "train.arff", tmp_path / "test.arff"]
    for file, rows in zip(files, (train, test), strict=True):
        file.write_text(as_arff(X.iloc[rows], y[rows], weights[rows]))
    theirs = command_line(name, options, *files)
    ours = WekaClassifier(name, options).fit(X.iloc[train], y[train], sample_weight=weights[train])
    np.testing.assert_allclose(ours.predict_proba(X.iloc[test])[:, 1], theirs, rtol=0, atol=1e-9)


def test_a_level_unseen_in_training_is_missing(mixed):
    X, y, _ = mixed
    fitted = WekaClassifier("bayes.NaiveBayes").fit(X, y)
    strange, missing = X.head(5).copy(), X.head(5).copy()
    strange["town"], missing["town"] = "elsewhere", None
    np.testing.assert_array_equal(fitted.predict_proba(strange), fitted.predict_proba(missing))


def test_a_probability_rounded_below_0_becomes_0(mixed, monkeypatch):
    X, y, _ = mixed
    fitted = WekaClassifier("rules.ZeroR").fit(X, y)
    monkeypatch.setattr(classifier, "distributions", lambda *_: np.array([[1 + 2e-16, -1e-15], [1.5, -0.5]]))
    assert fitted.predict_proba(X).tolist() == [[1, 0], [1.5, -0.5]]  # the second row is no rounding error and stays


def test_weights_that_weka_would_ignore_are_rejected(mixed):
    X, y, weights = mixed
    with pytest.raises(WekaError, match="takes no instance weights"):
        WekaClassifier("lazy.KStar").fit(X, y, sample_weight=weights)


def test_a_pickle_that_was_never_used_can_be_pickled_again(mixed):
    X, y, _ = mixed
    fitted = WekaClassifier("trees.J48").fit(X, y)
    twice = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(fitted))))
    np.testing.assert_array_equal(twice.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.slow
def test_every_process_starts_its_own_java(mixed):
    X, y, _ = mixed
    alone = WekaClassifier("trees.J48").fit(X, y).predict_proba(X)
    jobs = (delayed(_fitted_elsewhere)(X, y) for _ in range(2))
    for fitted in Parallel(n_jobs=2)(jobs):
        np.testing.assert_array_equal(fitted.predict_proba(X), alone)


def _fitted_elsewhere(X: pd.DataFrame, y: np.ndarray) -> WekaClassifier:
    return WekaClassifier("trees.J48").fit(X, y)


@pytest.mark.slow
def test_a_seed_changes_only_a_random_classifier(mixed):
    X, y, _ = mixed

    def estimates(name: str, seed: int | None) -> np.ndarray:
        return WekaClassifier(name, random_state=seed).fit(X, y).predict_proba(X)

    np.testing.assert_array_equal(estimates("trees.RandomForest", 1), estimates("trees.RandomForest", 1))
    assert (estimates("trees.RandomForest", 1) != estimates("trees.RandomForest", 2)).any()
    np.testing.assert_array_equal(estimates("trees.J48", 1), estimates("trees.J48", 2))


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("trees.J49", "", 'Weka has no classifier "trees.J49"'),
        ("trees.J48", "-C 0.25 -Q", 'trees.J48 does not take the option "-Q"'),
        ("trees.J48", "-M 2 -C abc", 'trees.J48 does not take the option "-C abc": For input string: "abc"'),
        ("trees.J48", "-Z 3 -M 2", 'trees.J48 does not take the option "-Z 3": Illegal options: -Z 3'),
        ("trees.J48", '-C "0.25', "-C"),
        ("functions.LinearRegression", "", "functions.LinearRegression"),
    ],
)
def test_message_names_what_weka_does_not_know(mixed, name, options, told):
    X, y, _ = mixed
    with pytest.raises(WekaError) as caught:
        WekaClassifier(name, options).fit(X, y)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_message_names_columns_with_dates_and_infinite_values():
    y = np.array([0, 1, 0, 1])
    with pytest.raises(TypeError, match="column 'when' holds datetime64"):
        WekaClassifier().fit(pd.DataFrame({"when": pd.date_range("2020-01-01", periods=4)}), y)
    with pytest.raises(ValueError, match="column 'a' holds infinite values"):
        WekaClassifier().fit(pd.DataFrame({"a": [1.0, 2.0, np.inf, 3.0]}), y)


@pytest.mark.parametrize("kind", [float, int, "boolean", object])
def test_truth_values_are_known_in_every_column_type(kind):
    truth = np.array([True, False, True, True, False, False] * 5)
    tree = WekaClassifier().fit(pd.DataFrame({"member": truth}), truth)
    assert tree.predict(pd.DataFrame({"member": truth.astype(bool)}).astype(kind)).tolist() == truth.tolist()


def test_message_names_a_column_that_occurs_twice(mixed):
    X, y, _ = mixed
    with pytest.raises(ValueError, match="column 'age' occurs twice"):
        WekaClassifier().fit(X.set_axis(["age", "age", *X.columns[2:]], axis=1), y)


def test_a_seed_that_is_not_a_number_is_rejected(mixed):
    X, y, _ = mixed
    with pytest.raises(ValueError, match="random_state must be a whole number"):
        WekaClassifier(random_state="a").fit(X, y)


@pytest.mark.slow
def test_weka_prints_nothing_to_the_terminal():
    code = (
        "import numpy as np; from probcal.learners import WekaClassifier\n"
        "X = np.random.default_rng(0).normal(size=(200, 3))\n"
        "WekaClassifier('functions.Logistic', '-output-debug-info').fit(X, X[:, 0] > 0).predict_proba(X)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@parametrize_with_checks(
    [WekaClassifier("trees.J48"), WekaClassifier("bayes.NaiveBayes")],
    expected_failed_checks=lambda estimator: (
        {}
        if estimator.classifier == "trees.J48"
        else {
            # the precision of a column is the mean gap between its values, and rows of weight 0 count too
            "check_sample_weight_equivalence_on_dense_data": "Weka's own: rows of weight 0 still count for precision"
        }
    ),
)
def test_weka_passes_the_estimator_checks_of_scikit_learn(estimator, check):
    check(estimator)


def as_arff(X: pd.DataFrame, y: np.ndarray, weights: np.ndarray) -> str:
    """Return the rows as ARFF text, for the levels of ``mixed``."""
    colours = ["blue", "green", "it's red", "never seen"]
    levels = {"colour": colours, "town": ["A b", "c,d"], "member": ["False", "True"]}
    quoted = {name: [quote(level) for level in given] for name, given in levels.items()}
    lines = ["@relation mixed", "@attribute age numeric"]
    lines += [f"@attribute {name} {{{','.join(given)}}}" for name, given in quoted.items()]
    lines += ["@attribute class {0,1}", "@data"]
    for (_, row), label, weight in zip(X.iterrows(), y, weights, strict=True):
        cells = ["?" if pd.isna(value) else repr(float(value)) if name == "age" else quote(str(value))
                 for name, value in row.items()]  # fmt: skip
        lines.append(f"{','.join(cells)},{label},{{{weight}}}")
    return "\n".join(lines) + "\n"


def quote(text: str) -> str:
    return "'" + text.replace("'", "\\'") + "'"


def command_line(name: str, options: str, train: Path, test: Path) -> np.ndarray:
    """Return (n_rows,): the probability of class 1 that ``java weka.classifiers...`` prints for the test file."""
    java = Path(_runtime()).parents[2] / "bin" / "java"
    output = "weka.classifiers.evaluation.output.prediction.CSV -decimals 12 -distribution"
    words = [java, "-cp", weka_jar(), f"weka.classifiers.{name}", *options.split(), "-t", train, "-T", test]
    done = subprocess.run([*words, "-classifications", output], capture_output=True, text=True, check=True, timeout=600)
    rows = csv.reader(io.StringIO(done.stdout[done.stdout.index("inst#") :]))
    return np.array([float(row[-1].strip("*")) for row in list(rows)[1:] if row])


assert find_spec("weka"), "these tests need the extra weka"
