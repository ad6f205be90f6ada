"""Protection of a base forecaster, as a stream and as arrays: what the Simple and the Composite Jumper share."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from numbers import Real
from operator import mul
from typing import Any, Self

import numpy as np

from probcal.protection import stream_input as inputs
from probcal.protection.calibrating_functions import Calibrators, family, kept, restored
from probcal.protection.capital import Jumper
from probcal.protection.feedback import Progress
from probcal.protection.guarantees import log10_level
from probcal.protection.stream_input import checked, entries

_ROWS = 16_384
"""Rows of an array done at a time: what it takes beyond its answers does not grow with the stream."""
_OF_A_LABEL = (int, Real, np.bool_)
_BELOW_1 = 1 - 2**-53
"""The float below 1: an estimate becomes 1 by rounding, and would be infinitely wrong, unless the base says 1."""


class Protector:
    """Simple Jumpers side by side, each with a share of the capital, and a passive share on the base itself."""

    _parameters: tuple[str, ...]

    def __init__(
        self,
        calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]],
        jump_rates: Sequence[float],
        passive_weight: float,
        start: str,
        truncation: float | None,
    ) -> None:
        self._rates, self._passive, self._truncation = checked(jump_rates, passive_weight, start, truncation)
        self._family = family(calibrators)
        self._calibrators = calibrators
        self._start = start
        self._progress = Progress()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._parameters)})"

    def __copy__(self) -> Self:
        """Another stream that goes on from here, as of ``copy.deepcopy``: nothing that changes is shared."""
        one = object.__new__(type(self))
        one.__dict__.update(self.__dict__, _progress=copy.deepcopy(self._progress))
        return one

    @property
    def calibrators(self) -> Any:
        """As they were given; read-only, as all parameters are."""
        return self._calibrators

    @property
    def start(self) -> str:
        """Where the capital lies at first, ``"uniform"`` or ``"first"``."""
        return self._start

    @property
    def truncation(self) -> float | None:
        """What base estimates are kept away from 0 and 1 by, a probability; None for not at all."""
        return self._truncation

    @property
    def log10_martingale(self) -> float:
        """log10 S; 0 before the first label.

        After ``protect`` it is what the estimates that were returned have gained over the base in cumulative log10
        loss, whenever labels come. ``learn_one`` counts S by the estimate that the row would be given now: that is what
        the estimates of ``predict_one`` have gained where each label comes before the next estimate, and not where
        labels come late.
        """
        return self._progress.log10.value

    def has_reached(self, level: float) -> bool:
        """Whether S was ever ``level`` or more so far, after a label of ``learn_one`` or a row of ``protect``.

        If the label of every row is drawn with the probability that the base states for it, given all that came before,
        P(S_n >= c for some n) <= 1 / c (Ville's inequality): an alarm at level 100 is false once in a hundred streams
        at most, however long they are and however often one asks. Constant time and memory; kept in the state.

        Raises ValueError for a ``level`` that is not above 1.
        """
        return self._progress.highest >= log10_level(level)

    def predict_one(self, p: Any, labelled: bool = True) -> Any:
        """The protected estimate for one row: a float for ``p`` = P(y = 1), (n_classes,) for a row of more classes.

        labelled : False for a row that will never get its label: the capital does not jump before it, as the authors
            have it where only some rows get one. A label that comes late is a label.

        Takes constant time and memory, and changes nothing. Raises ValueError for what is no probability.
        """
        base = self._base(p)
        passive, weights = self._weights(self._jumpers_for(base), labelled)
        if isinstance(base, float):
            estimate = passive * base + sum(map(mul, weights, self._family.apply_one(base)))
            return min(estimate, max(base, _BELOW_1))
        values = self._family.apply(base)[0]
        return np.minimum(passive * base[0] + np.array(weights) @ values, np.maximum(base[0], _BELOW_1))

    def learn_one(self, p: Any, y: int) -> None:
        """The label ``y`` of a row whose base estimate was ``p``, whenever it comes; constant time and memory.

        S is counted by the estimate that these would be given now: where labels come late, they are those of a stream
        without the delay.

        Raises ValueError, and then leaves all as it was, for what is no probability or no label, and for a label that
        the base holds to be impossible.
        """
        base = self._base(p)
        n_classes = _classes(base)
        if not isinstance(y, _OF_A_LABEL) or y not in range(n_classes):
            raise ValueError(f"y must be a whole number from 0 to {n_classes - 1}, not {y!r}")
        y = int(y)
        if isinstance(base, float):
            values = self._family.apply_one(base)
            likelihoods, of_base = (values, base) if y else ([1 - one for one in values], 1 - base)
        else:
            likelihoods, of_base = self._family.apply(base)[0, :, y].tolist(), float(base[0, y])
        if not of_base:
            raise ValueError(f"the base holds the label {y} to be impossible (p = {p!r}); give a truncation")
        jumpers = self._jumpers_for(base)
        steps = [jumper.step(likelihoods) for jumper in jumpers]  # all of them, before any is changed
        if self._alone:
            mixture = steps[0][1]
        else:
            mixture = sum(map(mul, self._shares(jumpers), [*(each for _, each in steps), of_base]))
        log10_base = math.log10(of_base)
        for jumper, (capital, each) in zip(jumpers, steps, strict=True):
            jumper.capital = capital
            if not self._alone:
                jumper.log10.add(math.log10(each) - log10_base)
        progress = self._progress
        progress.n_classes, progress.jumpers = n_classes, jumpers
        progress.log10.add(math.log10(mixture) - log10_base)
        progress.highest = max(progress.highest, progress.log10.value)

    def protect(self, p: Any, y: Any, *, delay: int = 0, every: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The protected estimates of rows in order, and log10 S after each: the shape of ``p``, and (n,).

        p : (n,) base estimates of P(y = 1), or (n, n_classes) of three or more classes.
        y : (n,) labels 0 and 1, or 0 to n_classes - 1. The estimate of row i uses no label of row i or later.
        delay : so many rows later a label comes than it could: row i knows those of rows before i - delay.
        every : only the rows whose number, from 0, is a multiple of it get their label.

        log10 S_n is the sum over the rows up to n of log10 B_p'({y}) - log10 B_p({y}), p truncated and p' the estimate
        returned; so the log10 loss of the base less that of p' is its last value. Rows that the Jumper does not get to
        know the labels of count as well.

        Goes on from where the last call ended, labels that are still on their way and row numbers among it. The same
        as ``predict_one`` and ``learn_one`` for each row to 1e-12, relatively, some thirty times faster; without
        truncation, for base estimates of 0 and of 1e-290 or more. A mixture weighs its Jumpers by their log10 S, which
        a float holds to 1e-16 of itself: to 1e-12 as long as these stay within some thousands.

        Raises ValueError, and then leaves all as it was, for what is no probability or no label, and for a label that
        the base holds to be impossible (with its row).
        """
        p, y = inputs.stream(p, y)
        inputs.refuse_other_feedback(delay, every)
        estimates, log10 = np.empty(p.shape), np.empty(len(y))
        if not len(y):
            return estimates, log10
        before = copy.deepcopy(self._progress)
        try:
            self._begin(p)
            for part in _parts(len(y)):
                base, labels = inputs.rows(p[part], y[part], self._truncation, part.start)
                estimates[part], log10[part] = self._protect_part(base, labels, delay, every)
        except BaseException:  # whatever a function of the user's raises, and Ctrl-C
            self._progress = before
            raise
        return estimates, log10

    def state(self) -> dict[str, Any]:
        """All that the stream depends on, as plain dicts, lists and numbers that JSON keeps exactly.

        ``from_state`` goes on from it. Of functions of the user's own their names are in it, and no more.
        """
        parameters = {name: getattr(self, name) for name in self._parameters} | {"calibrators": kept(self._calibrators)}
        return {
            "parameters": {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()},
            **self._progress.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], calibrators: Any = None) -> Self:
        """One that goes on from ``state``, as ``state()`` returned it or as JSON gives it back.

        calibrators : those of the stream, where they are functions or a family of the user's own: that they are as many
            and have the same names is checked, and no more. All others are in the state.

        Raises ValueError for what is no state of this class, and where the calibrators are not given or others.
        """
        try:
            entries(state, "it", ("parameters", *Progress().state()))
            parameters = entries(state["parameters"], "parameters", cls._parameters)
            one = cls(**parameters | {"calibrators": restored(parameters["calibrators"], calibrators)})
            one._progress = Progress.from_state(state, one._fresh)
        except ValueError as error:
            raise ValueError(f"this is no state of {cls.__name__} to go on from: {error}") from error
        return one

    def _protect_part(
        self, base: np.ndarray, labels: np.ndarray, delay: int, every: int
    ) -> tuple[np.ndarray, np.ndarray]:
        values = self._family.apply(base)
        likelihoods, of_base = (inputs.likelihood(one, labels, self._progress.n_classes) for one in (values, base))  # type: ignore[arg-type]
        inputs.refuse_no_capital(bool((likelihoods.max(axis=1) > 0).all()))
        progress = self._progress
        labelled, known, *arrived = progress.feedback.arrivals(likelihoods, of_base, delay, every)
        passive, weights = self._weights_of_rows(labelled, known, arrived)
        estimates = np.einsum("ne,ne...->n...", weights, values) + (base.T * passive).T
        gains = np.einsum("ne,ne->n", weights, likelihoods) + passive * of_base
        inputs.refuse_no_capital(bool((gains > 0).all()))
        gains = np.log10(gains) - np.log10(of_base)
        log10 = progress.log10.value + np.cumsum(gains)
        progress.log10.add(float(gains.sum()))
        progress.highest = max(progress.highest, float(log10.max()))
        return np.minimum(estimates, np.maximum(base, _BELOW_1)), log10

    def _weights_of_rows(
        self, labelled: np.ndarray, known: np.ndarray | slice, arrived: list[np.ndarray]
    ) -> tuple[np.ndarray | float, np.ndarray]:
        """The passive share of each row, (n,), and the calibrators', (n, n_calibrators)."""
        each, log10 = [], []
        for jumper in self._progress.jumpers:
            learnt = jumper.learn_all(arrived[0])
            if not self._alone:
                log10.append(jumper.gain_all(learnt, *arrived)[known])
            capital = learnt[known]
            jumped = jumper.jumped(capital)
            each.append(jumped if labelled.all() else np.where(labelled[:, None], jumped, capital))
        if self._alone:
            return 0.0, each[0]
        *shares, passive = _shares(log10, self._passive)
        return passive, sum(share[:, None] * weights for share, weights in zip(shares, each, strict=True))

    def _weights(self, jumpers: list[Jumper], labelled: bool) -> tuple[float, list[float]]:
        """As ``_weights_of_rows``, for the next row."""
        if self._alone:
            return 0.0, jumpers[0].weights(labelled)
        *shares, passive = self._shares(jumpers)
        each = [jumper.weights(labelled) for jumper in jumpers]
        return passive, [sum(map(mul, shares, column)) for column in zip(*each, strict=True)]

    def _shares(self, jumpers: list[Jumper]) -> list[float]:
        return _shares([jumper.log10.value for jumper in jumpers], self._passive)

    @property
    def _alone(self) -> bool:
        return len(self._rates) == 1 and not self._passive

    def _base(self, p: Any) -> float | np.ndarray:
        """The truncated base estimate of one row: a float, or (1, n_classes)."""
        if isinstance(p, Real) and 0 <= p <= 1:  # type: ignore[operator]  # the way of two classes is worth being short
            p, least = float(p), self._truncation
            return p if least is None else min(max(p, least), 1 - least)
        base = inputs.estimates(inputs.one_row(p), self._truncation, 0)
        return base if base.ndim == 2 else float(base[0])

    def _jumpers_for(self, base: float | np.ndarray) -> list[Jumper]:
        """Those of the stream, or before its first row those that it would begin with."""
        n_classes, so_far = _classes(base), self._progress.n_classes
        if so_far is None:
            return self._fresh(n_classes)
        if n_classes != so_far:
            raise ValueError(f"p is for {n_classes} classes, the stream so far for {so_far}")
        return self._progress.jumpers

    def _begin(self, p: np.ndarray) -> None:
        self._progress.jumpers = self._jumpers_for(p)
        self._progress.n_classes = _classes(p)

    def _fresh(self, n_classes: int) -> list[Jumper]:
        uncertain = np.array([0.5]) if n_classes == 2 else np.full((1, n_classes), 1 / n_classes)
        size = self._family.apply(uncertain).shape[1]
        capital = [1 / size] * size if self._start == "uniform" else [1.0] + [0.0] * (size - 1)
        return [Jumper(rate, list(capital)) for rate in self._rates]


def _classes(base: float | np.ndarray) -> int:
    return 2 if isinstance(base, float) else inputs.classes_of(base)


def _shares(log10: list[Any], passive_weight: float) -> list[Any]:
    """What each Jumper has of all capital, and last what the base has; of numbers, or of arrays of one shape."""
    equal = math.log10((1 - passive_weight) / len(log10))
    passive = math.log10(passive_weight) if passive_weight else -math.inf
    logs = [*(equal + one for one in log10), passive + 0 * log10[0]]
    most = reduce(np.maximum, logs)
    capital = [10.0 ** (one - most) for one in logs]
    total = sum(capital)
    return [one / total for one in capital]


def _parts(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _ROWS, n)) for first in range(0, n, _ROWS))
