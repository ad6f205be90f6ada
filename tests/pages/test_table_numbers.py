"""Test that the pages do not break a number of a table from its interval."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("docutils", reason="docutils makes the pages, which users do not need")

keep_together = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "conf.py"))["keep_together"]
MINUS, SPACE = "\N{MINUS SIGN}", "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (".012 [.003, .021]", f".012{SPACE}[.003,{SPACE}.021]"),
        (f"{MINUS}.012 [{MINUS}.003, .021] here", f"{MINUS}.012{SPACE}[{MINUS}.003,{SPACE}.021] here"),
        (" [.003, .021]", f"{SPACE}[.003,{SPACE}.021]"),
        (".650 ± .002", f".650{SPACE}±{SPACE}.002"),
        ("24 ± 2 [7185.12] and more", f"24{SPACE}±{SPACE}2{SPACE}[7185.12] and more"),
        ("3 of 10 [see below]", "3 of 10 [see below]"),
    ],
)
def test_number_stays_with_its_interval(text, kept):
    assert keep_together(text) == kept
