"""Test metrics before and after calibration in a run, and expected costs as metrics."""

import pytest

from probcal.metrics import expected_cost
from probcal.store.folder import Store

NB = {"nb": {"type": "gaussian_nb"}}
ISOTONIC = {"isotonic": {"params": {"holdout_size": 30}}}


def only_cell(bench):
    results = Store(bench.results).results()
    return next(iter(results.values()))


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
    cell = only_cell(bench)
    y, p = Store(bench.results).predictions(cell)
    assert cell.stages["cost(0.3)"][1] == expected_cost(y, p, 0.3)
    assert cell.metrics["cost(0.25)"] == expected_cost(y, p, 0.25)
    assert "cost(0.3)" not in cell.metrics


@pytest.mark.slow
def test_new_cost_metric_needs_no_fit(bench):
    bench.config(metrics=["rms"], learners=NB, methods=ISOTONIC)
    bench.run()
    before = only_cell(bench)
    bench.config(metrics=["rms", "cost(0.5)"], learners=NB, methods=ISOTONIC)
    assert "metrics changed or were added; no fit is needed" in bench.run("--dry-run").said
    bench.run()
    after = only_cell(bench)
    assert after.seconds == before.seconds, "the seconds are those of the fit, which was not repeated"
    assert after.metrics == {**before.metrics, "cost(0.5)": after.metrics["cost(0.5)"]}


def test_only_costs_under_metrics_have_a_table(bench):
    bench.config(metrics=["rms", "cost(0.5)"], stages=["cost(0.25)"], learners=NB, methods=ISOTONIC)
    bench.run()
    said = bench.probcal("table", str(bench.results)).said
    assert "Expected cost at loss parameter 0.5**" in said
    assert "Expected cost at loss parameter 0.25**" not in said


@pytest.mark.parametrize(
    ("metric", "fault"),
    [
        ("cost(.05)", 'there is no metric "cost(.05)"; did you mean "cost(0.05)"?'),
        ("cost(0.50)", 'there is no metric "cost(0.50)"; did you mean "cost(0.5)"?'),
        ("cost(0)", 'there is no metric "cost(0)"; cost(p) takes a p between 0 and 1, neither included: cost(0.05)'),
        ("cost(1.5)", "cost(p) takes a p between 0 and 1"),
        ("cost(-0.1)", "cost(p) takes a p between 0 and 1"),
        ("cost", "cost(p) takes a p between 0 and 1"),
    ],
)
@pytest.mark.parametrize("where", ["stages", "metrics"])
def test_misspelt_or_impossible_cost_is_rejected(bench, where, metric, fault):
    bench.config(**{where: [metric]})
    done = bench.run()
    assert done.code == 2 and fault in done.said


@pytest.mark.slow
def test_quick_runs_hold_out_fewer_rows(bench):
    methods = {"isotonic": {"params": {"calibration": "holdout", "holdout_size": 2000}}}
    bench.config(datasets=["digits-odd"], learners=NB, methods=methods)
    assert bench.run().code == 1, "there are not so many rows"
    assert bench.run("--quick", "-o", "in-small").code == 0
