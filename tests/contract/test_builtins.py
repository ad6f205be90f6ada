"""Every learner and method with a short name keeps every promise; a new one is held to them by being listed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import pytest

from probcal.contract import contract_checks
from probcal.contract.component_test import component
from probcal.contract.suite import PROMISES
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS

NEEDS = {name: "weka" for name, builtin in LEARNERS.items() if ".weka." in builtin.path} | {
    "c45": "numba",
}

KEPT_BY_SCIKIT_LEARN_IN_PART = {
    ("tree", "whole_weights_are_repeated_rows"): "min_samples_leaf counts rows, whatever their weight",
    ("tree", "invalid_weights_are_rejected"): "negative weights are taken, and give estimates below 0",
    ("gaussian_nb", "invalid_weights_are_rejected"): "negative weights are taken, and give NaN",
}

ONLY_FOR_METHODS = {"the_given_learner_is_not_changed", "frames_reach_the_learner_unchanged"}
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


@cache
def checks_of(name):
    return {check.promise: check for check in contract_checks(component(name).estimator)}


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", [*LEARNERS, *METHODS])
def test_it_keeps_the_contract(name, promise):
    if name in NEEDS and not find_spec(NEEDS[name]):
        pytest.skip(f"needs {NEEDS[name]}")
    if promise.__name__ == ONLY_FOR_STREAMS and name not in LEARN_FROM_STREAMS:
        assert checks_of(name)[promise].outcome().status == "does not apply"
        return
    known = KEPT_BY_SCIKIT_LEARN_IN_PART.get((name, promise.__name__))
    outcome = checks_of(name)[promise].outcome()
    if known:
        assert outcome.status == "failed", f"no longer fails ({known}): take it out of the list"
    elif promise.__name__ in MAY_NOT_APPLY.get(name, ()):
        assert outcome.status != "failed", outcome.reason
    else:
        assert outcome.status == "passed", outcome.reason


def failures(estimator):
    outcomes = {str(check): check.outcome() for check in contract_checks(estimator)}
    return {claim: outcome.reason for claim, outcome in outcomes.items() if outcome.status == "failed"}


MANY_FITS = {"bagging", "probing", "relabelling", "weight_sweep"}
PATIENTLY = [pytest.param(name, marks=pytest.mark.slow if name in MANY_FITS else ()) for name in METHODS]


@pytest.mark.parametrize("name", PATIENTLY)
def test_a_method_keeps_the_contract_around_a_learner_that_takes_no_weights(name):
    assert failures(component(name, "sklearn.neighbors.KNeighborsClassifier").estimator) == {}


@pytest.mark.slow
def test_a_method_that_learns_from_the_rows_asked_about_is_given_them():
    assert failures(component("probing", params={"discretisation": "transductive"}).estimator) == {}


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("retrained", {"every": 7}),
        ("protected", {"delay": 3, "jump_rate": [0.1, 0.01], "passive_weight": 0.5}),
        ("protected", {"calibrators": "cox", "start": "first", "every": 4}),
    ],
)
@pytest.mark.slow
def test_a_method_that_learns_from_a_stream_keeps_the_contract_under_other_settings(name, params):
    assert failures(component(name, params=params).estimator) == {}
