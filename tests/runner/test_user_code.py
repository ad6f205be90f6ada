"""Test which code of the user belongs to a result and which changes of it count."""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest

from probcal.runner.user_code import user_digests, user_imports

ROOT = Path(__file__).parents[2]
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["probcal.runner.user_code"])


def digests(*modules, folders):
    """Return ``user_digests`` in a process of its own that finds modules in ``folders`` first.

    The process is a copy of one that has imported probcal, since the import takes most of the time.
    """
    ours, theirs = SERVER.Pipe(duplex=False)
    child = SERVER.Process(target=_send_digests, args=(theirs, modules, [str(folder) for folder in folders]))
    child.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        child.join()


def _send_digests(pipe, modules, folders):
    sys.path[:0] = folders
    os.chdir(folders[0])
    pipe.send(user_digests(*modules))


LEARNER = '''
"""A learner."""
from helpers import scale  # ours

class Mine:
    """Mine."""

    def fit(self, X, y):
        """Fit."""
        return scale(X)
'''


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(LEARNER)
    (tmp_path / "helpers.py").write_text("from inner.constants import FACTOR\ndef scale(x): return FACTOR * x\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text("from . import more\n")
    (tmp_path / "inner" / "more.py").write_text("MORE = 1\n")
    (tmp_path / "inner" / "constants.py").write_text("FACTOR = 2\n")
    return tmp_path


def of_mine(folder):
    return digests("mine", folders=[folder, ROOT])


def test_code_of_a_learner_includes_imported_user_modules(mine):
    assert {name for name in of_mine(mine) if not name.startswith("probcal.")} == {
        "mine",
        "helpers",
        "inner",
        "inner.more",
        "inner.constants",
    }


@pytest.mark.parametrize("file", ["mine.py", "helpers.py", "inner/more.py", "inner/constants.py"])
def test_changed_user_module_changes_its_digest(mine, file):
    before = of_mine(mine)
    (mine / file).write_text((mine / file).read_text().replace("2", "3").replace("1", "4").replace("X, y", "X, y, z"))
    (mine / file).write_text((mine / file).read_text().replace("FACTOR * x", "x * FACTOR"))
    after = of_mine(mine)
    assert [name for name in after if after[name] != before[name]] == [file.removesuffix(".py").replace("/", ".")]


def test_comments_docstrings_and_layout_leave_digests_unchanged(mine):
    before = of_mine(mine)
    changed = LEARNER.replace("# ours", "# of this folder").replace('"""Fit."""', '"""Fits."""\n')
    changed = changed.replace('"""A learner."""', "").replace("(self, X, y)", "(\n        self,\n        X, y\n    )")
    (mine / "mine.py").write_text(changed)
    assert of_mine(mine) == before


def test_source_of_the_package_and_of_installed_packages_is_not_read():
    assert user_digests("probcal.methods.probing", "sklearn.tree", "lightgbm") == {}


def test_public_classes_that_user_code_imports_have_their_import_paths(tmp_path, monkeypatch):
    lines = ["import probcal", "from probcal import SigmoidCalibrator", "X = probcal.IsotonicCalibrator"]
    (tmp_path / "uses_ours.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    assert {
        "probcal.methods.calibrators.sigmoid.SigmoidCalibrator",
        "probcal.methods.calibrators.isotonic.IsotonicCalibrator",
    } <= user_imports("uses_ours")
