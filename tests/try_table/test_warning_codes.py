"""Every warning of a trial has a code, and ``--ignore`` silences it everywhere and says so on the model card."""

from pathlib import Path

import numpy as np
import pytest

from probcal.try_table.warning_codes import CODES
from tests.commands import probcal
from tests.try_table.own_tables import customers, shown, written

DOCS = Path(__file__).parents[2] / "docs" / "try-reference.md"


def leaking():
    frame = customers(200)
    frame = frame.assign(closed=(np.arange(200) % 90 / 4).round(2), code=np.arange(200) % 7 * 1.5)
    return frame.assign(closed=frame["closed"].where(frame["left"] == "yes"))


def test_a_trap_shows_its_code_and_is_silenced_by_it(tmp_path):
    path = written(leaking(), tmp_path / "c.csv")
    text = " ".join(shown(path).split())
    assert "--drop closed [leak-missing]." in text
    assert "tests on later rows [dates]." in text
    text = shown(path, "left", "--ignore", "leak-missing", "--ignore", "dates")
    assert "leak-missing" not in text
    assert "[dates]" not in text


def test_a_note_on_a_column_is_silenced_too(tmp_path):
    frame = customers(200)
    path = written(frame.assign(spend=frame["spend"].mask(frame.index % 7 == 0, 99999)), tmp_path / "c.csv")
    assert "--missing 99999 makes it one in every column [missing-code]" in " ".join(shown(path).split())
    assert "missing-code" not in shown(path, "left", "--ignore", "missing-code")


def test_an_ignored_leak_does_not_change_the_verdict_and_stands_on_the_card(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(leaking(), tmp_path / "c.csv")
    call = ("try", "c.csv", "-t", "left", "-l", "tree", "-m", "direct", "--splits", 2)
    assert "Do not trust this ranking yet" in probcal(*call).stdout
    ignored = ("--ignore", "leak-missing", "--ignore", "too-good", "--ignore", "leak-column", "--ignore", "leak-label")
    result = probcal(*call, *ignored, "--export", "model")
    assert "Do not trust" not in result.stdout
    card = (tmp_path / "model" / "model-card.md").read_text()
    assert "Warnings that were not shown (`--ignore`): leak-missing, too-good, leak-column, leak-label." in card


def test_an_unknown_code_lists_all(tmp_path):
    result = probcal("try", written(leaking(), tmp_path / "c.csv"), "-t", "left", "--ignore", "leak-mising")
    assert 'there is no warning "leak-mising"; did you mean "leak-missing"?' in result.stderr
    assert all(code in result.stderr for code in CODES)
    assert result.exit_code == 2


@pytest.mark.parametrize("code", CODES)
def test_the_reference_names_every_code(code):
    assert f"`{code}`" in DOCS.read_text(encoding="utf-8")
