"""Test that built-in components pass every check of the contract, and that each check catches a broken component."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from probcal.components.classes import import_class
from probcal.contract import contract_checks
from probcal.contract.component_test import component
from probcal.contract.suite import PROMISES
from probcal.learners.registry import LEARNERS
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod
from probcal.methods.registry import METHODS
from tests.contract.broken import BROKEN
from tests.contract.sound import Around, Bootstrap, Centres, Counting

NEEDS = {name: "weka" for name, builtin in LEARNERS.items() if "the extra weka" in builtin.about} | {
    "c45": "numba",
}

KEPT_BY_SCIKIT_LEARN_IN_PART = {
    ("tree", "whole_weights_are_repeated_rows"): "min_samples_leaf counts rows, whatever their weight",
    ("tree", "invalid_weights_are_rejected"): "negative weights are taken, and give estimates below 0",
    ("gaussian_nb", "invalid_weights_are_rejected"): "negative weights are taken, and give NaN",
}

ONLY_FOR_METHODS = {
    "the_given_learner_is_not_changed",
    "frames_reach_the_learner_unchanged",
    "the_scale_of_weights_changes_nothing",
}
ONLY_WITH_PROBABILITIES = {
    "predict_proba_has_one_column_per_class",
    "probabilities_are_in_0_1_and_sum_to_1",
    "the_predicted_label_is_the_most_probable",
}
ONLY_FOR_STREAMS = "stream_predictions_ignore_their_own_and_later_labels"
LEARN_FROM_STREAMS = {"protected", "retrained"}
ONLY_FOR_SEVERAL_CLASSES = {"three_classes_are_learned_or_rejected_clearly"}
MAY_NOT_APPLY = {
    **dict.fromkeys(LEARNERS, ONLY_FOR_METHODS),
    "linear_svm": ONLY_FOR_METHODS | ONLY_WITH_PROBABILITIES,
    "hinge_svm": ONLY_FOR_METHODS | ONLY_WITH_PROBABILITIES | ONLY_FOR_SEVERAL_CLASSES,
    "kernel_nb": ONLY_FOR_METHODS | ONLY_FOR_SEVERAL_CLASSES,
}

WITH_FOLDS = [
    name for name, one in METHODS.items() if name != "prior" and issubclass(import_class(one.path), CalibratedMethod)
]


def allowed(name, promise):
    """Return the outcomes that a check of a component may have."""
    if promise == ONLY_FOR_STREAMS and name not in LEARN_FROM_STREAMS:
        return {"does not apply"}
    if (name, promise) in KEPT_BY_SCIKIT_LEARN_IN_PART:
        return {"failed"}  # remove a check from the list when it no longer fails
    return {"passed", "does not apply"} if promise in MAY_NOT_APPLY.get(name, ()) else {"passed"}


FAMILY = {
    "jittered_smo": "smo", "smo": "j48", "spline": "isotonic", "mean_map": "isotonic", "fold_mean": "isotonic",
    "map_of_mean": "isotonic", "histogram": "isotonic", "beta": "sigmoid", "quadratic": "sigmoid",
    "logistic_calibration": "sigmoid", "temperature": "sigmoid", "vector_scaling": "sigmoid",
    "matrix_scaling": "sigmoid", "dirichlet": "sigmoid", "relabeling": "probing", "weight_sweep": "probing",
}  # fmt: skip
"""Component that takes seconds -> one that shares most of its code, and that `make test` holds to the promises."""
COMPONENTS = [
    pytest.param(
        name,
        marks=[pytest.mark.slow] * (name in FAMILY) + [pytest.mark.java] * (NEEDS.get(name) == "weka"),
    )
    for name in [*LEARNERS, *METHODS]
]


@pytest.mark.parametrize("name", COMPONENTS)
def test_every_built_in_component_keeps_the_contract(name):
    if name in NEEDS and not find_spec(NEEDS[name]):
        pytest.skip(f"needs {NEEDS[name]}")
    keeps_the_contract(name, {"cv": 2} if name in WITH_FOLDS else {})


def keeps_the_contract(name, params):
    outcomes = {check.__name__: check.outcome() for check in contract_checks(component(name, params=params).estimator)}
    assert list(outcomes) == [promise.__name__ for promise in PROMISES]
    assert {claim: one for claim, one in outcomes.items() if one.status not in allowed(name, claim)} == {}


ABOUT_WEIGHTS = {
    "fit_returns_the_estimator_itself",
    "weights_of_one_change_nothing",
    "whole_weights_are_repeated_rows",
    "the_scale_of_weights_changes_nothing",
    "a_heavier_class_gets_higher_probabilities",
    "invalid_weights_are_rejected",
}


def failures(estimator, among=frozenset(promise.__name__ for promise in PROMISES)):
    outcomes = {str(check): check.outcome() for check in contract_checks(estimator) if check.__name__ in among}
    return {claim: outcome.reason for claim, outcome in outcomes.items() if outcome.status == "failed"}


def around_a_learner_without_weights(name):
    return component(name, "sklearn.neighbors.KNeighborsClassifier").estimator


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_methods_keep_weight_promises_around_learners_without_weights(name):
    assert failures(around_a_learner_without_weights(name), ABOUT_WEIGHTS) == {}


@pytest.mark.slow
def test_transductive_probing_keeps_the_contract():
    assert failures(component("probing", params={"discretisation": "transductive"}).estimator) == {}


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("retrained", {"every": 7}),
        ("protected", {"algorithm": "jumper", "delay": 3, "jump_rate": [0.1, 0.01], "passive_weight": 0.5}),
        ("protected", {"algorithm": "jumper", "calibrators": "cox", "start": "first", "every": 4}),
    ],
)
@pytest.mark.slow
def test_stream_methods_keep_the_contract_with_other_parameters(name, params):
    assert failures(component(name, params=params).estimator) == {}


def tried(component):
    """Return a mapping: each failed check -> its reason."""
    estimator = component(Centres()) if issubclass(component, Around) else component()
    outcomes = {check.promise.__name__: check.outcome() for check in contract_checks(estimator)}
    return {name: outcome.reason for name, outcome in outcomes.items() if outcome.status == "failed"}


@pytest.mark.parametrize("component", [Centres, Around, Bootstrap, Counting])
def test_a_sound_component_passes_every_check(component):
    assert tried(component) == {}


@pytest.mark.parametrize("component", BROKEN)
def test_each_broken_component_is_caught_by_its_checks(component):
    assert set(tried(component)) == BROKEN[component]


class GivesNaN(Centres):
    def near(self, X):
        p = super().near(X)
        p[:2] = np.nan
        return p


class GivesNaNToWeights(Centres):
    def weights_of(self, X, sample_weight):
        self.given_ = sample_weight is not None
        return super().weights_of(X, sample_weight)

    def near(self, X):
        return super().near(X) * (np.nan if self.given_ else 1)


def test_message_counts_nan_predictions_instead_of_a_difference():
    told = tried(GivesNaN)
    assert "4 of 80 predictions are NaN" in told["the_same_seed_gives_the_same_predictions"]
    assert "4 of 80 predictions are NaN" in told["a_pickled_copy_predicts_the_same"]
    assert "8 of 80 predictions are NaN" in told["each_row_is_predicted_independently"]
    assert "80 of 80 predictions are NaN" in tried(GivesNaNToWeights)["weights_of_one_change_nothing"]
    assert not any("differ by" in reason for reason in told.values())


def test_every_check_alone_catches_some_component():
    alone = {name for names in BROKEN.values() if len(names) == 1 for name in names}
    assert {promise.__name__ for promise in PROMISES} - alone == set()
