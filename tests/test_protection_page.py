"""docs/protection.md: its example prints what is shown, and its sums are right."""

import re
from pathlib import Path

import pytest

from probcal.protection import regret_bound

PAGE = (Path(__file__).parents[1] / "docs" / "protection.md").read_text(encoding="utf-8")


def test_the_example_prints_what_is_shown(capsys):
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_the_bound_is_what_the_page_says():
    assert "says 4.2 at most, and it grows by .0035 a row" in PAGE
    assert regret_bound(1000, 5, 0.01) == pytest.approx(4.2, abs=0.05)
    assert regret_bound(1001, 5, 0.01) - regret_bound(1000, 5, 0.01) == pytest.approx(0.0035, abs=5e-5)
