"""Test what happens when Java ends its process: the cell fails with the reason, and all other cells are done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stored_rows import stored_rows

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows ends a process with other codes")
ROOT = Path(__file__).parents[3]

MODULE = """
import ctypes
from probcal.learners import WekaClassifier
from probcal.learners.weka.jvm import java_class

class Crash(WekaClassifier):
    def fit(self, X, y):
        java_class("java.lang.Object")
        ctypes.string_at(0)

class Exit(WekaClassifier):
    def fit(self, X, y):
        java_class("java.lang.System").exit(3)

class Halt(WekaClassifier):
    def fit(self, X, y):
        java_class("java.lang.Runtime").getRuntime().halt(0)
"""
CONFIG = """
name: small
datasets: [wine-first]
learners:
  j48:
  crash: {type: learners_that_end.Crash}
  exit: {type: learners_that_end.Exit}
  halt: {type: learners_that_end.Halt}
methods: [direct]
"""


@pytest.mark.slow
def test_a_java_that_ends_its_process_is_a_failed_cell_with_the_reason(tmp_path):
    pytest.importorskip("jpype", reason="needs probcal[weka]")
    (tmp_path / "learners_that_end.py").write_text(MODULE)
    (tmp_path / "small.yaml").write_text(CONFIG)
    done = subprocess.run(
        [sys.executable, "-m", "probcal", "run", "small.yaml", "-o", "results", "-j", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    rows = stored_rows(tmp_path / "results")
    cells = {row["learner"]: (row["status"], row.get("message")) for row in rows}
    assert done.returncode == 1, done.stderr
    assert cells == {
        "j48": ("done", None),
        "crash": ("failed", "its process was ended by SIGSEGV"),
        "exit": ("failed", "its process ended by itself with exit code 3"),
        "halt": ("failed", "its process ended by itself with exit code 0"),
    }
