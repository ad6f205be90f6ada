"""The examples of docs/library.md and docs/fast-paths.md print what the page shows."""

import re
from pathlib import Path

import pytest

import probcal

DOCS = Path(__file__).parents[1] / "docs"
PAGE, SHORTCUTS = ((DOCS / name).read_text(encoding="utf-8") for name in ("library.md", "fast-paths.md"))
SHOWN = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.S)
EXAMPLES = [example for page in (PAGE, SHORTCUTS) for example in SHOWN.findall(page)]


def test_there_are_three_examples_and_one_of_a_shortcut():
    assert [page.count("```python") for page in (PAGE, SHORTCUTS)] == [3, 1]
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize(("code", "shown"), EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_an_example_prints_what_is_shown(code, shown, capsys):
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_every_class_of_the_package_is_in_the_table():
    assert [name for name in probcal.__all__ if f"| `{name}` |" not in PAGE] == []
