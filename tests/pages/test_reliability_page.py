"""Check the tables and the summary of docs/reliability.md against the files of results."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "reliability"
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"<!-- results/reliability/(\w+\.md) -->\n(.*?)<!-- end -->", PAGE, re.DOTALL))


@pytest.mark.parametrize("file", BLOCKS)
def test_tables_equal_their_files(file):
    assert BLOCKS[file] == (RESULTS / file).read_text(encoding="utf-8")


SCRIPTS = [
    "kills", "signals", "environments", "places", "two_hosts", "cells", "bad_inputs", "weka_routes", "fuzz",
    "data_race", "changed_data",
]  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_summary_has_the_total_of_each_script(name):
    file = RESULTS / f"{name}.md"
    [figure] = re.findall("^In all: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert figure in BLOCKS["summary.md"]
    assert f"](../results/reliability/{name}.md)" in PAGE
