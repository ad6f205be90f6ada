"""Test that only a finished result replaces a finished one. A later failed attempt is recorded and reported."""

from __future__ import annotations

import json

import pyarrow.parquet as parquet
import pytest

from probcal.store.folder import CellResult, Store

CELL = ("adult", 0, "j48", "probing")
ID = "adult/0/j48/probing"


def finished(rms, run="run1"):
    return CellResult(*CELL, "done", run, 1.5, key={"learner": run}, metrics={"rms": rms})


def failed(message="no Weka", status="failed"):
    return CellResult(*CELL, status, "run2", 0.1, key={"learner": "run2"}, error_type="WekaMissing", message=message)


def kept(tmp_path, *added):
    store = Store(tmp_path / "results")
    with store.writing("small"):
        for one in added:
            store.add(one)
    return store.results()[ID]


class TestWhatCounts:
    @pytest.mark.parametrize("status", ["failed", "timeout"])
    def test_a_failed_row_does_not_replace_a_finished_one(self, tmp_path, status):
        found = kept(tmp_path, finished(0.3), failed(status=status))
        assert (found.status, found.metrics, found.run) == ("done", {"rms": 0.3}, "run1")
        assert found.failed_since == failed(status=status)

    def test_last_failed_attempt_is_reported(self, tmp_path):
        assert kept(tmp_path, finished(0.3), failed("first"), failed("second")).failed_since.message == "second"

    def test_new_finished_row_replaces_old_one_and_failures(self, tmp_path):
        found = kept(tmp_path, finished(0.3), failed(), finished(0.2, "run3"))
        assert (found.metrics, found.failed_since) == ({"rms": 0.2}, None)

    def test_a_failed_row_alone_counts_until_one_is_finished(self, tmp_path):
        assert kept(tmp_path, failed()).status == "failed"
        assert kept(tmp_path, finished(0.2)).status == "done"

    def test_no_stored_line_holds_failed_since(self, tmp_path):
        kept(tmp_path, finished(0.3), failed())
        found = kept(tmp_path)
        with (store := Store(tmp_path / "results")).writing("small"):
            store.add(found)
            lines = (tmp_path / "results" / "cells.jsonl").read_text().splitlines()
        assert len(lines) == 2 and not any("failed_since" in json.loads(line) for line in lines)
        table = parquet.read_table(tmp_path / "results" / "cells.parquet")
        assert table.num_rows == 1 and "failed_since" not in table.column_names


FRAGILE = """
    from sklearn.tree import DecisionTreeClassifier


    class Fragile(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            {body}
            return super().fit(X, y, sample_weight)
"""


def fragile(bench, body):
    bench.module("fragile", FRAGILE.format(body=body))


@pytest.fixture
def broken(bench):
    """Return two cells that were done, became stale and failed when they were run again."""
    fragile(bench, "pass")
    bench.config(learners={"tree": {"type": "fragile.Fragile"}}, methods=["direct"], metrics=["rms"])
    assert bench.run().code == 0
    bench.good = bench.numbers()
    fragile(bench, "raise ValueError('it is broken')")
    assert bench.run().code == 1
    return bench


class TestAfterAFailedRerun:
    @pytest.mark.slow
    def test_metrics_are_those_of_the_finished_results(self, broken):
        assert broken.numbers() == broken.good
        assert len(broken.rows()) == 4

    @pytest.mark.slow
    def test_status_names_failures_and_stored_results(self, broken):
        said = broken.probcal("status", str(broken.results)).said
        assert "2 cells: 2 failed" in said
        assert "ValueError: it is broken; its last finished result, which is stale, is kept" in said

    @pytest.mark.slow
    def test_table_shows_finished_results_with_a_note(self, broken):
        said = broken.probcal("table", str(broken.results)).said
        assert "failed when run again: 2 of 2 cells. Their last finished results are shown" in said
        assert "ValueError: it is broken" in said and "stale: 2 of 2 cells" in said

    @pytest.mark.slow
    def test_check_fails_and_names_the_cells(self, broken):
        done = broken.probcal("check", str(broken.results))
        assert (done.code, "failed when run again: 2 of 2 cells" in done.said) == (1, True)
        told = json.loads(broken.probcal("check", str(broken.results), "-f", "json").said)
        assert "wine-first/0/tree/direct" in json.dumps(told)

    @pytest.mark.slow
    def test_failed_cells_rerun_only_with_retry_failed(self, broken):
        assert "2 cells: 2 failed" in broken.run("--dry-run").said
        assert "2 cells: 2 stale" in broken.run("--dry-run", "--retry-failed").said

    @pytest.mark.slow
    def test_repaired_code_reruns_the_failed_cells(self, broken):
        fragile(broken, "sample_weight = None")
        done = broken.run()
        assert (done.code, "2 cells: 2 stale" in done.said) == (0, True)
        assert "failed" not in broken.probcal("table", str(broken.results)).said

    @pytest.mark.slow
    def test_restored_code_makes_results_current_again(self, broken):
        fragile(broken, "pass")
        assert "2 cells: 2 done" in broken.run().said
