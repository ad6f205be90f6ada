"""Test the stored numbers of Langford & Zadrozny (2005) against their printed tables."""

import itertools
import math

import pytest

from probcal.errors import FileProblems, ProbcalError
from probcal.papers import published
from probcal.papers.published import PublishedPaper

METRICS = ("cxe", "rms", "auc")


@pytest.fixture
def paper():
    return PublishedPaper.read("langford-zadrozny-2005")


def test_published_means_of_runs_have_spread_and_run_count():
    table = PublishedPaper.read("gao-parameswaran-peng-2017-documents").tables["l1"]
    of_logistic = ("documents", "logistic", "direct")
    assert (table.numbers[of_logistic], table.spreads[of_logistic]) == (0.1270, 0.0008)
    assert (table.runs, table.decimals, table.rounding) == (5, 4, 0.00005)


def test_numbers_can_come_from_one_run_of_some_columns():
    paper = PublishedPaper.read("vovk-petej-gammerman-2021")
    errors = paper.tables["errors"]
    assert errors.numbers == {
        ("bank-marketing", "forest", "base"): 4814,
        ("bank-marketing", "forest", "slipped-0.01"): 4433,
    }
    assert (errors.place, errors.number, errors.seed) == ("the authors' notebook", None, 2021)
    assert [paper.covers(one) for one in paper.claims if one.label == "slipped-gains-log-s-at-.01"] == [True]
    assert [paper.covers(one) for one in paper.claims if one.label == "simple-gains-log-s"] == [False]


def every_cell(paper):
    return itertools.product(paper.titles, paper.columns.values())


@pytest.mark.parametrize(
    ("metric", "dataset", "column", "number"),
    [
        ("cxe", "adult", "J48", math.inf),
        ("cxe", "adult", "ProbJ48", 0.436),
        ("cxe", "breast", "Log", 1.07),
        ("cxe", "hepatitis", "NB", 1.416),
        ("cxe", "hepatitis", "ProbLog", 1.21),
        ("cxe", "kdd98", "NB", math.inf),
        ("cxe", "mushroom", "ProbNB", 0.298),
        ("cxe", "sick", "ProbLog", 0.164),
        ("rms", "adult", "BagJ48", 0.331),
        ("rms", "biology", "SigNB", 0.094),
        ("rms", "echocardiogram", "J48", 0.539),
        ("rms", "kr-vs-kp", "NB", 0.300),
        ("rms", "liver", "ProbLog", 0.456),
        ("rms", "sick", "ProbSVM", 0.205),
        ("auc", "australian", "SigSVM", 0.912),
        ("auc", "coil", "J48", 0.500),
        ("auc", "diabetes", "ProbSVM", 0.824),
        ("auc", "ionosphere", "BagJ48", 0.981),
        ("auc", "physics", "SigNB", 0.738),
        ("auc", "sick", "ProbLog", 0.952),
    ],
)
def test_numbers_equal_the_printed_numbers(paper, metric, dataset, column, number):
    assert paper.number(dataset, *paper.columns[column], metric) == number


def test_every_table_has_fifteen_data_sets_and_ten_columns(paper):
    assert (len(paper.titles), len(paper.columns)) == (15, 10)
    for metric in METRICS:
        assert all(paper.number(d, *c, metric) is not None for d, c in every_cell(paper))
        assert len(paper.tables[metric].numbers) == 150


def test_only_eighteen_cross_entropies_are_infinite(paper):
    infinite = {m: sum(math.isinf(paper.number(d, *c, m)) for d, c in every_cell(paper)) for m in METRICS}
    assert infinite == {"cxe": 18, "rms": 0, "auc": 0}


def test_sigmoid_changes_the_printed_auc_only_on_biology(paper):
    differing = {
        dataset
        for dataset in paper.titles
        if paper.number(dataset, "NB", "direct", "auc") != paper.number(dataset, "NB", "sigmoid", "auc")
    }
    assert differing == {"biology"}


def test_numbers_missing_from_the_paper_are_none(paper):
    assert paper.number("wine", "J48", "direct", "rms") is None
    assert paper.number("adult", "SVM", "direct", "rms") is None
    assert paper.number("adult", "J48", "direct", "c_emp") is None
    assert paper.best_method("wine", "rms") is None
    assert paper.best_method("adult", "c_emp") is None


MINE = """\
title: Mine
citation: A. Nobody, 2020.
short: Nobody (2020)
columns: {Near: {learner: near, method: direct}}
datasets: {adult: Adult}
tables: {rms: {tolerance: 0.1, rows: {adult: [0.9]}}}
best: {}
best_entries: {}
claims: {a: {quote: q, kind: finite, columns: [Near]}}
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("best: {}\n", "", '1: the key "best" is missing; write "best: {}" if the paper has no table of best methods'),
        ("title: Mine\n", "", '1: the key "title" is missing'),
        ("short", "shrt", '3: unknown key "shrt"; did you mean "short"?'),
        ("tolerance", "tolerances", '6: unknown key "tolerances"; did you mean "tolerance"?'),
        (", rows: {adult: [0.9]}", "", '6: a table takes either "rows" or "file"'),
        ("[0.9]", "[0.9, 0.8]", "6: adult has 2 values; write one for each of the 1 columns"),
        ("rows: {adult", "rows: {adlt", '6: "adlt" is not under "datasets"; did you mean "adult"?'),
        ("[Near]", "[Neer]", '9: "Neer" is not under "columns"; did you mean "Near"?'),
        ("quote: q, ", "", '9: the key "claims.a.quote" is missing'),
    ],
)
def test_faults_of_a_papers_file_are_named_with_their_lines(tmp_path, monkeypatch, old, new, fault):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.yaml").write_text(MINE.replace(old, new))
    monkeypatch.setattr(published, "PAPERS", tmp_path)
    with pytest.raises(FileProblems) as refusal:
        PublishedPaper.read("mine")
    assert f"mine.yaml:{fault}" in str(refusal.value)


def test_unknown_paper_is_rejected_with_a_suggestion():
    with pytest.raises(ProbcalError, match='did you mean "langford-zadrozny-2005"'):
        PublishedPaper.read("langford-zadrozny-2006")
