"""Test that commands that read results work on a folder that they may not write to."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from probcal.store.folder import CellResult
from tests.commands import probcal, refused
from tests.reporting.conftest import small  # noqa: F401


@pytest.fixture
def folder(small):  # noqa: F811
    """Return results with predictions of two data sets and two columns."""
    store = small(datasets={"adult": 2, "sick": 2}, columns=("j48.direct", "j48.probing"), metrics=("rms",)).write({})
    random = np.random.default_rng(0)
    with store.writing("small"):
        for dataset in ("adult", "sick"):
            for split in range(2):
                for method in ("direct", "probing"):
                    y, p = np.array([0, 1] * 20, dtype=np.int8), random.random(40)
                    metrics = {"rms": float(np.sqrt(np.mean((y - p) ** 2)))}
                    cell = CellResult(dataset, split, "j48", method, "done", "r", 1.0, metrics=metrics, n_test=40)
                    store.add(cell, y, p)
    return store.folder


@pytest.fixture
def read_only(folder, monkeypatch):
    """Refuse to write below the folder as the system does for another user. Root may write anywhere."""

    def refuse(real):
        def call(path, *arguments, **options):
            is_below = Path(str(path)).absolute().is_relative_to(folder)
            writes = any(isinstance(one, str) and set(one) & set("wax+") for one in [*arguments, options.get("mode")])
            if is_below and (real is not _OPEN or writes):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real(path, *arguments, **options)

        return call

    monkeypatch.setattr("io.open", refuse(_OPEN))
    monkeypatch.setattr("builtins.open", refuse(_OPEN))
    monkeypatch.setattr(Path, "mkdir", refuse(Path.mkdir))
    return folder


_OPEN = open


@pytest.mark.parametrize("command", ["status", "table", "check", "compare", "leaderboard", "verify"])
def test_reading_commands_work_on_a_read_only_folder(read_only, command):
    before = sorted(path.name for path in read_only.iterdir())
    result = probcal(command, read_only)
    assert not isinstance(result.exception, OSError)
    assert "Permission denied" not in result.output + result.stderr
    assert sorted(path.name for path in read_only.iterdir()) == before


def test_report_and_plot_write_elsewhere(read_only, tmp_path):
    pytest.importorskip("matplotlib")
    assert probcal("report", read_only, "-o", tmp_path / "page.html").exit_code == 0
    result = probcal("plot", read_only, "-k", "reliability", "-k", "ranks", "-o", tmp_path / "pictures")
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert {"reliability-adult.png", "reliability-adult.svg", "ranks-rms.svg"} <= names


def test_plot_names_the_option_where_it_cannot_write(read_only):
    pytest.importorskip("matplotlib")
    message = refused("plot", read_only, "-k", "reliability")
    assert "cannot write figures to" in message and "choose another folder with -o" in message


def test_figures_of_several_experiments_have_a_folder_each(folder, tmp_path):
    pytest.importorskip("matplotlib")
    result = probcal("plot", folder.parent, "-k", "ranks", "-o", tmp_path / "pictures")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "pictures" / folder.name / "ranks-rms.svg").is_file()
    assert not (folder / "figures").exists()
