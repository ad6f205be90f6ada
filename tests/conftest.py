"""Provide the fixtures and settings that all tests share."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

from probcal.methods.calibrators import venn_abers

pytest_plugins = ["tests.limits", "tests.java_process"]
_NAMED = os.environ.get("PROBCAL_DATA_DIR")
_ORIGINAL_FILES = Path(_NAMED).resolve() if _NAMED else Path(__file__).parents[2] / "shared" / "data"


# Thousands of collected tests live to the end. So the garbage collector need not search them repeatedly.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


# There is no deadline, since the machine may be busy. Every run of the same code draws the same examples.
settings.register_profile("probcal", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("probcal")


@pytest.fixture(autouse=True, scope="session")
def one_thread_for_linear_algebra():
    """Limit linear algebra to one thread. More threads are slower on small tables and with parallel tests."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True, scope="session")
def nothing_of_the_users(tmp_path_factory):
    """Keep tests and fixtures from the user's cache and from data that they did not ask for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PROBCAL_DATA_DIR", raising=False)
        patch.setenv("PROBCAL_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
        patch.setenv("PROBCAL_TRUSTED", "*")  # for learners of the tests; tests/untrusted/test_trust.py removes it
        yield


@pytest.fixture(autouse=True, scope="session")
def the_sweep_is_loaded_once():
    """Load the compiled code of Venn-Abers once. Each of thousands of small fits would load it from numba's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(venn_abers, "_compiled", cache(venn_abers._compiled))
        yield


@pytest.fixture(autouse=True)
def modules_of_a_test_are_forgotten(tmp_path_factory):
    """Forget the modules that a test wrote to a temporary folder and imported.

    Otherwise a later test on the same worker that writes a module of the same name would get this one.
    """
    before = len(sys.modules)
    yield
    folder = str(tmp_path_factory.getbasetemp())
    for name in list(sys.modules)[before:]:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(folder):
            del sys.modules[name]


@pytest.fixture(scope="session")
def original_files() -> Path:
    """Return the folder of original data files: PROBCAL_DATA_DIR, or ``shared/data`` beside the repository."""
    if not _ORIGINAL_FILES.is_dir():
        pytest.skip(f"the original data files are not at hand: {_ORIGINAL_FILES} is not a folder")
    return _ORIGINAL_FILES
