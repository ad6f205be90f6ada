"""Test ProtectedClassifier, a learner with protected predictions of a stream."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import ProtectedClassifier, RetrainedClassifier
from probcal.methods.direct import DirectClassifier
from probcal.protection import CompositeJumper, ProtectedForecaster, SimpleJumper


def stream(n_classes=2, n=400):
    """Return rows and labels 0, 1, ...; after the first 100 rows the last class becomes far more frequent."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 2))
    score = X[:, 0] + rng.logistic(size=n) + np.where(np.arange(n) < 100, 0, 2)
    return X, np.digitize(score, np.linspace(-1, 1, n_classes - 1) if n_classes > 2 else [0])


PRINTED = {"algorithm": "jumper", "passive_weight": 0, "truncation": 0.01}
"""Algorithm 1 as printed, with the truncation of the authors' own run."""


def fitted(method, X, y):
    return method.fit(X[:100], y[:100])


SEVERAL = {"algorithm": "jumper", "jump_rate": [0.01, 0.001], "passive_weight": 0.5, "start": "first"}


@pytest.mark.parametrize(
    ("settings", "jumper", "n_classes", "feedback"),
    [
        (PRINTED | {"jump_rate": 0.05, "truncation": 0.1}, SimpleJumper(jump_rate=0.05, truncation=0.1), 2, {}),
        (PRINTED, SimpleJumper(truncation=0.01), 3, {}),
        (PRINTED, SimpleJumper(truncation=0.01), 2, {"delay": 20}),
        (PRINTED, SimpleJumper(truncation=0.01), 2, {"every": 5}),
        (SEVERAL | {"calibrators": "cox"}, CompositeJumper("cox", [0.01, 0.001], 0.5, "first", 0.01), 2, {}),
        (
            SEVERAL | {"calibrators": "quadratic"},
            CompositeJumper("quadratic", [0.01, 0.001], 0.5, "first", 0.01),
            2,
            {},
        ),
    ],
    ids=str,
)
def test_predictions_equal_the_jumper_on_the_base(settings, jumper, n_classes, feedback):
    X, y = stream(n_classes)
    method = fitted(ProtectedClassifier(GaussianNB(), **settings, **feedback), X, y)
    base = GaussianNB().fit(X[:100], y[:100]).predict_proba(X[100:])
    expected, log10_s = jumper.protect(base if n_classes > 2 else base[:, 1], y[100:], **feedback)
    found = method.predict_proba_online(X[100:], y[100:])
    assert found.shape == (300, n_classes) and np.abs(found.sum(axis=1) - 1).max() < 1e-12
    assert (found if n_classes > 2 else found[:, 1]).tolist() == expected.tolist()
    assert method.log10_martingale_.tolist() == log10_s.tolist()


@pytest.mark.parametrize(
    ("n_classes", "feedback", "rate"), [(2, {}, 1), (3, {}, 1), (2, {"delay": 40, "every": 5}, 1 / 3)]
)
def test_default_is_the_protected_forecaster_on_the_base(n_classes, feedback, rate):
    X, y = stream(n_classes)
    method = fitted(ProtectedClassifier(GaussianNB(), truncation=0.01, **feedback), X, y)
    base = GaussianNB().fit(X[:100], y[:100]).predict_proba(X[100:])
    forecaster = ProtectedForecaster(learning_rate=rate, truncation=0.01)
    expected, log10_s = forecaster.protect(base if n_classes > 2 else base[:, 1], y[100:], **feedback)
    found = method.predict_proba_online(X[100:], y[100:])
    assert (found if n_classes > 2 else found[:, 1]).tolist() == expected.tolist()
    assert method.log10_martingale_.tolist() == log10_s.tolist()


@pytest.mark.parametrize(("delay", "every"), [(0, 1), (30, 2)])
def test_refits_are_an_expert_that_knows_only_labels_that_arrived(delay, every):
    X, y = stream()
    method = ProtectedClassifier(GaussianNB(), truncation=0.01, refit_every=50, delay=delay, every=every)
    found = fitted(method, X, y).predict_proba_online(X[100:], y[100:])
    refits = []
    for start in range(0, 300, 50):
        known = [row for row in range(start - delay) if row % every == 0]
        model = GaussianNB().fit(np.vstack([X[:100], X[100:][known]]), np.append(y[:100], y[100:][known]))
        refits.append(model.predict_proba(X[100 + start : 150 + start])[:, 1])
    base = GaussianNB().fit(X[:100], y[:100]).predict_proba(X[100:])[:, 1]
    forecaster = ProtectedForecaster(1, 1 / (1 + delay // every / 4), 0.01)
    expected, _ = forecaster.protect(
        base, y[100:], delay=delay, every=every, forecasts=np.concatenate(refits).clip(0.01, 0.99)[:, None]
    )
    assert found[:, 1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"algorithm": "best"}, 'must be "mixture" or "jumper"'),
        ({"jump_rate": 0.1}, 'jump_rate only has an effect with algorithm="jumper"'),
        ({"refit_every": 0}, "refit_every must be a whole number from 1"),
        ({"algorithm": "jumper", "refit_every": 10}, 'refit_every needs algorithm="mixture"'),
    ],
)
def test_settings_without_effect_are_refused(settings, words):
    X, y = stream()
    with pytest.raises(ValueError, match=words):
        ProtectedClassifier(GaussianNB(), **settings).fit(X, y)


def test_a_fitted_learner_is_not_fitted_again():
    X, y = stream()
    frozen = FrozenEstimator(GaussianNB().fit(X, y))
    with pytest.raises(ValueError, match="a FrozenEstimator cannot be fitted"):
        ProtectedClassifier(frozen, refit_every=100).fit(X, y)
    assert ProtectedClassifier(frozen).fit(X, y).predict_proba(X).shape == (len(y), 2)


def test_default_truncation_is_one_over_twice_the_rows():
    X, y = stream()
    method = fitted(ProtectedClassifier(DecisionTreeClassifier(random_state=0)), X, y)
    assert method.truncation_ == 1 / 200
    assert set(method.predict_proba(X[:100])[:, 1]) == {1 / 200, 1 - 1 / 200}
    counts = np.full(100, 3.0)
    assert ProtectedClassifier(GaussianNB()).fit(X[:100], y[:100], counts).truncation_ == 1 / 200
    repeated = ProtectedClassifier(GaussianNB()).fit(X[:100], y[:100], counts, frequency_weights=True)
    assert repeated.truncation_ == 1 / 600


def test_predict_proba_gives_the_truncated_base_predictions():
    X, y = stream()
    method = fitted(ProtectedClassifier(GaussianNB(), truncation=0.2), X, y)
    expected = GaussianNB().fit(X[:100], y[:100]).predict_proba(X).clip(0.2, 0.8)
    assert method.predict_proba(X)[:, 1].tolist() == expected[:, 1].tolist()


def test_predictions_0_and_1_allow_no_contradicting_label():
    X, y = stream()
    certain = ProtectedClassifier(DecisionTreeClassifier(random_state=0), algorithm="jumper", truncation=None)
    assert set(fitted(certain, X, y).predict_proba(X)[:, 1].tolist()) == {0.0, 1.0}
    assert certain.predict_proba_online(X[:100], y[:100])[:, 1] == pytest.approx(y[:100], abs=1e-12)
    with pytest.raises(ValueError, match="probability 0"):
        certain.predict_proba_online(X[100:], y[100:])


def test_stream_leaves_the_fitted_classifier_unchanged():
    X, y = stream()
    method = fitted(ProtectedClassifier(GaussianNB()), X, y)
    before = method.predict_proba(X).tolist()
    once, twice = (method.predict_proba_online(X[100:], y[100:]).tolist() for _ in range(2))
    assert once == twice and method.predict_proba(X).tolist() == before


@pytest.mark.parametrize(
    ("settings", "n_classes"),
    [({}, 2), ({"refit_every": 50}, 2), (SEVERAL | {"calibrators": "cox"}, 2), ({"truncation": 0.2}, 3)],
)
def test_gain_in_log10_loss_equals_the_log_martingale(settings, n_classes):
    X, y = stream(n_classes)
    method = fitted(ProtectedClassifier(GaussianNB(), **settings), X, y)
    base, protected = method.predict_proba(X[100:]), method.predict_proba_online(X[100:], y[100:])
    base_loss, loss = (-np.log10(p[np.arange(300), y[100:]]).sum() for p in (base, protected))
    measured = method.measures(X[100:])["log10_martingale"]
    assert measured > 1
    assert base_loss - loss == pytest.approx(measured, rel=1e-9)


def test_curve_covers_the_stream_in_400_points():
    X, y = stream(n=1_100)
    method = fitted(ProtectedClassifier(GaussianNB()), X, y)
    method.predict_proba_online(X[100:], y[100:])
    [curve] = method.curves(X[100:])["martingale"]
    assert (curve["x"][0], curve["y"][0], curve["x"][-1], len(curve["x"])) == (0, 0, 1_000, 400)
    after = np.concatenate([[0], method.log10_martingale_])
    assert curve["y"] == pytest.approx(after[curve["x"]].tolist(), abs=5.1e-5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jump_rate": 0}, "jump rate"),
        ({"jump_rate": [0.1, 2]}, "jump rate"),
        ({"passive_weight": 1}, "passive_weight"),
        ({"truncation": 0.5}, "truncation"),
        ({"start": "last"}, "start"),
        ({"calibrators": "cubic"}, "calibrators"),
        ({"delay": -1}, "delay"),
        ({"every": 0}, "every"),
    ],
)
def test_invalid_parameters_are_rejected_by_fit(parameters, message):
    X, y = stream()
    with pytest.raises(ValueError, match=message):
        ProtectedClassifier(LogisticRegression(), **parameters).fit(X, y)


def test_calibrators_for_two_classes_reject_three_classes_in_fit():
    X, y = stream(3)
    with pytest.raises(ValueError, match="Cox calibrators are for two classes"):
        ProtectedClassifier(GaussianNB(), algorithm="jumper", calibrators="cox").fit(X, y)


@pytest.mark.parametrize("labels", [["maybe"] * 300, [0, 1]])
def test_invalid_labels_of_a_stream_are_rejected(labels):
    X, y = stream()
    with pytest.raises(ValueError, match="y "):
        fitted(ProtectedClassifier(GaussianNB()), X, y).predict_proba_online(X[100:], labels)


def test_new_fit_removes_the_previous_martingale():
    X, y = stream()
    method = fitted(ProtectedClassifier(GaussianNB()), X, y)
    method.predict_proba_online(X[100:], y[100:])
    assert not hasattr(fitted(method, X, y), "log10_martingale_")


@pytest.mark.parametrize("told", ["measures", "curves"])
def test_measures_and_curves_need_a_stream(told):
    X, y = stream()
    with pytest.raises(NotFittedError, match="has protected no stream since it was fitted; call predict_proba_online"):
        getattr(fitted(ProtectedClassifier(GaussianNB()), X, y), told)(X)


@pytest.mark.parametrize("method", [DirectClassifier, ProtectedClassifier, RetrainedClassifier])
def test_learner_without_probabilities_is_rejected_by_fit(method):
    X, y = stream()
    with pytest.raises(ValueError, match=f"LinearSVC has no predict_proba, and {method.__name__} needs it"):
        method(LinearSVC()).fit(X, y)
