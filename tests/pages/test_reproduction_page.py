"""Check the numbers that README.md and pages of docs quote from results folders."""

import math
import re
import sys
from pathlib import Path

import pytest
from scipy import stats

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/beta-calibration.md",
    "docs/check.md",
    "docs/method-evidence.md",
    "docs/native-learners.md",
    "docs/performance.md",
    "docs/reproduction.md",
    "docs/reproduction-classes.md",
    "docs/reproduction-conclusions.md",
    "docs/reproduction-random-splits.md",
    "docs/statistics.md",
    "docs/weka.md",
    "docs/which-method.md",
)


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.syspath_prepend(str(ROOT))
    import reproduction_page

    yield reproduction_page
    for name in ("reproduction_page", "reproduction_blocks", "reproduction_tables"):
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_pages_equal_the_output_of_the_script(script):
    assert script.PAGES == PAGES
    for name in PAGES:
        page = (ROOT / name).read_text(encoding="utf-8")
        blocks = list(script.BLOCK.finditer(page))
        assert len(blocks) == len(re.findall(r"<!-- results/\S+(?<!\.md) ", page)) > 1
        stale = [block[0] for block in blocks if script.fill_block(block) != block[0]]
        assert stale == [], "run python benchmarks/reproduction_page.py"


@pytest.mark.parametrize("name", PAGES)
def test_linked_pictures_and_pages_exist(name):
    page = ROOT / name
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_unknown_block_name_raises_key_error(script):
    with pytest.raises(KeyError):
        script.block_text("uci-random", "guess adult")


def width(n, ratio=0.34 / 0.66):
    """Return the width of the corrected interval of n splits, in standard deviations."""
    return stats.t.ppf(0.975, n - 1) * math.sqrt(1 / n + ratio)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("the second term is .515", 0.34 / 0.66 / 0.515),
        ("from ten to thirty the interval shrinks by 15 %", (1 - width(30) / width(10)) / 0.15),
        ("2.5 times too narrow for ten splits", math.sqrt(1 + 10 * 0.34 / 0.66) / 2.5),
        ("4 times for thirty", math.sqrt(1 + 30 * 0.34 / 0.66) / 4),
    ],
)
def test_calculations_in_the_text_are_right(said, value):
    page = (ROOT / "docs/statistics.md").read_text(encoding="utf-8")
    assert said in " ".join(page.split())
    assert value == pytest.approx(1, abs=0.03)
