"""Check that the five roads of docs/from-file-to-decision.md are short, and that each prints what the page shows."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.commands import probcal

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "from-file-to-decision.md").read_text(encoding="utf-8")
MADE_BY = runpy.run_path(str(DOCS / "five_files.py"))
ROADS = {
    title.lower(): (title, re.findall(r"```(python|text|)\n(.*?)```", text, re.DOTALL), text)
    for title, text in re.findall(r"^## (\w+): (.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
}
FILES = {"fraud": "fraud", "credit": "credit", "letters": "classes", "patients": "patients", "claims": "auditor"}


def run(command):
    """Return what a command of the page prints. Its exit code is 0, or 3 for an alarm."""
    words = shlex.split(command)
    if words[0] == "probcal":
        done = probcal(*words[1:])
        assert done.exit_code in ((0, 3) if words[1] == "watch" else (0,)), done.output
        return done.stdout
    python, script, *words = words
    assert python == "python" and words[-2] == ">"
    text = subprocess.run([sys.executable, script, *words[:-2]], capture_output=True, text=True, check=True).stdout
    Path(words[-1]).write_text(text, encoding="utf-8")
    return text


def without_seconds(lines):
    """Return the lines; those of a ranking lose their last number, which is a time."""
    return [re.sub(r"^( ?\d+[* ].*\S) +\S+$", r"\1", line).rstrip() for line in lines]


def is_printed(line, found):
    """Return whether a line is one of those found, or the beginning of one if it ends in an ellipsis."""
    return any(one.startswith(line[:-1]) for one in found) if line.endswith("…") else line in found


def follow(road, folder, patch, capsys):
    """Run the blocks of a road in their order, and compare what they print with the texts below them."""
    patch.chdir(folder)
    MADE_BY[FILES[road]]()
    printed = ""
    for kind, text in ROADS[road][1]:
        if kind == "text":
            shown, found = without_seconds(text.splitlines()), without_seconds(printed.splitlines())
            assert shown and [line for line in shown if not is_printed(line, found)] == [], printed
        elif kind == "python":
            capsys.readouterr()
            exec(text, {})
            printed = capsys.readouterr().out
        else:
            printed = "".join(run(line.removeprefix("$ ")) for line in text.replace("\\\n", "").splitlines())


def test_the_page_has_five_roads_of_at_most_six_commands_and_one_decision():
    assert [*ROADS] == [*FILES]
    for road, (_, blocks, text) in ROADS.items():
        assert sum(kind == "python" or shown.count("$ ") for kind, shown in blocks if kind != "text") <= 6, road
        assert text.count("**Decision:**") == 1


def test_credit_grades_hold_again_after_the_base_rate_moved(tmp_path, monkeypatch, capsys):
    follow("credit", tmp_path, monkeypatch, capsys)
    new = pd.read_csv("decided.csv")
    said = f"These are now {(new.pd_prior >= 0.15).sum()} of {len(new):,} loans instead of {(new.pd >= 0.15).sum()}."
    assert said in PAGE


def test_an_auditor_can_follow_the_map_of_a_booster(tmp_path, monkeypatch, capsys):
    pytest.importorskip("xgboost")
    follow("claims", tmp_path, monkeypatch, capsys)
    new = pd.read_csv("calibrated.csv")
    said = f"{(new.p_beta >= 0.2).sum()} of the {len(new):,} new ones, where the model alone would have said"
    assert f"{said} {(new.p >= 0.2).sum()}." in " ".join(PAGE.split())


@pytest.mark.slow
@pytest.mark.parametrize("road", ["fraud", "letters"])
def test_a_road_with_a_ranking_prints_what_the_page_shows(road, tmp_path, monkeypatch, capsys):
    follow(road, tmp_path, monkeypatch, capsys)


@pytest.mark.slow
def test_visits_of_a_patient_stay_together_on_the_whole_road(tmp_path, monkeypatch, capsys):
    follow("patients", tmp_path, monkeypatch, capsys)
    new = pd.read_csv("predicted.csv")
    assert f"{(new['p(yes)'] >= 1 / 6).sum()} of the {len(new)} new visits" in PAGE
