"""Check the pages that quote results/speed: their tables equal the files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("performance", "performance-measurements", "dask")
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}
BLOCKS = [
    pytest.param(file, said, id=file)
    for page in PAGES.values()
    for file, said in re.findall(r"<!-- (results/\S+\.md) -->\n(.*?)<!-- end -->", page, re.DOTALL)
]


@pytest.mark.parametrize(("file", "said"), BLOCKS)
def test_tables_equal_their_files(file, said):
    assert said == (ROOT / file).read_text(encoding="utf-8")


def test_summary_of_speed_agrees_with_the_tables():
    text = PAGES["performance"]
    found = re.findall(r"\| (\w+) +\| loop, as it comes[^|]*\|[^|]*\|[^|]*\| ([\d.]+)x", text)
    [of_c45] = [float(ratio) for learner, ratio in found if learner == "c45"]
    others = [float(ratio) for learner, ratio in found if learner != "c45"]
    assert f"takes {min(others):.0f} to {max(others):.0f} times as much CPU time" in text
    assert f"For C4.5 the loop takes {of_c45:.1f} times as much" in text
    differing = re.findall(r"\| ProbingClassifier +\|.*\| (\S+) +\|\n", text)
    assert len(differing) > 5 and set(differing) == {"0"}
    faster = [float(one) for one in re.findall(r"\| ([\d.]+)x +\| the same", text)]
    assert f"about {sum(faster) / len(faster):.1f} times as fast" in text


def test_every_file_of_speed_results_is_quoted():
    there = {f"results/speed/{path.name}" for path in (ROOT / "results" / "speed").glob("*.md")}
    assert there <= {block.values[0] for block in BLOCKS}
