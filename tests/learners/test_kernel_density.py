"""The kernel density: worked by hand, against plain loops, and how exact its short cut is."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.learners.kernel_naive_bayes import KernelDensity
from tests.oracles import kernel_nb_oracle as oracle

pytestmark = pytest.mark.filterwarnings("error")


class Watched(KernelDensity):
    """Tells how many points were interpolated."""

    def _interpolated_mass(self, points):
        self.interpolated = len(points)
        return super()._interpolated_mass(points)


def make(values, weights=None, precision=1.0, kind=KernelDensity):
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    return kind(np.asarray(values, dtype=float), weights, precision)


def relative_error(found, expected):
    """The largest, where values below the floor of 1e-75 count as equal."""
    found, expected = (np.maximum(values, oracle.FLOOR) for values in (found, expected))
    return np.max(np.abs(found / expected - 1))


def test_a_density_worked_by_hand():
    # 0 1 3 at precision 1.5 round to 0 1.5 3 (1/1.5 = .67 -> 1, 3/1.5 = 2); width 3 / sqrt 3
    phi = NormalDist(sigma=3 / math.sqrt(3)).cdf
    at_1 = [phi(-1 + 0.75) - phi(-1 - 0.75), phi(0.5 + 0.75) - phi(0.5 - 0.75), phi(2 + 0.75) - phi(2 - 0.75)]
    assert make([0, 1, 3], precision=1.5)(np.array([1.0]))[0] == pytest.approx(sum(at_1) / 3, rel=1e-12)


def test_values_halfway_are_rounded_to_the_even_multiple():
    # 1/2 -> 0, 3/2 -> 2, 5/2 -> 2: the range is 2, the total weight 3
    assert make([0.5, 1.5, 2.5]).width == pytest.approx(2 / math.sqrt(3))


def test_one_value_has_a_kernel_of_a_sixth_of_the_precision():
    # within half a precision of the centre lie three widths on either side
    density = make([5.0], precision=0.01)
    assert density.width == pytest.approx(0.01 / 6)
    assert density(np.array([5.0]))[0] == pytest.approx(math.erf(3 / math.sqrt(2)), rel=1e-12)


def test_no_values_are_one_kernel_at_0():
    assert make([], precision=2.0)(np.array([0.0, 2.0])) == pytest.approx(make([0.0], precision=2.0)(np.array([0, 2])))
    only_weightless = make([7.0], weights=[0.0], precision=2.0)
    assert only_weightless(np.array([0.0]))[0] > 0.99


def test_a_row_without_weight_is_no_row():
    assert make([0, 1, 9], weights=[1, 1, 0]).width == make([0, 1]).width


def test_a_weight_of_two_is_a_value_twice():
    x = np.linspace(-3, 12, 50)
    twice = make([0, 0, 4, 9])(x)
    np.testing.assert_allclose(make([0, 4, 9], weights=[2, 1, 1])(x), twice, rtol=1e-13)


def test_ten_thousand_times_the_weight_makes_kernels_a_hundred_times_narrower_down_to_a_sixth_of_the_precision():
    values = [0.0, 50.0, 100.0]
    assert make(values, [1, 1, 1]).width == pytest.approx(100 / math.sqrt(3))
    assert make(values, [1e4, 1e4, 1e4]).width == pytest.approx(1 / math.sqrt(3))
    assert make(values, [1e8, 1e8, 1e8]).width == pytest.approx(1 / 6)


def test_the_precision_is_never_below_one_millionth_as_in_weka():
    density = make([0.0, 1e-7, 3e-7], precision=1.5e-7)
    assert density.precision == 1e-6
    assert density.width == pytest.approx(1e-6 / 6)


def test_the_mass_of_all_bins_is_one():
    density = make([0, 1, 1, 4, 9])
    assert density(np.arange(-60.0, 70.0)).sum() == pytest.approx(1, abs=1e-12)


def test_a_bin_of_a_millionth_of_a_width_has_the_height_of_the_curve_times_its_width():
    density = make([0, 1000], [5e5, 5e5], precision=0.01)
    density.precision = 1e-6 * density.width
    x = np.linspace(-18, 18, 5000)
    curve = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) / 2
    assert relative_error(density(x), curve * 1e-6) < 1e-8


def test_infinitely_far_away_there_is_no_mass():
    assert make([0, 1, 4])(np.array([-math.inf, math.inf, 1e300, -1e300])).tolist() == [0, 0, 0, 0]


def test_no_points_have_no_masses():
    assert make(np.arange(50.0))(np.empty(0)).shape == (0,)


def test_a_shift_of_a_billion_changes_nothing_that_the_values_still_tell():
    rng = np.random.default_rng(0)
    values, x = rng.integers(0, 1000, 3000) / 8, rng.integers(-100, 1100, 20000) / 8 + 1 / 64
    here, there = make(values, precision=0.125), make(values + 2.0**30, precision=0.125)
    assert relative_error(there(x + 2.0**30), here(x)) < 1e-12


exact = st.integers(-8, 8).map(lambda n: n / 4)
clusters = st.sampled_from([0.0, 1e6]).flatmap(lambda centre: st.floats(-1, 1).map(lambda d: centre + d))
values = st.lists(st.one_of(exact, st.floats(-100, 100), clusters), min_size=1, max_size=20)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(values, st.data())
def test_any_density_is_the_one_of_the_plain_loops(values, data):
    weights = data.draw(
        st.lists(st.sampled_from([0.0, 1.0, 1.0, 0.25, 7.5]), min_size=len(values), max_size=len(values))
    )
    step = oracle.precision(values)
    spread = max(oracle.width(values, weights, max(step, 1e-6)), step)
    near = [v + d * spread for v in values for d in (0, 0.3, -2, 5, -12, 17, 40)]
    x = [*near, *data.draw(st.lists(st.floats(-1e7, 1e7), max_size=10))]
    expected = [oracle.density(values, weights, step, one) for one in x]
    assert relative_error(make(values, weights, step)(np.array(x)), np.array(expected)) < 1e-11


MANY = {
    "normal": lambda rng: rng.normal(size=3000),
    "lognormal": lambda rng: rng.lognormal(0, 1.5, size=3000),
    "two far clusters": lambda rng: np.append(rng.normal(size=1500), 300 + rng.normal(size=1500)),
    "whole numbers": lambda rng: rng.integers(0, 30, 3000),
    "mostly zeros": lambda rng: np.where(rng.random(3000) < 0.7, 0, rng.uniform(0, 50, 3000)),
}


@pytest.mark.parametrize("shape", MANY)
@pytest.mark.parametrize("weighted", [False, True])
def test_many_points_are_interpolated_and_still_those_of_the_plain_loops(shape, weighted):
    rng = np.random.default_rng(1)
    values = MANY[shape](rng)
    weights = 10 ** rng.uniform(-3, 3, len(values)) if weighted else np.ones(len(values))
    density = make(values, weights, oracle.precision(values.tolist()), kind=Watched)
    x = rng.choice(values, 20_000) + density.width * rng.normal(0, 2, 20_000)
    found = density(x)
    assert density.interpolated > 10_000
    some = rng.choice(len(x), 10, replace=False)
    expected = [oracle.density(values.tolist(), weights.tolist(), density.precision, one) for one in x[some].tolist()]
    assert relative_error(found[some], np.array(expected)) < 1e-8
    some = rng.choice(len(x), 1000, replace=False)
    assert relative_error(found[some], density._exact_mass(x[some] - density._origin)) < 1e-8


@pytest.mark.parametrize(("low", "high", "bound"), [(0, 6, 7e-13), (6, 8, 7e-10), (8, 10, 2e-6)])
@pytest.mark.parametrize("bin_in_widths", [0.1, 0.5, 1, 3, 6])
def test_one_kernel_is_interpolated_as_exactly_as_the_constants_say(low, high, bound, bin_in_widths):
    # two kernels of width 1, a thousand apart
    density = make([0, 1000], [5e5, 5e5], precision=0.01)
    density.precision = bin_in_widths
    assert density.width == pytest.approx(1, rel=1e-12)
    points = np.linspace(low, high, 5000)
    assert relative_error(density._interpolated_mass(points), density._exact_mass(points)) < bound


@pytest.mark.parametrize("share", [2e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("bin_in_widths", [0.01, 1, 6])
def test_a_heavy_kernel_beyond_a_light_one_does_not_spoil_it(share, bin_in_widths):
    # the light one stands where the error of the heavy one weighs most; the points are up to 4 widths off
    worst = 0
    for distance in np.arange(1, 14, 0.25):
        density = make([0, distance, 1000], np.array([1, share, 1e-3]) * 1e6, precision=0.01, kind=Watched)
        density.precision = bin_in_widths
        x = np.linspace(-4, distance + 4, 1000) * density.width
        worst = max(worst, relative_error(density(x), density._exact_mass(x)))
        assert density.interpolated > 500
    assert worst < 1e-8


def test_a_kernel_of_next_to_no_weight_is_summed():
    density = make([0, 5, 1000], np.array([1, 1e-13, 1e-3]) * 1e6, precision=0.01, kind=Watched)
    density(np.linspace(-4, 9, 3000))
    assert density.interpolated == 0
