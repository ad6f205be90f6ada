"""Test what makes a result stale: the numerics versions of its components, and not the source of the package."""

from __future__ import annotations

import json

import pytest
from run_bench import raise_component

from probcal.config.experiment import read_experiment
from probcal.runner.cell import list_cells
from probcal.runner.identity import Identities, changed_parts, has_same_metrics, used_components
from probcal.store.cell_result import CellResult, has_digest, key_digest
from probcal.store.first_keys import UNKNOWN, present_key
from probcal.store.folder import Store

TREE = {"tree": {"params": {"max_depth": 2}}}
CODE, METRICS = "00923b2e50a7", "37f8b755bb51"


def cells(bench):
    return list_cells(read_experiment(bench.folder / "small.yaml"))


def test_a_risen_component_makes_exactly_its_cells_stale(bench, monkeypatch):
    bench.config()
    bench.run()
    raise_component(monkeypatch, "probing")
    said = bench.run("--dry-run").said
    assert "8 cells: 4 done, 4 stale" in said
    assert "numbers changed: probing 1 -> 2 (a test)" in said
    assert all("/probing" in line for line in said.splitlines() if line.startswith("stale"))
    assert bench.run().code == 0
    assert "8 cells: 8 done" in bench.run("--dry-run").said


def test_a_component_that_others_use_makes_their_cells_stale(bench, monkeypatch):
    bench.config(methods=["direct", "sigmoid"], learners=TREE, repeats=1)
    bench.run()
    raise_component(monkeypatch, "regression of one score")
    assert "2 cells: 1 done, 1 stale" in bench.run("--dry-run").said


def test_the_key_of_first_versions_names_no_code(bench):
    bench.config(methods=["direct"], learners=TREE)
    [cell, *_] = cells(bench)
    assert set(Identities().key(cell)) <= {"data", "split", "learner", "method", "asked"}


def test_other_versions_of_packages_are_told_and_make_nothing_stale(bench):
    bench.config(methods=["direct"], learners=TREE)
    bench.run()
    path = bench.results / "runs.jsonl"
    runs = [json.loads(line) for line in path.read_text().splitlines()]
    here = runs[0]["versions"]["scikit-learn"]
    for run in runs:
        run["versions"]["scikit-learn"] = "1.2.3"
    path.write_text("".join(json.dumps(run) + "\n" for run in runs))
    said = bench.probcal("status", str(bench.results)).said
    assert f"done: 2 cells: made with scikit-learn 1.2.3, here is {here}" in said
    assert "2 cells: 2 stale" in bench.probcal("status", str(bench.results), "--strict").said
    assert "2 cells: 2 done" in bench.run().said
    assert "2 cells: 2 stale" in bench.run("--strict").said
    assert "made with" not in bench.probcal("status", str(bench.results)).said


@pytest.mark.parametrize("code", [CODE, "of other code"])
def test_first_keys_are_read_where_witnesses_prove_their_code(bench, code):
    bench.config(methods=["direct"], learners=TREE, repeats=1)
    bench.run()
    [result] = Store(bench.results).results().values()
    first = {**result.key, "code": code, "metrics": METRICS, "versions": "any"}
    [cell] = cells(bench)
    key = {**Identities().key(cell), "data": result.key["data"]}
    old = CellResult(**cell.names, status="done", run="one", seconds=1.0, key=first)
    assert changed_parts(key, old) == ([] if code == CODE else ["numerics"])
    assert has_same_metrics(key, old)
    assert present_key(first).get("numerics") == (None if code == CODE else UNKNOWN)


def test_first_digests_and_present_digests_of_a_key_are_equal():
    present = {"data": "a", "split": "b", "learner": "c", "method": "d"}
    first = {**present, "code": CODE, "metrics": METRICS, "versions": "x"}
    assert key_digest(first) == key_digest(present)
    assert has_digest(first, key_digest(present)) and not has_digest(present, "another")


def test_a_module_of_the_user_is_digested_and_ours_are_not(bench):
    bench.module("own", "from probcal import ProbingClassifier\nclass Mine(ProbingClassifier): pass\n")
    bench.config(methods={"mine": {"type": "own.Mine", "params": {"n_probes": 3}}}, learners=TREE, repeats=1)
    assert bench.run("--trust", "own").code == 0
    [record, *_] = bench.runs()
    assert list(record["user_code"]) == ["own"]
    assert record["numerics"]["probing"] >= 1 and record["processor"] is not None


def test_a_class_of_the_user_uses_the_components_that_it_imports(bench, monkeypatch):
    bench.module("own", "from probcal import ProbingClassifier\nclass Mine(ProbingClassifier): pass\n")
    bench.config(methods={"mine": {"type": "own.Mine", "params": {"n_probes": 3}}}, learners=TREE, repeats=1)
    monkeypatch.setenv("PROBCAL_TRUSTED", "own")
    [cell] = cells(bench)
    assert {"probing", "class weights", "fast linear svc"} <= set(used_components(cell))
