"""``stages``: what a method is worth after each of its rounds, from the one cell that fits them all."""

import math

import pytest

from probcal.store.folder import CellResult, Store

PROBING = {"probing": {"params": {"n_probes": 4}}}
TREE = {"tree": {"params": {"max_depth": 2}}}


def test_a_cell_keeps_each_metric_after_every_stage_and_ends_in_its_own_estimate(bench):
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
def test_stage_t_is_what_an_experiment_with_t_probes_measures(bench):
    bench.config(stages=["cxe"], learners=TREE, methods=PROBING)
    bench.run()
    stages = Store(bench.results).results()["wine-first/0/tree/probing"].stages["cxe"]
    bench.config(learners=TREE, methods={"probing": {"params": {"n_probes": 2}}})
    bench.run()
    cell = Store(bench.results).results()["wine-first/0/tree/probing"]
    assert (cell.metrics["cxe"], cell.stages) == (stages[1], {})


@pytest.mark.slow
def test_asking_for_stages_runs_only_the_cells_that_have_some_and_no_longer_asking_runs_none(bench):
    bench.run()
    bench.config(stages=["cxe"])
    said = bench.run("--dry-run").said
    assert "4 stale" in said and "the metrics of stages, or the code of the metrics, changed" in said
    before = bench.numbers()
    bench.run()
    assert bench.numbers() == before
    bench.config()
    assert "8 cells: 8 done" in bench.run().said
    assert "stale" not in bench.probcal("table", str(bench.results)).said


@pytest.mark.slow
def test_changed_metrics_fit_a_cell_with_stages_again(bench, monkeypatch):
    bench.config(stages=["cxe"], learners=TREE)
    bench.run()
    monkeypatch.setattr("probcal.runner.fingerprint.code_of_metrics", lambda: {"probcal.metrics": "another"})
    assert "4 stale" in bench.run("--dry-run").said
    bench.run()
    probing = [cell for cell in Store(bench.results).results().values() if cell.method == "probing"]
    assert [len(cell.stages["cxe"]) for cell in probing] == [3, 3]


@pytest.mark.slow
def test_stages_in_small_are_those_of_fewer_probes(bench):
    bench.config(stages=["cxe"], learners=TREE, methods={"probing": {}})
    bench.run("--quick", "-o", "in-small")
    [cell] = Store(bench.folder / "in-small").results().values()
    assert len(cell.stages["cxe"]) == 10


@pytest.mark.slow
def test_a_method_of_scikit_learn_with_stages_has_them_too(bench):
    boosting = {"boosting": {"type": "sklearn.ensemble.AdaBoostClassifier", "params": {"n_estimators": 3}}}
    bench.config(stages=["rms"], learners=TREE, methods=boosting)
    bench.run()
    assert all(len(cell.stages["rms"]) <= 3 for cell in Store(bench.results).results().values())


def test_uniform_thresholds_are_measured_without_stages(bench):
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
def test_stages_name_metrics(bench, stages, fault):
    bench.config(stages=stages)
    done = bench.run()
    assert done.code == 2 and fault in done.said


def test_infinite_and_undefined_stages_are_read_back():
    given = CellResult("d", 0, "l", "m", "done", "r", 1.0, stages={"cxe": [math.inf, 0.5], "auc": [math.nan]})
    read = CellResult.from_json(given.to_json())
    assert read.stages["cxe"] == [math.inf, 0.5]
    assert math.isnan(read.stages["auc"][0])
