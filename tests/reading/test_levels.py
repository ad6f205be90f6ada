"""Test that a new level is a known one, may be one and is refused, or is new."""

from __future__ import annotations

import pytest

from probcal.reading.levels import match_levels


@pytest.mark.parametrize(
    ("known", "levels"),
    [
        (["true", "false"], ["on", "-1", "2", "wahr"]),
        (["1", "2", "3"], ["true", "1,0", "'1'"]),
        (["n-a", "Gold"], ["n\u2013a", "n\u2010a"]),
        (["basic", "Gold"], ["b\u00e1sic", "basic\u200b", '"basic"', "\u201cbasic\u201d", "basic."]),
    ],
)
def test_level_that_may_be_a_spelling_is_neither_known_nor_new(known, levels):
    matched, doubtful = match_levels(levels, known)
    assert matched == {}
    assert [level for level, _ in doubtful] == levels


@pytest.mark.parametrize(
    ("known", "level"), [(["basic", "Gold"], "Silver"), (["1", "2"], "9"), (["yes", "no"], "maybe"), (["a", "b"], "c")]
)
def test_level_of_no_known_spelling_is_new(known, level):
    assert match_levels([level], known) == ({}, [])


@pytest.mark.parametrize(
    ("known", "level"), [(["caf\u00e9", "cafe"], "caf\u00e9"), (["A-", "A"], "A-"), (["1,0", "1"], "1,0")]
)
def test_known_level_is_itself_beside_one_that_looks_alike(known, level):
    assert match_levels([level], known) == ({level: level}, [])
