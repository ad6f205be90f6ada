"""Check that docs/start.md, docs/calibrated.md and docs/own-components.md show the real output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from probcal.reporting.prediction_summaries import pictures_of
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal

DOCS = Path(__file__).parents[2] / "docs"
START, CALIBRATED, OWN = (
    (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("start", "calibrated", "own-components")
)


@pytest.mark.slow
def test_first_experiment_prints_the_shown_tables(tmp_path, monkeypatch):
    [config] = re.findall(r"```yaml\n(.*?)```", START, re.DOTALL)
    [shown] = re.findall(r"```text\n(.*?)```", START, re.DOTALL)
    (tmp_path / "first.yaml").write_text(config, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = probcal("run", "first.yaml", "-j", "2")
    assert done.exit_code == 0, done.output
    assert probcal("table", "results/first").stdout == shown


def test_calibrated_example_prints_the_shown_output(capsys):
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", CALIBRATED, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == shown


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


def test_caption_of_the_reliability_diagram_names_its_last_point():
    store = Store(DOCS.parent / "results" / "uci-random")
    stored = StoredExperiment.of(store)
    every = pictures_of(store, stored, store.results()).figures
    [one] = [one for one in every if (one.row.name, one.column.label) == ("adult", "NB")]
    predicted, observed = (
        f"{float(values[-1]):.2f}".lstrip("0") for values in (one.reliability.mean, one.reliability.observed)
    )
    for page in ("docs/calibrated.md", "docs/index.md", "README.md"):
        text = " ".join((DOCS.parent / page).read_text(encoding="utf-8").split())
        said = re.findall(
            r"Naive Bayes predicts (\S+) in its highest bin, where the observed frequency is (\.\d+)", text
        )
        assert said == [(predicted, observed)]
