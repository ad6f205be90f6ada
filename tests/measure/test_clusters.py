"""Test that rows of one cluster count as they should: equal rows as one, and intervals that cover."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from probcal.measure import many_files
from probcal.measure.maps import cross_fit
from probcal.measure.quantities import quantities
from probcal.metrics.bootstrap import basic_interval, bootstrap_values
from probcal.metrics.metric import Prediction
from tests.commands import probcal, refused
from tests.measure.prediction_files import read_table, two_classes, written

CALL = ("-t", "y", "--cluster", "id", "-f", "csv")


def numbers(*words: object) -> dict[tuple[str, ...], list[float]]:
    """Return what ``measure`` prints as CSV, without the lines of counts and the column of rows."""
    result = probcal("measure", *words)
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    names = ("group_column", "group", "stage", "metric")
    return {
        tuple(row[name] for name in names): [float(row[n] or "nan") for n in ("value", "low", "high")] for row in rows
    }


def distinct(n_classes: int) -> tuple[pd.DataFrame, str]:
    if n_classes == 2:
        return two_classes(), "p"
    random = np.random.default_rng(0)
    p = random.dirichlet([1, 1, 1], 150)  # no ties, whose order would be another in a file of more rows
    frame = pd.DataFrame(p, columns=["p_a", "p_b", "p_c"]).assign(y=[random.choice([*"abc"], p=row) for row in p])
    return frame.assign(id=range(150), sex=["F", "M"] * 75, w=random.integers(1, 4, 150)), "p_*"


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("words", ["--draws 0", "--draws 20 -w w"])
def test_equal_rows_of_a_cluster_count_as_one(n_classes, words, tmp_path):
    frame, columns = distinct(n_classes)
    repeated = pd.concat([frame] * 3).sample(frac=1, random_state=0)
    files = written(frame, tmp_path / "one.csv"), written(repeated, tmp_path / "many.csv")
    one, many = (numbers(file, "-p", columns, "-g", "sex", *CALL, *words.split()) for file in files)
    assert one.keys() == many.keys()
    for name, expected in one.items():
        assert many[name] == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True), name
    assert not np.isnan(one["", "", "before", "auc"][1:]).any() or (n_classes == 3 and words == "--draws 0")


def test_intervals_of_independent_rows_equal_those_of_clusters_of_one(tmp_path):
    file = written(two_classes(), tmp_path / "a.csv")
    for draws in (0, 40):
        clustered = numbers(file, "-p", "p", *CALL, "--draws", draws)
        plain = numbers(file, "-p", "p", "-t", "y", "-f", "csv", "--draws", draws)
        for name, expected in plain.items():
            if name[-1] != "c_emp_p" and not name[-1].startswith("test_"):
                assert clustered[name] == pytest.approx(expected, rel=1e-9, nan_ok=True), name


def test_parquet_and_csv_have_the_same_clusters(tmp_path):
    frame = two_classes().assign(id=lambda table: np.arange(len(table)) // 3)
    frame.loc[::20, "id"] = np.nan  # a row without a value is a cluster of its own
    frame.to_parquet(tmp_path / "a.parquet")
    written(frame, tmp_path / "a.csv")
    calls = [numbers(tmp_path / name, "-p", "p", *CALL, "--draws", 40) for name in ("a.csv", "a.parquet")]
    assert str(calls[0]) == str(calls[1])
    column, cluster = read_table(frame, tmp_path, cluster="id").cluster
    known = frame.id.notna().to_numpy()
    assert column == "id"
    assert len(np.unique(cluster)) == frame.id.nunique() + (~known).sum()
    assert frame.id[known].groupby(cluster[known]).nunique().eq(1).all()


def drawn(n_clusters: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, probabilities and clusters. Rows of a cluster share their risk and most of their luck."""
    cluster = np.repeat(np.arange(n_clusters), random.poisson(4, n_clusters) + 1)
    x = random.normal(size=n_clusters)[cluster] + 0.3 * random.normal(size=len(cluster))
    luck = np.where(random.random(len(cluster)) < 0.9, random.random(n_clusters)[cluster], random.random(len(cluster)))
    return (luck < 1 / (1 + np.exp(-x))).astype(np.int64), 1 / (1 + np.exp(-1.5 * x)), cluster


@pytest.mark.parametrize(
    "name",
    ["brier", "auc", *(pytest.param(name, marks=pytest.mark.slow) for name in ("base_rate", "log_loss_bits"))],
)
def test_intervals_of_clusters_cover_and_those_of_rows_do_not(name):
    (quantity,) = (one for one in quantities(True) if one.name == name)
    random = np.random.default_rng(0)
    y, p, _ = drawn(40_000, random)
    truth, samples = float(quantity.value(Prediction(y, p))), 300
    covered = dict.fromkeys(("closed form", "draws", "closed form of rows"), 0)
    for sample in range(samples):
        y, p, cluster = drawn(80, random)
        data = Prediction(y, p, cluster=cluster)
        value = float(quantity.value(data))
        draws = bootstrap_values(y, [p], np.ones(len(y)), [quantity], np.array([[value]]), 200, [sample], None, cluster)
        interval = basic_interval(value, draws[0, :, 0])
        ends = {
            "closed form": quantity.closed_form(data),
            "draws": (interval.low, interval.high),
            "closed form of rows": quantity.closed_form(Prediction(y, p)),
        }
        for kind, (low, high) in ends.items():
            covered[kind] += low <= truth <= high
    # 3.5 standard errors of a share of .95 in 300 samples are .044
    assert covered["closed form"] / samples > 0.9
    assert covered["draws"] / samples > 0.9
    assert covered["closed form of rows"] / samples < 0.8


def test_folds_of_a_map_keep_a_cluster_together(tmp_path):
    # rows of a cluster have one probability, so they stay alike where one map calibrates all of them
    frame = two_classes(100).loc[np.repeat(np.arange(100), 5)]
    for cluster, alike in (("id", True), (None, False)):
        predictions = read_table(frame, tmp_path, cluster=cluster)
        calibrated = cross_fit("beta", predictions, 0)[:, 1].reshape(100, 5)
        assert (np.ptp(calibrated, axis=1) == 0).all() == alike
    said = probcal("measure", tmp_path / "a.csv", "-p", "p", *CALL[:4], "-c", "beta", "--draws", 20).stdout
    assert "stratified folds of whole clusters" in " ".join(said.split())


def test_what_needs_independent_rows_is_left_out_with_a_sentence(tmp_path):
    pytest.importorskip("matplotlib")
    frame = two_classes().assign(id=lambda table: np.arange(len(table)) // 2)
    file, page = written(frame, tmp_path / "a.csv"), tmp_path / "r.html"
    call = ("measure", file, "-p", "p", *CALL[:4], "--cost", "1:2", "-g", "sex", "--draws", 20)
    text = " ".join(probcal(*call, "--report", page).stdout.split())
    assert 'note: 100 clusters of "id" of up to 2 rows, drawn as a whole' in text
    assert "p(c_emp) is left out: it needs independent rows" in text
    assert "With 95 % confidence" not in text
    assert "robust p" in text and "exact p" not in text
    assert 'bootstrap draws of the clusters of "id"' in text
    assert "Bars and bands need independent rows" in page.read_text()
    found = json.loads(probcal(*call, "-f", "json").stdout)
    assert found["data"]["cluster"] == "id"
    assert all(part["exact_p"] is None and part["robust_p"] is not None for part in found["tests"])


def test_a_few_clusters_have_no_intervals(tmp_path):
    frame = two_classes().assign(id=lambda table: np.arange(len(table)) % 12)
    file = written(frame, tmp_path / "a.csv")
    text = probcal("measure", file, "-p", "p", *CALL[:4], "-g", "sex", "--draws", 20).stdout
    assert "Too few clusters for intervals: all rows (12 clusters), sex = F (12 clusters" in " ".join(text.split())
    robust = [row.split() for row in text.splitlines() if row.startswith("sex = ") and " to " in row]
    assert all(row[-2:] == ["\N{EN DASH}"] * 2 for row in robust) and len(robust) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cluster", "sex", "-g", "sex"), '"sex" is given with --group and with --cluster. --group measures'),
        (("--cluster", "id", "--grades", "3"), "the binomial and the Jeffreys test need independent rows"),
        (("--cluster", "idd"), '--cluster: a.csv has no column "idd"; did you mean "id"?'),
        (
            ("--cluster", "sex", "-c", "beta"),
            "5 folds need at least 5 clusters with rows of each class, and there are 2",
        ),
    ],
)
def test_clusters_that_do_not_fit_are_refused(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes(), tmp_path / "a.csv")
    assert said in refused("measure", "a.csv", "-p", "p", "-t", "y", *words)


def test_many_rows_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(many_files, "EXACT_ROWS", 100)
    two_classes().to_parquet(tmp_path / "a.parquet")
    said = refused("measure", tmp_path / "a.parquet", "-p", "p", "-t", "y", "--cluster", "id")
    assert said.startswith("--cluster keeps all rows, to draw those of a cluster together, and these are 200")
