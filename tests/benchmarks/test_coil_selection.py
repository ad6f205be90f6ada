"""Test the search for the inputs of COIL, with correlation-based selection in Python and in Weka, and its tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.cfs import Correlations, best_first, cut_points, select_columns, symmetrical_uncertainty
from benchmarks.coil_selection import codings, read_numbers, select_with_weka
from benchmarks.coil_selection_tables import (
    EXACT_COLUMNS,
    distance,
    halves,
    other_half,
    published_numbers,
    random_half,
    tables,
)
from probcal.data.dataset import assemble
from probcal.data.sources.files import read_original_files
from probcal.errors import ProbcalError
from probcal.learners.weka.jvm import java_class
from tests.data.small_cards import shipped_card

OUT = Path(__file__).parents[2] / "results/coil-selection"
DEFAULT = "CFS, codes nominal"


def small_table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows of two or three classes with twelve columns: numbers, whole numbers and levels, some useless."""
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(60, 400))
    y = random.integers(0, int(random.integers(2, 4)), n_rows)
    columns = {}
    for number in range(12):
        values = random.normal(size=n_rows) + y * random.choice([0, 0.3, 1, 1.5]) * (random.random(n_rows) < 0.8)
        whole = np.round(values)
        of_kind = [values, whole, pd.Categorical(whole.astype(int).astype(str))]
        columns[f"c{number}"] = of_kind[number % 3]
    return pd.DataFrame(columns), y


@pytest.mark.java
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_native_and_weka_select_the_same_columns(seed):
    pytest.importorskip("jpype", reason="needs the extra weka")
    X, y = small_table(seed)
    try:
        adds = bool(java_class("weka.attributeSelection.CfsSubsetEval")().getLocallyPredictive())
    except ProbcalError as error:
        pytest.skip(str(error))
    for option, locally_predictive in (("", adds), (" -L", not adds)):
        assert select_with_weka(X, y, f"CfsSubsetEval{option}") == select_columns(X, y, locally_predictive)


def test_a_separable_column_is_cut_halfway():
    assert cut_points(np.array([1.0, 2, 3, 7, 8, 9] * 5), np.array([0, 0, 0, 1, 1, 1] * 5)) == [5.0]


def test_an_uninformative_column_is_not_cut():
    assert cut_points(np.arange(40.0), np.arange(40) % 2) == []


def test_uncertainty_is_one_if_equal_and_zero_if_independent():
    a = np.array([0, 0, 1, 1])
    assert symmetrical_uncertainty(a, 1 - a) == pytest.approx(1)
    assert symmetrical_uncertainty(a, np.array([0, 1, 0, 1])) == pytest.approx(0)
    assert symmetrical_uncertainty(a, np.zeros(4, dtype=int)) == 0


def test_the_merit_equals_the_formula_of_hall():
    """Check equation 4.4 for k = 2: k mean(with the class) / sqrt(k + k (k - 1) mean(between the columns))."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    levels = np.column_stack([y ^ (random.random(200) < noise) for noise in (0.1, 0.2)])
    with_class = [symmetrical_uncertainty(column, y) for column in levels.T]
    between = symmetrical_uncertainty(*levels.T)
    expected = 2 * np.mean(with_class) / np.sqrt(2 + 2 * between)
    assert Correlations(levels, y).merit(frozenset({0, 1})) == pytest.approx(expected)


def test_the_first_of_two_equal_columns_is_selected():
    y = np.array([0, 1] * 30)
    assert best_first(Correlations(np.column_stack([y, y]), y)) == {0}


def test_missing_values_are_rejected():
    with pytest.raises(ValueError, match="column 'b' has missing values"):
        select_columns(pd.DataFrame({"a": [1.0, 2], "b": [np.nan, 1]}), np.array([0, 1]))


@pytest.mark.slow
def test_the_card_has_the_selected_inputs(original_files):
    card = shipped_card("coil")
    data = assemble(card, read_original_files(card, original_files))
    X = codings(data.X)["codes nominal"][:5822]
    of_card = [name for name, kind in shipped_card("coil-selected").columns.items() if kind == "numeric"]
    assert select_columns(X, data.y[:5822]) == of_card == subsets()[DEFAULT]


def subsets() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads((OUT / "subsets.json").read_text(encoding="utf-8"))
    return found


def test_halves_of_the_columns_are_complementary():
    assert len(halves()) == 20
    assert all(sorted((*half, *other_half(half))) == sorted(EXACT_COLUMNS) for half in halves())
    assert random_half() in halves()


def test_the_published_numbers_have_distance_zero():
    numbers = {("as printed", column): published_numbers(column) for column in EXACT_COLUMNS}
    assert distance(numbers, "as printed", EXACT_COLUMNS) == 0


def test_the_committed_table_matches_the_committed_numbers():
    numbers, tried = read_numbers(OUT / "numbers.csv"), subsets()
    assert (OUT / "table.md").read_text(encoding="utf-8") == tables(numbers, tried, DEFAULT)


def test_four_columns_agree_with_the_inputs_of_the_card():
    """Check Weka 3.4.1 within .010 for CXE and .005 for RMS and AUC. The AUC of SigSVM and BagJ48 differs more."""
    numbers = read_numbers(OUT / "numbers.csv")
    near = [
        column
        for column in EXACT_COLUMNS
        if all(
            abs(found - printed) <= tolerance
            for found, printed, tolerance in zip(
                numbers[DEFAULT, column], published_numbers(column), (0.005, 0.010, 0.005), strict=True
            )
        )
    ]
    assert near == ["J48", "NB", "SigNB", "Log"]
