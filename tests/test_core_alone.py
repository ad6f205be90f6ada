"""Test that all first steps work without the optional packages, and that messages name the install command."""

from __future__ import annotations

import csv
import io

import pytest

from probcal.distribution import install_line
from tests.learners.weka.test_without_the_extra import without
from tests.try_table.own_tables import customers, written

HIDDEN = ("matplotlib", "mpl_toolkits", "openml", "minio", "requests", "urllib3", "numba", "jpype", "dask")


def core(tmp_path, *words):
    return without(HIDDEN, tmp_path, *words)


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    folder = tmp_path_factory.mktemp("core")
    written(customers(200), folder / "c.csv")
    few = ("-l", "tree", "-m", "sigmoid", "--splits", "2", "--export", "model")
    return folder, core(folder, "-m", "probcal", "try", "c.csv", "--target", "left", *few)


@pytest.mark.slow
def test_try_and_predict_run_without_extras(tried):
    folder, done = tried
    assert done.returncode == 0, done.stderr
    assert "probability" in (folder / "results" / "try-c-left" / "report.html").read_text(encoding="utf-8")
    predicted = core(folder, "model/predict.py", "c.csv")
    assert len(list(csv.DictReader(io.StringIO(predicted.stdout)))) == 200, predicted.stderr


@pytest.mark.slow
def test_export_names_the_install_command_for_its_diagram(tried):
    folder, done = tried
    line = 'install it with: pip install "matplotlib>=3.8"'
    assert line in " ".join(done.stdout.split())
    assert line in (folder / "model" / "model-card.md").read_text(encoding="utf-8")
    assert not (folder / "model" / "reliability.svg").exists()


@pytest.mark.slow
def test_measure_report_has_tables_but_no_figures(tried):
    folder, _ = tried
    words = ("measure", "model/predictions.csv", "-t", "left", "-p", "p(yes)", "--report", "m.html")
    done = core(folder, "-m", "probcal", *words, "--positive", "yes", "--draws", "20")
    assert done.returncode == 0, done.stderr
    assert 'pip install "matplotlib>=3.8"' in done.stderr
    page = (folder / "m.html").read_text(encoding="utf-8")
    assert "<table" in page and "<img" not in page


@pytest.mark.slow
def test_an_experiment_runs_and_reports(tmp_path):
    done = core(tmp_path, "-m", "probcal", "run", "quickstart", "--quick", "-d", "wine-first", "-l", "tree")
    assert done.returncode == 0, done.stderr
    done = core(tmp_path, "-m", "probcal", "report", "results/quickstart-quick")
    assert (done.returncode, 'pip install "matplotlib>=3.8"' in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("plot", "results"), "plots"),
        (("try", "openml:31"), "openml"),
    ],
)
def test_missing_package_message_names_the_install_command(tmp_path, words, extra):
    done = core(tmp_path, "-m", "probcal", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.endswith(f"not installed; install it with: {install_line(extra)}\n")
