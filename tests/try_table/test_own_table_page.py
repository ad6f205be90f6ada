"""Test that docs/own-table.md and docs/try-reference.md show what the command prints."""

from pathlib import Path

import pytest

from tests.commands import probcal
from tests.try_table.own_tables import shown

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("own-table.md", "try-reference.md"))


@pytest.mark.slow
def test_shown_columns_and_plan_match_the_command(original_files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = original_files / "bank-marketing" / "bank-full.csv"
    shown = probcal("try", table, "--target", "y", "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert shown.stdout in PAGE


def test_shown_note_matches_the_command(tmp_path):
    (tmp_path / "prices.csv").write_text("weight;sold\n" + "1,250;yes\n2;no\n3,125;no\n2;yes\n" * 20)
    text = shown(tmp_path / "prices.csv", "sold")
    note = text[text.index("note: column") :].partition("\n\n")[0]
    assert f"```\n{note}\n```" in PAGE
