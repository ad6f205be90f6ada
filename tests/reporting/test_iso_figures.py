"""Test the figures of a sweep over class weights: lines of equal probability, their regions, and scores."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from probcal import WeightSweepClassifier
from probcal._io import shipped
from probcal.data.card import find_card, read_card
from probcal.data.dataset import generated
from probcal.data.splits import stream_seed
from probcal.reporting.iso_figures import PAPER_PANELS, contains_points, iso_figures, label_lines, level_text, region
from probcal.reporting.stored_curves import bounding_box, stored_sweeps
from probcal.store.cell_result import CellResult, Results
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal

TOY = generated(read_card(find_card("gaussians-250")), seed=0)
TRAIN, TEST = slice(0, 500), slice(500, None)
LEVELS = [0.3, 0.5, 0.7]
SHIPPED = (shipped("configs") / "isoprobability.yaml").read_text(encoding="utf-8")


def swept(learner, levels=LEVELS, **options):
    return WeightSweepClassifier(learner, levels, random_state=0, **options).fit(TOY.X[TRAIN], TOY.y[TRAIN])


FEW = generated(read_card(find_card("gaussians-14")), stream_seed(2019, "draw", "gaussians-14", 0))
TREE = swept(DecisionTreeClassifier(max_leaf_nodes=8, random_state=0))
MACHINE = swept(SVC(kernel="linear"))
OF_SUPPORT = swept(SVC(kernel="linear"), rows="support_vectors")


@cache
def curves_of(sweep):
    return sweep.curves(TOY.X[TEST])


@pytest.fixture
def folder(tmp_path):
    """Return a function: ``folder({("learner", "method"): sweep}, name)`` stores one repetition with its curves."""

    def write(sweeps, name="mine", datasets=("toy",), row=None, column=None, metrics=None, curves_told=None, **told):
        store = Store(tmp_path / "results")
        columns = [
            {"learner": learner, "method": method, "label": f"Sweep{learner}", "group": learner}
            | {"settings": {"type": "sweep", "params": sweep.get_params(deep=False) | {"estimator": None}}}
            | (column or {})
            for (learner, method), sweep in sweeps.items()
        ]
        with store.writing(name):
            store.write_experiment(
                {
                    "name": name,
                    "title": "A sweep",
                    "metrics": ["cxe"],
                    "datasets": [{"name": one, "title": one.title()} | (row or {}) for one in datasets],
                    "columns": columns,
                    "repetitions": dict.fromkeys(datasets, 1),
                    **told,
                }
            )
            for dataset in datasets:
                for (learner, method), sweep in sweeps.items():
                    curves = curves_of(sweep) if curves_told is None else curves_told
                    cell = (dataset, 0, learner, method, "done", "run1", 1.0)
                    store.add(CellResult(*cell, metrics={"cxe": 0.5} | (metrics or {}), curves=curves))
        return store

    return write


def drawn(store) -> dict[str, Figure]:
    return dict(iso_figures(StoredExperiment.of(store), found(store)))


def found(store):
    return stored_sweeps(StoredExperiment.of(store), store.results())


def texts_of(file):
    svg = "{http://www.w3.org/2000/svg}"
    return {"".join(node.itertext()) for node in ET.fromstring(file.read_bytes()).iter(f"{svg}text")}


def black(path, low, high, points):
    """Return which of ``points`` are black when the region is filled with black."""
    figure = Figure(figsize=(4, 4), dpi=200)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.axis("off")
    axes.add_patch(PathPatch(path, facecolor="black", linewidth=0))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, 0]
    across, up = np.floor((points - low) / (high - low) * 800).astype(int).T
    return pixels[up, across] < 128


def test_region_contains_the_points_predicted_positive(folder):
    # This needs lines with their positive side on the left. Reversed lines give the complement.
    [sweep] = found(folder({("tree", "sweep"): TREE}))
    low, high = bounding_box([sweep])
    inside = low + np.random.default_rng(0).random((4000, 2)) * (high - low)
    for place, level in enumerate(LEVELS):
        says = TREE.threshold_models_[0].predicts_positive(place, pd.DataFrame(inside, columns=TOY.X.columns))
        assert 0.2 < says.mean() < 0.8
        lines = sweep.borders[level]
        # except for a pixel's width along the border
        assert (black(region(lines, low, high), low, high, inside) == says).mean() > 0.995
        assert (black(region([line[::-1] for line in lines], low, high), low, high, inside) == ~says).mean() > 0.995


def test_regions_with_holes_or_without_border_fill_the_box():
    box, around = (np.zeros(2), np.ones(2)), np.array([[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6], [0.4, 0.4]])
    within = 0.5 + 0.3 * (around - 0.5)
    places = np.array([[0.5, 0.5], [0.42, 0.42], [0.1, 0.1]])
    for lines, everywhere, expected in (
        ([around[::-1]], False, [False, False, True]),
        ([within, around[::-1]], False, [True, False, True]),
        ([around, within[::-1]], False, [False, True, False]),
        ([np.array([[1.0, 0.8], [0.0, 0.8]]), around[::-1]], False, [False, False, True]),  # below a line
        ([], True, [True, True, True]),
        ([], False, [False, False, False]),
    ):
        path = region(lines, *box, everywhere)
        assert black(path, *box, places).tolist() == expected == contains_points(path, places).tolist()


def test_shades_of_curved_borders_match_the_votes(folder):
    # Level .1 is negative within a closed line. Level .02 is negative nowhere, and level .98 everywhere.
    rows = generated(read_card(find_card("gaussians-14")), seed=1)
    few = WeightSweepClassifier(SVC(), [0.02, 0.1, 0.5, 0.98], weighting="weight", random_state=0).fit(
        rows.X[:28], rows.y[:28]
    )
    [sweep] = found(folder({("svm", "sweep"): few}))
    [closed] = sweep.borders[0.1]
    assert np.allclose(closed[0], closed[-1])
    assert (sweep.borders[0.02], sweep.borders[0.98], sweep.positive_levels) == ([], [], {0.02})
    low, high = bounding_box([sweep])
    places = low + np.random.default_rng(0).random((4000, 2)) * (high - low)
    votes = sum(
        contains_points(region(lines, low, high, level in sweep.positive_levels), places).astype(int)
        for level, lines in sweep.borders.items()
    )
    assert (votes == few.threshold_models_[0].votes(pd.DataFrame(places, columns=TOY.X.columns))).mean() > 0.995
    [axes] = drawn(folder({("svm", "sweep"): few}))["iso-probability-toy-svm"].axes[:1]
    assert len(axes.patches) == 4


def test_labels_lie_on_their_lines_without_overlap():
    figure = Figure(figsize=(4, 4), layout="constrained")
    canvas, axes = FigureCanvasAgg(figure), figure.subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    lines = [(np.array([[0.0, c], [1.0, c + 0.1]]), f"{c:.2f}", "black") for c in np.linspace(0.1, 0.8, 12)]
    label_lines(axes, lines, 6.5, np.empty((0, 2)))
    assert [text.get_text() for text in axes.texts] == [name for _, name, _ in lines]
    for (line, _, _), text in zip(lines, axes.texts, strict=True):
        x, y = text.get_position()
        assert y == pytest.approx(line[0, 1] + 0.1 * x)
    boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
    assert all(axes.bbox.contains(*box.min) and axes.bbox.contains(*box.max) for box in boxes)
    assert not any(one.overlaps(other) for one in boxes for other in boxes if one is not other)


def test_line_too_short_for_a_label_has_none():
    axes = Figure(figsize=(3, 3)).subplots()
    label_lines(axes, [(np.array([[0.5, 0.5], [0.52, 0.5]]), ".50", "black")], 6.5, np.empty((0, 2)))
    assert not axes.texts


@pytest.mark.slow
def test_user_sweep_is_drawn_with_reproducible_bytes(folder):
    store = folder({("svm", "sweep"): MACHINE, ("tree", "sweep"): TREE})
    first = probcal("plot", store.folder)
    assert first.exit_code == 0
    files = [
        store.folder / "figures" / f"iso-probability-toy-{learner}.{kind}"
        for learner in ("svm", "tree")
        for kind in ("png", "svg")
    ]
    assert first.stdout.splitlines() == [str(file) for file in files]
    before = [file.read_bytes() for file in files]
    probcal("plot", store.folder)
    assert [file.read_bytes() for file in files] == before
    assert {".30", ".50", ".70", "A sweep: Toy", "class 0", "class 1", "raw score (decision function)"} <= texts_of(
        files[1]
    )
    of_tree = texts_of(files[3])
    assert {".30", ".50", ".70"} <= of_tree and "raw score (decision function)" not in of_tree


def test_learners_whose_names_differ_only_in_case_have_own_files(folder):
    store = folder({("NB", "sweep"): MACHINE, ("nb", "sweep"): TREE})
    files = probcal("plot", store.folder).stdout.splitlines()
    assert len({file.casefold() for file in files}) == len(files) == 4


def test_only_sweeps_with_equal_settings_share_a_figure(folder):
    bounds = swept(SVC(kernel="linear"), answer="bounds")
    store = folder({("svm", "sweep"): MACHINE, ("svm", "bounds"): bounds, ("svm", "support"): OF_SUPPORT})
    assert list(drawn(store)) == ["iso-probability-toy-svm-sweep", "iso-probability-toy-svm-support"]


def test_title_states_which_levels_have_a_surface(folder):
    has = [line["level"] for line in curves_of(OF_SUPPORT)["iso_probability"] if len(line["x"]) > 1]
    assert has == [0.5]
    figures = drawn(folder({("svm", "sweep"): MACHINE, ("svm", "support"): OF_SUPPORT}))
    assert [figure.axes[0].get_title() for figure in figures.values()] == [
        "svm, sweep",
        "svm, support: 1 of 3 levels has a surface here (.50)",
    ]


@pytest.mark.slow
def test_legend_names_the_drawn_levels_of_many_lines(folder):
    crowd = swept(DecisionTreeClassifier(random_state=0), levels=None)
    [figure] = drawn(folder({("tree", "sweep"): crowd}, metrics={"crossings": 170.0})).values()
    [legend] = figure.legends
    levels = [text.get_text() for text in legend.get_texts() if "level" in text.get_text()]
    assert levels == ["level .10", "level .30", "level .50", "level .70", "level .90"]
    assert len({(line.get_color(), line.get_linestyle()) for line in legend.get_lines()[-5:]}) >= 4
    assert "lines of some levels only" in legend.get_title().get_text().replace("\n", " ")
    assert len(figure.axes[0].patches) == 19
    title = figure.axes[0].get_title().replace("\n", " ")
    assert title == "tree, sweep: 170 of 171 pairs of levels contradict each other on test rows"


@pytest.mark.slow
def test_levels_without_room_for_a_label_are_listed(folder):
    close = swept(SVC(kernel="linear"), np.linspace(0.48, 0.52, 26).round(4).tolist())
    [figure] = drawn(folder({("svm", "sweep"): close})).values()
    axes = figure.axes[0]
    [note] = [text.get_text() for text in axes.texts if text.get_text().startswith("no room for ")]
    on_lines = {text.get_text() for text in axes.texts} - {note}
    told = set(note.removeprefix("no room for ").replace("\n", " ").split(", "))
    [sweep] = found(folder({("svm", "sweep"): close}))
    assert on_lines | told == {level_text(level) for level, lines in sweep.borders.items() if lines}


def test_axes_and_classes_have_the_names_of_the_card(folder):
    row = {"inputs": ["age $x_1$", "<b>&income"], "positive": "yes"}
    store = folder({("svm", "sweep"): MACHINE}, row=row, column={"encoding": "numeric"})
    probcal("plot", store.folder)
    written = texts_of(store.folder / "figures" / "iso-probability-toy-svm.svg")
    assert {"age $x_1$ (scaled to 0 to 1)", "<b>&income (scaled to 0 to 1)", "class 0", "class 1 (yes)"} <= written


def test_legend_without_hatching_does_not_mention_it(folder):
    [figure] = drawn(folder({("svm", "sweep"): MACHINE})).values()
    assert [patch.get_hatch() for patch in figure.axes[0].patches] == [None] * 3
    assert "hatched" not in figure.legends[0].get_title().get_text()


def test_changed_paper_experiment_has_no_paper_figure(folder):
    sweeps = {("svc", "two_weights"): MACHINE}
    for changed in (SHIPPED.replace("[0.5, 0.6667]", "[0.3, 0.5, 0.7]"), SHIPPED.replace("linear, C: 1}", "rbf}"), ""):
        assert changed != SHIPPED
        store = folder(sweeps, "isoprobability", ["gaussians-14"], config=changed)
        assert list(drawn(store)) == ["iso-probability-gaussians-14-svc"]


def test_scores_of_more_than_two_columns_are_drawn(folder):
    three = TOY.X.assign(x3=TOY.X["x1"] ** 2)

    def fitted(learner):
        sweep = WeightSweepClassifier(learner, LEVELS, random_state=0).fit(three[TRAIN], TOY.y[TRAIN])
        return sweep, sweep.curves(three[TEST])

    machine, curves = fitted(SVC(kernel="linear"))
    assert list(curves) == ["scores"]
    store = folder({("svm", "sweep"): machine}, curves_told=curves)
    [figure] = drawn(store).values()
    assert [axes.get_xlabel() for axes in figure.axes] == ["raw score (decision function)"]
    tree, curves = fitted(DecisionTreeClassifier(random_state=0))
    store = folder({("tree", "sweep"): tree}, curves_told=curves, curves=["iso_probability", "scores"])
    said = probcal("plot", store.folder)
    assert said.exit_code == 2
    words = " ".join(said.stderr.split())
    assert "iso_probability needs a sweep over class weights (weight_sweep) of two classes and two numeric" in words
    assert "add the line" not in words and "roc" not in words


def test_crossing_surfaces_are_hatched_and_labelled_with_weights(folder):
    crossing = WeightSweepClassifier(SVC(kernel="linear"), [0.5, 0.6667]).fit(FEW.X[:28], FEW.y[:28])
    store = folder({("svc", "two_weights"): crossing}, "isoprobability", ["gaussians-14"], config=SHIPPED)
    [axes] = drawn(store)["figure-6"].axes
    assert {text.get_text() for text in axes.texts} == {"w₊ = 1.5, w₋ = 1.5 (p = 1/2)", "w₊ = 1, w₋ = 2 (p = 2/3)"}
    assert [patch.get_hatch() for patch in axes.patches] == [None, None, "////"]


def test_paper_figures_have_their_names_and_level_groups(folder):
    sweeps = {("tree", "weight_sweep"): TREE}
    store = folder(sweeps, "isoprobability", ["gaussians", "elsewhere"], config=SHIPPED)
    figures = drawn(store)
    assert list(figures) == ["figure-4", "iso-probability-elsewhere-tree"]
    groups = [panel.levels for panel in PAPER_PANELS["isoprobability"]["figure-4"][1]]
    assert groups == [(0.1, 0.7, 0.9), (0.05, 0.55), (0.25, 0.8, 0.95)]
    assert [axes.get_title() for axes in figures["figure-4"].axes] == [
        "Levels .10, .70, .90",
        "Levels .05, .55",
        "Levels .25, .80, .95",
    ]


def test_levels_have_two_decimals_or_more_if_needed():
    assert [level_text(level) for level in (0.05, 0.5, 0.6667, 0.125)] == [".05", ".50", ".6667", ".125"]


def test_without_lines_nothing_is_drawn(folder):
    store = folder({("tree", "sweep"): TREE})
    results = Results({name: CellResult(*("toy", 0, "tree", "sweep", "done", "run1", 1.0)) for name in store.results()})
    assert list(iso_figures(StoredExperiment.of(store), stored_sweeps(StoredExperiment.of(store), results))) == []


def test_quick_run_of_the_paper_experiment_draws_figure_6(tmp_path):
    folder = tmp_path / "results"
    assert probcal("run", "isoprobability", "--quick", "-d", "gaussians-14", "-o", folder).exit_code == 0
    assert probcal("plot", folder, "--kind", "paper").stdout.splitlines() == [
        str(folder / "figures" / f"figure-6.{kind}") for kind in ("png", "svg")
    ]
    written = texts_of(folder / "figures" / "figure-6.svg")
    assert {"w₊ = 1.5, w₋ = 1.5 (p = 1/2)", "w₊ = 1, w₋ = 2 (p = 2/3)"} <= written
    assert "Figure 6. Two surfaces of one learner that cross" in written
    tables = probcal("table", folder).stdout
    assert tables.count("**Table ") == 9
    assert tables.count("SvSVC (not run): it is there for Figure 6 alone") == 1
