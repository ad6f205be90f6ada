"""Test the kernel density against hand calculations and plain loops, and test the error of its table."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.learners.kernel_density import KernelDensity, bins_of
from tests.oracles import kernel_nb_oracle as oracle

pytestmark = pytest.mark.filterwarnings("error")


class Watched(KernelDensity):
    """Remember the stride of the table."""

    def _table(self, stride):
        self.stride = stride
        return super()._table(stride)


def make(values, weights=None, precision=1.0, kind=KernelDensity):
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    return kind(np.asarray(values, dtype=float), weights, precision)


def masses(density, x):
    """Return the mass of the bin of each value."""
    bins, place = np.unique(bins_of(np.asarray(x, dtype=float), density.precision), return_inverse=True)
    return density.mass(bins)[place]


def relative_error(found, expected):
    """Return the largest relative error; values below the floor of 1e-75 count as equal."""
    found, expected = (np.maximum(values, oracle.FLOOR) for values in (found, expected))
    return np.max(np.abs(found / expected - 1))


def test_density_equals_a_hand_calculation():
    # 0 1 3 at precision 1.5 round to 0 1.5 3 (1/1.5 = .67 -> 1, 3/1.5 = 2); width 3 / sqrt 3
    phi = NormalDist(sigma=3 / math.sqrt(3)).cdf
    at_1 = [phi(-1.5 + 0.75) - phi(-1.5 - 0.75), phi(0.75) - phi(-0.75), phi(1.5 + 0.75) - phi(1.5 - 0.75)]
    assert masses(make([0, 1, 3], precision=1.5), [1.0])[0] == pytest.approx(sum(at_1) / 3, rel=1e-12)


def test_halfway_values_are_rounded_to_the_even_multiple():
    # 1/2 -> 0, 3/2 -> 2, 5/2 -> 2: the range is 2, the total weight 3
    assert make([0.5, 1.5, 2.5]).width == pytest.approx(2 / math.sqrt(3))


@pytest.mark.parametrize("width", [99, 101, 1000, 1e5, 1e9])
def test_narrow_bin_mass_equals_its_integral(width):
    # the integral of the curve over the bin by Gauss and Legendre's rule
    density = make([0, 1], [0.5 / width**2] * 2)
    assert density.width == pytest.approx(width)
    z = np.linspace(0, 18, 500)
    nodes, shares = np.polynomial.legendre.leggauss(8)
    heights = np.exp(-((z[:, None] + nodes / 2 / width) ** 2) / 2) / math.sqrt(2 * math.pi)
    assert relative_error(density._kernel(z * width), heights @ shares / 2 / width) < 1e-12


def test_far_bins_have_no_mass():
    assert masses(make([0, 1, 4]), [-math.inf, math.inf, 1e300, -1e300]).tolist() == [0, 0, 0, 0]


def test_no_bins_give_no_masses():
    assert make(np.arange(50.0)).mass(np.empty(0)).shape == (0,)


def test_a_shift_of_a_billion_does_not_change_masses():
    rng = np.random.default_rng(0)
    values, x = rng.integers(0, 1000, 3000) / 8, rng.integers(-100, 1100, 20000) / 8
    here, there = make(values, precision=0.125), make(values + 2.0**30, precision=0.125)
    assert relative_error(masses(there, x + 2.0**30), masses(here, x)) < 1e-12


clusters = st.sampled_from([0, 5000]).flatmap(lambda centre: st.integers(centre - 3, centre + 3))
values = st.lists(st.one_of(clusters, st.integers(-400, 400)), min_size=1, max_size=20)
weights = st.sampled_from([0.0, 1.0, 1.0, 0.25, 7.5])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(values, st.data())
def test_any_density_equals_the_plain_loops(values, data):
    # whole numbers at precision 1, so that no difference of two values is rounded
    row_weights = data.draw(st.lists(weights, min_size=len(values), max_size=len(values)))
    factor = data.draw(st.sampled_from([1.0, 1e-3, 1 / 3, 4.0, 1e5]))
    row_weights = [weight * factor for weight in row_weights]
    spread = max(oracle.width(values, row_weights, 1.0), 1.0)
    near = [round(v + d * spread) for v in values for d in (0, 0.3, -2, 5, -12, 17, 40)]
    x = [*near, *data.draw(st.lists(st.integers(-(10**7), 10**7), max_size=10))]
    expected = [oracle.density(values, row_weights, 1.0, one) for one in x]
    density = make(values, row_weights)
    assert relative_error(masses(density, x), np.array(expected)) < 1e-9  # the loops lose digits by subtraction
    reweighted = make(values, np.divide(row_weights, factor)).reweighted(factor)
    assert relative_error(masses(reweighted, x), masses(density, x)) < 1e-12


MANY = {
    "normal": lambda rng: rng.normal(size=3000),
    "lognormal": lambda rng: rng.lognormal(0, 1.5, size=3000),
    "two far clusters": lambda rng: np.append(rng.normal(size=1500), 30 + rng.normal(size=1500)),
    "whole numbers": lambda rng: rng.integers(0, 30, 3000),
    "mostly zeros": lambda rng: np.where(rng.random(3000) < 0.7, 0, rng.uniform(0, 50, 3000)),
}


@pytest.mark.parametrize("shape", MANY)
@pytest.mark.parametrize("weighted", [False, True])
def test_table_masses_equal_the_plain_loops(shape, weighted):
    rng = np.random.default_rng(1)
    values = MANY[shape](rng)
    weights = 10 ** rng.uniform(-3, 0, len(values)) if weighted else np.ones(len(values))
    density = make(values, weights, oracle.precision(values.tolist()), kind=Watched)
    bins = np.unique(bins_of(rng.choice(values, 20_000) + density.width * rng.normal(0, 4, 20_000), density.precision))
    found = density.mass(bins)
    assert density.stride == (1 if shape == "whole numbers" else max(1, int(density.width / density.precision / 8)))
    some = rng.choice(len(bins), 10, replace=False)
    x = (bins[some] * density.precision).tolist()
    expected = [oracle.density(values.tolist(), weights.tolist(), density.precision, one) for one in x]
    assert relative_error(found[some], np.array(expected)) < 1e-8
    assert relative_error(found, density._summed_mass(bins - density._first)) < 1e-8


def one_kernel(width):
    """Return a density with a kernel at 0, ``width`` bins wide, and a kernel of tiny weight at 100 widths."""
    density = make([0, 100 * width], [1e4, 1e-6])
    assert density.width == pytest.approx(width)
    return density


@pytest.mark.parametrize(("low", "high", "bound"), [(0, 6, 2e-12), (6, 8, 8e-10), (8, 10, 3e-6)])
@pytest.mark.parametrize("width", [16, 24, 64, 500])
def test_interpolation_error_of_one_kernel_is_bounded(low, high, bound, width):
    density = one_kernel(width)
    places = np.arange(low * width, high * width + 1)
    assert relative_error(density._table(width // 8)[places], density._summed_mass(places)) < bound


@pytest.mark.parametrize("share", [2e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("width", [17, *(pytest.param(width, marks=pytest.mark.slow) for width in (41, 300))])
def test_a_heavy_kernel_does_not_spoil_a_light_kernel(share, width):
    # The light kernel is where the error of the heavy kernel is largest. The bins are up to 4 widths away.
    worst = 0
    for distance in np.arange(1, 14, 0.25):
        density = make([0, distance * width, 100 * width], np.array([1, share, 1e-3]) * 1e4, kind=Watched)
        bins = np.arange(int((distance + 4) * width))
        mass = density.mass(np.append(bins, np.arange(96 * width, 100 * width)))[: len(bins)]
        worst = max(worst, relative_error(mass, density._summed_mass(bins)))
        assert density.stride == width // 8
    assert worst < 1e-8


def test_a_kernel_of_tiny_weight_is_summed():
    density = make([0, 500, 100_000], np.array([1, 1e-13, 1e-3]) * 1e6, kind=Watched)
    density.mass(np.arange(3000))
    assert not hasattr(density, "stride")


def test_few_bins_are_summed_without_a_table():
    density = make(np.arange(3000.0), kind=Watched)
    density.mass(np.arange(5.0))
    assert not hasattr(density, "stride")
