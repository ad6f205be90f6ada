"""Check the numbers that README.md and pages of docs quote from results folders."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/beta-calibration.md",
    "docs/check.md",
    "docs/performance.md",
    "docs/reproduction.md",
    "docs/reproduction-conclusions.md",
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
