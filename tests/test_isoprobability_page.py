"""docs/isoprobability.md: its example prints what is shown, its tables hold the committed results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from probcal.show.grid import NOT_RUN
from probcal.show.metric_names import metric_name
from probcal.show.outline import Outline
from probcal.show.summary import census, summarise
from probcal.store import Store

ROOT = Path(__file__).parents[1]
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
    """Label of each column -> its printed means, in the order of ``wanted``."""
    outline, results = Outline.of(store), store.results()
    rows = {row.name: row for row in outline.datasets}
    found = {}
    for column in outline.columns:
        summaries = [summarise(outline, results, rows[name], column, metric) for name, metric in wanted]
        found[column.label] = [
            NOT_RUN if one.mean is None else "∞" if one.infinite else f"{one.mean:.{metric_name(metric).decimals}f}"
            for one, (_, metric) in zip(summaries, wanted, strict=True)
        ]
    return found


def test_the_example_prints_what_is_shown(capsys):
    [(code, shown)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.S)
    exec(code, {})
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("section", "store", "wanted"), [("Against the truth", TOY, OF_TOY), ("On real data", REAL, OF_REAL)]
)
def test_a_table_holds_the_means_of_the_committed_results(section, store, wanted):
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| [A-Z]", line)]
    shown = {label: numbers for label, *numbers in lines}
    found = means(store, wanted)
    assert shown == {label: found[label] for label in shown}
    assert found.keys() - shown.keys() <= {"TwoWeightsSVC"}


def test_the_numbers_in_the_text_are_those_of_the_committed_results():
    outline, results = Outline.of(TOY), TOY.results()
    cells = [one for one in results.values() if one.method in ("weight_sweep", "two_weights")]

    def crossings(dataset, learner):
        return [one.metrics["crossings"] for one in cells if (one.dataset, one.learner) == (dataset, learner)]

    for dataset in ("gaussians-250", "gaussians", "gaussians-4000"):
        assert crossings(dataset, "logistic") == [0] * 20
    assert "in 13 of the 20 draws" in PAGE and sum(crossings("gaussians-14", "svc")) == 13
    assert all(one.status == "done" for one in results.values())
    assert "1,240 cells" in PAGE and len(results) == len(outline.keys) == 1240
    assert "713 cells" in PAGE and len(REAL.results()) == 713


def test_every_picture_and_page_that_it_names_is_there():
    named = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert len(named) >= 7
    assert [one for one in named if not (ROOT / "docs" / one).exists()] == []


@pytest.mark.parametrize("store", [TOY, REAL], ids=lambda store: store.folder.name)
def test_no_result_is_stale(store):
    found = census(Outline.of(store), store.results())
    assert (found.failed, found.not_run, found.stale.total()) == ([], 0, 0)


def test_the_error_of_a_grid_under_the_true_surfaces_is_the_one_it_tells():
    # the log-odds of the toy are normal with mean 2 and sd 2 in the positive class, the mirror image in the other
    odds = np.linspace(-14, 18, 400_001)
    density = np.exp(-((odds - 2) ** 2) / 8)
    p = expit(odds)
    midpoints = (np.floor(p / 0.05) + 0.5) * 0.05
    error = (np.abs(p - midpoints) * density).sum() / density.sum()
    assert f"**The grid costs {error:.4f}.**".replace("0.", ".", 1) in PAGE


def test_the_outermost_surface_of_the_machine_lies_where_it_says():
    cell = TOY.results()["gaussians-4000/0/svm/weight_sweep"]
    [line] = [one for one in cell.curves["iso_probability"] if one["level"] == 0.95]
    x, y = (np.interp(np.linspace(0.3, 0.7, 5), [0, 1], line[k]) for k in "xy")
    assert f"{expit(x + 2 * y).mean():.2f}" == "0.98"
