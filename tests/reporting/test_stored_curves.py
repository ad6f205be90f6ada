"""Test the figures of stored curves of ``probcal plot``: martingales along the test rows, and ROC curves."""

import pytest

from probcal.reporting.paper_figures import stored_curves_figure
from probcal.reporting.stored_curves import stored_panels
from probcal.store.folder import CellResult, Store
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal, refused
from tests.reporting.streams import experiment, write
from tests.stored_rows import unpack

ROC = {"roc": [{"x": [0.0, 0.2, 1.0], "y": [0.0, 0.9, 1.0]}]}


def growing(*y):
    return {"martingale": [{"x": [10 * i for i in range(len(y))], "y": list(y)}], **ROC}


CURVES = {
    "base.untruncated": ROC, "base.0.1": ROC, "base.0.01": ROC, "jumper.0.1": growing(0.0, 1.0, 5.0),
    "jumper.0.01": growing(0.0, -1.0, 2.0), "sigmoid": ROC,
}  # fmt: skip


@pytest.fixture
def stream(tmp_path):
    return lambda curves, **changes: write(
        tmp_path / "small", {column: [{"auc": 0.85}, {"auc": 0.9}] for column in curves}, curves, **changes
    )


def figure_of(store):
    stored = StoredExperiment.of(store)
    return stored_curves_figure(stored.title, stored_panels(stored, store.results()))


def labels(axes):
    return [line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")]


def test_martingales_are_left_and_roc_curves_right_per_variant(stream):
    left, right, left_below, right_below = figure_of(stream(CURVES)).axes
    assert labels(left) == ["RF jumper.0.1"] and labels(left_below) == ["RF jumper.0.01"]
    both = ["RF base.untruncated", "RF sigmoid"]
    own = {"0.1": right, "0.01": right_below}
    for variant, axes in own.items():
        names = {both[0], f"RF base.{variant}", f"RF jumper.{variant}", both[1]}
        assert set(labels(axes)) == {f"{name}, AUC 0.850" for name in names}
    assert (left.get_xlabel(), left.get_ylabel()) == ("Test row", "log10 of the martingale")
    [line] = [line for line in left.get_lines() if line.get_label() == "RF jumper.0.1"]
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([0, 10, 20], [0, 1, 5])


def test_variants_share_a_colour_and_differ_in_dash(stream):
    _, right, *_ = figure_of(stream(CURVES)).axes
    of = {line.get_label().partition(",")[0]: line for line in right.get_lines()}
    base, untruncated, jumper = of["RF base.0.1"], of["RF base.untruncated"], of["RF jumper.0.1"]
    assert base.get_color() == untruncated.get_color() != jumper.get_color()
    assert (base.get_linestyle(), untruncated.get_linestyle(), of["RF sigmoid"].get_linestyle()) == ("-", ":", "-")


def test_roc_curves_alone_have_their_own_figure(stream):
    store = stream({"base.0.1": ROC, "sigmoid": ROC}, columns=("base.0.1", "sigmoid"))
    [axes] = figure_of(store).axes
    assert labels(axes) == ["RF base.0.1, AUC 0.850", "RF sigmoid, AUC 0.850"]
    assert probcal("plot", store.folder).stderr == ""
    assert sorted(path.name for path in (store.folder / "figures").iterdir()) == ["roc.png", "roc.svg"]


def test_columns_without_a_curve_are_noted(stream):
    store = stream({"base.0.1": ROC, "jumper.0.1": growing(0.0, 1.0)}, columns=("base.0.1", "jumper.0.1", "sigmoid"))
    assert "no ROC curve for RF sigmoid" in probcal("plot", store.folder).stderr
    assert {path.name for path in (store.folder / "figures").iterdir()} == {"protection.png", "protection.svg"}


def test_only_protecting_methods_without_martingale_are_noted(stream):
    store = stream({"base.0.1": ROC, "sigmoid": ROC, "jumper.0.1": growing(0.0, 1.0), "jumper.0.01": ROC})
    assert "no martingale for RF jumper.0.01\n" in probcal("plot", store.folder).stderr


def test_measured_martingale_marks_a_protecting_method(stream):
    store = stream({"jumper.0.1": growing(0.0, 1.0), "slipped": ROC}, columns=("jumper.0.1", "slipped"))
    with store.writing("small"):
        cell = ("bank-marketing", 1, "forest", "slipped", "done", "run1", 1.0)
        store.add(CellResult(*cell, metrics={"log10_martingale": 3.0}))
    assert "no martingale for RF slipped\n" in probcal("plot", store.folder).stderr


@pytest.mark.parametrize(("n", "shape"), [(1, (1, 1)), (2, (1, 2)), (3, (2, 2)), (6, (2, 3)), (7, (3, 3))])
def test_martingales_of_several_data_sets_fill_a_grid(tmp_path, n, shape):
    names = [f"stream-{number}" for number in range(n)]
    store = Store(tmp_path)
    asked = {"datasets": [{"name": name, "title": name} for name in names], "repetitions": dict.fromkeys(names, 1)}
    with store.writing("small"):
        store.write_experiment(experiment(columns=("jumper",), **asked))
        for name in names:
            curves = {"martingale": [{"x": [0, 1], "y": [0.0, 1.0]}]}
            store.add(CellResult(name, 0, "forest", "jumper", "done", "run1", 1.0, curves=curves))
    axes = figure_of(store).axes
    assert [one.get_title() for one in axes] == (names if n > 1 else [""])
    assert axes[0].get_subplotspec().get_gridspec().get_geometry() == shape


def test_data_set_without_a_curve_is_named(tmp_path):
    asked = {"datasets": [{"name": one, "title": one} for one in "ab"], "repetitions": {"a": 1, "b": 1}}
    store = Store(tmp_path)
    with store.writing("small"):
        store.write_experiment(experiment(columns=("jumper",), **asked))
        store.add(CellResult("a", 0, "forest", "jumper", "done", "run1", 1.0, curves=growing(0.0, 1.0)))
    said = probcal("plot", store.folder).stderr
    assert "no martingale for RF jumper on b\n" in said and "no ROC curve for RF jumper on b\n" in said


def test_broken_curves_are_rejected_with_their_line(stream):
    store = stream(CURVES)
    path = unpack(store.folder)
    path.write_text(path.read_text().replace('"y": [0.0, 1.0, 5.0]', '"y": [0.0, 1.0]'))
    for command in ("plot", "check", "table"):
        assert "cells.jsonl:7: is not the result of a cell; remove this line" in refused(command, store.folder)


def test_folder_without_results_is_rejected(stream):
    folder = stream({}).folder
    assert refused("plot", folder) == f"nothing has been run yet in {folder}; probcal run fills a folder of results"
