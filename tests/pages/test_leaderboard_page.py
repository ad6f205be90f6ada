"""Check docs/leaderboard.md against the output of its command."""

from pathlib import Path

from probcal.cli.comparisons import GROUPINGS
from tests.commands import probcal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")


def test_table_equals_the_output_of_the_command():
    words = "-l forest -m beta -m isotonic -m sigmoid -m temperature --metric cxe"
    assert words in PAGE
    printed = probcal("leaderboard", ROOT / "results" / "defaults", *words.split()).stdout
    lines = [line for line in printed.splitlines() if line.startswith(("|", "- "))]
    assert [line for line in lines if line not in PAGE] == []


def test_every_kind_of_group_is_on_the_page():
    from probcal.reporting.comparison import leaderboard

    assert {*GROUPINGS} == {*leaderboard.KINDS}
    assert all(f"`--by {kind}`" in PAGE for kind in GROUPINGS)
