"""Test the public names of the package."""

import subprocess
import sys

import probcal


def test_dir_lists_exactly_the_public_names():
    assert dir(probcal) == sorted([*probcal.__all__, "__version__"])
    assert all(hasattr(probcal, name) for name in dir(probcal))


def test_dir_does_not_import_scikit_learn():
    code = "import probcal, sys; dir(probcal); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
