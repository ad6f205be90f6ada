"""Each check catches the component that breaks its promise, and no other component."""

from __future__ import annotations

import pytest

from probcal.contract import contract_checks
from probcal.contract.suite import PROMISES
from tests.contract.broken import BROKEN
from tests.contract.sound import Around, Bootstrap, Centres


def tried(component):
    """(the checks that fail, what each of them says)"""
    estimator = component(Centres()) if issubclass(component, Around) else component()
    outcomes = {check.promise.__name__: check.outcome() for check in contract_checks(estimator)}
    return {name: outcome.reason for name, outcome in outcomes.items() if outcome.status == "failed"}


@pytest.mark.parametrize("component", [Centres, Around, Bootstrap])
def test_a_sound_component_passes_every_check(component):
    assert tried(component) == {}


@pytest.mark.parametrize("component", BROKEN)
def test_what_is_broken_is_caught_by_the_check_that_is_meant(component):
    assert set(tried(component)) == BROKEN[component]


def test_every_check_has_a_component_that_it_alone_catches():
    alone = {name for names in BROKEN.values() if len(names) == 1 for name in names}
    assert {promise.__name__ for promise in PROMISES} - alone == set()
