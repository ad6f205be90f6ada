"""Test the replay of one random stream against a slow version with the global generator and published numbers."""

import csv
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

from probcal.data.card import find_card, read_card
from probcal.data.load import load, obtain
from probcal.data.splits import draw_legacy_folds
from probcal.methods._shared_fits import Repetition, RepetitionFits
from probcal.metrics.checked_rows import checked
from probcal.metrics.losses import clipped_log_loss
from probcal.papers.kull_silva_filho_flach_2017.learners_of_2016 import (
    LegacyForestClassifier,
    LegacyGaussianNB,
    LegacyLogisticRegression,
    LogisticSVC,
)
from probcal.papers.kull_silva_filho_flach_2017.random_stream import ORDERS, LegacyStreamClassifier
from probcal.papers.published import folder_of

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:240, :3], Y[:240]
LABELS = Y + 2 * (X[:, 0] > 14)
ONE = {"order": "ejs", "one_classifier": True}


def predicted(learner, number, fold, data=(X, Y, LABELS), key="test", **params):
    """Return the test rows of one fold and their predictions, computed as by the runner."""
    features, y, labels = data
    outer = draw_legacy_folds(labels, 5, np.random.RandomState(number))
    fits = RepetitionFits(Repetition(key, features, y, labels, 5, number, draw_legacy_folds), fold)
    train, test = features[outer != fold], outer == fold
    with fits.of_rows(train, y[outer != fold]):
        method = LegacyStreamClassifier(learner, **params).fit(train, y[outer != fold])
    return test, method.predict_proba(features[test])[:, 1]


def old_folds(labels, k):
    """Return the folds of the old stratified k-fold, drawn from the global generator."""
    folds = np.zeros(len(labels), int)
    for label in sorted(set(labels)):
        places = np.arange(max((labels == label).sum(), k))
        np.random.shuffle(places)
        mine = np.flatnonzero(labels == label)
        size, longer = divmod(len(places), k)
        ends = np.cumsum([size + (fold < longer) for fold in range(k)])
        for fold, end in enumerate(ends):
            start = 0 if fold == 0 else ends[fold - 1]
            for place in places[start:end]:
                if place < len(mine):
                    folds[mine[place]] = fold
    return folds


def slow_repetition(learner, number, constraint):
    """Return the test rows and the predictions of each method, per fold: the original program line by line."""

    def regression(features, y, **more):
        return LogisticRegression(C=99999999999, solver="liblinear", **more).fit(features, y)

    found = []
    np.random.seed(number)
    outer = old_folds(LABELS, 5)
    for fold in range(5):
        train, test = outer != fold, outer == fold
        inner = old_folds(Y[train], 3)
        total = dict.fromkeys(ORDERS["aistats"], 0.0)
        for part in range(3):
            learnt = learner().fit(X[train][inner != part], Y[train][inner != part])
            y = Y[train][inner == part]
            p, q = (
                np.clip(learnt.predict_proba(rows)[:, 1], 1e-16, 1 - 1e-16)
                for rows in (X[train][inner == part], X[test])
            )
            total["none"] += q / 3
            total["sigmoid"] += regression(p[:, None], y).predict_proba(q[:, None])[:, 1] / 3
            total["isotonic"] += IsotonicRegression(out_of_bounds="clip").fit(p, y).predict(q) / 3
            three, asked = (np.column_stack([np.log(one), -np.log(1 - one)]) for one in (p, q))
            fitted = regression(three, y)
            if constraint and fitted.coef_[0, 0] < 0:
                three, asked = three[:, 1:], asked[:, 1:]
                fitted = regression(three, y)
            elif constraint and fitted.coef_[0, 1] < 0:
                three, asked = three[:, :1], asked[:, :1]
                fitted = regression(three, y)
            total["beta"] += fitted.predict_proba(asked)[:, 1] / 3
            odds, asked = (np.log(one / (1 - one))[:, None] for one in (p, q))
            total["beta_am"] += regression(odds, y).predict_proba(asked)[:, 1] / 3
            two, asked = (np.column_stack([np.log(2 * one), -np.log(2 * (1 - one))]) for one in (p, q))
            total["beta_ab"] += regression(two, y, fit_intercept=False).predict_proba(asked)[:, 1] / 3
        found.append((test, total))
    return found


@pytest.mark.parametrize("constraint", [True, False])
@pytest.mark.parametrize("learner", [GaussianNB, lambda: LogisticRegression(solver="liblinear")])
def test_replay_agrees_with_the_program_line_by_line(learner, constraint):
    warnings.simplefilter("ignore")
    for fold, (test, expected) in enumerate(slow_repetition(learner, 3, constraint)):
        for name, p in expected.items():
            rows, found = predicted(learner(), 3, fold, map=name, constraint=constraint, key=("slow", constraint))
            assert np.array_equal(rows, test)
            np.testing.assert_allclose(found, p, atol=1e-9, err_msg=name)


def test_folds_can_be_replayed_in_any_order():
    forward = [predicted(GaussianNB(), 1, fold, key="forward")[1] for fold in range(5)]
    backward = [predicted(GaussianNB(), 1, fold, key="backward")[1] for fold in reversed(range(5))]
    for one, other in zip(forward, reversed(backward), strict=True):
        np.testing.assert_array_equal(one, other)


def test_learners_with_seeds_do_not_share_a_replay():
    one, other = LogisticRegression(solver="liblinear"), RandomForestClassifier(5)
    found = [predicted(learner, 0, 0, map="none", key="two learners")[1] for learner in (one, other)]
    again = predicted(other, 0, 0, map="none", key="the second alone")[1]
    np.testing.assert_array_equal(found[1], again)


def test_one_classifier_scores_all_test_rows():
    outer = draw_legacy_folds(LABELS, 5, np.random.RandomState(0))
    test, p = predicted(GaussianNB(), 0, 2, map="none", one_classifier=True)
    expected = GaussianNB().fit(X[outer != 2], Y[outer != 2]).predict_proba(X[test])[:, 1]
    np.testing.assert_allclose(p, expected, atol=1e-12)


def test_memory_order_of_rows_changes_no_prediction():
    wide = load_breast_cancer(return_X_y=True)[0][:240]
    outer = draw_legacy_folds(LABELS, 5, np.random.RandomState(0))
    fits = RepetitionFits(Repetition("wide", wide, Y, LABELS, 5, 0, draw_legacy_folds), 0)
    train, test = wide[outer != 0], wide[outer == 0]
    with fits.of_rows(train, Y[outer != 0]):
        method = LegacyStreamClassifier(LegacyGaussianNB(), map="none").fit(train, Y[outer != 0])
    by_rows = sum(one.predict_proba(test)[:, 1] / 3 for one in method.estimators_)
    np.testing.assert_array_equal(method.predict_proba(np.asfortranarray(test))[:, 1], by_rows)


def test_fit_without_the_other_folds_is_rejected():
    with pytest.raises(ValueError, match="give it a split of kind legacy_stratified_k_fold"):
        LegacyStreamClassifier(GaussianNB()).fit(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "dataset", "column", "learner", "params"),
    [
        ("kull-silva-filho-flach-2017", "hepatitis", "nbayes", LegacyGaussianNB(), {"constraint": False}),
        ("kull-silva-filho-flach-2017", "iris", "nbayes", LegacyGaussianNB(), {"constraint": False}),
        ("kull-silva-filho-flach-2017", "flare", "logistic", LegacyLogisticRegression(solver="liblinear"), {}),
        ("kull-silva-filho-flach-2017-ejs", "autos", "nbayes", LegacyGaussianNB(), ONE),
        ("kull-silva-filho-flach-2017-ejs", "iris", "svm", LogisticSVC(gamma="auto"), ONE),
        ("kull-silva-filho-flach-2017-ejs", "zoo", "mlp", MLPClassifier(n_iter_no_change=2), ONE),
        ("kull-silva-filho-flach-2017-ejs", "iris", "forest", LegacyForestClassifier(200), {"order": "ejs"}),
    ],
)
def test_published_numbers_are_reproduced_to_nine_decimals(original_files, paper, dataset, column, learner, params):
    if not (original_files / "kull2017").is_dir():
        pytest.skip("the original data files have no folder kull2017")
    warnings.simplefilter("ignore")
    card = read_card(find_card(f"kull-{dataset}"))
    obtain(card, original_files)
    data = load(card)
    rows = data.X.to_numpy(float), data.y, data.y if data.strata is None else data.strata
    with (folder_of(paper) / f"{paper}.csv").open() as file:
        published = {
            one["method"]: float(one["mean"])
            for one in csv.DictReader(file)
            if (one["dataset"], one["learner"], one["metric"]) == (dataset, column, "log_loss")
        }
    losses = {name: [] for name in ORDERS["aistats"]}
    for number in range(50):
        for name, found in losses.items():
            test, p = predicted(
                learner, *divmod(number, 5), data=rows, key=paper + dataset + column, map=name, **params
            )
            found.append(clipped_log_loss(checked(data.y[test], p)))
    for name, found in losses.items():
        assert np.mean(found) == pytest.approx(published[name], abs=1e-9), name
