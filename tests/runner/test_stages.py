"""Test ``stages``: the metrics of a method after each of its rounds, from one cell."""

import math

import pytest
from run_bench import raise_metric

from probcal.store.folder import CellResult, Store

PROBING = {"probing": {"params": {"n_probes": 4}}}
TREE = {"tree": {"params": {"max_depth": 2}}}


def test_cell_stores_each_metric_after_every_stage(bench):
    bench.config(stages=["cxe", "rms"], learners=TREE, methods={"direct": {}, **PROBING})
    assert bench.run().code == 0
    for cell in Store(bench.results).results().values():
        if cell.method == "direct":
            assert cell.stages == {} and "stages" not in cell.key
        else:
            assert list(cell.stages) == ["cxe", "rms"]
            assert [len(values) for values in cell.stages.values()] == [4, 4]
            assert cell.stages["cxe"][-1] == cell.metrics["cxe"]


@pytest.mark.slow
def test_stage_t_equals_an_experiment_with_t_probes(bench):
    bench.config(stages=["cxe"], learners=TREE, methods=PROBING)
    bench.run()
    stages = Store(bench.results).results()["wine-first/0/tree/probing"].stages["cxe"]
    bench.config(learners=TREE, methods={"probing": {"params": {"n_probes": 2}}})
    bench.run()
    cell = Store(bench.results).results()["wine-first/0/tree/probing"]
    assert (cell.metrics["cxe"], cell.stages) == (stages[1], {})


@pytest.mark.slow
def test_requested_stages_rerun_only_cells_that_have_stages(bench):
    bench.run()
    bench.config(stages=["cxe"])
    said = bench.run("--dry-run").said
    assert "4 stale" in said and "the metrics of stages changed" in said
    before = bench.numbers()
    bench.run()
    assert bench.numbers() == before
    bench.config()
    assert "8 cells: 8 done" in bench.run().said
    assert "stale" not in bench.probcal("table", str(bench.results)).said


@pytest.mark.slow
def test_changed_metrics_refit_cells_with_stages(bench, monkeypatch):
    bench.config(stages=["cxe"], learners=TREE)
    bench.run()
    raise_metric(monkeypatch, "cxe")
    assert "4 stale" in bench.run("--dry-run").said
    bench.run()
    probing = [cell for cell in Store(bench.results).results().values() if cell.method == "probing"]
    assert [len(cell.stages["cxe"]) for cell in probing] == [3, 3]


@pytest.mark.slow
def test_quick_run_has_fewer_stages(bench):
    bench.config(stages=["cxe"], learners=TREE, methods={"probing": {}})
    bench.run("--quick", "-o", "in-small")
    [cell] = Store(bench.folder / "in-small").results().values()
    assert len(cell.stages["cxe"]) == 10


@pytest.mark.slow
def test_staged_scikit_learn_method_has_stages(bench):
    boosting = {"boosting": {"type": "sklearn.ensemble.AdaBoostClassifier", "params": {"n_estimators": 3}}}
    bench.config(stages=["rms"], learners=TREE, methods=boosting)
    assert bench.run().code == 0
    lengths = [len(cell.stages["rms"]) for cell in Store(bench.results).results().values()]
    assert lengths and all(0 < length <= 3 for length in lengths)


def test_uniform_thresholds_have_no_stages(bench):
    bench.config(stages=["cxe"], learners=TREE, methods={"probing": {"params": {"discretisation": "uniform"}}})
    assert bench.run("--quick", "-o", "in-small").code == 0
    [cell] = Store(bench.folder / "in-small").results().values()
    assert cell.status == "done" and cell.stages == {}


@pytest.mark.parametrize(
    ("stages", "fault"),
    [
        (["cxx"], 'there is no metric "cxx"; did you mean "cxe"? (there are: cxe, rms, auc, c_emp, '),
        (["cxe", "cxe"], 'the metric "cxe" is listed twice'),
    ],
)
def test_unknown_or_repeated_stage_metrics_are_rejected(bench, stages, fault):
    bench.config(stages=stages)
    done = bench.run()
    assert done.code == 2 and fault in done.said


def test_infinite_and_undefined_stages_are_read_back():
    given = CellResult("d", 0, "l", "m", "done", "r", 1.0, stages={"cxe": [math.inf, 0.5], "auc": [math.nan]})
    read = CellResult.from_json(given.to_json())
    assert read.stages["cxe"] == [math.inf, 0.5]
    assert math.isnan(read.stages["auc"][0])
