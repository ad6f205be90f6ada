"""Test the instruction set that witnesses are computed with."""

import os
import subprocess
import sys

import pytest

from probcal.runner.processor import lacking_flags, level_environment

FOUND = "import numpy as np; print(np.show_config(mode='dicts')['SIMD Extensions'].get('found', []))"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the groups that numpy finds on Linux")
def test_numpy_computes_without_the_instructions_above_the_level():
    environment = os.environ | level_environment()
    done = subprocess.run([sys.executable, "-c", FOUND], env=environment, text=True, capture_output=True, check=True)
    assert not [group for group in done.stdout.split("'") if group.startswith(("AVX512", "X86_V4"))]


def test_lacking_instructions_are_named(tmp_path):
    info = tmp_path / "cpuinfo"
    info.write_text("processor : 0\nflags : fpu avx bmi1 bmi2 f16c movbe fma\n")
    assert lacking_flags(info) == {"avx2"}
    info.write_text("processor : 0\nflags : fpu avx avx2 bmi1 bmi2 f16c movbe fma\n")
    assert lacking_flags(info) == frozenset()
    assert lacking_flags(tmp_path / "missing") == frozenset()
