"""Test the place of a published number among draws and the page that counts the numbers inside."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("drawn_columns")


def test_a_published_number_gets_its_place_among_the_draws(script):
    found = script.place_of(np.arange(101) / 1000, 0.02, 3)
    assert (found.low, found.high, found.published) == (pytest.approx(0.0025), pytest.approx(0.0975), 0.02)
    assert (found.inside, found.below) == (True, pytest.approx(20.5 / 101))
    assert not script.place_of(np.arange(101) / 1000, 0.12, 3).inside


def test_few_draws_reject_only_numbers_beyond_one_more_draw(script):
    few = np.array([0.36, 0.361, 0.362])
    assert script.place_of(few, 0.365, 3).inside
    assert not script.place_of(few, 0.367, 3).inside
    assert not script.place_of(np.tile(few, 20), 0.363, 3).inside, "of sixty draws, the percentiles count alone"


def test_a_number_within_its_rounding_is_inside(script):
    assert script.place_of(np.full(10, 0.6664), 0.666, 3).inside
    assert not script.place_of(np.full(10, 0.6664), 0.667, 3).inside
    assert script.place_of(np.full(10, 1.2149), 1.21, 2).inside


def test_the_committed_page_matches_the_committed_results(script):
    committed = (script.FOLDER / "placement.md").read_text(encoding="utf-8")
    assert committed == script.page("Drawn columns on the published splits", script.HEAD, script.read(script.FOLDER))
    assert script.DISTRIBUTIONS.read_text(encoding="utf-8") == script.distributions(script.read(script.FOLDER))
    reproduction = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    for column in ("ProbSVM", "ProbJ48", "ProbLog"):
        [inside] = re.findall(rf"## {column}\n\n(\d+ of 15) published numbers are inside", committed)
        assert f"{column} {inside}" in reproduction
