"""Check docs/leaderboard.md against the output of its command and script."""

import runpy
from pathlib import Path

import pytest

from probcal.cli.leaderboard import KINDS
from probcal.store.folder import Store
from tests.commands import probcal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")


def test_table_equals_the_output_of_the_command():
    words = "-l forest -m beta -m isotonic -m sigmoid -m temperature --metric cxe"
    assert words in PAGE
    printed = probcal("leaderboard", ROOT / "results" / "defaults", *words.split()).stdout
    lines = [line for line in printed.splitlines() if line.startswith(("|", "- "))]
    assert [line for line in lines if line not in PAGE] == []


@pytest.mark.slow  # it draws thousands of bootstrap samples; tests/benchmarks/test_calarena.py tests the script
def test_taus_equal_the_output_of_the_script():
    script = runpy.run_path(str(ROOT / "benchmarks" / "calarena.py"))
    report = script["report"](Store(ROOT / "results" / "defaults"), script["MAPS"], "binary", "log_loss")
    found = [[part.strip() for part in line.split("|")[1:-1]] for line in report.splitlines() if line.startswith("|")]
    for learner in ("all", "forest"):
        [tau, interval] = next(line[2:] for line in found if line[:2] == ["all", learner])
        assert _short(f"{tau} ({interval})") in PAGE


def test_every_kind_of_group_is_on_the_page():
    from probcal.reporting.comparison import leaderboard

    assert {*KINDS} == {*leaderboard.KINDS}
    assert all(f"`--by {kind}`" in PAGE for kind in KINDS)


def _short(text):
    return text.replace("0.", ".").replace("-", "\N{MINUS SIGN}")
