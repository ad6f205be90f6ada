"""Test the comparison with CalArena by its published order and by a hand calculation of Kendall's tau."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from probcal.store.folder import Store

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "calarena.py"))
MAPS = SCRIPT["MAPS"]


def test_the_published_order_begins_with_quadratic_and_beta():
    ranks = SCRIPT["published_ranks"]("binary", "log_loss", MAPS)["tabarena"].sort_values()
    assert {*ranks.index[:2]} == {"quadratic", "beta"}
    assert ranks.index[-1] == "histogram"


def test_every_map_has_a_published_calibrator():
    both = {
        name
        for task in ("binary", "multiclass")
        for name in SCRIPT["published_ranks"](task, "log_loss", MAPS).index
    }  # fmt: skip
    assert both == set(MAPS)


def test_the_mapping_names_every_variant_of_the_arena():
    variants = yaml.safe_load((ROOT / "configs" / "arena.yaml").read_text())["methods"]["as_calarena"]["variants"]
    assert {name: settings["map"] for name, settings in variants.items()} == {
        name: name for name in SCRIPT["MAP_NAMES"]
    }
    published = pd.read_csv(SCRIPT["PUBLISHED"], comment="#")
    assert {*SCRIPT["MAP_NAMES"].values()} <= {*published["calibrator"]}
    assert {*SCRIPT["MODELS"].values()} <= {*published["model"]}


@pytest.mark.slow
def test_a_learner_is_compared_with_its_model_too():
    text = SCRIPT["report"](Store(ROOT / "results" / "defaults"), MAPS, "binary", "log_loss")
    assert "| RandomForest " in text and "| all of these " in text


def test_the_same_order_on_every_table_has_tau_one():
    rates = np.tile([1.0, 0.5, 0.0], (6, 1))
    assert SCRIPT["tau"](np.array([1.0, 2.0, 3.0]), rates) == (1, 1, 1)
    assert SCRIPT["tau"](np.array([1.0, 3.0, 2.0]), rates)[0] == pytest.approx(1 / 3)


@pytest.mark.slow
def test_each_learner_with_all_maps_has_a_tau():
    text = SCRIPT["report"](Store(ROOT / "results" / "defaults"), MAPS, "binary", "log_loss")
    assert "12 tables, 7 learners" in text
    assert "| tabrepo        | forest" in text and "| svm " not in text


def test_a_folder_without_several_classes_is_rejected():
    with pytest.raises(SystemExit, match="fewer than three"):
        SCRIPT["report"](Store(ROOT / "results" / "defaults"), MAPS, "multiclass", "log_loss")
