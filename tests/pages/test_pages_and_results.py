"""Check that tables and names of pages equal committed results and functions."""

from __future__ import annotations

import re
import runpy
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from probcal.metrics import asymptotic_calibration_bound, calibration_bound
from probcal.metrics.registry import metric_named
from probcal.reporting.grid import NOT_RUN
from probcal.reporting.prediction_summaries import pictures_of
from probcal.store.folder import ESTIMATES, Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import cell_counts, summarise
from tests.commands import probcal
from tests.stored_rows import stored_rows, write_rows

ROOT = Path(__file__).parents[2]
LEADERBOARD = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")


def test_table_equals_the_output_of_the_command():
    words = "-l forest -m beta -m isotonic -m sigmoid -m temperature --metric cxe"
    assert words in LEADERBOARD
    printed = probcal("leaderboard", ROOT / "results" / "defaults", *words.split()).stdout
    lines = [line for line in printed.splitlines() if line.startswith(("|", "- "))]
    assert [line for line in lines if line not in LEADERBOARD] == []


METRICS = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
SCRIPT = ROOT / "docs" / "figures" / "calibration_bound.py"


def test_table_shows_the_values_of_the_functions():
    theorem_2 = runpy.run_path(str(SCRIPT))["theorem_2"]
    lines = [line.strip("| ").split(" | ") for line in METRICS.splitlines() if re.match(r"\| [\d,]+ \|", line)]
    assert [line[0] for line in lines] == ["100", "1,000", "10,000", "100,000", "1,000,000"]
    for rows, *shown in lines:
        n = int(rows.replace(",", ""))
        expected = [
            theorem_2(n, 0.05),
            calibration_bound(n, 0.05),
            asymptotic_calibration_bound(n, 0.05),
            asymptotic_calibration_bound(n, 0.05, rms=0.3),
        ]
        for one, value in zip(shown, expected, strict=True):
            assert float(one) == pytest.approx(value, abs=0.51 * 10 ** -len(one.partition(".")[2]))


ONE_PAPER = (ROOT / "docs" / "one-paper-table.md").read_text(encoding="utf-8")
COMMITTED = ROOT / "results" / "uci-native"
DATASETS = ("breast", "diabetes", "hepatitis")


def test_first_table_is_printed_as_shown():
    words = [word for name in DATASETS for word in ("-d", name)]
    printed = probcal("table", COMMITTED, *words).stdout
    first = printed[printed.index("**Table 1.") : printed.index("**Table 2.")]
    assert first.strip() in ONE_PAPER


def test_check_of_these_data_sets_ends_as_shown(tmp_path):
    folder = tmp_path / "uci-native"
    folder.mkdir()
    shutil.copy(COMMITTED / "experiment.json", folder)
    write_rows(folder, [row for row in stored_rows(COMMITTED) if row["dataset"] in DATASETS])
    checked = probcal("check", folder)
    assert checked.exit_code == 0
    assert checked.stdout.splitlines()[-1] in ONE_PAPER


KEPT = sorted(path.parent.name for path in (ROOT / "results").glob(f"*/{ESTIMATES}"))


@pytest.mark.parametrize("name", KEPT)
def test_committed_summaries_of_predictions_match_the_committed_results(name, tmp_path):
    for file in ("experiment.json", "cells.jsonl", "cells.parquet", ESTIMATES):
        if (ROOT / "results" / name / file).exists():
            shutil.copy(ROOT / "results" / name / file, tmp_path)
    store = Store(tmp_path)
    stored = StoredExperiment.of(store)
    found = pictures_of(store, stored, store.results())
    assert found.figures, f"probcal plot results/{name} where predictions.bin is renews it"
    assert found.notes(stored) == [], f"probcal plot results/{name} where predictions.bin is renews it"


ISOPROBABILITY = (ROOT / "docs" / "isoprobability.md").read_text(encoding="utf-8")
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


@pytest.mark.parametrize(
    ("section", "store", "wanted"), [("Against the truth", TOY, OF_TOY), ("On real data", REAL, OF_REAL)]
)
def test_tables_show_the_means_of_the_committed_results(section, store, wanted):
    text = ISOPROBABILITY.partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| [A-Z]", line)]
    shown = {label: numbers for label, *numbers in lines}
    found = means(store, wanted)
    assert shown == {label: found[label] for label in shown}
    assert found.keys() - shown.keys() <= {"TwoWeightsSVC"}


@pytest.mark.parametrize("store", [TOY, REAL], ids=lambda store: store.folder.name)
def test_no_committed_result_is_failed_missing_or_stale(store):
    found = cell_counts(StoredExperiment.of(store), store.results())
    assert (found.failed, found.not_run, found.stale.total()) == ([], 0, 0)


QUOTED = [
    pytest.param(f"results/{file}", said, id=f"{page.stem}-{file}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for file, said in re.findall(
        r"<!-- results/(\S+\.md) -->\n(.*?)<!-- end -->", page.read_text(encoding="utf-8"), re.DOTALL
    )
]


@pytest.mark.parametrize(("file", "said"), QUOTED)
def test_quoted_tables_equal_their_files(file, said):
    assert said == (ROOT / file).read_text(encoding="utf-8")


def test_every_file_of_speed_results_is_quoted_or_linked():
    there = {f"results/speed/{path.name}" for path in (ROOT / "results" / "speed").glob("*.md")}
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert there <= {block.values[0] for block in QUOTED} | {*re.findall(r"\(\.\./(results/speed/\S+?)\)", pages)}


def test_every_missed_goal_stands_on_the_page_with_its_reason(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    table = import_module("performance_page").missed_goals()
    assert f"<!-- missed goals -->\n{table}<!-- end -->" in (ROOT / "docs" / "performance.md").read_text(
        encoding="utf-8"
    )
