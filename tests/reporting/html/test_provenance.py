"""Test the provenance section of the page with run records of any content."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.reporting.html.sections import group_faults, provenance
from probcal.store.folder import CellResult
from tests.reporting.html.conftest import RUN

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=5,
)
RESULTS = {"a": CellResult("adult", 0, "j48", "direct", "done", "run1", 1.0)}


@settings(max_examples=100, deadline=None, derandomize=True)
@given(name=st.sampled_from(sorted(RUN)), value=ANYTHING)
def test_any_value_in_a_run_record_is_accepted(name, value):
    found = provenance({"run1": {**RUN, name: value}}, RESULTS)
    assert [line[1] for line in found.runs] == ["1"] and found.unknown == 0


def test_versions_of_both_runs_are_listed():
    other = {**RUN, "run": "run2", "versions": {"scikit-learn": "1.8.0"}}
    results = {**RESULTS, "b": CellResult("adult", 1, "j48", "direct", "done", "run2", 1.0)}
    found = provenance({"run1": RUN, "run2": other}, results)
    assert found.versions == {"probcal": ["0.1.0"], "scikit-learn": ["1.9.1", "1.8.0"]}


def test_unused_runs_are_omitted_and_unknown_runs_counted():
    found = provenance({"other": RUN}, RESULTS)
    assert (found.runs, found.unknown) == ([], 1)


def test_most_frequent_fault_is_first_and_tracebacks_are_cut():
    failed = [
        CellResult(
            "adult",
            n,
            "j48",
            "direct",
            "failed",
            "r",
            1.0,
            error_type="E",
            message=str(min(n, 69)),
            traceback="x" * 10**5,
        )
        for n in range(80)
    ]
    found = group_faults(failed)
    assert (len(found), found[0].message, len(found[0].cells)) == (70, "69", 11)
    assert all(len(one.traceback) < 10**4 for one in found)
