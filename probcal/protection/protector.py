"""The base of all Jumpers: a stream that is protected row by row or as arrays, and that can be saved."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import mul
from typing import Any, Self

import numpy as np

from probcal.protection import stream_input as inputs
from probcal.protection.calibrating_functions import Calibrators, family, restore_calibrators, saved_calibrators
from probcal.protection.guarantees import log10_level
from probcal.protection.stream_input import as_number, check_parameters, entries
from probcal.protection.stream_state import Jumper, StreamProgress

# Rows of an array that are done at a time, so that memory does not grow with the stream.
_ROWS = 16_384
# The largest float below 1. A prediction that rounds to 1 is set to it, unless the base is 1.
_BELOW_1 = 1 - 2**-53


class Protector:
    """Run Simple Jumpers in parallel, each with a share of the capital, and a passive share on the base itself.

    Parameters
    ----------
    calibrators : str, Calibrators or sequence of callable
        Calibrating functions, as in ``SimpleJumper``.
    jump_rates : sequence of float
        Jump rates of the Simple Jumpers, which have equal weights.
    passive_weight : float
        Weight of the base, at least 0 and below 1.
    start : {"uniform", "first"}
        Where the capital lies at first, as in ``SimpleJumper``.
    truncation : float or None
        Least distance of base probabilities from 0 and 1, as in ``SimpleJumper``.
    """

    _parameters: tuple[str, ...]
    # Exponent of the likelihoods by which labels change the capital. Only a protected forecaster has another one.
    _learning_rate: float = 1.0
    # Entries that the state of a subclass has besides.
    _more_state: tuple[str, ...] = ()

    def __init__(
        self,
        calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]],
        jump_rates: Sequence[float],
        passive_weight: float,
        start: str,
        truncation: float | None,
    ) -> None:
        self._rates, self._passive, self._truncation = check_parameters(jump_rates, passive_weight, start, truncation)
        self._family = family(calibrators)
        self._calibrators = calibrators
        self._start = start
        self._progress = StreamProgress()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._parameters)})"

    def __copy__(self) -> Self:
        """Return another stream that continues from here, as ``copy.deepcopy`` does. No changing state is shared."""
        stream = object.__new__(type(self))
        stream.__dict__.update(self.__dict__, _progress=copy.deepcopy(self._progress))
        return stream

    @property
    def truncation(self) -> float | None:
        """Return the least distance of base probabilities from 0 and 1.

        Returns
        -------
        float or None
            The parameter ``truncation``. None means no truncation.
        """
        return self._truncation

    @property
    def log10_martingale(self) -> float:
        """Return log10 S, which is 0 before the first label.

        After ``protect`` it is the gain of the returned predictions over the base in cumulative log10 loss, even if
        labels arrive late. ``learn_one`` computes S with the prediction that the row would get now. That equals the
        gain of ``predict_one`` if each label arrives before the next prediction, and not if labels arrive late.

        Returns
        -------
        float
            Current value of log10 S.
        """
        return self._progress.log10.value

    def has_reached(self, level: float) -> bool:
        """Return whether S has reached a level so far, after a label of ``learn_one`` or a row of ``protect``.

        Suppose the base forecaster is right: the label of every row is drawn with its predicted probability, given the
        past. Then P(S_n >= c for some n) <= 1 / c (Ville's inequality). So at most one stream in a hundred has a false
        alarm at level 100, however long it is and however often you call this. It takes constant time and memory, and
        the state includes it.

        Parameters
        ----------
        level : float
            Level c of S, above 1.

        Returns
        -------
        bool
            Whether the highest value of S so far is at least ``level``.

        Raises
        ------
        ValueError
            If ``level`` is not a finite number above 1.
        """
        return self._progress.highest >= log10_level(level)

    def predict_one(self, p: Any, labelled: bool = True) -> Any:
        """Predict the protected probability of one row.

        It takes constant time and memory, and changes nothing.

        Parameters
        ----------
        p : float or array-like of shape (n_classes,)
            Base probability P(y = 1), or probabilities of three or more classes.
        labelled : bool, default=True
            False for a row that will never get its label. The capital does not jump before such a row, as in the
            authors' code. A label that arrives late is a label.

        Returns
        -------
        float or ndarray of shape (n_classes,)
            Protected P(y = 1), or protected probabilities of three or more classes.

        Raises
        ------
        ValueError
            If ``p`` is invalid, or is for another number of classes than the stream so far.
        """
        base = self._base(p)
        return self._mean(base, self._values_of_row(base), labelled)

    def learn_one(self, p: Any, y: int) -> None:
        """Learn the label of a row, whenever it arrives.

        S is computed with the prediction that the row would get now. If labels arrive late, S is therefore that of the
        stream without the delay. It takes constant time and memory. After an error the stream is unchanged.

        Parameters
        ----------
        p : float or array-like of shape (n_classes,)
            Base probability of the row, as for ``predict_one``.
        y : int
            Label, 0 or 1, or 0 to n_classes - 1.

        Raises
        ------
        ValueError
            If ``p`` or ``y`` is invalid, or the base gives the label probability 0. Also if no calibrator with capital
            gives the label a positive probability.
        """
        base = self._base(p)
        inputs.check_label(y, inputs.classes_of(base))
        self._learn(base, int(y), self._values_of_row(base))

    def protect(self, p: Any, y: Any, *, delay: int = 0, every: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Predict the protected probabilities of rows in order, and log10 S after each row.

        log10 S_n is the sum over the rows up to n of log10 B_p'({y}) - log10 B_p({y}), with p truncated and p' the
        returned prediction. So its last value is the log10 loss of the base minus that of p'. Rows whose labels the
        Jumper never sees count as well.

        The stream continues from the end of the last call, with its row numbers and the labels that have not arrived.
        After an error the stream is unchanged.

        The results equal those of ``predict_one`` and ``learn_one`` for each row to a relative 1e-12, some thirty times
        faster. Without truncation that holds for base probabilities of 0 and from 1e-290. A mixture weighs its Jumpers
        by their log10 S, which a float stores to a relative 1e-16. That gives 1e-12 while these stay within some
        thousands.

        Parameters
        ----------
        p : array-like of shape (n,) or (n, n_classes)
            Base probabilities P(y = 1), or probabilities of three or more classes.
        y : array-like of shape (n,)
            Labels 0 and 1, or 0 to n_classes - 1. The prediction of row i uses no label of row i or later.
        delay : int, default=0
            Number of rows by which labels arrive late. Row i knows the labels of rows before i - delay.
        every : int, default=1
            Only rows whose number, from 0, is a multiple of it get their label.

        Returns
        -------
        protected : ndarray of shape (n,) or (n, n_classes)
            Protected probabilities, in the shape of ``p``.
        log10_martingale : ndarray of shape (n,)
            Value of log10 S after each row.

        Raises
        ------
        ValueError
            If an argument is invalid, or the base gives a label probability 0. The message then names the row. Also if
            no calibrator with capital gives a label a positive probability.
        """
        return self._protect_rows(p, y, None, delay, every)

    def _protect_rows(self, p: Any, y: Any, forecasts: Any, delay: int, every: int) -> tuple[np.ndarray, np.ndarray]:
        p, y = inputs.stream(p, y)
        inputs.check_feedback(delay, every)
        protected, log10 = np.empty(p.shape), np.empty(len(y))
        if not len(y):
            return protected, log10
        before = copy.deepcopy(self._progress)
        try:
            self._begin(p)
            for part in _parts(len(y)):
                base, labels = inputs.rows(p[part], y[part], self._truncation, part.start)
                protected[part], log10[part] = self._protect_part(base, labels, forecasts, part.start, delay, every)
        except BaseException:  # whatever the user's function raises, and Ctrl-C
            self._progress = before
            raise
        return protected, log10

    def state(self) -> dict[str, Any]:
        """Return all that the stream depends on. ``from_state`` continues from it.

        Returns
        -------
        dict
            Plain dicts, lists and numbers that JSON stores exactly. Of the user's own functions it holds only the
            names.
        """
        parameters = {name: getattr(self, name) for name in self._parameters}
        if "calibrators" in parameters:
            parameters["calibrators"] = saved_calibrators(parameters["calibrators"])
        return {
            "parameters": {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()},
            **self._progress.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], calibrators: Any = None) -> Self:
        """Return a stream that continues from a saved state.

        Parameters
        ----------
        state : dict
            The saved state, as ``state()`` returned it or as JSON restores it.
        calibrators : Calibrators or sequence of callable, default=None
            Calibrators of the stream, if they are the user's own functions or family. Only their number and names are
            checked. All other calibrators are in the state.

        Returns
        -------
        Self
            A stream of this class.

        Raises
        ------
        ValueError
            If ``state`` is no valid state of this class, or the calibrators are missing or differ.
        """
        try:
            entries(state, "it", ("parameters", *StreamProgress().state(), *cls._more_state))
            parameters = entries(state["parameters"], "parameters", cls._parameters)
            if "calibrators" in parameters:
                saved = parameters["calibrators"]
                parameters = parameters | {"calibrators": restore_calibrators(saved, calibrators)}
            elif calibrators is not None:
                raise ValueError("it has no calibrators")
            stream = cls(**parameters)
            stream._restore(state)
        except ValueError as error:
            raise ValueError(f"no state of {cls.__name__} can be restored: {error}") from error
        return stream

    def _values_of_row(self, base: float | np.ndarray) -> Any:
        """Return what the capital is spread over, for one row: a list of floats, or (n_calibrators, n_classes)."""
        return self._family.apply_one(base) if isinstance(base, float) else self._family.apply(base)[0]

    def _mean(self, base: float | np.ndarray, values: Any, labelled: bool) -> Any:
        """Return the mean of base and ``values`` of one row, weighted by capital."""
        passive, weights = self._weights(self._jumpers_for(base), labelled)
        if isinstance(base, float):
            prediction = passive * base + sum(map(mul, weights, values))
            return min(prediction, max(base, _BELOW_1))
        return np.minimum(passive * base[0] + np.array(weights) @ values, np.maximum(base[0], _BELOW_1))

    def _learn(self, base: float | np.ndarray, y: int, values: Any) -> None:
        """Change the capital by the label of a row for which ``values`` were predicted."""
        if isinstance(base, float):
            likelihoods, of_base = (values, base) if y else ([1 - one for one in values], 1 - base)
        else:
            likelihoods, of_base = values[:, y].tolist(), float(base[0, y])
        if not of_base:
            p = base if isinstance(base, float) else base[0]
            raise ValueError(f"the base gives the label {y} probability 0 (p = {p!r}); give a truncation")
        jumpers, power = self._jumpers_for(base), self._learning_rate
        # A power of 1 changes no likelihood, and then a step has computed the mean already.
        tempered = likelihoods if power == 1 else [likelihood**power for likelihood in likelihoods]
        steps = [jumper.step(tempered) for jumper in jumpers]  # all of them, before any is changed
        means = [mean for _, mean in steps]
        if power != 1:
            means = [sum(map(mul, jumper.weights(jump=True), likelihoods)) for jumper in jumpers]
        mixture = means[0] if self._is_simple else sum(map(mul, self._shares(jumpers), [*means, of_base]))
        log10_base = math.log10(of_base)
        for jumper, (capital, each) in zip(jumpers, steps, strict=True):
            jumper.capital = capital
            if not self._is_simple:
                jumper.log10.add(math.log10(each) - power * log10_base)
        progress = self._progress
        progress.n_classes, progress.jumpers = inputs.classes_of(base), jumpers
        progress.log10.add(math.log10(mixture) - log10_base)
        progress.highest = max(progress.highest, progress.log10.value)

    def _values_of_part(
        self, base: np.ndarray, labels: np.ndarray, forecasts: Any, first: int, delay: int, every: int
    ) -> np.ndarray:
        """Return what the capital is spread over, (n, n_calibrators) or (n, n_calibrators, n_classes).

        ``first`` is the place of the first row in the call of ``protect``, and ``forecasts`` are those of all its rows.
        """
        return self._family.apply(base)

    def _protect_part(
        self, base: np.ndarray, labels: np.ndarray, forecasts: Any, first: int, delay: int, every: int
    ) -> tuple[np.ndarray, np.ndarray]:
        values, n_classes = self._values_of_part(base, labels, forecasts, first, delay, every), inputs.classes_of(base)
        likelihoods, of_base = (inputs.likelihood(p, labels, n_classes) for p in (values, base))
        inputs.check_capital(bool((likelihoods.max(axis=1) > 0).all()))
        progress = self._progress
        power = self._learning_rate
        labelled, known, *arrived = progress.feedback.arrivals(likelihoods**power, of_base**power, delay, every)
        passive, weights = self._weights_of_rows(labelled, known, arrived)
        protected = np.einsum("ne,ne...->n...", weights, values) + (base.T * passive).T
        gains = np.einsum("ne,ne->n", weights, likelihoods) + passive * of_base
        inputs.check_capital(bool((gains > 0).all()))
        gains = np.log10(gains) - np.log10(of_base)
        log10 = progress.log10.value + np.cumsum(gains)
        progress.log10.add(float(gains.sum()))
        progress.highest = max(progress.highest, float(log10.max()))
        return np.minimum(protected, np.maximum(base, _BELOW_1)), log10

    def _weights_of_rows(
        self, labelled: np.ndarray, known: np.ndarray | slice, arrived: list[np.ndarray]
    ) -> tuple[np.ndarray | float, np.ndarray]:
        """Return the passive share of each row, (n,), and the calibrators' shares, (n, n_calibrators)."""
        weights_of_jumpers, log10 = [], []
        for jumper in self._progress.jumpers:
            capitals = jumper.learn_all(arrived[0])
            if not self._is_simple:
                log10.append(jumper.gain_all(capitals, *arrived)[known])
            capital = capitals[known]
            jumped = jumper.jumped(capital)
            weights_of_jumpers.append(jumped if labelled.all() else np.where(labelled[:, None], jumped, capital))
        if self._is_simple:
            return 0.0, weights_of_jumpers[0]
        *shares, passive = _shares(log10, self._passive)
        return passive, sum(share[:, None] * weights for share, weights in zip(shares, weights_of_jumpers, strict=True))

    def _weights(self, jumpers: list[Jumper], labelled: bool) -> tuple[float, list[float]]:
        """Return the passive share and the calibrators' shares for the next row."""
        if self._is_simple:
            return 0.0, jumpers[0].weights(labelled)
        *shares, passive = self._shares(jumpers)
        weights = [jumper.weights(labelled) for jumper in jumpers]
        return passive, [sum(map(mul, shares, column)) for column in zip(*weights, strict=True)]

    def _shares(self, jumpers: list[Jumper]) -> list[float]:
        return _shares([jumper.log10.value for jumper in jumpers], self._passive)

    @property
    def _is_simple(self) -> bool:
        return len(self._rates) == 1 and not self._passive

    def _base(self, p: Any) -> float | np.ndarray:
        """Return the truncated base probability of one row: a float, or (1, n_classes)."""
        if 0 <= (single := as_number(p)) <= 1:  # two classes take a short path
            least = self._truncation
            return single if least is None else min(max(single, least), 1 - least)
        base = inputs.base_probabilities(inputs.one_row(p), self._truncation, 0)
        return base if base.ndim == 2 else float(base[0])

    def _jumpers_for(self, base: float | np.ndarray) -> list[Jumper]:
        """Return the Jumpers of the stream, or new ones before its first row."""
        n_classes, n_classes_before = inputs.classes_of(base), self._progress.n_classes
        if n_classes_before is None:
            return self._new_jumpers(n_classes)
        if n_classes != n_classes_before:
            raise ValueError(f"p is for {n_classes} classes, the stream so far for {n_classes_before}")
        return self._progress.jumpers

    def _begin(self, p: np.ndarray) -> None:
        self._progress.jumpers = self._jumpers_for(p)
        self._progress.n_classes = inputs.classes_of(p)

    def _restore(self, state: dict[str, Any]) -> None:
        self._progress = StreamProgress.from_state(state, self._new_jumpers)

    def _n_values(self, n_classes: int) -> int:
        """Return the number of values of a row, over which the capital is spread."""
        uncertain = np.array([0.5]) if n_classes == 2 else np.full((1, n_classes), 1 / n_classes)
        # a family of the user does not say how many functions it has, so it is applied once
        size: int = self._family.apply(uncertain).shape[1]
        return size

    def _new_jumpers(self, n_classes: int) -> list[Jumper]:
        size = self._n_values(n_classes)
        capital = [1 / size] * size if self._start == "uniform" else [1.0] + [0.0] * (size - 1)
        return [Jumper(rate, list(capital)) for rate in self._rates]


def _shares(log10: list[Any], passive_weight: float) -> list[Any]:
    """Return the share of each Jumper in all capital, and last that of the base, for numbers or arrays of one shape."""
    weight = math.log10((1 - passive_weight) / len(log10))
    passive = math.log10(passive_weight) if passive_weight else -math.inf
    log_capital = [*(weight + log10_jumper for log10_jumper in log10), passive + 0 * log10[0]]
    largest = reduce(np.maximum, log_capital)
    # relative to the largest, because the martingales themselves may lie beyond all floats
    capital = [10.0 ** (log_share - largest) for log_share in log_capital]
    total = sum(capital)
    return [share / total for share in capital]


def _parts(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _ROWS, n)) for first in range(0, n, _ROWS))
