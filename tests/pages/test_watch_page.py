"""Check that docs/watch.md prints what its log and its command give."""

import re
from pathlib import Path

import pytest

from tests.commands import probcal

PAGE = (Path(__file__).parents[2] / "docs" / "watch.md").read_text(encoding="utf-8")


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Write the log of the page into the current folder."""
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(# make_log.*?)```", PAGE, re.DOTALL)[1], {})


def test_after_the_alarm_the_new_map_is_better_on_held_out_rows_as_shown(log):
    section = PAGE.partition("## After the alarm\n")[2].partition("\n## ")[0]
    exec(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], {})
    commands = re.findall(r"^\$ probcal (.*)$", section, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["measure", "apply", "measure", "measure", "watch"]
    *_, old, new = [probcal(*command.split()) for command in commands[:-1]]
    shown = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    assert len(shown) == 2
    for lines, done in zip(shown, (old, new), strict=True):
        assert done.exit_code == 0
        assert [line for line in lines.splitlines() if line not in done.stdout.splitlines()] == []
    assert Path("map-2025-08-10.json").is_file() and not Path("map.json").exists()
    words = commands[-1].replace("log-2026.csv", "compared.csv").split()
    assert probcal(*words).exit_code == 0


def test_the_log_of_the_page_gives_the_printed_tables_and_alarm(log):
    words = re.search(r"\$ probcal (watch .*)", PAGE)[1].split()
    done = probcal(*words)
    assert done.exit_code == 3
    printed = [re.sub(" +", " ", line) for line in done.stdout.splitlines()]
    blocks = re.findall(r"```text\n((?:period|ALARM).*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for line in "".join(blocks).splitlines():
        assert re.sub(" +", " ", line) in printed
