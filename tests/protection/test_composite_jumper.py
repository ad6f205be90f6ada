"""Test the Composite Jumper, a mixture over jump rates and the base."""

import numpy as np
import pytest
from hypothesis import given
from streams import arrays, drifting, quick, streams

from probcal import CompositeJumper, SimpleJumper

RATES = (1e-2, 1e-3, 1e-4)


@pytest.mark.parametrize("passive_weight", [0, 0.5, 0.9])
def test_composite_martingale_is_the_mixture_of_simple_martingales(passive_weight):
    p, y = drifting(500)
    simple = [10 ** SimpleJumper("cox", rate, "first").protect(p, y)[1] for rate in RATES]
    mixed = passive_weight + (1 - passive_weight) * np.mean(simple, axis=0)
    found = CompositeJumper(passive_weight=passive_weight).protect(p, y)[1]
    assert found == pytest.approx(np.log10(mixed), rel=1e-10, abs=1e-12)


@quick
@given(streams)
def test_martingale_never_falls_below_the_passive_weight(stream):
    log10 = CompositeJumper(passive_weight=0.25).protect(*arrays(stream))[1]
    assert (log10 >= np.log10(0.25) - 1e-12).all()


def test_composite_with_one_rate_equals_the_simple_jumper():
    p, y = drifting(2000)
    composite = CompositeJumper("quadratic", (0.01,), 0, "uniform").protect(p, y)
    for one, other in zip(composite, SimpleJumper().protect(p, y), strict=True):
        assert np.array_equal(one, other)


def test_base_weight_recovers_after_a_huge_martingale():
    # 2,000 labels are against the base, and the others agree with it. Plain floats would lose its weight at 10^308.
    p = np.full(12_000, 0.99)
    y = (np.arange(12_000) >= 2000).astype(int)
    estimates, log10 = CompositeJumper([lambda p: p, lambda p: 1 - p], (1e-12,)).protect(p, y)
    assert log10[1999] > 3900
    assert estimates[-1] == pytest.approx(0.99, abs=1e-9)
