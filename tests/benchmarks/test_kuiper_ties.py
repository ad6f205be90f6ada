"""Test the benchmark of ties, in which the two statistics differ only because of equal predictions."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "kuiper_ties.py"))


def test_both_statistics_differ_only_with_ties():
    header, *body = SCRIPT["lines"](2)
    cells = {line[0]: dict(zip(header, line, strict=True)) for line in body}
    assert cells["logistic regression"]["unpooled"].endswith("(+0 %)")
    assert float(cells["true base rate"]["pooled"]) < float(cells["true base rate"]["unpooled"].split()[0])


def test_an_unpooled_sum_depends_on_the_order_of_equal_predictions():
    p = np.full(4, 0.5)
    assert SCRIPT["unpooled_range"](np.array([1, 1, 0, 0]), p) == pytest.approx(0.25)
    assert SCRIPT["unpooled_range"](np.array([1, 0, 1, 0]), p) == pytest.approx(0.125)


def test_the_committed_table_has_all_predictions():
    text = (ROOT / "results/kuiper-ties/table.md").read_text(encoding="utf-8")
    assert all(f"| {name} " in text for name in SCRIPT["predictions"](0)[1])


def test_the_page_states_the_error_of_other_packages():
    lines = (ROOT / "results/kuiper-ties/table.md").read_text(encoding="utf-8").splitlines()
    tied = [line for line in lines if re.match(r"\| [^|]+\| \d+ ", line) and "| 1000 " not in line]
    off = [int(percent) for line in tied for percent in re.findall(r"\(([+-]\d+) %\)", line)]
    page = (ROOT / "docs/measure-and-plot.md").read_text(encoding="utf-8")
    assert len(tied) == 7 and f"[{min(off)} to {max(off)} % larger](../results/kuiper-ties/table.md)" in page
