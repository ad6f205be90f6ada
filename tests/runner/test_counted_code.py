"""Test that all code of a cell is counted, or is listed with a reason why it cannot change a number."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from probcal.runner.fingerprint import EXEMPT_MODULES

PACKAGE = Path(__file__).parents[2] / "probcal"

TRACE = textwrap.dedent(
    """
    import json, sys, threading
    from pathlib import Path
    from probcal.config.experiment import read_experiment
    from probcal.data.load import obtain
    from probcal.runner.fingerprint import METRICS, code_of, code_of_metrics
    from probcal.runner.worker_process import execute_alone
    from probcal.runner.fingerprint import modules_of
    from probcal.runner.plan import PlannedCell
    from probcal.runner.plan import cells_of

    def ours(file):
        file = Path(file)
        if package not in file.parents:
            return None
        parts = ("probcal", *file.relative_to(package).with_suffix("").parts)
        return ".".join(parts).removesuffix(".__init__")

    package, seen = Path(sys.argv[2]), {}
    experiment = read_experiment(Path(sys.argv[1]))
    for card in experiment.used_cards():
        obtain(card)
    for cell in cells_of(experiment):
        files, before = set(), set(sys.modules)
        trace = lambda frame, event, argument: files.add(frame.f_code.co_filename)
        threading.setprofile(trace)
        sys.setprofile(trace)
        outcome, _ = execute_alone(PlannedCell(cell, {}, "to run"), "run")
        sys.setprofile(None)
        threading.setprofile(None)
        assert outcome.result.status == "done", outcome.result.traceback
        loaded = {name for name in set(sys.modules) - before if name.partition(".")[0] == "probcal"}
        ran = {ours(file) for file in files} - {None} | loaded
        seen[cell.id] = sorted(ran - set(code_of(*modules_of(cell))) - set(code_of_metrics()))
    print(json.dumps(seen))
    """
)
IDLE = {
    "probcal": "hands on what its modules have",
    "probcal.methods": "holds nothing",
    "probcal.runner": "holds nothing",
    "probcal.fast_paths": "holds nothing",
    "probcal.learners": "hands on what its modules have",
    "probcal.data": "holds nothing",
}
DATA = ("probcal.data.sources.generated", "probcal.data.cache", "probcal.data.dataset")
"""Behind ``probcal.data.load``: what they make of a file is told by the checksum of the values."""

EVERY_METHOD = """
name: every
datasets: [wine-first]
learners:
  tree: {params: {max_depth: 2}}
  c45:
  nb: {type: kernel_nb}
  gaussian_nb:
  logistic: {params: {solver: newton-cholesky, tol: 1.0e-9}}
  svm: {type: linear_svm, params: {tol: 1.0e-9, max_iter: 100000}}
methods:
  direct:
  bagging: {params: {n_estimators: 2}}
  sigmoid: {}
  isotonic: {}
  probing: {params: {n_probes: 4}}
  relabelling: {}
  weight_sweep: {}
  protected: {}
  retrained: {}
combinations:
  tree: [direct, bagging, probing, isotonic, weight_sweep]
  c45: [probing]
  nb: [direct, probing]
  gaussian_nb: [sigmoid, probing, protected]
  logistic: [probing]
  svm: [probing, sigmoid]
"""
DRAWN = """
name: drawn
datasets: [gaussians]
learners: [gaussian_nb]
methods: [direct]
"""


@pytest.mark.parametrize("text", [EVERY_METHOD, DRAWN])
@pytest.mark.slow
def test_executed_modules_are_counted_or_listed_as_exempt(tmp_path, text):
    (tmp_path / "cells.yaml").write_text(text)
    command = [sys.executable, "-c", TRACE, str(tmp_path / "cells.yaml"), str(PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    uncounted = {module for modules in json.loads(done.stdout).values() for module in modules}
    assert uncounted - set(EXEMPT_MODULES) - set(IDLE) - set(DATA) == set()


def test_modules_listed_as_empty_hold_no_code():
    for module, why in IDLE.items():
        text = (PACKAGE.parent / module.replace(".", "/") / "__init__.py").read_text()
        assert why != "holds nothing" or (text.count('"""') == 2 and text.rstrip().endswith('"""')), module


def test_code_excludes_fast_paths_of_other_learners(tmp_path):
    (tmp_path / "cells.yaml").write_text(EVERY_METHOD)
    code = {cell.column.learner.name: counted(cell) for cell in probing_cells(tmp_path / "cells.yaml")}
    assert "probcal.fast_paths.logistic" in code["logistic"] and "probcal.fast_paths.linear_svm" not in code["logistic"]
    assert "probcal.fast_paths.linear_svm" in code["svm"] and "probcal.fast_paths.prior_shift" in code["gaussian_nb"]
    assert not {"probcal.fast_paths.logistic", "probcal.fast_paths.linear_svm"} & code["tree"]
    compiled = {f"probcal.learners.c45.{name}" for name in ("growth", "pruning", "descent")}
    assert compiled <= code["c45"] and not compiled & code["tree"]


def probing_cells(path):
    from probcal.config.experiment import read_experiment
    from probcal.runner.plan import cells_of

    return [cell for cell in cells_of(read_experiment(path)) if cell.column.method.name == "probing"]


def counted(cell):
    from probcal.runner.fingerprint import code_of, modules_of

    return set(code_of(*modules_of(cell)))
