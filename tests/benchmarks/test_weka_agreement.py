"""Test the script of agreement with Weka on a small data set of scikit-learn."""

import csv
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAIRS = {"svm", "hinge", "log", "nb"}

assert find_spec("weka"), "these tests need the extra weka"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("agreement") / "agreement.csv"


@pytest.fixture(scope="module")
def printed(out):
    return agreement("wisconsin", "--splits", "2", "--out", out)


def agreement(*words):
    command = [sys.executable, ROOT / "benchmarks/weka_agreement.py", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment)


def lines(out):
    with out.open(newline="") as file:
        return {line["pair"]: line for line in csv.DictReader(file)}


@pytest.mark.slow
def test_every_pair_has_a_line_with_plausible_numbers(printed, out):
    found = lines(out)
    assert set(found) == PAIRS
    for pair, line in found.items():
        assert (line["dataset"], line["splits"], line["rows"]) == ("wisconsin", "2", "386")
        assert 0.95 * 386 < int(line["same"]) <= 386
        assert (line["largest_difference"] == "") == (pair in ("svm", "hinge"))
    assert 0 < float(found["nb"]["mean_difference"]) <= float(found["nb"]["largest_difference"]) < 0.02
    assert printed.stdout.count("| wisconsin") == len(PAIRS)


@pytest.mark.slow
def test_kernel_naive_bayes_gives_wekas_labels(printed, out):
    line = lines(out)["nb"]
    assert int(line["same"]) >= 0.995 * int(line["rows"])


@pytest.mark.slow
def test_stored_pairs_are_run_again_only_on_request(printed, out):
    before = out.read_text()
    assert agreement("wisconsin", "--out", out).stdout == printed.stdout
    assert out.read_text() == before
    agreement("wisconsin", "--pair", "nb", "--splits", "1", "--again", "--out", out)
    assert out.read_text().startswith(before)
    assert {pair: line["splits"] for pair, line in lines(out).items()} == dict.fromkeys(PAIRS, "2") | {"nb": "1"}


@pytest.mark.slow
def test_message_names_a_data_set_that_is_skipped(tmp_path):
    said = agreement("biology", "--out", tmp_path / "none.csv")
    assert "biology: has no data files here" in said.stderr
    assert not (tmp_path / "none.csv").exists()
