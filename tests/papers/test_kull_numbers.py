"""Test the published numbers of the beta calibration papers."""

from __future__ import annotations

import itertools

import pytest

from probcal.config.experiment import find_config, read_experiment
from probcal.data.card import card_names
from probcal.papers.check.judged_claims import PublishedNumbers, judge
from probcal.papers.published import PublishedPaper

AISTATS, EJS = PAPERS = "kull-silva-filho-flach-2017", "kull-silva-filho-flach-2017-ejs"


@pytest.mark.parametrize(
    ("paper", "dataset", "column", "metric", "mean", "sd"),
    [
        (AISTATS, "vehicle", "NB", "log_loss", 0.42628021452, 0.112614273828),
        (AISTATS, "abalone", "LR", "accuracy", 0.634742882765, 0.0112131005891),
        (AISTATS, "abalone", "AdaO", "log_loss", 0.612436914835, 0.01088455217),
        (AISTATS, "abalone", "AdaS beta", "brier", 0.220081122816, 0.00255057665479),
        (AISTATS, "abalone", "NB beta am", "brier", 0.216492161302, 0.00329324995716),
        (EJS, "autos", "SVM beta", "log_loss", 0.358843988446, 0.0743572758411),
        (EJS, "abalone", "SVM beta ab", "accuracy", 0.635932724736, 0.00672621533361),
        (EJS, "abalone", "RF", "log_loss", 0.613501939404, 0.015204508042),
    ],
)
def test_numbers_equal_those_of_the_result_files(paper, dataset, column, metric, mean, sd):
    published = PublishedPaper.read(paper)
    place = (f"kull-{dataset}", *published.columns[column])
    table = published.tables[metric]
    assert (table.numbers[place], table.spreads[place], table.runs) == (mean, sd, 50)


@pytest.mark.parametrize(("paper", "columns"), [(AISTATS, 24), (EJS, 42)])
def test_every_table_has_41_data_sets_and_all_columns(paper, columns):
    published = PublishedPaper.read(paper)
    assert set(published.titles) == {name for name in card_names() if name.startswith("kull-")}
    for metric in ("accuracy", "log_loss", "brier"):
        places = itertools.product(published.titles, published.columns.values())
        assert set(published.tables[metric].numbers) == {(dataset, *column) for dataset, column in places}
        assert len(published.tables[metric].numbers) == 41 * columns


def test_number_of_decimals_is_that_of_the_file():
    table = PublishedPaper.read(AISTATS).tables["log_loss"]
    assert table.printed_decimals["kull-vehicle", "nbayes", "none"] == 11
    assert table.printed_decimals["kull-autos", "nbayes", "none"] >= 11


@pytest.mark.parametrize("paper", PAPERS)
def test_published_numbers_support_every_claim(paper):
    published = PublishedPaper.read(paper)
    for claim in published.claims:
        assert judge(claim, published, PublishedNumbers(published)).verdict == "supported", claim.label


@pytest.mark.parametrize(
    ("config", "paper", "learners"),
    [
        ("beta-calibration", AISTATS, 4),
        ("beta-calibration-exact", AISTATS, 2),
        ("beta-calibration-ejs", EJS, 7),
        ("beta-calibration-exact-ejs", EJS, 5),
        ("beta-calibration-ours", None, 0),
    ],
)
def test_columns_of_a_config_match_columns_of_the_paper(config, paper, learners):
    experiment = read_experiment(find_config(config))
    columns = [(one.learner.paper, one.method.paper) for one in experiment.columns if one.learner.paper]
    assert experiment.paper == paper and len(columns) == len(set(columns)) == 6 * learners
    assert paper is None or set(columns) <= set(PublishedPaper.read(paper).columns.values())
