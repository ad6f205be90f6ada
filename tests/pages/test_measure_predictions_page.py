"""docs/measure-predictions.md: its code makes the file, and its commands print what is shown."""

import re
from pathlib import Path

import pytest

from tests.commands import probcal

PAGE = (Path(__file__).parents[2] / "docs" / "measure-predictions.md").read_text(encoding="utf-8")
MAKING, MAPPING = re.findall(r"```python\n(.*?)```", PAGE, re.S)
SHOWN = re.findall(r"```\n\$ probcal (measure [^\n]*)\n```\n\n```text\n(.*?)```", PAGE, re.S)


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(MAKING, {})
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_a_command_prints_the_table_that_is_shown(predictions, monkeypatch, tmp_path, command, shown):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predictions.csv").write_bytes((predictions / "predictions.csv").read_bytes())
    done = probcal(*command.split())
    assert done.exit_code == 0, done.output
    # a metric that is added later has a line more, and the legend another wording
    table, _, below = shown.partition("\n\nSmaller is better")
    assert [line for line in table.splitlines() if line not in done.stdout.splitlines()] == []
    assert len(SHOWN) == 2 and below


def test_the_map_in_python_prints_what_is_shown(predictions, monkeypatch, capsys):
    monkeypatch.chdir(predictions)
    exec(MAPPING, {})
    assert f"```python\n{MAPPING}```\n\n```text\n{capsys.readouterr().out}```" in PAGE


def test_every_map_is_named_on_the_page():
    from probcal.measure.maps import map_paths

    assert [name for name in map_paths() if f"`{name}`" not in PAGE] == []
