"""Test the cards of the beta calibration papers. Values are read if the original files exist (``conftest.py``)."""

from __future__ import annotations

import numpy as np
import pytest

from probcal.data.card import card_names
from probcal.data.dataset import assemble
from probcal.data.sources.files import missing_files, read_original_files
from tests.data.small_cards import shipped_card

# Rows, inputs, classes and positive rows as the authors' logs print them, from their runs.
SHAPES = {
    "abalone": (4177, 8, 3, 1528),
    "autos": (159, 25, 6, 48),
    "balance-scale": (625, 4, 3, 288),
    "car": (1728, 6, 4, 1210),
    "cleveland": (297, 13, 5, 160),
    "credit-approval": (653, 15, 2, 357),
    "dermatology": (358, 34, 6, 111),
    "diabetes": (768, 8, 2, 500),
    "ecoli": (336, 7, 8, 143),
    "flare": (1389, 10, 6, 396),
    "german": (1000, 20, 2, 300),
    "glass": (214, 9, 6, 76),
    "heart-statlog": (270, 13, 2, 120),
    "hepatitis": (155, 19, 2, 123),
    "horse": (300, 27, 2, 109),
    "ionosphere": (351, 34, 2, 225),
    "iris": (150, 4, 3, 50),
    "landsat-satellite": (6435, 36, 6, 1533),
    "letter": (35000, 16, 26, 1419),
    "libras-movement": (360, 90, 15, 24),
    "lung-cancer": (96, 7129, 2, None),
    "mfeat-karhunen": (2000, 64, 10, 200),
    "mfeat-morphological": (2000, 6, 10, 200),
    "mfeat-zernike": (2000, 47, 10, 200),
    "mushroom": (8124, 22, 2, 3916),
    "optdigits": (5620, 64, 10, 572),
    "page-blocks": (5473, 10, 5, 4913),
    "pendigits": (10992, 16, 10, 1144),
    "scene-classification": (2407, 294, 2, 533),
    "segment": (2310, 19, 7, 330),
    "shuttle": (101500, 9, 7, 79694),
    "sonar": (208, 60, 2, 97),
    "spambase": (4601, 57, 2, 1813),
    "tic-tac": (958, 9, 2, 626),
    "vehicle": (846, 18, 4, 218),
    "vowel": (990, 10, 11, 90),
    "waveform-5000": (5000, 40, 3, 1692),
    "wdbc": (569, 30, 2, 212),
    "wpbc": (194, 33, 2, 46),
    "yeast": (1484, 8, 10, 463),
    "zoo": (101, 16, 7, 41),
}


def test_the_beta_calibration_papers_have_41_cards():
    assert {name.removeprefix("kull-") for name in card_names() if name.startswith("kull-")} == set(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
def test_cards_expect_the_shapes_of_the_papers(name):
    card, (rows, columns, n_classes, positive) = shipped_card(f"kull-{name}"), SHAPES[name]
    assert (card.expect.rows, card.expect.columns) == (rows, columns)
    assert card.by_majority == (n_classes > 2)
    if counts := card.expect.classes:
        assert (len(counts), sum(counts[label] for label in card.positive_labels)) == (n_classes, positive)


@pytest.mark.parametrize("name", ["autos", "ecoli", "flare", "hepatitis", "horse", "zoo"])
def test_prepared_rows_have_the_counts_of_the_papers(name, original_files):
    card = shipped_card(f"kull-{name}")
    if missing := missing_files(card, original_files):
        pytest.skip(f"not at hand: {', '.join(missing)}")
    dataset = assemble(card, read_original_files(card, original_files))
    rows, columns, n_classes, positive = SHAPES[name]
    assert dataset.X.shape == (rows, columns) and dataset.y.sum() == positive
    assert not dataset.X.isna().any().any() and all(kind == np.float64 for kind in dataset.X.dtypes)
    if dataset.strata is not None:
        assert len(np.unique(dataset.strata)) == n_classes
