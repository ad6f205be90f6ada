"""Test some bad inputs and fuzzed inputs (reliability/ tests all of them), and that no read file runs code."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.source_trees import PACKAGE, trees

ROOT = Path(__file__).parents[2]
INPUTS_OF_A_KIND = 8


@pytest.fixture(scope="module")
def fuzz():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "reliability"), *sys.path])
        yield import_module("fuzz")


@pytest.fixture(scope="module")
def subjects(fuzz, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROBCAL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("PROBCAL_TRUSTED", "")
        patch.setenv("PYTHONPATH", str(ROOT))
        yield {one.kind: one for one in fuzz.subjects(tmp_path_factory.mktemp("subjects"))}


KINDS = ("config", "card", "CSV", "ARFF", "cells.jsonl", "cells.parquet", "experiment.json", "runs.jsonl",
         "accepted.csv", "predictions.bin", "running.json")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_randomly_changed_inputs_are_read_or_rejected(fuzz, subjects, kind):
    assert {fuzz.tried(subjects[kind], 0, number) for number in range(INPUTS_OF_A_KIND)} <= {"read", "refused"}


def test_listed_kinds_equal_the_fuzz_subjects(subjects):
    assert sorted(subjects) == sorted(KINDS)


ALLOWED = {
    ("contract/prediction_checks.py", "pickle.loads"): "of what was pickled in memory on the same line",
    (
        "data/sources/openml.py",
        "pickle.loads",
    ): "of our own program's file in a folder made for it, whose checksum it told",
    ("methods/_executors.py", "cloudpickle.loads"): "of our own file in a folder made for it, by processes of ours",
    ("deploy/model_folder.py", "joblib.load"): "of a model that the user exported, by probcal.load and predict.py",
    ("learners/weka/bridge.py", "_helper().read"): "of bytes in memory, which a pickle of ours held",
    ("learners/weka/bridge.py", "getObject"): "of the same bytes, by a release of Weka without the helper",
    ("cli/suggestions.py", "yaml.load"): "with the loader of plain values",
    ("contract/component_test.py", "yaml.load"): "with the loader of plain values",
    ("learners/weka/allowed.py", "yaml.load"): "of a file that is part of probcal, with a safe loader",
    ("runner/shared_imports.py", "exec"): "the code with which multiprocessing starts its fork server",
    ("papers/published.py", "yaml.load"): "of a file that is part of probcal, with a safe loader",
}
MODULES = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "torch"}
READERS = {"load", "loads", "Unpickler", "open"}
ANYWHERE = {"read_pickle", "unsafe_load", "full_load", "extractall", "system", "popen"}
BUILTINS = {"eval", "exec", "compile", "__import__"}


def calls(tree: ast.Module) -> Iterator[str]:
    """Yield the calls in ``tree`` that could run what they read."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield from (f"{node.module}.{one.name}" for one in node.names if one.name in READERS)
        if not isinstance(node, ast.Call):
            continue
        options = {one.arg: getattr(one.value, "value", None) for one in node.keywords}
        if options.get("shell"):
            yield "shell=True"
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            yield node.func.id
        if not isinstance(node.func, ast.Attribute):
            continue
        of, name = node.func.value, node.func.attr
        module = of.id if isinstance(of, ast.Name) else ""
        reads = (module in MODULES and name in READERS) or (module, name) == ("yaml", "load")
        if reads or (name in ANYWHERE and module != "platform"):
            yield f"{module}.{name}"
        if (module, name) in (("np", "load"), ("numpy", "load")) and options.get("allow_pickle") is not False:
            yield "np.load"
        if name == "read" and isinstance(of, ast.Call) and "elper" in ast.unparse(of):
            yield f"{ast.unparse(of)}.read"
        if name == "getObject":
            yield name


def test_only_listed_calls_could_run_what_they_read():
    found = {(file.relative_to(PACKAGE).as_posix(), call) for file, tree in trees().items() for call in calls(tree)}
    assert found == set(ALLOWED)


def test_search_finds_each_dangerous_call():
    bad = ast.parse(
        "import pickle, joblib, os\nfrom pickle import loads\nimport numpy as np, pandas as pd\npickle.load(f)\n"
        "joblib.load(f)\nnp.load(f)\nnp.load(f, allow_pickle=True)\npd.read_pickle(f)\neval(x)\nos.system(x)\n"
        "subprocess.run(x, shell=True)\nyaml.load(f)\nz.extractall()\n"
    )
    assert list(calls(bad)) == [
        "pickle.loads", "pickle.load", "joblib.load", "np.load", "np.load", "pd.read_pickle", "eval", "os.system",
        "shell=True", "yaml.load", "z.extractall",
    ]  # fmt: skip


@pytest.mark.slow
def test_bad_inputs_get_their_messages_and_exit_codes(tmp_path):
    out = tmp_path / "bad.md"
    kinds = "^(path|text)"
    command = [sys.executable, ROOT / "reliability" / "bad_inputs.py", "-o", out, "--only", kinds]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    said = out.read_text(encoding="utf-8")
    tried = int(re.search(r"^In all: (\d+) bad inputs, 0 not answered", said, re.MULTILINE)[1])
    assert tried >= 25
    assert sum(line.startswith("| ") for line in said.splitlines()) == tried + 1
