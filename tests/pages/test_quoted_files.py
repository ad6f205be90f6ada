"""Check that the tables that pages quote from files of results equal these files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUOTED = [
    pytest.param(f"results/{file}", said, id=f"{page.stem}-{file}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for file, said in re.findall(
        r"<!-- results/(\S+\.md) -->\n(.*?)<!-- end -->", page.read_text(encoding="utf-8"), re.DOTALL
    )
]


@pytest.mark.parametrize(("file", "said"), QUOTED)
def test_quoted_tables_equal_their_files(file, said):
    assert said == (ROOT / file).read_text(encoding="utf-8")


def test_every_file_of_speed_results_is_quoted():
    there = {f"results/speed/{path.name}" for path in (ROOT / "results" / "speed").glob("*.md")}
    assert there <= {block.values[0] for block in QUOTED}
