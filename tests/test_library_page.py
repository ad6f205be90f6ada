"""The examples of docs/library.md print what the page shows."""

import re
from pathlib import Path

import pytest

import probcal

PAGE = (Path(__file__).parents[1] / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)


def test_there_are_three_examples():
    assert len(EXAMPLES) == PAGE.count("```python") == 3


@pytest.mark.parametrize(("code", "shown"), EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_an_example_prints_what_is_shown(code, shown, capsys):
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_every_class_of_the_package_is_in_the_table():
    assert [name for name in probcal.__all__ if f"| `{name}` |" not in PAGE] == []
