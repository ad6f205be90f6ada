"""Test that the name and the format of a file change no number of a trial."""

import re

import numpy as np
import pytest

from probcal.store.folder import Store
from tests.commands import probcal
from tests.try_table.own_tables import customers, written

WORDS = ("-t", "left", "-l", "forest", "-m", "direct", "--splits", 2)


def metrics_of(folder):
    return {name.partition("/")[2]: one.metrics for name, one in Store(folder).results().items()}


@pytest.fixture
def frame():
    frame = customers(80).drop(columns=["id", "since"])
    return frame.assign(regular=frame["age"] > 40, spend=frame["spend"].astype("f4"))


@pytest.mark.slow
@pytest.mark.parametrize("other", ["another name.csv", "semicolons.csv", "table.parquet"])
def test_names_and_formats_change_no_number(tmp_path, monkeypatch, frame, other):
    monkeypatch.chdir(tmp_path)
    if other.endswith("parquet"):
        frame.to_parquet(other)
    else:
        written(frame, tmp_path / other, sep=";" if "semicolons" in other else ",")
    written(frame, tmp_path / "one.csv")
    for path, folder in (("one.csv", "a"), (other, "b")):
        assert probcal("try", path, *WORDS, "-o", folder).exit_code == 0
    assert metrics_of(tmp_path / "a") == metrics_of(tmp_path / "b") != {}


@pytest.mark.slow
def test_saved_experiment_keeps_its_splits_under_another_name(tmp_path, monkeypatch, frame):
    monkeypatch.chdir(tmp_path)
    written(frame, tmp_path / "one.csv")
    assert probcal("try", "one.csv", *WORDS, "-o", "a", "--save", "my.yaml").exit_code == 0
    card = (tmp_path / "my-data" / "one.yaml").read_text()
    assert re.search(r'^seed_name: "labels-[0-9a-f]{16}"$', card, re.MULTILINE)
    (tmp_path / "my-data" / "two.yaml").write_text(card.replace("name: one\n", "name: two\n"))
    (tmp_path / "my.yaml").write_text((tmp_path / "my.yaml").read_text().replace("one.yaml", "two.yaml"))
    assert probcal("run", "my.yaml", "-o", "b").exit_code == 0
    assert metrics_of(tmp_path / "a") == metrics_of(tmp_path / "b") != {}


def test_dropping_a_column_keeps_the_splits_and_another_order_changes_them(tmp_path, frame):
    from probcal.try_table.experiment_files import table_files
    from probcal.try_table.preparation import TableRequest, prepare

    def seed_name(table, **more):
        path = str(written(table, tmp_path / "t.csv"))
        return table_files(prepare(TableRequest(path, "left", **more)), "t").dataset.card.seed_name

    first = seed_name(frame)
    assert seed_name(frame, drop=("age",)) == seed_name(frame, category=("age",)) == first
    assert seed_name(frame.iloc[np.argsort(frame["left"].to_numpy(), kind="stable")]) != first
