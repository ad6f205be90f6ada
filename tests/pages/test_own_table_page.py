"""Check that docs/own-table.md agrees with results/defaults/try.jsonl."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_of_own_tables_says_what_the_forest_is_worth():
    page = (ROOT / "docs" / "own-table.md").read_text(encoding="utf-8")
    lines = (ROOT / "results" / "defaults" / "try.jsonl").read_text(encoding="utf-8").splitlines()
    winners = [json.loads(line)["winner"]["now"] for line in lines]
    n_forests = sum("forest" in winner.split() for winner in winners)
    assert f"the winner on {n_forests} of [{len(winners)} tables]" in " ".join(page.split())
