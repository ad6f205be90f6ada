"""What tests in more than one folder share."""

from __future__ import annotations

import gc
import os
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

from probcal.methods.calibrators import venn_abers

_NAMED = os.environ.get("PROBCAL_DATA_DIR")
_ORIGINAL_FILES = Path(_NAMED).resolve() if _NAMED else Path(__file__).parents[2] / "shared" / "data"


# Thousands of tests are collected, and they live to the end: the collector need not search them again and again.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


# A property holds or not, however busy the machine is; and of the same code every run draws the same examples.
settings.register_profile("probcal", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("probcal")


@pytest.fixture(autouse=True, scope="session")
def one_thread_for_linear_algebra():
    """Several cost more than they bring on tables as small as these, and tests run side by side."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True, scope="session")
def nothing_of_the_users(tmp_path_factory):
    """No test or fixture reads or writes the user's cache, or finds data that it did not ask for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PROBCAL_DATA_DIR", raising=False)
        patch.setenv("PROBCAL_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
        patch.setenv("PROBCAL_TRUSTED", "*")  # learners of a test's own; tests/test_trust.py takes it back
        yield


@pytest.fixture(autouse=True, scope="session")
def the_sweep_is_loaded_once():
    """A fit of Venn-Abers loads its compiled code from numba's cache; thousands of small fits would mostly do that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(venn_abers, "_compiled", cache(venn_abers._compiled))
        yield


@pytest.fixture(scope="session")
def original_files() -> Path:
    """The folder of original data files: PROBCAL_DATA_DIR, or ``shared/data`` beside the repository."""
    if not _ORIGINAL_FILES.is_dir():
        pytest.skip(f"the original data files are not at hand: {_ORIGINAL_FILES} is not a folder")
    return _ORIGINAL_FILES
