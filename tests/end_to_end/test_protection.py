"""Test that the command line reproduces the authors' figures on Bank Marketing from the original file."""

import pytest

from probcal.config.experiment import find_config
from probcal.store.folder import Store
from tests.commands import probcal


@pytest.fixture(scope="module")
def folder(original_files, tmp_path_factory):
    """Run the columns with published numbers, with one repetition: the forest of the authors' seed."""
    folder = tmp_path_factory.mktemp("protection")
    config, text = folder / "one.yaml", find_config("protection").read_text(encoding="utf-8")
    assert text.count("repeats: 10 ") == 1
    config.write_text(text.replace("repeats: 10 ", "repeats: 1 "), encoding="utf-8")
    columns = ("base.untruncated", "base.0.01", "slipped.0.01")
    chosen = [word for column in columns for word in ("-m", column)]
    done = probcal("run", config, "-o", folder / "results", "--data-dir", original_files, *chosen)
    assert done.exit_code == 0, done.stderr
    return folder / "results"


@pytest.mark.slow
def test_the_published_numbers_and_the_gain_are_reproduced(folder):
    printed = probcal("check", folder).stdout
    assert "cells: 7 in band, 0 known deviations, 0 new, 0 not run (of 7)" in printed
    assert "differences: 3 in band, 0 known deviations, 0 new" in printed
    assert "  supported: slipped-gains-log-s-at-.01" in printed


@pytest.mark.slow
def test_most_of_the_gain_is_in_the_last_tenth(folder):
    [curve] = Store(folder).results()["bank-marketing/0/forest/slipped.0.01"].curves["martingale"]
    [before] = [y for x, y in zip(curve["x"], curve["y"], strict=True) if abs(x - 0.9 * 35_211) < 45]
    # 3231.7 at the end, 1321.9 after nine tenths
    assert (curve["x"][-1], curve["y"][-1], before) == (35_211, 3231.7454, pytest.approx(1321.9, abs=25))


def test_the_protection_figure_is_drawn(folder):
    assert probcal("plot", folder, "--kind", "paper").exit_code == 0
    assert {path.name for path in (folder / "figures").iterdir()} == {"protection.png", "protection.svg"}
