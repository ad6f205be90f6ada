"""Test the declared instruction set, and that a learner that changes the arithmetic changes no other cell."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import textwrap

import pytest
import yaml

from probcal._io import shipped
from probcal.runner.instruction_set import lacking_flags, level_environment

CHANGES = """
    import builtins
    import ctypes

    MATHS = ctypes.CDLL("libm.so.6")

    def nothing():
        pass

    def round_upwards():
        MATHS.fesetround(0x800)

    def round_downwards():
        MATHS.fesetround(0x400)

    def round_to_zero():
        MATHS.fesetround(0xC00)

    def set_register(bits):
        state = ctypes.create_string_buffer(32)
        MATHS.fegetenv(state)
        word = int.from_bytes(state[28:32], "little") | bits  # MXCSR
        state[28:32] = word.to_bytes(4, "little")
        MATHS.fesetenv(state)

    def flush_denormal_results():
        set_register(0x8000)

    def read_denormals_as_zeros():
        set_register(0x0040)

    def break_open():
        builtins.open = None
"""
BAD = (
    CHANGES
    + """
    from sklearn.tree import DecisionTreeClassifier

    class Bad(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            round_upwards()
            return self
"""
)
NAMES = ("round_upwards", "round_downwards", "round_to_zero", "flush_denormal_results", "read_denormals_as_zeros")
linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() != "x86_64",
    reason="changes registers of x86-64 through the C library of Linux",
)


@linux_only
def test_changed_arithmetic_is_noticed():
    code = textwrap.dedent(CHANGES) + textwrap.dedent(f"""
        import os
        from probcal.runner.worker_process import _has_default_arithmetic
        for change in {["nothing", *NAMES, "break_open"]}:
            if not os.fork():  # a change would stay in this process
                globals()[change]()
                os.write(1, f"{{change}} {{_has_default_arithmetic()}}\\n".encode())
                os._exit(0)
            os.wait()
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["nothing True", *(f"{name} False" for name in (*NAMES, "break_open"))]


@linux_only
@pytest.mark.slow
def test_neighbours_of_a_learner_that_changes_rounding_keep_their_numbers(bench):
    learners = {"bad": {"type": "bad.Bad", "params": {"max_depth": 2}}, "gaussian_nb": {}, "logistic": {}}
    bench.module("bad", BAD)
    bench.config(learners={name: learners[name] for name in ("gaussian_nb", "logistic")}, methods=["direct"], repeats=3)
    assert bench.run("-o", "alone").code == 0
    bench.config(learners=learners, methods=["direct"], repeats=3)
    assert bench.run("--trust", "bad", "-o", "together").code == 0
    together = bench.numbers(bench.folder / "together")
    alone = bench.numbers(bench.folder / "alone")
    assert len(alone) == 6 and {cell: together.get(cell) for cell in alone} == alone


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
