"""docs/which-method.md: what the choice rests on is in the committed results."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path

import pytest

from tests.commands import probcal

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "which-method.md").read_text(encoding="utf-8")
OF_AUDIT = {
    "J48": ["J48 pruned", "BagJ48 pruned votes", "BagJ48 pruned means", "", "ProbJ48 pruned rejection"],
    "NB": ["NB kernel", "", "", "SigNB kernel log-odds", "ProbNB weight-sum-n"],
}
OF_REAL = {
    "SVM": ["", "SigSVM", "IsoSVM", "ProbSVM", "SweepSVM", "BagSVM"],
    "Log": ["Log", "SigLog", "IsoLog", "ProbLog", "SweepLog", "BagLog"],
    "Tree": ["Tree", "SigTree", "IsoTree", "ProbTree", "SweepTree", "BagTree"],
}


@pytest.mark.parametrize(("results", "columns"), [("audit", OF_AUDIT), ("isoprobability-real", OF_REAL)])
def test_a_table_holds_the_committed_results_on_adult(results, columns):
    lines = csv.DictReader(io.StringIO(probcal("table", ROOT / "results" / results, "-f", "csv").stdout))
    means = {(one["label"], one["metric"]): float(one["mean"] or "nan") for one in lines if one["dataset"] == "adult"}

    def shown(label):
        loss, error = (
            "∞" if math.isinf(mean) else f"{mean:.3f}".lstrip("0")
            for mean in (means[label, "cxe"], means[label, "c_emp"])
        )
        return f"{loss} / {error}"

    table = PAGE.partition(f"`probcal table results/{results} -f csv`")[2].partition("`probcal table")[0]
    for learner, labels in columns.items():
        [line] = re.findall(rf"^\| {learner} \|(.*)\|$", table, re.M)
        assert [cell.strip() for cell in line.split("|")] == [shown(label) if label else "" for label in labels]


def test_the_sigmoid_of_a_probability_is_the_worse_one():
    lines = csv.DictReader(io.StringIO(probcal("table", ROOT / "results" / "audit", "-f", "csv").stdout))
    cells = [one for one in lines if (one["dataset"], one["label"]) == ("adult", "SigNB kernel probability")]
    means = {one["metric"]: f"{float(one['mean']):.3f}".lstrip("0") for one in cells}
    assert f"is {means['cxe']} / {means['c_emp']} instead of" in " ".join(PAGE.split())
