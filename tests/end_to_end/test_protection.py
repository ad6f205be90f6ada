"""Test that the command line reproduces the authors' figures on Bank Marketing from the original file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from probcal import ProtectedClassifier
from probcal.config.experiment import find_config
from probcal.data.card import find_card, read_card
from probcal.data.encode import ENCODERS
from probcal.data.load import load, obtain
from probcal.data.splits import split_rows
from probcal.metrics import roc_auc
from probcal.store.folder import Store
from tests.commands import probcal

pytestmark = pytest.mark.slow  # they need the original file, and its whole stream


@pytest.fixture(scope="module")
def folder(original_files, tmp_path_factory):
    """Run the columns with published numbers, with one repetition: the forest of the authors' seed."""
    folder = tmp_path_factory.mktemp("protection")
    config, text = folder / "one.yaml", find_config("protection").read_text(encoding="utf-8")
    assert text.count("repeats: 10 ") == 1
    config.write_text(text.replace("repeats: 10 ", "repeats: 1 "), encoding="utf-8")
    columns = ("base.untruncated", "base.0.01", "slipped.0.01")
    chosen = [word for column in columns for word in ("-m", column)]
    done = probcal("run", config, "-o", folder / "results", "--data-dir", original_files, *chosen)
    assert done.exit_code == 0, done.stderr
    return folder / "results"


def test_the_published_numbers_and_the_gain_are_reproduced(folder):
    printed = probcal("check", folder).stdout
    assert "cells: 7 in band, 0 known deviations, 0 new, 0 not run (of 7)" in printed
    assert "differences: 3 in band, 0 known deviations, 0 new" in printed
    assert "  supported: slipped-gains-log-s-at-.01" in printed


def test_most_of_the_gain_is_in_the_last_tenth(folder):
    [curve] = Store(folder).results()["bank-marketing/0/forest/slipped.0.01"].curves["martingale"]
    [before] = [y for x, y in zip(curve["x"], curve["y"], strict=True) if abs(x - 0.9 * 35_211) < 45]
    # 3231.7 at the end, 1321.9 after nine tenths
    assert (curve["x"][-1], curve["y"][-1], before) == (35_211, 3231.7454, pytest.approx(1321.9, abs=25))


def test_the_protection_figure_is_drawn(folder):
    assert probcal("plot", folder, "--kind", "paper").exit_code == 0
    assert {path.name for path in (folder / "figures").iterdir()} == {"protection.png", "protection.svg"}


PAGE = " ".join((Path(__file__).parents[2] / "docs" / "protection.md").read_text(encoding="utf-8").split())
COMPOSITE = {"calibrators": "cox", "jump_rate": [0.01, 0.001, 0.0001], "passive_weight": 0.5, "start": "first"}


class Streams:
    def __init__(self, folder):
        card = read_card(find_card("bank-marketing"))
        obtain(card, folder)
        data = load(card)
        self.train, self.test = split_rows(card, len(data.y), 0, 0)
        encoder = ENCODERS["ordinal"]().fit(data.X.iloc[self.train])
        self.X, self.y_train, self.y = encoder.transform(data.X), data.y[self.train], data.y[self.test]
        forest = RandomForestClassifier(random_state=2021).fit(self.X[self.train], self.y_train)
        self.forest, self.p = FrozenEstimator(forest), forest.predict_proba(self.X[self.test])[:, 1]

    def protected(self, **settings):
        """Return (protected predictions, log10 S before the first row and after each row) of the whole stream."""
        method = ProtectedClassifier(self.forest, **{"algorithm": "jumper", "passive_weight": 0} | settings).fit(
            self.X[self.train], self.y_train
        )
        p = method.predict_proba_online(self.X[self.test], self.y)[:, 1]
        return p, np.concatenate([[0], method.log10_martingale_])

    def auc(self, p):
        return roc_auc(self.y, p)

    def auc_within(self, p):
        """Return the mean AUC over fifty blocks of equal length."""
        blocks = np.array_split(np.arange(len(p)), 50)
        return np.mean([roc_auc(self.y[rows], p[rows]) for rows in blocks])


@pytest.fixture(scope="module")
def streams(original_files):
    return Streams(original_files)


def short(number, decimals=3):
    return f"{number:.{decimals}f}".replace("0.", ".", 1)


def said(text):
    assert text in PAGE


def test_the_page_says_where_the_martingale_grows(streams):
    _, course = streams.protected(truncation=0.1)
    tenths = np.diff(course[np.linspace(0, 35_211, 11).round().astype(int)])
    said(f"With truncation .1 and the first forest, the Simple Jumper gains {course[-1]:.0f}.")
    said(f"{tenths[8]:.0f} fall in the ninth tenth of the rows and {tenths[9]:.0f} in the last.")
    blocks = np.diff(course[::500])
    said(f"Among blocks of 500 rows, the one from {500 * blocks.argmax():,} gains most, {blocks.max():.0f}")
    assert blocks[58] < 6 < 20 < blocks[59]  # from row 29,500
    said(f"From row 29,700 on, {streams.y[29_700:].mean():.0%} of".replace("%", " %"))
    said(f"Before it, {streams.y[:29_700].mean():.0%} do. The forest".replace("%", " %"))
    said(f"predicts {streams.p[:29_700].mean():.0%} on average".replace("%", " %"))
    assert f"{streams.p[29_700:].mean():.0%}" == "4%"


def test_the_page_says_how_truncation_and_ties_change_the_auc(streams):
    aucs = [roc_auc(streams.y, p) for p in (streams.p, streams.p.clip(0.01, 0.99), streams.p.clip(0.1, 0.9))]
    said(f"{short(aucs[0], 4)} untruncated, {short(aucs[1])} at .01 and {short(aucs[2])} at .1 (seed 2021)")
    said(f"{(streams.p <= 0.01).sum():,} are at most .01 and {(streams.p <= 0.1).sum():,} at most .1")
    zero = streams.p == 0
    said(f"{zero.sum():,} predictions are exactly 0, and {streams.y[zero].sum():,} of these rows have the label 1")


def test_the_page_has_the_auc_within_blocks_and_overall(streams):
    for settings in ({"truncation": 0.1}, {"truncation": 0.01, **COMPOSITE}):
        least = settings["truncation"]
        base, (p, _) = streams.p.clip(least, 1 - least), streams.protected(**settings)
        within, whole = ([short(of(one)) for one in (base, p)] for of in (streams.auc_within, streams.auc))
        said(f"| {within[0]} | {within[1]} | {whole[0]} | {whole[1]} |")
    said(f"The untruncated forest has {short(streams.auc_within(streams.p))} within blocks")


@pytest.mark.parametrize(
    ("truncation", "settings", "sentence", "least", "row", "digit"),
    [
        (0.01, {}, "| Simple Jumper | -2.554, row 8,580 |", -2.554, 8_580, 5e-4),
        (0.01, COMPOSITE, "| Composite Jumper | -.233, row 8,584 |", -0.233, 8_584, 5e-4),
        (0.1, {}, "row 8,580 | never below 0 |", 0, 0, 0),
        (0.1, COMPOSITE, "row 8,584 | -.0002, row 5 |", -2e-4, 5, 5e-5),
    ],
)
def test_the_page_has_the_lowest_points_of_the_martingale(streams, truncation, settings, sentence, least, row, digit):
    _, course = streams.protected(truncation=truncation, **settings)
    assert (course.min(), course.argmin()) == (pytest.approx(least, abs=digit), row)
    said(sentence)


def test_the_page_has_the_subscription_rate_of_low_predictions(streams):
    first = slice(len(streams.y) // 10)
    low = streams.p[first] <= 0.1
    assert round(low.mean(), 1) == 0.9  # "nine tenths of the rows"
    said(f"{100 * streams.y[first][low].mean():.1f} % of those customers subscribe".replace("0.", ".", 1))
