"""Check docs/one-paper-table.md against the output of its commands on the committed results."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.commands import probcal
from tests.stored_rows import stored_rows, write_rows

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "one-paper-table.md").read_text(encoding="utf-8")
COMMITTED = ROOT / "results" / "uci-native"
DATASETS = ("breast", "diabetes", "hepatitis")


def test_first_table_is_printed_as_shown():
    words = [word for name in DATASETS for word in ("-d", name)]
    printed = probcal("table", COMMITTED, *words).stdout
    first = printed[printed.index("**Table 1.") : printed.index("**Table 2.")]
    assert first.strip() in PAGE


def test_check_of_these_data_sets_ends_as_shown(tmp_path):
    folder = tmp_path / "uci-native"
    folder.mkdir()
    for name in ("experiment.json", "runs.jsonl"):
        shutil.copy(COMMITTED / name, folder)
    write_rows(folder, [row for row in stored_rows(COMMITTED) if row["dataset"] in DATASETS])
    checked = probcal("check", folder)
    assert checked.exit_code == 0
    assert checked.stdout.splitlines()[-1] in PAGE
