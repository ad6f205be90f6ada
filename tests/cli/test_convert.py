"""Test ``probcal convert``, which moves results of an earlier version to the table."""

from __future__ import annotations

import json
import shutil

import pytest

from probcal.store.cell_result import key_digest
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import contents, probcal, refused
from tests.stored_rows import unpack

CONFIG = """
name: small
datasets: [wine-first]
learners: [tree]
methods: [direct, sigmoid]
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("convert")
    (folder / "small.yaml").write_text(CONFIG)
    assert probcal("run", folder / "small.yaml", "-o", folder / "results").exit_code == 0
    return folder


@pytest.fixture
def earlier(ran, tmp_path, monkeypatch):
    """Return results in the form of versions before the table. The second of the two is stale."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ran, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "results"
    unpack(folder)
    first, second = Store(folder).results().values()
    path = folder / "experiment.json"
    experiment = json.loads(path.read_text(encoding="utf-8"))
    del experiment["stale"]
    experiment["keys"] = {first.id: key_digest(first.key), second.id: "0" * 12}
    path.write_text(json.dumps(experiment, indent=1), encoding="utf-8")
    return folder


def test_converted_results_are_shown_as_before(earlier):
    shown = [probcal(*words, "results") for words in (("table",), ("verify",), ("status",))]
    results = Store(earlier).results()
    assert "stale: 1 of 2 cells" in shown[0].stdout
    done = probcal("convert", "results")
    assert (done.exit_code, done.stdout) == (0, "2 results of results are in results/cells.parquet\n")
    assert [one.output for one in shown] == [
        probcal(*words, "results").output for words in (("table",), ("verify",), ("status",))
    ]
    assert Store(earlier).results() == results
    experiment = json.loads((earlier / "experiment.json").read_text(encoding="utf-8"))
    assert "keys" not in experiment and list(experiment["stale"].values()) == [["wine-first/0/tree/sigmoid"]]
    assert len((earlier / "cells.jsonl").read_text().splitlines()) == 1


def test_every_folder_below_is_converted(earlier):
    shutil.copytree("results", "below/one")
    shutil.copytree("results", "below/deeper/other")
    said = probcal("convert", "below").stdout.splitlines()
    assert said == [
        "2 results of below/deeper/other are in below/deeper/other/cells.parquet",
        "2 results of below/one are in below/one/cells.parquet",
    ]


def test_a_folder_that_another_run_writes_is_unchanged(earlier):
    with Store(earlier).writing("small"):
        before = contents(earlier)
        assert "another probcal run is writing to results" in refused("convert", "results")
        assert contents(earlier) == before


def test_an_impossible_number_is_converted_and_still_refused(earlier):
    path = earlier / "cells.jsonl"
    path.write_text(path.read_text().replace('"rms": 0.', '"rms": 7.', 1))
    assert probcal("convert", "results").exit_code == 0
    assert "results/cells.parquet: wine-first/0/tree/direct: rms is 7." in refused("table", "results")


def test_a_run_converts_its_own_folder(earlier):
    assert probcal("run", "small.yaml", "-o", "results", "--seed", "3").exit_code == 0
    assert (earlier / "cells.parquet").is_file() and len((earlier / "cells.jsonl").read_text().splitlines()) == 1
    assert "keys" not in json.loads((earlier / "experiment.json").read_text(encoding="utf-8"))
    stored = StoredExperiment.of(store := Store(earlier))
    assert not any(map(stored.is_stale, store.results().values())), "new results replaced them"
