"""Test that commands which only read results do not wait for libraries that only a run needs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STORED = Path(__file__).parents[2] / "results" / "uci-2004"
CODE = """
import sys
from probcal.cli.main import main
try:
    main(sys.argv[1:], standalone_mode=False)
finally:
    print(*({"sklearn", "pandas", "matplotlib", "probcal.runner.plan"} & {*sys.modules}), file=sys.stderr)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["table", "leaderboard", "compare"])
def test_reading_results_imports_no_learners_and_no_frames(command, tmp_path):
    folder = shutil.copytree(STORED, tmp_path / "results")
    assert imported_by(command, folder) == set()


def test_status_imports_no_classes_that_its_run_has_checked(tmp_path):
    for folder in ("configs", "datasets"):
        (tmp_path / folder).symlink_to(STORED.parents[1] / folder)
    folder = shutil.copytree(STORED.parent / "protection", tmp_path / "results" / "protection")
    assert imported_by("status", folder) == {"probcal.runner.plan"}


def imported_by(command, folder):
    """Return which of the libraries that ``CODE`` looks for a command has imported."""
    process = subprocess.run([sys.executable, "-c", CODE, command, folder], capture_output=True, text=True, check=True)
    return {*process.stderr.splitlines()[-1].split()}
