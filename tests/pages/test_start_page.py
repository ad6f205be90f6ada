"""Check that docs/start.md and docs/own-components.md show the real output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands import probcal

DOCS = Path(__file__).parents[2] / "docs"
START, OWN = ((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("start", "own-components"))


@pytest.mark.slow
def test_first_experiment_prints_the_shown_tables(tmp_path, monkeypatch):
    [config] = re.findall(r"```yaml\n(.*?)```", START, re.DOTALL)
    [shown] = re.findall(r"```text\n(.*?)```", START, re.DOTALL)
    (tmp_path / "first.yaml").write_text(config, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = probcal("run", "first.yaml", "-j", "2")
    assert done.exit_code == 0, done.output
    assert probcal("table", "results/first").stdout == shown


def test_own_learner_passes_the_contract_and_its_experiment_runs(tmp_path, monkeypatch):
    for name, text in re.findall(r"```(?:python|yaml)\n# (\S+)\n(.*?)```", OWN, re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    commands = re.findall(r"^\$ probcal (.*?) *(?:#.*)?$", OWN, re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["test", "run", "table"]
    for command in commands:
        done = probcal(*command.split())
        assert done.exit_code == 0, done.output
    [table] = re.findall(r"The first table is this one:\n\n(.*?)\n\n", OWN, re.DOTALL)
    assert f"\n{table}\n" in done.stdout
