"""Test that a learner that changes the arithmetic or the names of its process changes no other cell."""

from __future__ import annotations

import platform
import subprocess
import sys
import textwrap

import pytest

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
