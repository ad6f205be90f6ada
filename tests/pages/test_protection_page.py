"""Check the example and the stated regret bound of docs/protection.md."""

import re
from pathlib import Path

import pytest

from probcal.protection import regret_bound

PAGE = (Path(__file__).parents[2] / "docs" / "protection.md").read_text(encoding="utf-8")


def test_example_prints_the_shown_output(capsys):
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == shown


def test_regret_bound_has_the_stated_values():
    assert "gives at most 4.2, and the bound grows by .0035 per row" in PAGE
    assert regret_bound(1000, 5, 0.01) == pytest.approx(4.2, abs=0.05)
    assert regret_bound(1001, 5, 0.01) - regret_bound(1000, 5, 0.01) == pytest.approx(0.0035, abs=5e-5)
