"""Temperature scaling: scikit-learn's, with labels of any kind."""

import numpy as np
import pytest
import sklearn
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from probcal.methods.calibrators.temperature import TemperatureClassifier
from tests.methods.calibrating import blobs
from tests.small_config import experiment, the_fault

pytestmark = pytest.mark.filterwarnings("error")
WITH_TEMPERATURE = ("methods: [direct, probing]", "methods: [direct, probing, temperature]")


def test_it_divides_cross_validated_scores_by_the_likeliest_temperature():
    X, y = blobs(300, 3)
    cv, learner = StratifiedKFold(5), LogisticRegression(C=1e4)
    blind = cross_val_predict(learner, X, y, cv=cv, method="decision_function")

    def loss(log_inverse):
        scores = np.exp(log_inverse) * blind
        return (logsumexp(scores, axis=1) - scores[np.arange(300), y]).mean()

    scores = np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x) * learner.fit(X, y).decision_function(X)
    expected = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    found = TemperatureClassifier(learner, cv=cv).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", [LogisticRegression(), GaussianNB()], ids=["logistic", "naive Bayes"])
@pytest.mark.parametrize("names", [[1, 2, 3], [-1, 0, 1], [5.0, 7.0, 9.0], ["a", "b", "c"]], ids=str)
def test_the_names_of_the_classes_change_no_estimate(n_classes, learner, names):
    X, y = blobs(200, n_classes)
    names = np.array(names)
    fitted = TemperatureClassifier(learner).fit(X, names[y])
    peer = CalibratedClassifierCV(learner, method="temperature", ensemble=False).fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), peer.predict_proba(X))
    assert fitted.classes_.tolist() == names[:n_classes].tolist()
    assert fitted.predict(X).tolist() == names[peer.predict(X)].tolist()


def test_weights_reach_learner_and_temperature():
    X, y = blobs(200, 2)
    weights = np.random.default_rng(0).exponential(size=200)
    found = TemperatureClassifier(GaussianNB()).fit(X, y, weights).predict_proba(X)
    peer = CalibratedClassifierCV(GaussianNB(), method="temperature", ensemble=False).fit(X, y, weights)
    np.testing.assert_array_equal(found, peer.predict_proba(X))


def test_it_has_its_name_in_a_config(tmp_path):
    experiment(tmp_path, WITH_TEMPERATURE)


def test_a_scikit_learn_without_it_is_told_where_it_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(sklearn, "__version__", "1.7.2")
    line, message = the_fault(tmp_path, WITH_TEMPERATURE)
    assert line == 6
    assert message.startswith("temperature scaling needs scikit-learn 1.8 or newer, and this is 1.7.2")
    with pytest.raises(ValueError, match="temperature scaling needs"):
        TemperatureClassifier(GaussianNB()).fit(*blobs(60, 2))


def test_a_wrong_parameter_is_told_as_any_other(tmp_path):
    methods = "methods:\n  direct:\n  probing:\n  temperature: {params: {cv: nonsense}}"
    line, message = the_fault(tmp_path, ("methods: [direct, probing]", methods))
    assert line == 9
    assert message.startswith("The 'cv' parameter")


def test_a_copy_has_the_same_parameters():
    assert clone(TemperatureClassifier(GaussianNB(), cv=3)).get_params()["cv"] == 3


def test_a_pipeline_gets_the_weights_at_its_last_step():
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2
    weight = np.where(y == 1, 10, 1)
    alone, piped = (
        TemperatureClassifier(learner).fit(X, y, sample_weight=weight).predict_proba(X)[:, 1]
        for learner in (LogisticRegression(), make_pipeline("passthrough", LogisticRegression()))
    )
    np.testing.assert_allclose(piped, alone)


def test_weights_for_a_learner_that_takes_none_are_refused():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match="KNeighborsClassifier cannot be fitted with weights"):
        TemperatureClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(60))
