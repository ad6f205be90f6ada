"""Test mean ranks, groups and their diagram against Demsar (2006), scipy, R and hand calculations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probcal.analysis.rankings import critical_difference, friedman
from probcal.reporting.comparison.ranks import rank_columns, rank_methods, unique_labels
from probcal.reporting.comparison.ranks_figure import draw_ranks, ranks_figure
from probcal.reporting.drawing import drawing_style, save_figure
from probcal.store.stored_experiment import StoredExperiment

# Demsar (2006), Table 6: AUC of four variants of C4.5 on 14 data sets. On voting, the third and the fourth column
# both have .975, and the published ranks put the third above the fourth. Hence the digit that is not published.
NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
TABLE_6 = np.array([
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.97501, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip
TABLES = st.integers(2, 14).flatmap(
    lambda n: st.integers(2, 6).flatmap(
        lambda k: st.lists(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, math.inf]), min_size=k, max_size=k),
                           min_size=n, max_size=n)
    )
)  # fmt: skip


def test_mean_ranks_equal_demsars_table_6():
    found = rank_columns(TABLE_6, NAMES, "auc")
    assert dict(zip(found.labels, found.mean_ranks, strict=True)) == pytest.approx(
        {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}, abs=5e-4
    )
    assert (found.n_datasets, found.permuted) == (14, False)


def test_demsars_chi_square_and_f_lack_the_tie_correction():
    """Check Demsar's 9.28 and 3.69 without the correction. With scipy's correction for ties both are larger."""
    table = stats.rankdata(-TABLE_6, axis=1)
    n, k = table.shape
    uncorrected = 12 * n / (k * (k + 1)) * (float((table.mean(axis=0) ** 2).sum()) - k * (k + 1) ** 2 / 4)
    assert uncorrected == pytest.approx(9.28, abs=5e-3)
    assert (n - 1) * uncorrected / (n * (k - 1) - uncorrected) == pytest.approx(3.69, abs=5e-3)
    assert friedman(table)[0] == pytest.approx(stats.friedmanchisquare(*TABLE_6.T).statistic)


def test_friedman_without_ties_equals_r():
    """Check R's friedman.test and scmamp's Iman-Davenport on nine methods and two data sets: 11.733 and 2.75."""
    table = np.array([[1, 8, 6, 4, 7, 2, 5, 3, 9], [1, 6, 3, 9, 7, 2, 8, 4, 5]], float)
    assert friedman(table) == pytest.approx((11.733, 2.75), abs=5e-4)


@pytest.mark.parametrize(
    ("k", "q"),
    [*zip(range(2, 11), [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164], strict=True)],
)
def test_critical_differences_equal_demsars_table_5(k, q):
    """Check q.05; the value 2.569 gives a critical difference of 1.25 for Demsar's 14 data sets."""
    assert critical_difference(k, 6) == pytest.approx(q * math.sqrt(k * (k + 1) / 36), abs=1e-3)


def test_groups_equal_a_hand_calculation():
    """Check 12 data sets and k = 3. The critical difference is 2.343 sqrt(3 4 / 72) = .957.

    The ranks 1, 2 and 3 then differ significantly. Two methods that share the second place are one group.
    """
    apart = rank_columns(np.tile([0.1, 0.2, 0.3], (12, 1)), ["a", "b", "c"], "cxe")
    assert (apart.mean_ranks, apart.groups) == ((1, 2, 3), ())
    assert (apart.f, apart.p) == (math.inf, 0.0)
    shared = rank_columns(np.tile([0.1, 0.3, 0.3], (12, 1)), ["a", "c", "b"], "cxe")
    assert (shared.labels, shared.groups) == (("a", "b", "c"), (("b", "c"),))


def test_without_a_significant_difference_all_are_one_group():
    numbers = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]] * 6)
    found = rank_columns(numbers, ["a", "b", "c"], "cxe")
    assert found.p > 0.9
    assert found.groups == (("a", "b", "c"),)


def test_equal_numbers_have_p_1():
    found = rank_columns(np.full((12, 3), 0.5), ["a", "b", "c"], "cxe")
    assert (found.chi_square, found.p, found.mean_ranks) == (0.0, 1.0, (2, 2, 2))


def test_few_data_sets_get_a_permutation_p_value():
    """Check p = 1/6: of 6 x 6 orders of three methods on two data sets, 6 agree. F is infinite with p 0."""
    found = rank_columns(np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]), ["a", "b", "c"], "cxe")
    assert (found.f, found.permuted) == (math.inf, True)
    assert found.p == pytest.approx(1 / 6, abs=0.012)


def test_infinite_numbers_share_the_last_rank():
    found = rank_columns(np.array([[math.inf, 0.2, math.inf], [0.9, 0.2, math.inf]]), ["a", "b", "c"], "cxe")
    assert dict(zip(found.labels, found.mean_ranks, strict=True)) == {"b": 1.0, "a": 2.25, "c": 2.75}


@settings(derandomize=True, deadline=None, max_examples=40)
@given(TABLES, st.randoms(use_true_random=False))
def test_order_of_columns_and_data_sets_does_not_matter(table, random):
    numbers = np.array(table)
    names = [f"m{place}" for place in range(numbers.shape[1])]
    columns, rows = random.sample(range(len(names)), len(names)), random.sample(range(len(numbers)), len(numbers))
    one = rank_columns(numbers, names, "cxe")
    other = rank_columns(numbers[np.ix_(rows, columns)], [names[place] for place in columns], "cxe")
    assert other.labels == one.labels
    assert other.mean_ranks == pytest.approx(one.mean_ranks)
    assert other.f == pytest.approx(one.f)
    if abs(one.p - 0.05) > 0.02:  # nearer to .05, the permutation p-value is random
        assert other.groups == one.groups


@settings(derandomize=True, deadline=None, max_examples=40)
@given(TABLES)
def test_ranks_depend_only_on_order_within_data_sets(table):
    numbers = np.array(table)
    names = [f"m{place}" for place in range(numbers.shape[1])]
    scale = np.arange(1, len(numbers) + 1)[:, None]
    assert rank_columns(numbers, names, "cxe") == rank_columns(numbers**3 * scale, names, "cxe")


def test_groups_are_maximal_and_not_nested():
    """Check groups of ranks for a critical difference of 1.25 by hand."""
    from probcal.reporting.comparison.ranks import _groups

    assert _groups(list("abcd"), [1.0, 2.0, 2.2, 3.4], 1.25) == [("a", "b", "c"), ("c", "d")]
    assert _groups(list("abc"), [1.0, 1.1, 3.0], 1.25) == [("a", "b")]
    assert _groups(list("ab"), [1.0, 2.5], 1.25) == []


def ranks_of(store, metric="cxe"):
    return rank_methods(StoredExperiment.of(store), store.results(), metric)


def test_an_incomplete_data_set_is_omitted_and_named(small, cxe):
    cells = {
        (dataset, column): cxe(0.5, 0.6) for dataset in ("adult", "breast") for column in ("j48.direct", "nb.direct")
    }
    cells["sick", "j48.direct"] = cxe(0.1, 0.2)
    three = {"adult": 2, "breast": 2, "sick": 2}
    found = ranks_of(small(datasets=three, columns=("j48.direct", "nb.direct")).write(cells))
    assert (found.n_datasets, found.left_out) == (2, ("Sick",))


def test_only_splits_of_all_columns_are_ranked(small, cxe):
    cells = {
        (dataset, column): cxe(*numbers)
        for dataset in ("adult", "breast")
        for column, numbers in (("j48.direct", (0.5, 0.1)), ("nb.direct", (0.4,)))
    }
    found = ranks_of(small(datasets={"adult": 2, "breast": 2}, columns=("j48.direct", "nb.direct")).write(cells))
    assert found.labels == ("NB", "J48")


def test_one_data_set_or_one_column_has_no_ranks(small, cxe):
    one = small(datasets={"adult": 1}, columns=("j48.direct", "nb.direct"))
    assert ranks_of(one.write({("adult", "j48.direct"): cxe(0.5), ("adult", "nb.direct"): cxe(0.4)})) is None
    alone = small(name="b", datasets={"adult": 1, "sick": 1}, columns=("j48.direct",))
    assert ranks_of(alone.write({("adult", "j48.direct"): cxe(0.5), ("sick", "j48.direct"): cxe(0.4)})) is None


def test_two_readings_of_a_data_set_count_once(small, cxe):
    sets = {"adult": 1, "adult-random": 1, "sick": 1}
    cells = {(dataset, column): cxe(0.5) for dataset in sets for column in ("j48.direct", "nb.direct")}
    store = small(datasets=sets, readings={"adult-random": "adult"}, columns=("j48.direct", "nb.direct")).write(cells)
    assert ranks_of(store).n_datasets == 2


def test_equal_labels_are_extended_by_learner_and_method():
    columns = [{"learner": name, "method": "direct", "label": "J48", "group": "J48"} for name in ("a", "b")]
    stored = StoredExperiment(name="x", title="x", metrics=[], datasets=[], columns=columns, repetitions={})
    assert unique_labels(stored) == ["J48 (a direct)", "J48 (b direct)"]


def figure(numbers, labels, metric="cxe", title=""):
    with drawing_style():
        return ranks_figure(rank_columns(np.array(numbers), labels, metric), title)


def texts(one):
    return [text.get_text() for text in one.axes[0].texts]


def bars(one):
    """Return the ends of the thick lines."""
    return [tuple(line.get_xdata()) for line in one.axes[0].get_lines() if line.get_linewidth() == 3]


def test_labels_have_mean_ranks_with_better_ones_left():
    one = figure([[0.1, 0.2, 0.3, 0.4]] * 12, ["a", "b", "c", "d"])
    assert texts(one)[-4:] == ["a  1.00", "b  2.00", "3.00  c", "4.00  d"]


def test_a_bar_joins_each_group():
    one = figure([[0.1, 0.1, 0.4, 0.4]] * 12, ["a", "b", "c", "d"])
    assert [(round(low, 1), round(high, 1)) for low, high in bars(one)] == [(1.5, 1.5), (3.5, 3.5)]


def test_demsars_figure_has_one_bar_over_all_methods():
    """Check section 3.2.4: the ranks differ (p < .05), but the best and the worst differ by 1.18, less than 1.25."""
    one = figure(TABLE_6, NAMES, "auc")
    [(low, high)] = bars(one)
    assert (low, high) == pytest.approx((1.964, 3.143), abs=0.03)


def test_without_a_significant_difference_there_is_no_bar():
    one = figure([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]] * 6, ["a", "b", "c"])
    assert bars(one) == []
    assert "no significant difference" in one.get_suptitle().replace("\n", " ")


def test_the_heading_names_metric_test_and_number_of_data_sets():
    heading = figure([[0.1, 0.2, 0.3]] * 12, ["a", "b", "c"], "auc", "T").get_suptitle().replace("\n", " ")
    assert heading.startswith("T: mean ranks over 12 data sets by area under the ROC curve (Friedman's test: p < .001)")


def test_thirty_columns_and_long_names_fit(tmp_path):
    labels = [f"{'x' * 300}\x1b[2J$_{place}" for place in range(30)]
    one = figure(np.random.default_rng(1).random((12, 30)), labels, title="t" * 5000)
    assert "\x1b" not in "".join(texts(one)) + one.get_suptitle()
    assert max(map(len, texts(one))) < 60
    with drawing_style():
        for path in save_figure(one, tmp_path / "figures" / "x"):
            assert path.stat().st_size > 1000


def test_figures_of_each_metric_are_identical_to_the_byte(small, cxe):
    columns = ("j48.direct", "nb.direct", "log.direct")
    cells = {
        (dataset, column): [{"cxe": 0.1 * place + 0.01 * row, "auc": 0.5}]
        for row, dataset in enumerate(("adult", "sick", "breast"))
        for place, column in enumerate(columns)
    }
    store = small(datasets=dict.fromkeys(("adult", "sick", "breast"), 1), columns=columns, metrics=("cxe", "auc"),
                  paper="langford-zadrozny-2005").write(cells)  # fmt: skip
    written = draw_ranks([store])
    assert [path.name for path in written] == [f"ranks-{one}" for one in ("cxe.png", "cxe.svg", "auc.png", "auc.svg")]
    before = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in draw_ranks([store])] == before


@pytest.mark.parametrize("datasets", [{}, {"adult": 1}])
def test_without_ranks_nothing_is_drawn(small, cxe, datasets):
    cells = {(dataset, column): cxe(0.5) for dataset in datasets for column in ("j48.direct", "nb.direct")}
    store = small(datasets=datasets, columns=("j48.direct", "nb.direct")).write(cells)
    assert draw_ranks([store]) == []
