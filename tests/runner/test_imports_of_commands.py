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
    process = subprocess.run([sys.executable, "-c", CODE, command, folder], capture_output=True, text=True, check=True)
    assert process.stderr.splitlines()[-1] == ""
