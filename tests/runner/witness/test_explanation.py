"""Test which components are named where witnesses changed."""

from probcal.runner.witness.__main__ import explain


def test_component_of_all_changed_and_no_equal_witness_explains():
    changed = {"a": {"cell", "beta"}, "b": {"cell", "beta"}}
    equal = {"c": {"cell", "isotonic"}}
    assert explain(changed, equal) == {"beta": 2}


def test_shared_component_is_smaller_than_two_of_its_users():
    changed = {"a": {"newton", "beta"}, "b": {"newton", "sigmoid"}}
    assert explain(changed, {"c": {"isotonic"}}) == {"newton": 2}


def test_components_that_only_occur_together_are_both_named():
    assert explain({"a": {"map", "method"}}, {}) == {"map or method": 1}
