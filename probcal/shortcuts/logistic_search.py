"""The search for the minimum of one weighting: quasi-Newton steps, mixed, on a Hessian that need not be exact."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

CLOSE_ENOUGH = 1e-11
"""Distance from the minimum in the norm of the mean loss's Hessian. scikit-learn's is about 1e-7 at tol=1e-8."""
_RATE_MARGIN = 10.0
"""By how many times less than the one before a step may bring the minimum closer."""
_MOST_GRADIENTS = 150
_SMALLEST_SHARE = 1e-4
"""Of a Newton step: where less of it is still too far, the search is given up."""
_MEMORY = 5
"""Steps that are mixed."""
_JITTER = 1e-14
"""Added to the scaled Hessian, so that it can be factored where columns are collinear. Scores do not notice."""


@dataclass
class Search:
    """Where the search for one minimum stands.

    ``weighting``: (2,) the weights of a row of each class, such that those of all rows sum to 1; ``penalties``:
    (n_coefficients,) of the squares; ``point``: (n_coefficients,) the next place to take the gradient at. While
    ``state`` is open, ``advance`` with the gradient there moves it on.
    """

    weighting: np.ndarray
    penalties: np.ndarray
    point: np.ndarray
    state: Literal["open", "done", "failed"] = "open"
    n_gradients: int = 0
    wants_hessian: bool = False
    owns_hessian: bool = False
    hessian: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    _length: float = math.inf
    _share: float = 1.0
    _points: list[np.ndarray] = field(default_factory=list)
    _steps: list[np.ndarray] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The logarithm of the ratio of the two weights."""
        return math.log(self.weighting[1]) - math.log(self.weighting[0])

    def take_hessian(self, hessian: np.ndarray, *, own: bool) -> None:
        """Shape the steps by ``hessian``, without the penalty: that of ``point`` if it is ``own``, else a likeness."""
        self.hessian, self.owns_hessian, self.wants_hessian = hessian, own, False
        self._length, self._points, self._steps = math.inf, [], []
        full = hessian + np.diag(self.penalties)
        self._scale = np.sqrt(full.diagonal())
        self._scale[self._scale == 0] = 1
        full /= self._scale * self._scale[:, None]
        full.flat[:: len(full) + 1] += _JITTER
        try:
            self._factor = cho_factor(full, lower=True, overwrite_a=True, check_finite=False)
        except (LinAlgError, ValueError):
            self.state = "failed"

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Inverse of the Hessian with the penalty, times ``right``, (n_coefficients,) or (n_coefficients, k)."""
        scale = self._scale if right.ndim == 1 else self._scale[:, None]
        return cho_solve(self._factor, right / scale, check_finite=False) / scale

    def length(self, offset: np.ndarray) -> float:
        """Of ``offset``, (n_coefficients,), in the norm of the Hessian with the penalty."""
        return math.sqrt(max(0.0, offset @ self.hessian @ offset + self.penalties @ offset**2))

    def advance(self, gradient: np.ndarray, hessian_cost: float) -> None:
        """Go on from ``gradient``, (n_coefficients,) without the penalty, at ``point``.

        ``hessian_cost``: of a new Hessian, in gradients; asked for where the steps left would cost more.
        """
        self.n_gradients += 1
        if self.n_gradients > _MOST_GRADIENTS or not np.isfinite(gradient).all():
            self.state = "failed"
            return
        step = -self.solve(gradient + self.penalties * self.point)
        # without the penalty: along collinear columns steps are rounding, and of no effect on scores
        length = math.sqrt(max(0.0, step @ self.hessian @ step))
        rate = length / self._length if math.isfinite(self._length) else 1.0
        if length * min(1.0, _RATE_MARGIN * rate) <= CLOSE_ENOUGH:
            self.point, self.state = self.point + step, "done"
        elif length > self._length:
            self._go_back()
        else:
            self._length, self._share = length, 1.0
            self._points.append(self.point)
            self._steps.append(step)
            steps_left = math.log(length / CLOSE_ENOUGH) / -math.log(min(max(rate, 1e-3), 0.999))
            self.wants_hessian = steps_left > hessian_cost + 2 and len(self._steps) > 1
            if not self.wants_hessian:
                self.point = self._mixed()

    def _go_back(self) -> None:
        last = self._points[-1]
        if not self.owns_hessian or len(self._points) > 1:
            self.point, self.wants_hessian = last, True
            return
        self._share /= 2
        self.point = last + self._share * self._steps[-1]
        if self._share < _SMALLEST_SHARE:
            self.state = "failed"

    def _mixed(self) -> np.ndarray:
        """Anderson (1965): the step from that mixture of the latest points whose own step would be shortest."""
        point, step = self._points[-1], self._steps[-1]
        if len(self._steps) == 1:
            return point + step
        changes = np.diff(np.column_stack(self._steps[-_MEMORY - 1 :]), axis=1)
        moves = np.diff(np.column_stack(self._points[-_MEMORY - 1 :]), axis=1)
        weighed = self.hessian @ changes
        mixture = np.linalg.lstsq(changes.T @ weighed, weighed.T @ step, rcond=1e-12)[0]
        return point + step - (moves + changes) @ mixture
