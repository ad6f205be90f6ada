"""Check that docs/start.md, docs/own-components.md and docs/measure-predictions.md show the real output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from probcal import metrics
from probcal.metrics import ASKED_METRICS
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


PAGE = (Path(__file__).parents[2] / "docs" / "measure-predictions.md").read_text(encoding="utf-8")
MAKING = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
SHOWN = re.findall(r"```\n\$ probcal (measure [^\n]*)\n```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(MAKING, {})
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_commands_print_the_shown_tables(predictions, monkeypatch, tmp_path, command, shown):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predictions.csv").write_bytes((predictions / "predictions.csv").read_bytes())
    done = probcal(*command.split())
    assert done.exit_code == 0, done.output
    # a metric that is added later adds a line to the table, and changes the legend
    table, _, below = shown.partition("\n\nSmaller is better")
    assert [line for line in table.splitlines() if line not in done.stdout.splitlines()] == []
    assert len(SHOWN) == 3 and (below or table.startswith("tests"))


def test_every_calibration_map_is_named_on_the_page():
    from probcal.methods.registry import map_paths

    assert [name for name in map_paths() if f"`{name}`" not in PAGE] == []


def test_every_function_on_the_page_exists():
    names = re.findall(r"^\| `(\w+)` \| `", PAGE, re.MULTILINE)
    assert len(names) == 8 and all(hasattr(metrics, name) for name in names)


def test_every_optional_calibration_metric_is_on_the_page():
    named = set(re.findall(r"`(\w+)`", PAGE.partition("## In an experiment")[2]))
    assert set(ASKED_METRICS) - named == {"errors", "log10_loss", "l2", "l_max"}
