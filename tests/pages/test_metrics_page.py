"""Check the table of docs/metrics.md against the functions."""

import re
import runpy
from pathlib import Path

import pytest

from probcal.metrics import asymptotic_calibration_bound, calibration_bound

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SCRIPT = ROOT / "docs" / "figures" / "calibration_bound.py"


def test_table_shows_the_values_of_the_functions():
    theorem_2 = runpy.run_path(str(SCRIPT))["theorem_2"]
    lines = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if re.match(r"\| [\d,]+ \|", line)]
    assert [line[0] for line in lines] == ["100", "1,000", "10,000", "100,000", "1,000,000"]
    for rows, *shown in lines:
        n = int(rows.replace(",", ""))
        expected = [
            theorem_2(n, 0.05),
            calibration_bound(n, 0.05),
            asymptotic_calibration_bound(n, 0.05),
            asymptotic_calibration_bound(n, 0.05, rms=0.3),
        ]
        for one, value in zip(shown, expected, strict=True):
            assert float(one) == pytest.approx(value, abs=0.51 * 10 ** -len(one.partition(".")[2]))
