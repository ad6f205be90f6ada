"""Test the bootstrap of results over splits, and how often its intervals cover the true count."""

import math
from pathlib import Path

import numpy as np
import pytest

from probcal.analysis.hypothesis_tests import corrected_interval
from probcal.papers.check.findings import CheckedResults
from probcal.reporting.comparison.bootstrap import Bootstrap, BootstrapDraw, _resample_splits
from probcal.reporting.comparison.split_results import SAMPLES, ComparisonData
from probcal.store.stored_experiment import Row

NUMBERS = (0.50, 0.62, 0.41, 0.58, 0.55, 0.47, 0.60, 0.52, 0.49, 0.57)


@pytest.fixture
def drawn(small):
    def drawn(numbers, kept=None, paper=None, **more):
        cells = {("adult", column): [{"cxe": one} for one in found] for column, found in numbers.items()}
        store = small(datasets={"adult": len(next(iter(numbers.values())))}, columns=tuple(numbers), paper=paper)
        return Bootstrap(CheckedResults.of(store.write(cells)), kept or ComparisonData())

    return drawn


def course(drawn, place=0):
    stored = drawn.experiment.stored
    return drawn.draws(stored.datasets[0], stored.columns[place], "cxe")


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_bootstrap_interval_is_as_wide_as_the_corrected_interval(drawn, n):
    """Compare widths. The ends of 1,000 draws are exact to about a tenth; three splits have only ten means."""
    low, high = corrected_interval(NUMBERS[:n], 0.25)
    found = np.quantile(course(drawn({"j48.direct": NUMBERS[:n]})).means, [0.025, 0.975])
    assert found[1] - found[0] == pytest.approx(high - low, rel=0.12 if n > 3 else 0.3)
    assert found.mean() == pytest.approx(np.mean(NUMBERS[:n]), abs=0.1 * (high - low))


def test_all_columns_use_the_same_drawn_splits(drawn):
    one = drawn({"j48.direct": NUMBERS, "j48.probing": tuple(number + 0.1 for number in NUMBERS)})
    assert course(one, 1).means - course(one, 0).means == pytest.approx(np.full(SAMPLES, 0.1))


def test_a_draw_with_an_infinite_split_has_infinite_mean(drawn):
    """Check one infinite split of ten, which is not drawn with probability .9^10 = .349."""
    found = course(drawn({"j48.direct": (math.inf, *NUMBERS[1:])}))
    assert np.isinf(found.means).mean() == pytest.approx(1 - 0.9**10, abs=0.05)
    assert np.isfinite(found.finite).all()


def test_one_split_is_drawn_only_by_its_rows(drawn):
    rows = np.linspace(0.4, 0.6, SAMPLES)
    kept = ComparisonData({"adult": {"cxe": {"j48/direct": rows}}})
    assert np.array_equal(course(drawn({"j48.direct": (0.5,)}, kept)).means, rows)
    assert set(course(drawn({"j48.probing": (0.5,)})).means) == {0.5}


@pytest.mark.parametrize(
    ("numbers", "infinite", "half"),
    [((0.5, 0.5), False, False), ((math.inf, math.inf), True, True), ((math.inf, 0.5, 0.5, 0.5), None, None)],
)
def test_a_draw_has_the_share_of_infinite_splits(drawn, numbers, infinite, half):
    one = drawn({"j48.direct": numbers}, paper="langford-zadrozny-2005")
    shares = course(one).infinite
    for draw in range(50):
        values = [*BootstrapDraw(one, draw).splits("adult", "J48", "cxe").values()]
        assert any(map(math.isinf, values)) == (shares[draw] > 0)
        assert (2 * sum(map(math.isinf, values)) >= len(values)) == (shares[draw] >= 0.5)
        assert infinite in (None, shares[draw] > 0)
    assert half in (None, bool((shares >= 0.5).all()))


def test_cells_that_were_not_run_are_in_no_draw(drawn):
    one = drawn({"j48.direct": NUMBERS}, paper="langford-zadrozny-2005")
    assert BootstrapDraw(one, 0).splits("breast", "J48", "cxe") == {}
    assert BootstrapDraw(one, 0).splits("adult", "NB", "cxe") == {}


def test_the_bootstrap_covers_and_plain_resampling_does_not():
    """Check splits with shared rows as modelled by Nadeau & Bengio: correlation n_test / (n_train + n_test) = .34."""
    share, n, times = 0.34, 10, 600
    random = np.random.default_rng(4)
    row = Row(name="adult", title="Adult", split="holdout")
    held, held_plainly = 0, 0
    for _ in range(times):
        values = math.sqrt(share) * random.normal() + math.sqrt(1 - share) * random.normal(size=n)
        low, high = np.quantile(_resample_splits(row, dict(enumerate(values)), share).means, [0.025, 0.975])
        held += low <= 0 <= high
        low, high = np.quantile(values[random.integers(n, size=(500, n))].mean(axis=1), [0.025, 0.975])
        held_plainly += low <= 0 <= high
    assert held / times == pytest.approx(0.95, abs=0.025)
    assert held_plainly / times < 0.7


PAGE = Path(__file__).parents[3] / "docs/statistics.md"
SHARE, SPLITS, DATASETS, TIMES = 0.34, 10, 12, 60
MOST = DATASETS // 2 + 1


def wins(truth, random):
    """Return (n_draws,): the number of data sets where method 1 wins; ``truth``: differences in sd of a split."""
    found = np.zeros(1, dtype=int)
    for place, one in enumerate(truth):
        values = one + math.sqrt(SHARE) * random.normal() + math.sqrt(1 - SHARE) * random.normal(size=SPLITS)
        row = Row(name=f"d{place}", title="x", split="holdout")
        found = found + (_resample_splits(row, dict(enumerate(values)), SHARE).means > 0)
    return found


def held_and_wrongly_supported(truth_of):
    random = np.random.default_rng(2)
    held, wrongly = 0, 0
    for _ in range(TIMES):
        truth = np.asarray(truth_of(random))
        drawn = wins(truth, random)
        low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
        ahead = int((truth > 0).sum())
        held += low <= ahead <= high
        wrongly += ahead < MOST and (drawn >= MOST).mean() >= 0.975
    return held / TIMES, wrongly / TIMES


@pytest.mark.parametrize(
    ("said", "truth_of", "held", "wrongly"),
    [
        ("as often below 0 as above it", lambda random: random.normal(0, 1, DATASETS), (0.93, 1), (0, 0.02)),
        ("all of three standard deviations", lambda _: [3] * DATASETS, (0.97, 1), (0, 0)),
        ("all of a fifth of one", lambda _: [0.2] * DATASETS, (0, 0.05), (0, 0)),
        ("six clear differences and six of a hundredth", lambda _: [3] * 6 + [-0.01] * 6, (0.05, 0.35), (0.65, 0.95)),
    ],
)
def test_coverage_of_counts_matches_the_page(said, truth_of, held, wrongly):
    assert said in " ".join(PAGE.read_text(encoding="utf-8").split())
    for value, (least, most) in zip(held_and_wrongly_supported(truth_of), (held, wrongly), strict=True):
        assert least <= value <= most
