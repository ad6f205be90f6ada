"""Metrics of many bootstrap draws at once, for two classes.

A draw changes only how much each row counts. So the rows are sorted once, and rows of equal prediction form one block.
A draw is then two numbers for each block: the weight of its positive rows and of its negative rows. Every metric of
the registry is a function of these, and each function here computes it for all draws together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from probcal.metrics.curves import COARSE, bin_numbers, loess_kernels
from probcal.metrics.ranking import SHARE_ROUNDING

Floats = npt.NDArray[np.float64]

ECE_BINS = 15
# Cells of the grid of the smooth error. It moves the value by less than .001, which is little beside an interval.
_CELLS = 1024
_NEWTON_STEPS = 30


@dataclass(frozen=True, eq=False)
class Blocks:
    """Hold the distinct predictions of some rows, rising, or pooled predictions that are nearly equal.

    Each array is (n_blocks,). ``p`` is the mean prediction. ``log_loss`` holds the mean losses in bits of the positive
    and of the negative rows, ``square`` their mean squared errors, and ``log_odds`` the mean log-odds in nats.
    ``weight`` is that of all rows that were given.
    """

    p: Floats
    weight: Floats
    log_loss: tuple[Floats, Floats]
    square: tuple[Floats, Floats]
    log_odds: Floats

    @cached_property
    def loess_points(self) -> _LoessPoints:
        return _LoessPoints.of(self)

    @classmethod
    def of(
        cls, y: npt.NDArray[np.int64], p: Floats, weight: Floats, most_blocks: int | None = None,
        cuts: Sequence[float] | Floats = (),
    ) -> tuple[Blocks, npt.NDArray[np.intp]]:  # fmt: skip
        """Return the blocks of rows, and the number of the block of each row, (n_rows,).

        ``p`` is (n_rows,), or (n_rows, 2) with a P(y = 0) that keeps the digits that 1 - P(y = 1) loses.

        More than ``most_blocks`` distinct predictions are pooled. Then predictions of one block lie in one of
        ``most_blocks`` bins of equal weight and in one bin of the ECE, and their log-odds differ by at most 1/32.
        No block holds predictions on both sides of one of the rising ``cuts``, which is itself on the upper side.
        """
        p, complement = (p, 1 - p) if p.ndim == 1 else (p[:, 1], p[:, 0])
        order = np.argsort(p)
        y, p, complement, weight = y[order], p[order], complement[order], weight[order]
        # predictions of 0 and 1 have infinite log-odds
        with np.errstate(divide="ignore"):
            odds = np.log(p) - np.log(complement)
        is_start = np.append(True, p[1:] != p[:-1])
        if most_blocks is not None and np.count_nonzero(is_start) > most_blocks:
            reached = np.cumsum(weight)
            codes = (
                np.floor(np.clip(odds, -40, 40) * 32),
                (p > 0) * 1 + (complement == 0),  # predictions of 0 and 1 have losses of their own
                np.searchsorted(np.arange(1, ECE_BINS) / ECE_BINS, p),
                np.floor(reached * (most_blocks / reached[-1])),
                np.searchsorted(cuts, p, side="right"),
            )
            is_start[1:] &= np.any([code[1:] != code[:-1] for code in codes], axis=0)
        starts = np.flatnonzero(is_start)
        numbers = np.empty(len(p), np.intp)
        numbers[order] = np.cumsum(is_start) - 1

        def mean(values: Floats, by: Floats, default: Floats) -> Floats:
            total = np.add.reduceat(by, starts)
            # 0 times an infinite loss is 0 here, and no number in floating point
            sums = np.add.reduceat(np.where(by > 0, by * values, 0), starts)
            return np.where(total > 0, sums / np.where(total > 0, total, 1), default)

        ends = np.append(starts[1:], len(p)) - 1
        center = np.clip(mean(p, weight, p[starts]), p[starts], p[ends])  # rounding moves no mean of equal numbers
        positive, negative = weight * (y == 1), weight * (y == 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_loss = (
                mean(-np.log2(p), positive, -np.log2(center)),
                mean(-np.log2(complement), negative, -np.log2(1 - center)),
            )
            square = mean((1 - p) ** 2, positive, (1 - center) ** 2), mean(p**2, negative, center**2)
            log_odds = mean(odds, weight, odds[starts])
        return cls(center, np.add.reduceat(weight, starts), log_loss, square, log_odds), numbers


class DrawnRows:
    """Hold bootstrap draws of the rows in ``blocks``.

    Parameters
    ----------
    blocks : Blocks
        The rows that are drawn from.
    positive, negative : ndarray of shape (n_draws, n_blocks)
        Weight of the positive and of the negative rows of each block in each draw.
    """

    def __init__(self, blocks: Blocks, positive: Floats, negative: Floats) -> None:
        self.blocks, self.positive, self.negative = blocks, positive, negative

    @cached_property
    def weight(self) -> Floats:
        return self.positive + self.negative

    @cached_property
    def total(self) -> Floats:
        return np.asarray(self.weight.sum(axis=1))

    @cached_property
    def sums(self) -> Floats:
        """Return the running sum of weight (y - p) before the first block and after each, (n_draws, n_blocks + 1)."""
        sums = np.zeros((len(self.positive), len(self.blocks.p) + 1))
        np.cumsum(self.positive - self.weight * self.blocks.p, axis=1, out=sums[:, 1:])
        return sums

    def _has_both(self) -> npt.NDArray[np.bool_]:
        return np.asarray((self.positive > 0).any(axis=1) & (self.negative > 0).any(axis=1))

    def base_rate(self) -> Floats:
        return np.asarray(self.positive.sum(axis=1) / self.total)

    def mean_probability(self) -> Floats:
        return np.asarray(self.weight @ self.blocks.p / self.total)

    def log_loss(self) -> Floats:
        """Return the log loss in bits. It is infinite where a drawn label had predicted probability 0."""
        loss = np.zeros(len(self.positive))
        for weight, losses in zip((self.positive, self.negative), self.blocks.log_loss, strict=True):
            is_infinite = np.isinf(losses)
            loss += weight @ np.where(is_infinite, 0, losses)
            loss[(weight[:, is_infinite] > 0).any(axis=1)] = np.inf
        return loss / self.total

    def squared_error(self) -> Floats:
        return np.asarray((self.positive @ self.blocks.square[0] + self.negative @ self.blocks.square[1]) / self.total)

    def auc(self) -> Floats:
        below = np.cumsum(self.negative, axis=1) - self.negative / 2
        n_positive, n_negative = self.positive.sum(axis=1), self.negative.sum(axis=1)
        # a draw that lacks a class has no AUC
        with np.errstate(invalid="ignore"):
            return np.asarray((self.positive * below).sum(axis=1) / (n_positive * n_negative))

    def c_emp(self) -> Floats:
        return np.asarray((self.sums.max(axis=1) - self.sums.min(axis=1)) / self.total)

    def kolmogorov_smirnov(self) -> Floats:
        return np.asarray(np.abs(self.sums).max(axis=1) / self.total)

    def ece(self, n_bins: int = ECE_BINS) -> Floats:
        blocks = np.searchsorted(self.blocks.p, np.arange(1, n_bins) / n_bins, side="right")
        cut = np.concatenate([[0], blocks, [len(self.blocks.p)]])
        return np.asarray(np.abs(np.diff(self.sums[:, cut], axis=1)).sum(axis=1) / self.total)

    def ece_of_equal_weights(self, n_bins: int = ECE_BINS) -> Floats:
        reached = np.cumsum(self.weight, axis=1)
        edges = [np.zeros(len(reached), np.intp)]
        for number in range(1, n_bins):
            target = number * reached[:, -1:] / n_bins * (1 - SHARE_ROUNDING)
            edges.append((reached < target).sum(axis=1) + 1)
        edges.append(np.full(len(reached), len(self.blocks.p)))
        at_edges = np.take_along_axis(self.sums, np.column_stack(edges), axis=1)
        return np.asarray(np.abs(np.diff(at_edges, axis=1)).sum(axis=1) / self.total)

    def sharpness(self) -> Floats:
        p = self.blocks.p
        mean = self.mean_probability()
        return np.asarray(np.maximum(self.weight @ p**2 / self.total - mean**2, 0))

    def refinement(self) -> Floats:
        """Return the Brier score after isotonic recalibration of each draw."""
        return self._recalibrated

    def miscalibration(self) -> Floats:
        return np.maximum(self.squared_error() - self._recalibrated, 0)

    def discrimination(self) -> Floats:
        rate = self.base_rate()
        return np.maximum(rate * (1 - rate) - self._recalibrated, 0)

    @cached_property
    def _recalibrated(self) -> Floats:
        from scipy.optimize import isotonic_regression

        scores = np.empty(len(self.weight))
        for draw, weight in enumerate(self.weight):
            drawn = weight > 0
            observed = self.positive[draw, drawn] / weight[drawn]
            curve = np.clip(isotonic_regression(observed, weights=weight[drawn]).x, 0, 1)
            scores[draw] = weight[drawn] @ (curve * (1 - curve))
        return scores / self.total

    def slope(self) -> Floats:
        """Return the calibration slope: Newton's method for all draws together."""
        x, drawn = self.blocks.log_odds, self.weight > 0
        slopes = np.full(len(drawn), np.nan)
        usable = self._has_both() & ~drawn[:, ~np.isfinite(x)].any(axis=1)
        finite = np.where(np.isfinite(x), x, 0)
        ends = {
            (label, end): (np.where(weight > 0, finite, -end * np.inf).max(axis=1) if end > 0
                           else np.where(weight > 0, finite, np.inf).min(axis=1))
            for label, weight in (("positive", self.positive), ("negative", self.negative)) for end in (1, -1)
        }  # fmt: skip
        usable &= np.maximum(ends["positive", 1], ends["negative", 1]) > np.minimum(
            ends["positive", -1], ends["negative", -1]
        )
        # where the classes are separated, the likelihood has no maximum, and Newton's method no end
        slopes[usable & (ends["negative", 1] <= ends["positive", -1])] = np.inf
        slopes[usable & (ends["positive", 1] <= ends["negative", -1])] = -np.inf
        fitted = usable & np.isnan(slopes)
        if fitted.any():
            slopes[fitted] = self._newton(fitted, finite)
        return slopes

    def _newton(self, draws: npt.NDArray[np.bool_], x: Floats) -> Floats:
        from scipy.special import expit

        weight, positive = self.weight[draws], self.positive[draws]
        total = weight.sum(axis=1, keepdims=True)
        middle = weight @ x / total[:, 0]
        scale = np.sqrt(np.maximum(weight @ x**2 / total[:, 0] - middle**2, np.finfo(float).tiny))
        a, b = np.zeros(len(weight)), np.zeros(len(weight))
        rate = positive.sum(axis=1) / total[:, 0]
        a[:] = np.log(rate / (1 - rate))
        z = (x - middle[:, None]) / scale[:, None]
        for _ in range(_NEWTON_STEPS):
            fitted = expit(a[:, None] + b[:, None] * z)
            residual = weight * fitted - positive
            curvature = weight * fitted * (1 - fitted)
            g0, g1 = residual.sum(axis=1), (residual * z).sum(axis=1)
            h00, h01, h11 = curvature.sum(axis=1), (curvature * z).sum(axis=1), (curvature * z**2).sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                determinant = h00 * h11 - h01**2
                step_a, step_b = (h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant
            largest = np.maximum(np.abs(step_a), np.abs(step_b))
            shrink = np.minimum(1, 2 / np.maximum(largest, 1e-300))  # a full step may jump over a flat valley
            a, b = a - step_a * shrink, b - step_b * shrink
            if not np.nanmax(largest) > 1e-9:
                break
        return np.asarray(b / scale)

    def intercept(self) -> Floats:
        """Return the calibration intercept with slope 1: Newton's method for all draws together."""
        from scipy.special import expit

        x, drawn = self.blocks.log_odds, self.weight > 0
        usable = self._has_both() & ~drawn[:, ~np.isfinite(x)].any(axis=1)
        finite = np.where(np.isfinite(x), x, 0)
        rate = self.base_rate()
        low = np.full(len(rate), -1e3)
        high, a = -low, np.zeros(len(rate))
        for _ in range(100):
            fitted = expit(finite + a[:, None])
            miss = (self.weight * fitted).sum(axis=1) / self.total - rate
            high, low = np.where(miss > 0, a, high), np.where(miss > 0, low, a)
            with np.errstate(invalid="ignore", divide="ignore"):
                newton = a - miss / ((self.weight * fitted * (1 - fitted)).sum(axis=1) / self.total)
            after = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
            step, a = np.abs(after - a), after
            if not (step[usable] > 1e-10).any():
                break
        return np.where(usable, a, np.nan)

    @cached_property
    def curve_distances(self) -> Floats:
        """Return the distance of each block from the loess curve of each draw, (n_draws, n_blocks)."""
        # the points and the widths of the curve are those of all rows, so that a curve is a product of matrices
        points = self.blocks.loess_points
        curve = points.curves(self.positive, self.weight)
        return np.abs(self.blocks.p - np.clip(curve, 0, 1) @ points.spread)

    def ici(self) -> Floats:
        return np.asarray((self.weight * self.curve_distances).sum(axis=1) / self.total)

    def distance_quantile(self, q: float) -> Floats:
        order = np.argsort(self.curve_distances, axis=1)
        reached = np.cumsum(np.take_along_axis(self.weight, order, axis=1), axis=1)
        place = (reached < q * reached[:, -1:] * (1 - SHARE_ROUNDING)).sum(axis=1)
        chosen = np.take_along_axis(order, place[:, None], axis=1)
        return np.take_along_axis(self.curve_distances, chosen, axis=1)[:, 0]

    def smooth_error(self) -> Floats:
        """Return the smooth calibration error, on a coarser grid than for one set of rows."""
        from scipy.fft import dct

        place = self.blocks.p * _CELLS
        left = np.minimum(place.astype(int), _CELLS - 1)
        residual = np.diff(self.sums, axis=1) / self.total[:, None]
        mass = np.zeros((len(residual), _CELLS + 1))
        starts = np.flatnonzero(np.append(True, left[1:] != left[:-1]))
        cells = left[starts]
        mass[:, cells] += np.add.reduceat(residual * (left + 1 - place), starts, axis=1)
        mass[:, cells + 1] += np.add.reduceat(residual * (place - left), starts, axis=1)
        # DCT-I counts both ends half
        mass[:, [0, -1]] *= 2
        cosines = dct(mass, type=1, axis=1)
        squares = (np.arange(_CELLS + 1) * np.pi) ** 2 / 2

        def error(width: Floats) -> Floats:
            smoothed = np.abs(dct(cosines * np.exp(-squares * width[:, None] ** 2), type=1, axis=1)) / 2
            return np.asarray((smoothed.sum(axis=1) - (smoothed[:, 0] + smoothed[:, -1]) / 2) / _CELLS)

        # the error never rises with the width, so error(width) = width is found by halving, a step for all draws
        low, high = np.zeros(len(mass)), np.ones(len(mass))
        # twelve halvings leave less than .001, the error of the grid
        for _ in range(12):
            middle = (low + high) / 2
            above = error(middle) > middle
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return (low + high) / 2


@dataclass(frozen=True, eq=False)
class _LoessPoints:
    """Hold the points of a loess curve, its kernels, and how a curve is read at each block."""

    starts: npt.NDArray[np.intp]
    kernels: list[Floats]
    """Kernel times offset to the power 0 to 4, each (n_points, n_points), one column for each fitted point."""
    spread: Floats
    """Weights of the points in the value at each block, (n_points, n_blocks): linear interpolation."""

    @classmethod
    def of(cls, blocks: Blocks) -> _LoessPoints:
        numbers = np.arange(len(blocks.p))
        if len(blocks.p) > COARSE:
            numbers = np.unique(bin_numbers(blocks.p, blocks.weight, COARSE), return_inverse=True)[1]
        starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
        weight = np.add.reduceat(blocks.weight, starts)
        x = np.add.reduceat(blocks.weight * blocks.p, starts) / weight
        kernel, offset = loess_kernels(x, weight)
        spread = np.array([np.interp(blocks.p, x, row) for row in np.eye(len(x))])
        return cls(starts, [(kernel * offset**degree).T for degree in range(5)], spread)

    def curves(self, positive: Floats, weight: Floats) -> Floats:
        """Return the value of the local quadratic at each point, (n_draws, n_points)."""
        positive, weight = (np.add.reduceat(one, self.starts, axis=1) for one in (positive, weight))
        sums = [weight @ kernel for kernel in self.kernels]
        products = [positive @ kernel for kernel in self.kernels[:3]]
        normal = np.array([[sums[row + column] for column in range(3)] for row in range(3)]).transpose(2, 3, 0, 1)
        right = np.array(products).transpose(1, 2, 0)
        determinant = np.linalg.det(normal)
        # solve where that is safe, because it takes less time than the pseudo-inverse, which few points in reach need
        is_safe = determinant > 1e-9 * sums[0] * sums[2] * sums[4]
        values = np.empty(determinant.shape)
        values[is_safe] = np.linalg.solve(normal[is_safe], right[is_safe][..., None])[:, 0, 0]
        inverse = np.linalg.pinv(normal[~is_safe], rcond=1e-12, hermitian=True)
        values[~is_safe] = (inverse[:, 0] * right[~is_safe]).sum(axis=1)
        return values
