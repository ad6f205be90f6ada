"""Test the curves and numbers that only a method knows: when cells store them and when they run again."""

import pytest

from probcal.store.folder import Store

TELLING = """
    from probcal.methods.direct import DirectClassifier
    class Telling(DirectClassifier):
        def measures(self, X):
            return {"crossings": float(len(X)), "of_no_interest": 1.0}
        def curves(self, X):
            return {"scores": [{"x": [0.0, 1.0], "y": [0.5, 0.25], "level": 0.5}], "of_no_interest": []}
"""
NB = {"nb": {"type": "gaussian_nb"}}


def cells(bench):
    return Store(bench.results).results()


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
    parts = {"learners": NB, "methods": {"tell": {"type": "telling.Telling"}}}
    telling.config(**parts, curves=["scores"], metrics=["rms", "crossings"])
    telling.run()
    cell = cells(telling)["wine-first/0/nb/tell"]
    assert cell.curves == {"scores": [{"x": [0.0, 1.0], "y": [0.5, 0.25], "level": 0.5}]}
    assert cell.metrics["crossings"] == cell.n_test
    assert "of_no_interest" not in cell.metrics
    assert "Pairs of thresholds whose boundaries cross" in telling.probcal("table", str(telling.results)).said


@pytest.mark.slow
def test_malformed_curve_fails_its_cell(bench):
    bench.module("telling", TELLING.replace("[0.5, 0.25]", "[0.5]"))
    bench.config(learners=NB, methods={"tell": {"type": "telling.Telling"}}, curves=["scores"])
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
    parts = {"learners": NB, "methods": {"tell": {"type": "telling.Telling"}}}
    telling.config(**parts, metrics=["rms"])
    telling.run()
    telling.config(**parts, metrics=["rms", "crossings"])
    telling.run()
    assert cells(telling)["wine-first/0/nb/tell"].metrics["crossings"] > 0
    telling.config(**parts, metrics=["rms", "crossings", "errors"])
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
    ("curves", "message"),
    [
        (["rox"], 'there is no curve "rox"; did you mean "roc"?'),
        (["roc", "roc"], 'the curve "roc" is listed twice'),
        ("roc", "curves"),
    ],
)
def test_invalid_curve_names_are_rejected(bench, curves, message):
    bench.config(curves=curves)
    finished = bench.run()
    assert finished.code == 2 and message in finished.said
