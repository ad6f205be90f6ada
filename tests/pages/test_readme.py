"""Check the examples, commands, experiments and tables of the README and of pages in docs."""

import re
from pathlib import Path

import pytest
import yaml

from probcal.config.experiment import config_names
from tests.commands import probcal

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.slow
def test_try_example_prints_the_shown_table(tmp_path, monkeypatch):
    [shown] = [text for text in blocks(README, "text") if "log loss" in text]
    [command] = re.findall(r"^\$ probcal (try tumours.*)$", README, re.MULTILINE)
    [writing] = re.findall(r'^\$ python -c "(.*)"$', README, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    exec(writing, {})
    done = probcal(*command.split(), "-j", "2")
    assert done.exit_code == 0, done.output
    # the last column has seconds, and its width changes on a busy machine
    shown, printed = (re.sub(r" +([\d.,<]+|s)$", "", text, flags=re.MULTILINE).split() for text in (shown, done.stdout))
    start = next(i for i in range(len(printed)) if printed[i : i + 3] == shown[:3])
    different = [(a, b) for a, b in zip(shown, printed[start:], strict=False) if a != b]
    # OpenBLAS rounds differently on other processors, and c_emp can then change by this much at near ties
    assert len(printed) - start >= len(shown)
    assert len(different) <= 1
    assert all(float(a) == pytest.approx(float(b), abs=0.00101) for a, b in different), different


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^\$ probcal (\w+)", README + COMMANDS, re.MULTILINE))))
def test_shown_commands_exist_with_an_example_in_help(command):
    help_text = probcal(command, "--help").stdout
    assert f"probcal {command}" in help_text.partition("Example:")[2]


def test_shown_experiment_and_card_are_valid(tmp_path):
    card = blocks((ROOT / "docs" / "datasets.md").read_text(encoding="utf-8"), "yaml")[0]
    (tmp_path / "my-table.yaml").write_text(card, encoding="utf-8")
    experiment = blocks((ROOT / "docs" / "experiments.md").read_text(encoding="utf-8"), "yaml")[0]
    (tmp_path / "mine.yaml").write_text(experiment, encoding="utf-8")
    assert "is fine" in probcal("validate", tmp_path / "mine.yaml").stdout


def test_every_key_of_an_experiment_is_on_the_page():
    from probcal.config.experiment_file import ExperimentFile

    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert [key for key in ExperimentFile.model_fields if f"| `{key}` |" not in page] == []


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("quickstart", "uci") else pytest.mark.slow) for name in config_names()],
)
def test_every_shipped_experiment_is_valid(name):
    # some experiments need a jar file that is not installed by default, and the message says this
    done = probcal("validate", name)
    assert "is fine" in done.stdout or (
        name in ("drawn-columns", "published-readings", "uci-2004") and "PROBCAL_WEKA_JAR" in done.stderr
    )
    assert yaml.safe_load((ROOT / "configs" / f"{name}.yaml").read_text(encoding="utf-8"))["name"] == name


@pytest.mark.parametrize("name", ["uci-random", "multiclass", "documents", "protection-simulated"])
def test_committed_tables_agree_with_the_committed_cells(name):
    results = ROOT / "results" / name
    assert (results / "tables.md").read_text(encoding="utf-8") == probcal("table", results).stdout
    if (results / "tables.csv").exists():
        assert (results / "tables.csv").read_text(encoding="utf-8") == probcal("table", results, "-f", "csv").stdout
