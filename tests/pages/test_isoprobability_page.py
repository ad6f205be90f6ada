"""Check the example, the tables and the statements of docs/isoprobability.md against the committed results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from probcal.metrics.registry import metric_named
from probcal.reporting.grid import NOT_RUN
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import cell_counts, planned_ids, summarise

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "isoprobability.md").read_text(encoding="utf-8")
TOY, REAL = Store(ROOT / "results" / "isoprobability"), Store(ROOT / "results" / "isoprobability-real")
OF_TOY = [
    ("gaussians-250", "l1"),
    ("gaussians", "l1"),
    ("gaussians-4000", "l1"),
    ("gaussians", "l2"),
    ("gaussians", "l_max"),
    ("gaussians", "crossings"),
]
OF_REAL = [(dataset, metric) for metric in ("rms", "cxe") for dataset in ("adult", "diabetes", "ionosphere", "liver")]


def means(store, wanted):
    """Return the printed means of each column, by its label, in the order of ``wanted``."""
    stored, results = StoredExperiment.of(store), store.results()
    rows = {row.name: row for row in stored.datasets}
    found = {}
    for column in stored.columns:
        summaries = [summarise(stored, results, rows[name], column, metric) for name, metric in wanted]
        found[column.label] = [
            NOT_RUN if one.mean is None else "∞" if one.infinite else f"{one.mean:.{metric_named(metric).decimals}f}"
            for one, (_, metric) in zip(summaries, wanted, strict=True)
        ]
    return found


def test_example_prints_the_shown_output(capsys):
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("section", "store", "wanted"), [("Against the truth", TOY, OF_TOY), ("On real data", REAL, OF_REAL)]
)
def test_tables_show_the_means_of_the_committed_results(section, store, wanted):
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| [A-Z]", line)]
    shown = {label: numbers for label, *numbers in lines}
    found = means(store, wanted)
    assert shown == {label: found[label] for label in shown}
    assert found.keys() - shown.keys() <= {"TwoWeightsSVC"}


def test_numbers_in_the_text_equal_the_committed_results():
    stored, results = StoredExperiment.of(TOY), TOY.results()
    cells = [one for one in results.values() if one.method in ("weight_sweep", "two_weights")]

    def crossings(dataset, learner):
        return [one.metrics["crossings"] for one in cells if (one.dataset, one.learner) == (dataset, learner)]

    for dataset in ("gaussians-250", "gaussians", "gaussians-4000"):
        assert crossings(dataset, "logistic") == [0] * 20
    assert "in 13 of the 20 draws" in PAGE and sum(crossings("gaussians-14", "svc")) == 13
    assert all(one.status == "done" for one in results.values())
    pairs = [(row, column) for row in stored.datasets for column in stored.columns]
    planned = [cell for pair in pairs for cell in planned_ids(stored, *pair)]
    assert "1,240 cells" in PAGE and results.keys() == {*planned} and len(planned) == 1240
    assert "713 cells" in PAGE and len(REAL.results()) == 713


def test_crossings_of_the_tree_are_rounded_equally_everywhere():
    [shown] = means(TOY, [("gaussians", "crossings")])["SweepTree"]
    assert shown == "101.5" and PAGE.count("101.5") == 6  # the text twice, the table four times
    assert not re.search(r"\b10[12]\b[^.]", PAGE)


def rms_of(learner):
    """Return the printed RMS of each data set, by label, for the columns of ``learner``."""
    return {
        label: np.array(numbers[:4], dtype=float)
        for label, numbers in means(REAL, OF_REAL).items()
        if label.endswith(learner)
    }


def test_statements_on_linear_learners_on_real_data_hold():
    worse = {}  # RMS minus that of the sweep, on each data set; Ionosphere is the third
    for learner in ("SVM", "Log"):
        rms = rms_of(learner)
        worse |= {label: np.round(one - rms[f"Sweep{learner}"], 3) for label, one in rms.items()}
    near = [worse[label] for label in ("ProbSVM", "SigSVM", "ProbLog", "SigLog", "Log")]
    assert "is within .006 of that of Probing, of a sigmoid and of logistic regression itself" in PAGE
    assert np.abs(near).max() == 0.006
    isotonic = np.array([worse["IsoSVM"], worse["IsoLog"]])
    assert "is within .001 on Adult and .007 to .022 worse" in PAGE
    assert (isotonic[:, 0].max(), isotonic[:, 1:].min(), isotonic[:, 1:].max()) == (0.001, 0.007, 0.022)
    bagged = np.array([worse["BagSVM"], worse["BagLog"]]).ravel()
    assert bagged[2] == -0.007
    assert (np.delete(bagged, 2).min(), bagged.max()) == (0.013, 0.104)


def test_statements_on_the_tree_on_real_data_hold():
    rms = {label: one[1:] for label, one in rms_of("Tree").items()}  # Diabetes, Ionosphere, Liver
    others = np.minimum.reduce([rms["Tree"], rms["SigTree"], rms["IsoTree"]])
    assert (rms["SweepTree"] < others).all() and (rms["BoundsTree"] < others).all()
    assert (rms["FirstTree"] > rms["IsoTree"]).tolist() == [True, False, True]
    sweeps = np.minimum.reduce([rms["SweepTree"], rms["BoundsTree"], rms["FirstTree"]])
    assert (rms["BagTree"] < sweeps).tolist() == [True, False, True]
    assert rms["BagTree"][1] == rms["SweepTree"][1]
    assert (rms["ProbTree"] < sweeps).tolist() == [False, True, False]


def test_every_linked_picture_and_page_exists():
    named = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert len(named) >= 7
    assert [one for one in named if not (ROOT / "docs" / one).exists()] == []


@pytest.mark.parametrize("store", [TOY, REAL], ids=lambda store: store.folder.name)
def test_no_committed_result_is_failed_missing_or_stale(store):
    found = cell_counts(StoredExperiment.of(store), store.results())
    assert (found.failed, found.not_run, found.stale.total()) == ([], 0, 0)


def test_grid_under_the_true_surfaces_has_the_stated_error():
    # the log-odds of the toy are normal with sd 2 and mean 2 in the positive class, and mean -2 in the other class
    odds = np.linspace(-14, 18, 400_001)
    density = np.exp(-((odds - 2) ** 2) / 8)
    p = expit(odds)
    midpoints = (np.floor(p / 0.05) + 0.5) * 0.05
    error = (np.abs(p - midpoints) * density).sum() / density.sum()
    assert f"**The grid costs {error:.4f}.**".replace("0.", ".", 1) in PAGE


def test_outermost_surface_of_the_svm_has_true_probability_098():
    cell = TOY.results()["gaussians-4000/0/svm/weight_sweep"]
    [line] = [one for one in cell.curves["iso_probability"] if one["level"] == 0.95]
    x, y = (np.interp(np.linspace(0.3, 0.7, 5), [0, 1], line[k]) for k in "xy")
    assert f"{expit(x + 2 * y).mean():.2f}" == "0.98"
