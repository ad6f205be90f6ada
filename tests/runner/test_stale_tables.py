"""Test that tables state when they hold results of different settings."""

import pytest

from tests.commands import probcal

CONFIG = """
name: mixed
datasets: [wine-first]
learners: {tree: {type: tree, params: {max_depth: %d}}}
methods: {direct: , bagging: {params: {n_estimators: 3}}}
"""


@pytest.fixture
def mixed(tmp_path):
    def run(depth, *words):
        (tmp_path / "mixed.yaml").write_text(CONFIG % depth)
        return probcal("run", tmp_path / "mixed.yaml", "-o", tmp_path / "results", *words)

    run.folder = tmp_path / "results"
    return run


def test_tables_count_stale_results(mixed):
    mixed(1)
    assert "stale" not in probcal("table", mixed.folder).stdout
    mixed(2, "-m", "direct")
    assert "stale: 1 of 2 cells have other settings" in probcal("table", mixed.folder).stdout
    lines = probcal("table", mixed.folder, "-f", "csv").stdout.splitlines()
    stale = {line.split(",")[3]: line.split(",")[10] for line in lines[1:]}
    assert stale == {"direct": "0", "bagging": "1"}
    mixed(2)
    assert "stale" not in probcal("table", mixed.folder).stdout
