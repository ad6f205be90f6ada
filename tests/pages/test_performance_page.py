"""Pages in docs that quote results/speed: the tables equal the files, and the sums on paper are right."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = ("performance", "scaling", "dask")
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}
BLOCKS = [
    pytest.param(file, said, id=file)
    for page in PAGES.values()
    for file, said in re.findall(r"<!-- (results/\S+\.md) -->\n(.*?)<!-- end -->", page, re.S)
]


@pytest.mark.parametrize(("file", "said"), BLOCKS)
def test_a_table_equals_its_file(file, said):
    assert said == (ROOT / file).read_text(encoding="utf-8")


def test_the_summary_of_speed_holds_for_the_tables():
    text = PAGES["performance"]
    ratios = [float(one) for one in re.findall(r"loop, as it comes[^|]*\|[^|]*\|[^|]*\| ([\d.]+)x", text)]
    assert f"takes {min(ratios):.0f} to {max(ratios):.0f} times as much CPU time" in text
    differing = re.findall(r"\| ProbingClassifier +\|.*\| (\S+) +\|\n", text)
    assert len(differing) > 5 and set(differing) == {"0"}
    faster = [float(one) for one in re.findall(r"\| ([\d.]+)x +\| the same", text)]
    assert f"about {sum(faster) / len(faster):.1f} times as fast" in text


def test_every_file_of_results_is_quoted():
    there = {f"results/speed/{path.name}" for path in (ROOT / "results" / "speed").glob("*.md")}
    assert there <= {block.values[0] for block in BLOCKS}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("10^9 x 50 x 8 bytes = **400 GB**", 10**9 * 50 * 8 / 400e9),
        ("takes 80 s from disk and 4 s from memory", 400 / 5 / 80),
        ("10^11 bits = 12.5 GB", 10**11 / 8 / 12.5e9),
        ("4.4 hours of reading alone", round(2 * 100 * 400e9 / 5e9 / 3600, 1) / 4.4),
        ("n d^2 k = 2.5 x 10^14", 10**9 * 50**2 * 100 / 2.5e14),
        ("1.5 x 10^15 / (32 x 2 x 10^10) = 2,344 s", 1.5e15 / (32 * 2e10) / 2344),
        ("188 s of arithmetic, 480 s of reading", 6 * 4 * 10**9 * 50 * 100 / (32 * 2e10) / 188),
        ("10^14 / (32 x 5 x 10^8) = 6,250 s", 10**14 / (32 * 5e8) / 6250),
        ("2 sqrt(d / m): 0.0045", 2 * (50 / 10**7) ** 0.5 / 0.0045),
        ("10^6 s = 278 core hours: 8.7 hours on 32 cores, 139 hours on two", 10**6 / 3600 / 32 / 8.7),
    ],
)
def test_a_sum_on_paper_is_right(said, value):
    assert said in " ".join(PAGES["scaling"].split())
    assert value == pytest.approx(1, abs=0.01)
