"""Test the figures of predictions of ``probcal plot``: reliability diagrams, histograms, ROC and cost curves."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from probcal.metrics import decision_curve
from probcal.reporting.drawing import LineStyle, drawing_style, line_styles, panel_groups
from probcal.reporting.prediction_curves import read_stored_predictions
from probcal.reporting.prediction_figures import ESTIMATE_KINDS, estimate_figures
from probcal.reporting.prediction_summaries import pictures_of
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal, refused
from tests.reporting.small_estimates import drawn, folder_of


def figures_of(store, *kinds):
    stored, results = StoredExperiment.of(store), store.results()
    pictures = pictures_of(store, stored, results).figures
    with drawing_style():
        return dict(estimate_figures(stored, results, pictures, kinds or ESTIMATE_KINDS))


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_each_kind_and_data_set_gives_one_figure(tmp_path):
    rows = [{"name": one, "title": one.title(), "split": "standard"} for one in ("wine", "iris")]
    cells = {(row, name, 0): drawn(7) for row in ("wine", "iris") for name in ("tree.direct", "tree.x", "nb.direct")}
    asked = {"datasets": rows, "repetitions": {"wine": 1, "iris": 1}, "columns": ("tree.direct", "tree.x", "nb.direct")}
    figures = figures_of(folder_of(tmp_path / "small", cells, **asked))
    assert list(figures) == [f"{kind}-{row}" for row in ("wine", "iris") for kind in ESTIMATE_KINDS]
    for kind in ("reliability", "roc", "cost-curves", "decision-curves"):
        tree, nb = figures[f"{kind}-iris"].axes
        assert [axes.get_title() for axes in (tree, nb)] == ["tree", "nb"]
        assert [label.partition(",")[0] for label in labels(tree)][-2:] == ["tree.direct", "tree.x"]
    assert [axes.get_title() for axes in figures["scores-wine"].axes] == ["tree.direct", "tree.x", "nb.direct"]


def test_groups_of_one_column_share_one_panel(tmp_path):
    store = folder_of(tmp_path / "small", columns=("tree.direct", "nb.direct"))
    [axes] = figures_of(store, "roc")["roc-wine"].axes
    assert labels(axes) == ["tree.direct, AUC 0.750", "nb.direct, AUC 0.750"]


def test_more_than_seven_columns_are_split_evenly_over_panels(tmp_path):
    columns = tuple(f"tree.m{number}" for number in range(9))
    store = folder_of(tmp_path / "small", {("wine", one, 0): drawn(5) for one in columns}, columns=columns)
    assert [len(labels(axes)) for axes in figures_of(store, "reliability")["reliability-wine"].axes] == [5, 4]


def test_reliability_diagram_draws_each_bin_with_its_interval(tmp_path):
    store = folder_of(tmp_path / "small", columns=("nb.direct",))
    [axes] = figures_of(store, "reliability")["reliability-wine"].axes
    [picture] = pictures_of(store, StoredExperiment.of(store), store.results()).figures
    [line] = [one for one in axes.get_lines() if one.get_label() == "nb.direct"]
    assert list(line.get_xdata()) == list(picture.reliability.mean)
    assert list(line.get_ydata()) == list(picture.reliability.observed)
    bars = [segment.tolist() for segment in axes.collections[0].get_segments()]
    drawn_bars = zip(picture.reliability.mean, picture.reliability.low, picture.reliability.high, strict=True)
    assert bars == [[[x, low], [x, high]] for x, low, high in drawn_bars]


def test_decision_curve_matches_the_metrics_module(tmp_path):
    store = folder_of(tmp_path / "small", columns=("nb.direct",))
    [axes] = figures_of(store, "decision-curves")["decision-curves-wine"].axes
    assert labels(axes) == ["Treat all", "Treat none", "nb.direct"]
    stored = StoredExperiment.of(store)
    one = read_stored_predictions(store, stored, store.results(), stored.datasets[0], stored.columns[0])
    [line] = [line for line in axes.get_lines() if line.get_label() == "nb.direct"]
    expected = decision_curve(one.y, one.p, line.get_xdata())
    assert line.get_ydata() == pytest.approx(expected.net_benefit)
    [every] = [line for line in axes.get_lines() if line.get_label() == "Treat all"]
    assert every.get_ydata() == pytest.approx(expected.treat_all)


def test_score_histogram_shows_the_shares_of_each_class(tmp_path):
    store = folder_of(tmp_path / "small", columns=("nb.direct",))
    [axes] = figures_of(store, "scores")["scores-wine"].axes
    [picture] = pictures_of(store, StoredExperiment.of(store), store.results()).figures
    _, negative, positive = picture.score_histogram
    shares = [*positive / positive.sum(), *-negative / negative.sum()]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(shares)


def test_line_styles_are_distinct_in_colour_and_grey():
    looks = [LineStyle(number).point_options() for number in range(60)]
    dashes, marks = ([one[name] for one in looks] for name in ("linestyle", "marker"))
    grey = list(zip(dashes, marks, strict=True))
    assert len({(one["color"], *pair) for one, pair in zip(looks, grey, strict=True)}) == 60
    for first in range(15):
        assert len(set(grey[first : first + 45])) == 45
    assert all(a != b for of in (dashes, marks) for a, b in pairwise(of))


def test_methods_keep_their_style_across_learners(tmp_path):
    columns = StoredExperiment.of(folder_of(tmp_path / "small")).columns
    styles = line_styles(panel_groups(columns))
    of = {column.label: style.number for column, style in styles.items()}
    assert of["tree.direct"] == of["nb.direct"] != of["tree.probing"] == of["nb.probing"]
    alone = line_styles(dict.fromkeys(columns, ""))
    assert len({style.number for style in alone.values()}) == 4


# --- the command -----------------------------------------------------------------------------------


def test_plot_draws_only_the_selected_kinds_and_columns(tmp_path):
    store = folder_of(tmp_path / "small")
    ran = probcal("plot", store.folder, "--kind", "roc", "--kind", "scores", "-l", "nb", "-m", "direct", "-d", "wine")
    folder = store.folder / "figures"
    names = [f"{one}-wine.{kind}" for one in ("scores", "roc") for kind in ("png", "svg")]
    assert ran.stdout.splitlines() == [str(folder / name) for name in names]
    svg = (folder / "roc-wine.svg").read_text(encoding="utf-8")
    assert ">nb.direct, AUC 0.750<" in svg and "tree" not in svg and "probing" not in svg
    kept = (store.folder / "estimates.json").read_text(encoding="utf-8")
    assert kept.count('"dataset"') == 4, "what is kept is of all columns, whatever is drawn"


@pytest.mark.slow
def test_hostile_names_are_drawn_as_text(tmp_path):
    store = folder_of(tmp_path / "small", {("wine", "nb.direct", 0): drawn(1), ("wine", "nb.x", 0): drawn(2)})
    path = store.folder / "experiment.json"
    hostile = ("<script>$x^2$\\x1b[31m" + "é" * 400, "_hidden", "$\\\\frac{1}{$")
    text = path.read_text().replace('"title": "Wine"', f'"title": "{hostile[0]}"').replace("nb.probing", "nb.x", 1)
    text = text.replace('"label": "nb.direct"', f'"label": "{hostile[1]}"')
    text = text.replace('"group": "nb"', f'"group": "{hostile[2]}"')
    path.write_text(text.replace('"method": "probing"', '"method": "x"').replace("\\x1b", "\\u001b"))
    assert probcal("plot", store.folder).exit_code == 0
    for kind in ESTIMATE_KINDS:
        svg = (store.folder / "figures" / f"{kind}-wine.svg").read_text(encoding="utf-8")
        assert "<script" not in svg and "\x1b" not in svg
        assert "_hidden" in svg and re.search(r"&lt;script&gt;\$x\^2\$", svg)


def test_empty_selection_is_rejected(tmp_path):
    store = folder_of(tmp_path / "small", columns=("tree.direct", "nb.probing"))
    assert refused("plot", store.folder, "-l", "nb", "-m", "direct") == "no experiment here has nb with direct"


def test_impossible_kind_is_rejected_with_its_requirement(tmp_path):
    store = folder_of(tmp_path / "small", columns=("nb.direct",))
    (store.folder / "predictions.bin").unlink()
    said = probcal("plot", store.folder, "--kind", "roc")
    assert said.exit_code == 2 and "has what --kind roc draws. It needs predictions" in said.stderr
    assert "nb.direct: the predictions are no longer stored" in said.stderr


@pytest.mark.parametrize("stale", [True, False])
def test_missing_and_stale_cells_are_noted(tmp_path, stale):
    keys = {"wine/0/nb/direct": "0123456789ab"} if stale else {}
    cells = {("wine", "nb.direct", 0): drawn(1)}
    store = folder_of(tmp_path / "small", cells, columns=("nb.direct",), keys=keys)
    notes = probcal("plot", store.folder, "-k", "scores").stderr.splitlines()
    assert f"note: {store.folder}: 1 of 2 cells failed or were not run" in notes
    assert (f"note: {store.folder}: 1 of 2 cells are stale; probcal run renews them" in notes) is stale


def test_the_command_offers_all_kinds():
    from probcal.cli.results import FIGURE_KINDS as offered
    from probcal.cli.results import RANKS
    from probcal.reporting.figures import KINDS

    assert offered == (*KINDS, RANKS)
