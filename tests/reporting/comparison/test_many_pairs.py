"""Test that pairs tested together have the numbers of pairs tested alone, and report their progress."""

import csv
import io
import json
import math

import numpy as np
import pytest
from scipy import stats

from probcal.analysis.hypothesis_tests import (
    corrected_t_test,
    corrected_t_tests,
    holm,
    holm_families,
    wilcoxon_tests,
)
from probcal.analysis.rankings import p_of_friedman
from probcal.papers.check.findings import CheckedResults
from probcal.reporting.comparison.bootstrap import Bootstrap
from probcal.reporting.comparison.claim_support import compare
from probcal.reporting.comparison.comparison_tables import comparison_parts
from probcal.reporting.comparison.pairs import LEVEL, compare_pairs
from probcal.reporting.comparison.split_results import ComparisonData, SplitNumbers, first_reading_rows
from tests.analysis.test_significance import wilcoxon

INF = math.inf


def _write_random(small, n_columns, n_splits, datasets, seed=0):
    """Write numbers of which some are infinite, equal, or missing."""
    random = np.random.default_rng(seed)
    columns = tuple(f"j48.m{number}" for number in range(n_columns))

    def number():
        kind = random.random()
        return None if kind < 0.05 else {"cxe": INF if kind < 0.15 else round(random.random(), 1 if kind < 0.3 else 6)}

    cells = {(d, column): [number() for _ in range(n_splits)] for d in datasets for column in columns}
    return small(datasets=dict.fromkeys(datasets, n_splits), columns=columns, metrics=("cxe",)).write(cells)


def _slow_tests(experiment, earlier, later, samples):
    """Return the tests of one pair, one data set after the other: (difference, low, high, p, how)."""
    for row in first_reading_rows(experiment.stored):
        numbers = SplitNumbers.of(experiment.stored, experiment.results, row, (earlier, later), "cxe")
        is_common = ~np.isnan(numbers.values).any(axis=0)
        if not is_common.any():
            continue
        a, b = values = np.ascontiguousarray(numbers.values[:, is_common])
        means = values.mean(axis=1)
        difference = 0.0 if means[1] == means[0] else means[1] - means[0]
        n_infinite = np.isinf(values).sum(axis=1)
        if a.size == 1:
            drawn = [samples.get(row.name, {}).get(f"{one.learner}/{one.method}") for one in (earlier, later)]
            if drawn[0] is None or drawn[1] is None or len(is_common) > 1:
                yield difference, None, None, None, "none"
                continue
            with np.errstate(invalid="ignore"):
                draws = np.where(drawn[1] == drawn[0], 0.0, drawn[1] - drawn[0])
            low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
            n_tail = min((draws <= 0).sum(), (draws >= 0).sum())
            yield difference, low, high, min(1.0, 2 * (n_tail + 1) / (len(draws) + 1)), "rows"
        elif n_infinite.any():
            decisive = n_infinite.min() == 0 and n_infinite.max() >= max(a.size / 2, 6)
            yield difference, None, None, None, "∞" if decisive else "none"
        else:
            test = corrected_t_test((b - a).tolist(), 0.25, LEVEL)  # no numbers of rows are stored
            yield difference, test.low, test.high, test.p, "splits"


@pytest.mark.parametrize("n_splits", [1, 2, 12])
def test_pairs_tested_together_equal_pairs_tested_alone(small, n_splits):
    datasets = ("adult", "sick", "breast")
    experiment = CheckedResults.of(_write_random(small, 9, n_splits, datasets))
    random = np.random.default_rng(1)
    samples = {"adult": {f"j48/m{number}": random.random(1000).round(3) for number in range(7)}}
    samples["adult"]["j48/m2"][:400] = INF
    data = ComparisonData({"adult": {"cxe": samples["adult"]}})
    pairs = compare_pairs(Bootstrap(experiment, data), "cxe")
    assert len(pairs) == 36
    for pair in pairs:
        known = list(_slow_tests(experiment, pair.earlier, pair.later, samples))
        assert [(t.difference, t.low, t.high, t.p, t.how) for t in pair.tests] == known
        assert [t.p_holm for t in pair.tests] == holm([t.p for t in pair.tests])
        assert pair.p == (wilcoxon([t.difference for t in pair.tests]) if len(pair.tests) > 1 else None)
    assert [pair.p_holm for pair in pairs] == holm([pair.p for pair in pairs])


def test_rows_of_tests_equal_scipy():
    values = np.random.default_rng(0).normal(0.3, 1, (20, 7))
    found = corrected_t_tests(values, np.zeros(20))
    assert found.p == pytest.approx(stats.ttest_1samp(values, 0, axis=1).pvalue)
    assert wilcoxon_tests(values) == pytest.approx(stats.wilcoxon(values, axis=1, method="exact").pvalue)


def test_missing_numbers_are_left_out_of_their_row():
    found = wilcoxon_tests(np.array([[0.1, math.nan, 0.2, 0.3], [0.1, -0.2, 0.3, 0.0]]))
    assert found.tolist() == [wilcoxon([0.1, 0.2, 0.3]), wilcoxon([0.1, -0.2, 0.3, 0.0])]
    families = holm_families(np.array([[0.01, math.nan, 0.03], [0.5, 0.6, math.nan]]))
    assert families[0].tolist() == pytest.approx([0.02, math.nan, 0.03], nan_ok=True)
    assert families[1].tolist() == pytest.approx([1.0, 1.0, math.nan], nan_ok=True)


def test_batches_of_permuted_ranks_give_the_same_p(monkeypatch):
    table = stats.rankdata(np.random.default_rng(0).random((4, 6)), axis=1)
    whole = p_of_friedman(table)
    monkeypatch.setattr("probcal.analysis.rankings._BATCH_NUMBERS", 7 * table.size)
    assert p_of_friedman(table) == whole


def test_a_hundred_columns_report_progress(small):
    store = _write_random(small, 100, 3, ("adult", "sick"))
    stages = []
    compare(store, lambda steps: stages.append(steps) or steps)
    batches = next(steps for steps in stages if steps and isinstance(steps[0], np.ndarray))
    assert sum(map(len, batches)) == 4950
    names = [[getattr(step, "name", step) for step in steps] for steps in stages if steps is not batches]
    assert names.count(["cxe"]) == 1, "ranks"
    assert names.count(["adult", "sick"]) >= 2, "reading predictions, and the best methods"


def test_markdown_and_json_list_the_pairs_with_the_smallest_p_and_csv_all(small, monkeypatch):
    monkeypatch.setattr("probcal.reporting.comparison.comparison_tables._MOST_PAIRS", 5)
    comparison = compare(_write_random(small, 6, 4, ("adult", "sick", "breast")))
    assert "5 of 15 pairs are listed, those with the smallest p" in "".join(comparison_parts([comparison], "markdown"))
    [found] = json.loads("".join(comparison_parts([comparison], "json")))
    assert len(found["pairs"]["cxe"]) == 5 and found["pairs_left_out"] == {"cxe": 10}
    monkeypatch.setattr("probcal.reporting.comparison.comparison_tables._PAIRS_OF_A_PART", 4)
    parts = [*comparison_parts([comparison], "csv")]
    assert len(parts) == 5, "a header, and four parts of at most four pairs"
    rows = csv.DictReader(io.StringIO("".join(parts)))
    assert len({(row["later"], row["earlier"]) for row in rows}) == 15


def test_tests_are_made_only_for_listed_pairs(small, monkeypatch):
    monkeypatch.setattr("probcal.reporting.comparison.comparison_tables._MOST_PAIRS", 2)
    comparison = compare(_write_random(small, 6, 4, ("adult", "sick", "breast")))
    list(comparison_parts([comparison], "markdown"))
    assert ["tests" in vars(pair) for pair in comparison.pairs["cxe"]].count(True) == 2
