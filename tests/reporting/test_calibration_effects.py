"""Test figures, tables and claims about what calibration changed, from stages before and after it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from probcal.papers.check.comparison import mean_loss_ratio
from probcal.papers.published import PublishedPaper
from probcal.reporting.calibration_effects import measure_effects
from probcal.reporting.paper_figures import error_figure, ratio_figure
from probcal.store.folder import CellResult, Store
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal

PAPER = "gao-parameswaran-peng-2017"
LEARNERS = ("NB", "Boosted", "SVM", "LR", "RF")


@pytest.fixture
def calibrated(tmp_path):
    """Return a function: ``calibrated({("adult", "SVM"): [stages of a split, ...]}, paper=...)`` gives a Store."""

    def write(cells, datasets=("adult", "covertype"), paper=None, repeats=2, **more_columns):
        store = Store(tmp_path / "calibrated")
        columns = [
            {"learner": one, "method": "isotonic", "label": f"Iso{one}", "group": one, "paper_learner": one,
             "paper_method": "isotonic", "before_and_after": True, **more_columns}
            for one in LEARNERS
        ]  # fmt: skip
        with store.writing("calibrated"):
            store.write_experiment(
                {
                    "name": "calibrated", "title": "Small", "metrics": ["c_emp"], "paper": paper, "columns": columns,
                    "datasets": [{"name": d, "title": d.title()} for d in datasets],
                    "repetitions": dict.fromkeys(datasets, repeats),
                }
            )  # fmt: skip
            for (dataset, learner), splits in cells.items():
                for repetition, stages in enumerate(splits):
                    cell = (dataset, repetition, learner, "isotonic", "done", "run1", 1.0)
                    store.add(CellResult(*cell, metrics={"c_emp": 0.01}, stages=stages))
        return store

    return write


def stages(ratio, error=0.1):
    """Return stages in which both costs change by this ratio, and c_emp from ``error`` to .01."""
    return {"c_emp": [error, 0.01], "cost(0.2)": [0.1, 0.1 * ratio], "cost(0.5)": [0.2, 0.2 * ratio]}


def effects(store):
    return measure_effects(StoredExperiment.of(store), store.results())


def everywhere(saved, error=None):
    """Return cells in which each learner saves the same on each split of both data sets."""
    error = error or {"SVM": 0.2, "Boosted": 0.2}
    return {
        (dataset, learner): [stages(1 - share, error.get(learner, 0.02))] * 2
        for dataset in ("adult", "covertype")
        for learner, share in saved.items()
    }


AS_PUBLISHED = {"NB": 0.04, "Boosted": 0.12, "SVM": 0.2, "LR": 0.0, "RF": 0.05}


def test_loss_ratio_is_computed_per_split_and_parameter(calibrated):
    splits = [
        {"cost(0.2)": [0.4, 0.2], "cost(0.5)": [0.4, 0.4], "c_emp": [0.3, 0.1]},
        {"cost(0.2)": [0.2, 0.2], "cost(0.5)": [0.1, 0.05], "c_emp": [0.2, 0.1]},
    ]
    [effect] = effects(calibrated({("adult", "SVM"): splits}))
    assert effect.parameters.tolist() == [0.2, 0.5]
    assert effect.ratios.tolist() == [[0.5, 1], [1, 0.5]]
    assert effect.mean_ratios.tolist() == [0.75, 0.75]
    assert effect.errors.tolist() == [[0.3, 0.1], [0.2, 0.1]]


@pytest.mark.parametrize(
    ("costs", "ratio"), [([0.0, 0.0], 1), ([0.0, 0.1], math.inf), ([0.2, 0.0], 0), ([0.2, math.nan], math.nan)]
)
def test_mean_ratio_of_zero_and_missing_costs(costs, ratio):
    assert np.array_equal(mean_loss_ratio({"cost(0.5)": costs}), ratio, equal_nan=True)


def test_figure_draws_mean_ratios_per_data_set_and_parameter(calibrated):
    store = calibrated({
        ("adult", "SVM"): [stages(0.5), stages(0.7)], ("adult", "LR"): [stages(1), stages(1)],
        ("covertype", "SVM"): [stages(0.9), stages(0.9)],
    })  # fmt: skip
    adult, covertype = ratio_figure("Small", effects(store)).axes
    lines = {line.get_label(): line.get_ydata() for line in adult.get_lines() if line.get_label() in LEARNERS}
    assert {name: list(y) for name, y in lines.items()} == {"SVM": pytest.approx([0.6, 0.6]), "LR": [1, 1]}
    assert (adult.get_title(), covertype.get_title()) == ("Adult", "Covertype")
    assert {text.get_text() for text in adult.texts} == {"SVM", "LR"}
    colours = {line.get_color() for axes in (adult, covertype) for line in axes.get_lines()
               if line.get_label() == "SVM"}  # fmt: skip
    assert len(colours) == 1, "an algorithm has one colour in all panels"


def test_bars_show_the_error_before_calibration(calibrated):
    store = calibrated({("adult", "SVM"): [stages(1, 0.2), stages(1, 0.3)], ("covertype", "LR"): [stages(1, 0.02)] * 2})
    [axes] = error_figure("Small", effects(store)).axes
    assert [patch.get_height() for patch in axes.patches] == pytest.approx([0.25, 0.02])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["SVM", "LR"]
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"Adult", "Covertype", "after calibration"}


def test_plot_draws_both_figures_and_notes_missing_cells(calibrated):
    folder = calibrated({("adult", "SVM"): [stages(0.5)]}).folder
    said = probcal("plot", folder).stderr
    assert "19 of 20 cells failed, were not run or have no stages" in said
    assert {path.stem for path in (folder / "figures").iterdir()} == {"calibration-error", "loss-ratio"}


def test_infinite_ratio_is_a_gap_in_the_figure(calibrated):
    cells = {("adult", "SVM"): [stages(0.5), {**stages(0.5), "cost(0.5)": [0.0, 0.1]}]}
    store = calibrated(cells)
    [axes] = ratio_figure("Small", effects(store)).axes
    line = next(one for one in axes.get_lines() if one.get_label() == "SVM")
    assert np.isnan(line.get_ydata()).tolist() == [False, True]
    assert "∞" in probcal("table", store.folder).stdout


def test_tables_show_errors_mean_ratios_and_published_values(calibrated):
    said = probcal("table", calibrated(everywhere(AS_PUBLISHED), paper=PAPER).folder).stdout
    rows = [line.strip("|").split("|") for line in said.splitlines() if line.startswith("|")]
    lines = [[cell.strip() for cell in row] for row in rows]
    assert ["ADULT", *["0.020 ± 0.000"], *["0.200 ± 0.000"] * 2, *["0.020 ± 0.000"] * 2] in lines
    assert ["mean", "0.960", "0.880", "0.800", "1.000", "0.950"] in lines
    assert ["[paper]", "[0.950 to 0.970]", "[0.880]", "[0.800]", "[1.000]", "[0.950 to 0.970]"] in lines
    assert "Table 4 of" not in said, "this paper has no table of best methods"


def verdicts(store):
    [report] = json.loads(probcal("check", store.folder, "-f", "json").stdout)
    return {one["label"]: one["ours"]["verdict"] for one in report["claims"]}


def test_published_values_support_all_claims(calibrated):
    store = calibrated(everywhere(AS_PUBLISHED), paper=PAPER)
    assert set(verdicts(store).values()) == {"supported"}
    assert probcal("check", store.folder).exit_code == 0


@pytest.mark.parametrize(
    ("learner", "saved", "verdict"),
    [("NB", 0.071, "not supported"), ("NB", 0.069, "supported"), ("NB", 0.009, "not supported")],
)
def test_saving_must_lie_within_two_points_of_its_range(calibrated, learner, saved, verdict):
    store = calibrated(everywhere({**AS_PUBLISHED, learner: saved}), paper=PAPER)
    assert verdicts(store)["nb-saves-3-to-5"] == verdict


def test_the_average_is_over_both_data_sets(calibrated):
    cells = everywhere(AS_PUBLISHED)
    cells["adult", "SVM"], cells["covertype", "SVM"] = [stages(0.7, 0.2)] * 2, [stages(0.9, 0.2)] * 2
    store = calibrated(cells, paper=PAPER)
    assert verdicts(store)["svm-saves-20"] == "supported"
    said = probcal("check", store.folder).stdout
    assert "ours 20.0 % (adult 30.0 %, covertype 10.0 %) / the paper has no table of it" in said


def test_claims_are_undecided_without_one_data_set(calibrated):
    cells = {name: splits for name, splits in everywhere(AS_PUBLISHED).items() if name[0] == "adult"}
    store = calibrated(cells, paper=PAPER)
    assert set(verdicts(store).values()) == {"undecided"}
    done = probcal("check", store.folder)
    assert done.exit_code == 1 and "the claims of gao-parameswaran-peng-2017 are about are not all done" in done.stdout


def test_calibrated_margin_learner_contradicts_the_claim(calibrated):
    cells = everywhere(AS_PUBLISHED, error={"SVM": 0.01, "Boosted": 0.2})
    found = verdicts(calibrated(cells, paper=PAPER))
    assert found["lr-better-calibrated-than-svm"] == "not supported"
    assert found["lr-better-calibrated-than-boosted"] == "supported"


def test_changed_loss_ratio_is_drift(calibrated):
    store = calibrated(everywhere(AS_PUBLISHED), paper=PAPER)
    assert probcal("check", store.folder, "--accept").exit_code == 0
    assert "adult,SVM,isotonic,loss_ratio,0.8 0.8" in (store.folder / "accepted.csv").read_text()
    cell = ("adult", 0, "SVM", "isotonic", "done", "run2", 1.0)
    with store.writing("calibrated"):
        store.add(CellResult(*cell, metrics={"c_emp": 0.01}, stages=stages(0.79, 0.2)))
    done = probcal("check", store.folder)
    assert done.exit_code == 1 and "loss_ratio" in done.stdout.partition("DRIFT:")[2]


def test_every_claim_names_columns_of_the_paper():
    paper = PublishedPaper.read(PAPER)
    assert all(set(one.columns) <= paper.columns.keys() for one in paper.claims)
    assert {one.columns for one in paper.claims if one.kind == "saves"} == {(name,) for name in LEARNERS}
