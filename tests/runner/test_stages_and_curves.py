"""Test what cells store besides metrics: stages, costs, curves and a method's own numbers, and when they run again."""

import pytest
from run_bench import raise_metric

from probcal.metrics import expected_cost
from probcal.store.folder import Store

PROBING = {"probing": {"params": {"n_probes": 4}}}
TREE = {"tree": {"params": {"max_depth": 2}}}
NB = {"nb": {"type": "gaussian_nb"}}
ISOTONIC = {"isotonic": {"params": {"holdout_size": 30}}}
TELLING = """
    from probcal.methods.direct import DirectClassifier
    class Telling(DirectClassifier):
        def measures(self, X):
            return {"crossings": float(len(X)), "of_no_interest": 1.0}
        def curves(self, X):
            return {"scores": [{"x": [0.0, 1.0], "y": [0.5, 0.25], "level": 0.5}], "of_no_interest": []}
"""
TELL = {"learners": NB, "methods": {"tell": {"type": "telling.Telling"}}}


def cells(bench, folder=None):
    return Store(folder or bench.results).results()


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
def test_quick_run_has_fewer_stages_and_held_out_rows(bench):
    bench.config(stages=["cxe"], learners=TREE, methods={"probing": {}})
    bench.run("--quick", "-o", "in-small")
    [cell] = Store(bench.folder / "in-small").results().values()
    assert len(cell.stages["cxe"]) == 10
    methods = {"isotonic": {"params": {"calibration": "holdout", "holdout_size": 2000}}}
    bench.config(datasets=["digits-odd"], learners=NB, methods=methods)
    assert bench.run().code == 1, "there are not so many rows"
    assert bench.run("--quick", "-o", "fewer").code == 0, "and --quick holds out fewer"


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


def test_calibrated_cells_have_metrics_before_and_after_calibration(bench):
    bench.config(stages=["c_emp", "cost(0.3)"], metrics=["c_emp"], learners=NB, methods={"direct": {}, **ISOTONIC})
    assert bench.run().code == 0
    for cell in Store(bench.results).results().values():
        assert [len(values) for values in cell.stages.values()] == ([] if cell.method == "direct" else [2, 2])
        assert not cell.stages or cell.stages["c_emp"][1] == cell.metrics["c_emp"]
    columns = {one["method"]: one.get("before_and_after") for one in Store(bench.results).experiment()["columns"]}
    assert columns == {"direct": None, "isotonic": True}


@pytest.mark.slow
def test_cost_after_calibration_comes_from_stored_predictions(bench):
    bench.config(stages=["cost(0.3)"], metrics=["rms", "cost(0.25)"], learners=NB, methods=ISOTONIC)
    bench.run()
    cell = next(iter(cells(bench).values()))
    y, p = Store(bench.results).predictions(cell)
    assert cell.stages["cost(0.3)"][1] == expected_cost(y, p, 0.3)
    assert cell.metrics["cost(0.25)"] == expected_cost(y, p, 0.25)
    assert "cost(0.3)" not in cell.metrics


def test_only_costs_under_metrics_have_a_table(bench):
    bench.config(metrics=["rms", "cost(0.5)"], stages=["cost(0.25)"], learners=NB, methods=ISOTONIC)
    bench.run()
    said = bench.probcal("table", str(bench.results)).said
    assert "Expected cost at loss parameter 0.5**" in said
    assert "Expected cost at loss parameter 0.25**" not in said


@pytest.fixture
def telling(bench):
    bench.module("telling", TELLING)
    return bench


@pytest.mark.slow
def test_roc_curve_is_stored_for_the_first_repetition_only(bench):
    bench.config(learners=NB, methods=["direct"], curves=["roc"])
    assert bench.run().code == 0
    first, second = (cells(bench)[f"wine-first/{repetition}/nb/direct"] for repetition in (0, 1))
    [line] = first.curves["roc"]
    assert (line["x"][0], line["y"][0], line["x"][-1], line["y"][-1]) == (0, 0, 1, 1)
    assert second.curves == {}


def test_only_requested_curves_and_metrics_are_stored(telling):
    telling.config(**TELL, curves=["scores"], metrics=["rms", "crossings"])
    telling.run()
    cell = cells(telling)["wine-first/0/nb/tell"]
    assert cell.curves == {"scores": [{"x": [0.0, 1.0], "y": [0.5, 0.25], "level": 0.5}]}
    assert cell.metrics["crossings"] == cell.n_test
    assert "of_no_interest" not in cell.metrics
    assert "Pairs of thresholds whose boundaries cross" in telling.probcal("table", str(telling.results)).said


@pytest.mark.slow
def test_malformed_curve_fails_its_cell(bench):
    bench.module("telling", TELLING.replace("[0.5, 0.25]", "[0.5]"))
    bench.config(**TELL, curves=["scores"])
    assert bench.run().code == 1
    cell = cells(bench)["wine-first/0/nb/tell"]
    said = 'a line of the curve "scores" lacks x and y, equally many finite numbers, one at least'
    assert (cell.status, cell.message) == ("failed", said)


@pytest.mark.slow
def test_new_curve_reruns_only_the_first_repetition(bench):
    bench.config(learners=NB, methods=["direct"])
    bench.run()
    bench.config(learners=NB, methods=["direct"], curves=["roc"])
    plan = bench.run("--dry-run").said
    assert "wine-first/0/nb/direct  (the curves to store changed)" in plan
    assert "2 cells: 1 done, 1 stale" in plan


@pytest.mark.slow
def test_method_measure_needs_a_fit_but_new_metric_does_not(telling):
    telling.config(**TELL, metrics=["rms"])
    telling.run()
    telling.config(**TELL, metrics=["rms", "crossings"])
    telling.run()
    assert cells(telling)["wine-first/0/nb/tell"].metrics["crossings"] > 0
    telling.config(**TELL, metrics=["rms", "crossings", "errors"])
    before = cells(telling)["wine-first/0/nb/tell"]
    telling.run()
    after = cells(telling)["wine-first/0/nb/tell"]
    assert after.seconds == before.seconds, "this one needs no fit, and the other is kept"
    assert after.metrics["crossings"] == before.metrics["crossings"] and "errors" in after.metrics


@pytest.mark.slow
def test_online_method_gets_labels_after_each_prediction(bench):
    bench.module(
        "counting",
        """
        import numpy as np
        from probcal.methods.direct import DirectClassifier
        class Counting(DirectClassifier):
            online = True
            def predict_proba_online(self, X, y):
                before = np.concatenate([[0], np.cumsum(y)[:-1]]) / len(y)
                return np.column_stack([1 - before, before])
        """,
    )
    bench.config(learners=NB, methods={"count": {"type": "counting.Counting"}})
    assert bench.run().code == 0
    store = Store(bench.results)
    y, p = store.predictions(store.results()["wine-first/0/nb/count"])
    assert p[0, 1] == 0 and p[-1, 1] == pytest.approx(y[:-1].sum() / len(y))


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"stages": ["cxx"]}, 'there is no metric "cxx"; did you mean "cxe"? (there are: cxe, rms, auc, c_emp, '),
        ({"stages": ["cxe", "cxe"]}, 'the metric "cxe" is listed twice'),
        ({"metrics": ["cost(.05)"]}, 'there is no metric "cost(.05)"; did you mean "cost(0.05)"?'),
        ({"stages": ["cost(0.50)"]}, 'there is no metric "cost(0.50)"; did you mean "cost(0.5)"?'),
        ({"metrics": ["cost(0)"]}, "cost(p) takes a p between 0 and 1, neither included: cost(0.05)"),
        ({"stages": ["cost(1.5)"]}, "cost(p) takes a p between 0 and 1"),
        ({"metrics": ["cost(-0.1)"]}, "cost(p) takes a p between 0 and 1"),
        ({"stages": ["cost"]}, "cost(p) takes a p between 0 and 1"),
        ({"curves": ["rox"]}, 'there is no curve "rox"; did you mean "roc"?'),
        ({"curves": ["roc", "roc"]}, 'the curve "roc" is listed twice'),
        ({"curves": "roc"}, "curves"),
    ],
)
def test_unknown_or_repeated_names_are_rejected(bench, parts, fault):
    bench.config(**parts)
    done = bench.run()
    assert done.code == 2 and fault in done.said
