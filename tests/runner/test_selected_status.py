"""Test that ``probcal status`` and ``probcal run`` with -d, -l or -m report only the selected cells."""

import pytest


@pytest.fixture
def done(bench):
    assert bench.run().code == 0
    return bench


def test_status_lists_only_the_selected_cells(done):
    said = done.probcal("status", str(done.results), "-l", "tree", "-m", "direct", "--cells").said
    assert "2 cells: 2 done" in said
    assert "wine-first/0/tree/direct" in said and "dummy" not in said and "probing" not in said


def test_status_of_an_unreadable_experiment_counts_only_selected_cells(done):
    path = done.results / "experiment.json"
    path.write_text(path.read_text().replace("DummyClassifier", "NoClassifier"))
    said = done.probcal("status", str(done.results), "-l", "tree").said
    assert "4 cells stored: 4 done; whether they are stale is unknown" in said


@pytest.mark.slow
def test_dry_run_lists_only_the_selected_cells(done):
    said = done.run("--dry-run", "-l", "tree").said
    assert "4 cells: 4 done" in said and "dummy" not in said
