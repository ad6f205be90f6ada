"""Test that each check catches the component that breaks its promise, and no other component."""

from __future__ import annotations

import numpy as np
import pytest

from probcal.contract import contract_checks
from probcal.contract.suite import PROMISES
from tests.contract.broken import BROKEN
from tests.contract.sound import Around, Bootstrap, Centres, Counting


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
