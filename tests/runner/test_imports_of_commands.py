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
for command in ("table", "leaderboard", "compare"):
    main([command, sys.argv[1]], standalone_mode=False)
    loaded = {"sklearn", "pandas", "matplotlib", "probcal.runner.plan"} & {*sys.modules}
    assert not loaded, (command, loaded)
"""


@pytest.mark.slow
def test_reading_results_imports_no_learners_and_no_frames(tmp_path):
    folder = shutil.copytree(STORED, tmp_path / "results")
    process = subprocess.run([sys.executable, "-c", CODE, folder], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
