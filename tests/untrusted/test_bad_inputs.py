"""Test some fuzzed inputs. reliability/fuzz.py tests many, and reliability/bad_inputs.py a fixed list."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INPUTS_OF_A_KIND = 4


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
