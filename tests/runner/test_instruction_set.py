"""Test the instruction set that an experiment declares, and that witnesses are computed with."""

import json
import os
import subprocess
import sys

import pytest
import yaml

from probcal._io import shipped
from probcal.runner.instruction_set import lacking_flags, level_environment

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


REPORT = """
    import json, os, pathlib
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier

    class Reports(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
            wide = [name for name in found if name.startswith(("AVX512", "X86_V4"))]
            report = {"wide": wide, "kernels": os.environ.get("OPENBLAS_CORETYPE")}
            pathlib.Path(%r).write_text(json.dumps(report))
            return super().fit(X, y, sample_weight)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the groups that numpy finds on Linux")
def test_declared_instructions_compute_the_cells(bench, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    path = bench.folder / "report.json"
    bench.module("own", REPORT % str(path))
    learners = {"own": {"type": "own.Reports"}}
    bench.config(processor="x86-64-v3", learners=learners, methods=["direct"], repeats=1)
    assert bench.run("--trust", "own").code == 0
    assert json.loads(path.read_text()) == {"wide": [], "kernels": "Haswell"}
    assert os.environ["OPENBLAS_CORETYPE"] == "Zen"
    assert bench.runs()[0]["instructions"] == "x86-64-v3"
    bench.config(learners=learners, methods=["direct"], repeats=1)  # in the same process, without the key
    assert bench.run("--trust", "own", "-o", "other").code == 0
    assert json.loads(path.read_text())["kernels"] == "Zen"


def test_processor_without_the_declared_instructions_is_refused(bench, monkeypatch):
    monkeypatch.setattr("probcal.runner.plan.lacking_flags", lambda level: frozenset(("avx2",)))
    bench.config(processor="x86-64-v3", repeats=1)
    ended = bench.run()
    assert ended.code == 2 and not bench.results.exists()
    assert "this processor lacks avx2 of x86-64-v3, which the experiment declares" in ended.said


def test_results_of_other_instructions_are_told(bench):
    bench.config(methods=["direct"], repeats=1)
    bench.run()
    path = bench.results / "runs.jsonl"
    path.write_text(path.read_text().replace('"instructions": null', '"instructions": "x86-64-v4"'))
    bench.config(processor="x86-64-v3", methods=["direct"], repeats=1)
    said = bench.run("--dry-run").said
    assert "2 cells: 2 done" in said
    assert "made with the instructions of x86-64-v4, and the experiment declares x86-64-v3" in said


def test_every_shipped_experiment_declares_its_instructions():
    experiments = [yaml.safe_load(path.read_text()) for path in shipped("configs").glob("*.yaml")]
    assert {experiment["processor"] for experiment in experiments} == {"x86-64-v3"}
