"""Test ``probcal audit``: variants of a published column are ranked by the published numbers they reproduce."""

from __future__ import annotations

import csv
import io
import json

import pytest

from probcal.papers.published import PublishedPaper
from probcal.reporting.check.audit import AuditError, audit, audit_text
from probcal.store.folder import Store
from tests.commands import probcal, refused

PAPER = "langford-zadrozny-2005"


def published(dataset: str, metric: str, learner: str = "J48") -> float:
    return PublishedPaper.read(PAPER).number(dataset, learner, "direct", metric)


@pytest.fixture
def made(small):
    """Return ``made("name", {(row, variant): shift, ...})``: each number is the published number plus ``shift``.

    A row has the name of its data set. The suffix ``-x`` marks another reading. Coil has one split, the others two.
    """

    def make(name: str, cells: dict[tuple[str, str], float], metrics=("cxe", "rms", "auc"), learner="J48") -> Store:
        def numbers(row, shift):
            printed = {metric: published(row.removesuffix("-x"), metric, learner) + shift for metric in metrics}
            spread = (0.0,) if row.startswith("coil") else (-0.01, 0.01)
            return [{metric: number + one for metric, number in printed.items()} for one in spread]

        found = {(row, f"{variant}.direct"): numbers(row, shift) for (row, variant), shift in cells.items()}
        return small(
            name, metrics=metrics, paper=PAPER, counterpart=(learner, "direct"),
            datasets={row: len(of) for (row, _), of in found.items()},
            columns=tuple(dict.fromkeys(column for _, column in found)),
            readings={row: row[:-2] for row, _ in found if row.endswith("-x")},
        ).write(found)  # fmt: skip

    return make


def places(ranked) -> list[tuple]:
    return [(one.rank, one.is_tied, one.name, one.in_band, one.compared) for one in ranked]


def test_variants_are_ranked_by_numbers_in_band_then_distance(made):
    store = made("one", {
        ("coil", "far"): 0.1, ("coil", "near"): 0.02, ("coil", "right"): 0.001,
        ("hepatitis", "far"): 0.0, ("hepatitis", "near"): 0.0, ("hepatitis", "right"): 0.0,
    })  # fmt: skip
    [ranking] = audit([store]).columns
    assert places(ranking.settings) == [
        (1, False, "right/direct", 6, 6), (2, False, "near/direct", 3, 6), (3, False, "far/direct", 3, 6)
    ]  # fmt: skip
    assert (ranking.title, ranking.datasets) == ("J48", ["coil", "hepatitis"])
    assert ranking.settings[1].metric_counts == {"cxe": (1, 2), "rms": (1, 2), "auc": (1, 2)}


def test_equal_variants_share_a_marked_place(made):
    store = made("one", {("coil", "a"): 0.02, ("coil", "b"): 0.02, ("coil", "c"): 0.0})
    assert places(audit([store]).columns[0].settings) == [
        (1, False, "c/direct", 3, 3), (2, True, "a/direct", 0, 3), (2, True, "b/direct", 0, 3)
    ]  # fmt: skip
    assert "| 2= |" in audit_text(store)


def test_only_numbers_of_every_variant_are_counted(made):
    store = made("one", {("coil", "a"): 0.0, ("hepatitis", "a"): 0.2, ("coil", "b"): 0.02})
    [ranking] = audit([store]).columns
    assert places(ranking.settings) == [(1, False, "a/direct", 3, 3), (2, False, "b/direct", 0, 3)]
    assert "- left out: hepatitis; no number of b/direct" in audit_text(store)


def test_misprints_are_not_counted(made):
    store = made("one", {("ionosphere", name): 0.0 for name in ("one", "other")}, learner="Log")
    assert {one.metric for one in audit([store]).columns[0].numbers} == {"rms", "auc"}


def test_infinite_distance_counts_as_ten(made):
    wrong = made("one", {("coil", "a"): float("inf"), ("coil", "b"): 0.0}, metrics=("cxe",))
    assert [one.median for one in audit([wrong]).columns[0].settings] == [0.0, 10.0]


def test_readings_are_ranked_and_variants_use_the_main_reading(made):
    store = made("one", {
        ("coil", "a"): 0.02, ("coil", "b"): 0.03, ("coil-x", "a"): 0.02, ("coil-x", "b"): 0.0,
    })  # fmt: skip
    found = audit([store])
    assert [one.name for one in found.columns[0].settings] == ["a/direct", "b/direct"]
    assert found.columns[0].settings[0].compared == 3
    [of_column], total = found.readings["coil"]
    assert of_column.settings[0].name == "coil-x with b/direct"
    assert places(total) == [(1, False, "coil-x", 3, 3), (2, False, "coil", 0, 3)]


def test_text_names_the_reading_used_to_rank_variants(made):
    cells = {("coil", "a"): 0.02, ("coil-x", "a"): 0.02, ("coil-x", "b"): 0.0, ("hepatitis", "a"): 0.0}
    store = made("one", cells | {("hepatitis", "b"): 0.0})
    assert "variants ranked on 2 data sets: coil (read as coil-x), hepatitis." in audit_text(store)


def test_data_sets_with_overridden_cells_are_marked(made):
    store = made("one", {(row, variant): 0.0 for row in ("coil", "hepatitis") for variant in "ab"})
    path = store.folder / "experiment.json"
    exception = {"datasets": ["coil"], "columns": [["b", "direct"]], "what": "card: coil-x", "why": "a reason"}
    written = json.loads(path.read_text(encoding="utf-8")) | {"exceptions": [exception]}
    path.write_text(json.dumps(written), encoding="utf-8")
    said = audit_text(store, cells=True).replace("\\*", "*")  # as Markdown shows it
    assert "variants ranked on 2 data sets: coil*, hepatitis." in said
    assert any(line.startswith("| coil* ") for line in said.splitlines()) and "hepatitis*" not in said
    assert said.count("* with cells changed by an override") == 2
    assert "COIL, b (card: coil-x): a reason" in said


def test_columns_of_several_folders_are_ranked_together(made):
    stores = made("one", {("coil", "j48"): 0.02}), made("two", {("coil", "j48"): 0.0})
    assert [one.name for one in audit(stores).columns[0].settings] == ["two: j48/direct", "one: j48/direct"]


def test_single_column_gives_advice_to_list_variants(made):
    store = made("one", {("coil", "j48"): 0.0})
    with pytest.raises(AuditError):
        audit([store])
    assert "variants: {pruned: {}, unpruned: {options: -U}}" in refused("audit", store.folder)


def test_command_prints_the_rule_and_single_numbers_with_cells_option(made):
    store = made("one", {("hepatitis", "a"): 0.1, ("hepatitis", "b"): 0.0})
    plain, whole = probcal("audit", store.folder).stdout, probcal("audit", store.folder, "--cells").stdout
    assert plain.startswith("Ranked by the published numbers in band, then by the median distance")
    assert "0.390" not in plain
    [line] = [line for line in whole.splitlines() if "RMS" in line and "0.390" in line]
    assert "0.490 ± 0.014 ✗" in line and "**0.390** ± 0.014 ✓" in line


def test_csv_has_one_line_per_number(made):
    store = made("one", {("coil", "a"): 0.0, ("coil", "b"): 0.02, ("hepatitis", "a"): 0.0})
    lines = list(csv.DictReader(io.StringIO(probcal("audit", store.folder, "-f", "csv").stdout)))
    assert len(lines) == 9 and sum(line["counted"] == "1" for line in lines) == 6
    [line] = [one for one in lines if (one["variant"], one["metric"]) == ("b/direct", "rms")]
    assert (line["dataset"], line["published"], line["mean"], line["in_band"]) == ("coil", "0.237", "0.257", "0")
