"""Test the figures of stages of ``probcal plot``. Their bytes are reproducible."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from probcal.reporting.drawing import _spread_places
from probcal.reporting.paper_figures import stages_figure
from probcal.reporting.stored_curves import shortfalls, stage_panels
from probcal.store.cell_result import CellResult
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal, refused


@pytest.fixture
def staged(small):
    """Return a function: ``staged({("adult", "j48.probing"): [[.9, .5], ...]})`` takes a list of stages per split."""

    def write(cells, metric="cxe", **changes):
        written = small(columns=("j48.direct", "j48.probing", "log.probing"), **changes)
        store = written.write({})
        with store.writing("small"):
            for (dataset, column), splits in cells.items():
                for repetition, values in enumerate(splits):
                    cell = (dataset, repetition, *column.split("."), "done", "run1", 1.0)
                    store.add(CellResult(*cell, metrics={metric: values[-1]}, stages={metric: values}))
        return store

    return write


def figure_of(store):
    stored = StoredExperiment.of(store)
    return stages_figure(stored.title, stage_panels(stored, store.results()))


def lines(axes):
    return {line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.get_lines()}


def test_line_is_the_mean_over_splits_per_probe_count(staged):
    store = staged(
        {("adult", "j48.probing"): [[0.9, 0.5, 0.4]], ("sick", "j48.probing"): [[0.4, 0.2, 0.1], [0.6, 0.4, 0.1]]},
        datasets={"adult": 1, "sick": 2},
    )
    [axes] = figure_of(store).axes
    assert lines(axes) == {
        "Adult": ([1, 2, 3], [0.9, 0.5, 0.4]),
        "Sick": ([1, 2, 3], [pytest.approx(0.5), pytest.approx(0.3), 0.1]),
    }
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("Number of probes", "Cross entropy (bits)")
    assert axes.get_xscale() == "linear" and axes.get_xlim() == (0, 3)
    assert {text.get_text() for text in axes.texts} == {"Adult", "Sick"}


def test_only_several_splits_have_a_band_of_one_sd(staged):
    store = staged(
        {("adult", "j48.probing"): [[0.9, 0.5]], ("sick", "j48.probing"): [[0.4, 0.2], [0.6, 0.2]]},
        datasets={"adult": 1, "sick": 2},
    )
    figure = figure_of(store)
    [band] = figure.axes[0].collections
    at_first = [y for x, y in band.get_paths()[0].vertices if x == 1]
    sd = np.std([0.4, 0.6], ddof=1)
    assert (min(at_first), max(at_first)) == (pytest.approx(0.5 - sd), pytest.approx(0.5 + sd))
    assert "mean over 2 random splits, band: ± one sd; no band: one split" in figure.get_supxlabel()


def test_columns_with_stages_stand_side_by_side(staged):
    store = staged({("adult", "j48.probing"): [[0.9, 0.5]], ("adult", "log.probing"): [[0.8, 0.4]]})
    assert [axes.get_title() for axes in figure_of(store).axes] == ["ProbJ48", "ProbLog"]


def test_early_stopped_method_keeps_its_last_value(staged):
    store = staged({("adult", "j48.probing"): [[0.9, 0.5], [0.7, 0.3, 0.1]]}, datasets={"adult": 2})
    [[panel]] = stage_panels(StoredExperiment.of(store), store.results())
    assert panel.curves[0].mean == pytest.approx([0.8, 0.4, 0.3])


def test_infinite_stages_are_gaps_and_missing_cells_are_noted(staged):
    store = staged({("adult", "j48.probing"): [[math.inf, 0.5]]}, datasets={"adult": 1, "sick": 1})
    [axes] = figure_of(store).axes
    assert np.isnan(lines(axes)["Adult"][1][0])
    stored = StoredExperiment.of(store)
    assert shortfalls(stored, store.results(), stage_panels(stored, store.results())) == [
        "1 of 2 cells failed, were not run or have no stages",
        "cxe of ProbJ48 is not finite at every stage: Adult",
    ]


def test_plot_writes_png_and_svg_with_reproducible_bytes(staged, monkeypatch):
    store = staged({("adult", "j48.probing"): [[0.9, 0.5]]}, title="Costs $5 or $6")
    first = probcal("plot", store.folder)
    assert first.exit_code == 0
    files = [store.folder / "figures" / f"stages.{kind}" for kind in ("png", "svg")]
    assert first.stdout.splitlines() == [str(file) for file in files]
    before = [file.read_bytes() for file in files]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    probcal("plot", store.folder)
    assert [file.read_bytes() for file in files] == before
    texts = [node.text for node in ET.fromstring(before[1]).iter("{http://www.w3.org/2000/svg}text")]
    assert {"Adult", "Costs $5 or $6", "Cross entropy (bits)"} <= set(texts)


def test_labels_of_close_lines_are_moved_apart():
    assert _spread_places([0.1, 0.5, 0.9], 0.1) == [0.1, 0.5, 0.9]
    assert _spread_places([0.5, 0.5, 0.9], 0.1) == pytest.approx([0.45, 0.55, 0.9])
    assert _spread_places([0.5, 0.5, 0.56], 0.1) == pytest.approx([0.42, 0.52, 0.62])


def test_message_without_stages_explains_how_to_get_them(small, cxe):
    store = small().write({("adult", "j48.probing"): cxe(0.4)})
    assert refused("plot", store.folder) == (
        f"no result in {store.folder} has stored predictions or a metric after every stage; run the experiment "
        "again for figures of predictions; add the line  stages: [cxe]  to the experiment file and run it again "
        "(methods without stages have none: probing has them), or the line  curves: [martingale, roc]  for methods "
        "that protect and  curves: [iso_probability, training_rows, scores]  for a sweep over class weights of two "
        "numeric columns"
    )


def test_message_for_paper_figures_omits_predictions(small, cxe):
    store = small().write({("adult", "j48.probing"): cxe(0.4)})
    told = refused("plot", store.folder, "--kind", "paper")
    assert told.startswith(f"no result in {store.folder} has a metric after every stage; add the line  stages: [cxe]")


def test_long_titles_are_replaced_by_data_set_names(staged):
    titles = {"sick": "Sick, a thyroid disease", "adult": "Adult"}
    cells = {("adult", "j48.probing"): [[0.9]], ("sick", "j48.probing"): [[0.8]]}
    store = staged(cells, datasets={"adult": 1, "sick": 1}, titles=titles)
    probcal("plot", store.folder)
    svg = (store.folder / "figures" / "stages.svg").read_text(encoding="utf-8")
    assert ">sick<" in svg and ">adult<" in svg and "thyroid" not in svg
