"""Test the critical-difference diagram."""

import numpy as np
import pytest

from probcal.reporting.comparison.ranks import rank_columns
from probcal.reporting.comparison.ranks_figure import draw_ranks, ranks_figure
from probcal.reporting.drawing import drawing_style, save_figure
from tests.reporting.comparison.test_ranks import NAMES, TABLE_6


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
