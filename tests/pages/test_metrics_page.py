"""Check the example, the table and the figure of docs/metrics.md against the functions."""

import os
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from probcal.metrics import asymptotic_calibration_bound, calibration_bound

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SCRIPT = ROOT / "docs" / "figures" / "calibration_bound.py"


def test_example_prints_the_shown_output(capsys):
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == shown


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


@pytest.mark.slow
def test_script_draws_both_files_with_identical_bytes_each_time(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True, env=environment)
    first = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert sorted(first) == ["calibration_bound.png", "calibration_bound.svg"]
    runpy.run_path(str(SCRIPT))["main"](tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == first
    assert all((SCRIPT.parent / name).exists() for name in first)


def test_committed_figure_has_legend_and_axis_labels():
    svg = ET.parse(SCRIPT.with_suffix(".svg"))
    texts = {node.text for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {"δ = 0.1", "calibration_bound: every n", "Held-out rows n", "1,000,000"} <= texts


def test_figure_shows_the_bound_from_100_to_1000000_rows():
    [axes] = runpy.run_path(str(SCRIPT))["figure"]().axes
    drawn = {line.get_label(): line for line in axes.get_lines()}
    line = drawn["δ = 0.05"]
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (100, 10**6)
    assert list(line.get_ydata()) == [calibration_bound(n, 0.05) for n in line.get_xdata()]
    assert len(axes.get_lines()) == 7, "two for each of three deltas, and Theorem 2"
