"""A monitor of calibration over time, whose alarm is valid after any number of looks."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any, Self

import numpy as np

from probcal.protection import stream_input as inputs
from probcal.protection.calibrating_functions import Cox
from probcal.protection.jumpers import CompositeJumper

_SHIFTS = (-2.0, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0)
_SLOPES = (0.5, 0.75, 1.0, 1.5)
_ALTERNATIVES = ((0.0, 1.0), *(pair for pair in product(_SHIFTS, _SLOPES) if pair != (0.0, 1.0)))
"""Shift and slope of the log-odds. The first changes nothing."""
_JUMP_RATES = (1e-3, 1e-5)
_MOST_BLOCKS = 256
_ROWS_AT_ONCE = 1 << 15
_TRUNCATION = 1e-9
_PLAUSIBLE = 3.0
"""Nats below the best onset within which another onset is plausible."""
_FORMAT, _VERSION = "probcal monitor", 2


class CalibrationMonitor:
    """Watch whether predicted probabilities of two classes stay calibrated.

    The evidence is the Composite Jumper of Vovk, Petej & Gammerman (2021) with Cox functions: log-odds that are
    multiplied by .5 to 1.5 and shifted by up to 2. It is a test martingale if the predictions are calibrated given the
    past, so it ever reaches 1 / ``false_alarm_rate`` with at most this probability (Ville's inequality). You may look
    after each row, and as long as you like.

    Half of the capital stays passive until it jumps. So a change after many calibrated rows is found nearly as quickly
    as one at the start.

    Parameters
    ----------
    false_alarm_rate : float, default=0.01
        Largest probability of an alarm at any time, as long as the predictions are calibrated.

    Attributes
    ----------
    n_rows_ : int
        Number of rows so far.
    log10_evidence_ : float
        log10 of the evidence against calibration. The alarm is at -log10(false_alarm_rate), which is 2 by default.
    largest_log10_evidence_ : float
        The largest so far, e. 10 ** -e is a p-value that is valid after any number of looks.
    path_ : ndarray of shape (n, 2)
        Number of the row, and log10 of the evidence after it, for at most 256 rows, the last of which is the newest.
    alarm_ : int or None
        Number of the row, counted from 1, after which the evidence was large enough, or None.
    onset_ : int or None
        Number of the row with which the change most probably began, or None without an alarm.
    onset_interval_ : tuple of int or None
        First and last row where the change may have begun: those whose likelihood is at least a twentieth of the best.
    shift_ : float or None
        Shift of the log-odds since the onset, in nats: the likeliest of those that the monitor tries.
    slope_ : float or None
        Factor of the log-odds since the onset.

    Raises
    ------
    ValueError
        If ``false_alarm_rate`` is not above 0 and below 1.

    See Also
    --------
    CompositeJumper : The martingale.
    probcal.ProtectedClassifier : Corrects predictions by itself as the world changes.

    Notes
    -----
    Labels must come in the order of the rows. A row that waits for its label is added when the label comes.

    Examples
    --------
    >>> import numpy as np
    >>> from probcal.protection import CalibrationMonitor
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 4, 6000)
    >>> monitor = CalibrationMonitor()
    >>> monitor.update(p[:3000], rng.random(3000) < p[:3000]).alarm_  # calibrated: no alarm
    >>> changed = p[3000:] / (p[3000:] + (1 - p[3000:]) * np.exp(-0.5))  # all odds have risen by a factor of 1.6
    >>> monitor.update(p[3000:], rng.random(3000) < changed).alarm_
    3581
    >>> monitor.onset_, monitor.shift_, monitor.slope_
    (3009, 0.5, 1.0)
    """

    def __init__(self, false_alarm_rate: float = 0.01) -> None:
        self.false_alarm_rate = inputs.as_number(false_alarm_rate)
        if not 0 < self.false_alarm_rate < 1:
            raise ValueError(f"false_alarm_rate must be above 0 and below 1, not {false_alarm_rate!r}")
        self.alarm_: int | None = None
        self.n_rows_ = 0
        self.largest_log10_evidence_ = -math.inf
        self._jumper = CompositeJumper(Cox(_ALTERNATIVES), _JUMP_RATES, 0.5, "first", _TRUNCATION)
        self._rows_in_block = 1
        self._gains = np.zeros((0, len(_ALTERNATIVES)))
        """Log-likelihood ratio of each alternative to the predictions, in nats, in each block of rows."""
        self._evidence = np.zeros(0)
        """log10 of the evidence at the end of each block."""

    def update(self, p: Any, y: Any) -> Self:
        """Add rows in the order of time.

        Parameters
        ----------
        p : array-like of shape (n,)
            Predicted P(y = 1), made before the label was known.
        y : array-like of shape (n,)
            Labels 0 and 1.

        Returns
        -------
        self
            The monitor. After an error it is unchanged.

        Raises
        ------
        ValueError
            If a probability is not from 0 to 1, a label is not 0 or 1, or the lengths differ.
        """
        p, y = inputs.stream(p, y)
        if p.ndim != 1:
            raise ValueError("the monitor is for two classes: give the probability of the positive class, (n,)")
        _, log10 = self._jumper.protect(p, y)
        is_enough = log10 >= -math.log10(self.false_alarm_rate)
        if self.alarm_ is None and is_enough.any():
            self.alarm_ = self.n_rows_ + int(np.argmax(is_enough)) + 1
        self.largest_log10_evidence_ = max(self.largest_log10_evidence_, float(log10.max(initial=-math.inf)))
        for start in range(0, len(y), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            self._add(_gains(p[rows], y[rows]), log10[rows])
        return self

    def raise_false_alarm_rate(self, rate: float) -> Self:
        """Allow more false alarms from now on, as a step-down test of several monitors does.

        Parameters
        ----------
        rate : float
            The new ``false_alarm_rate``, not below the present one. If the evidence was large enough for it before,
            the alarm is at the newest row.

        Returns
        -------
        self
            The monitor.

        Raises
        ------
        ValueError
            If ``rate`` is below the present one, or not below 1.
        """
        if not self.false_alarm_rate <= inputs.as_number(rate) < 1:
            raise ValueError(f"rate must be at least {self.false_alarm_rate:g} and below 1, not {rate!r}")
        self.false_alarm_rate = inputs.as_number(rate)
        if self.alarm_ is None and self.largest_log10_evidence_ >= -math.log10(self.false_alarm_rate):
            self.alarm_ = self.n_rows_
        return self

    @property
    def log10_evidence_(self) -> float:
        """Return log10 of the evidence against calibration.

        Returns
        -------
        float
            At least log10(1 / 2), because half of the capital is passive.
        """
        return self._jumper.log10_martingale

    @property
    def path_(self) -> np.ndarray:
        """Return how the evidence grew.

        Returns
        -------
        ndarray of shape (n, 2)
            Number of the row, counted from 1, and log10 of the evidence after it.
        """
        ends = np.minimum(np.arange(1, len(self._evidence) + 1) * self._rows_in_block, self.n_rows_)
        return np.column_stack([ends, self._evidence])

    @property
    def onset_(self) -> int | None:
        """Return the row with which the change most probably began.

        Returns
        -------
        int or None
            Number of the row, counted from 1, or None without an alarm. It is exact to a 128th of all rows.
        """
        return None if self.alarm_ is None else int(np.argmax(self._since().max(axis=1))) * self._rows_in_block + 1

    @property
    def onset_interval_(self) -> tuple[int, int] | None:
        """Return the rows where the change may have begun.

        Returns
        -------
        tuple of int or None
            Numbers of the first and last row whose likelihood as the onset is at least a twentieth of the best.
        """
        if self.alarm_ is None:
            return None
        best = self._since().max(axis=1)
        plausible = np.flatnonzero(best >= best.max() - _PLAUSIBLE)
        last = (int(plausible[-1]) + 1) * self._rows_in_block
        return int(plausible[0]) * self._rows_in_block + 1, min(last, self.alarm_)

    @property
    def shift_(self) -> float | None:
        """Return the shift of the log-odds since the onset.

        Returns
        -------
        float or None
            In nats, or None without an alarm.
        """
        return None if self.alarm_ is None else self._change()[0]

    @property
    def slope_(self) -> float | None:
        """Return the factor of the log-odds since the onset.

        Returns
        -------
        float or None
            Below 1 if predictions have become too extreme. None without an alarm.
        """
        return None if self.alarm_ is None else self._change()[1]

    def to_json(self) -> str:
        """Write the monitor as JSON, from which another process continues.

        Returns
        -------
        str
            The state, less than 200 kB for a stream of any length.
        """
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "false_alarm_rate": self.false_alarm_rate,
            "rows": self.n_rows_,
            "alarm": self.alarm_,
            "rows_in_block": self._rows_in_block,
            "gains": self._gains.tolist(),
            "evidence": self._evidence.tolist(),
            "largest_evidence": self.largest_log10_evidence_ if self.n_rows_ else None,
            "jumper": self._jumper.state(),
        }
        return json.dumps(content, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a monitor that ``to_json`` wrote. No code of the text is run.

        Parameters
        ----------
        text : str
            What ``to_json`` returned.

        Returns
        -------
        CalibrationMonitor
            It continues as the one that was written would.

        Raises
        ------
        ValueError
            If the text holds no monitor, or one of a later version.
        """
        try:
            content = json.loads(text)
            if content["format"] != _FORMAT or content["version"] != _VERSION:
                raise ValueError(f"it is of version {content['version']!r}")
            monitor = cls(content["false_alarm_rate"])
            alarm = content["alarm"]
            monitor.n_rows_ = inputs.whole(content["rows"], "rows", 0)
            monitor.alarm_ = None if alarm is None else inputs.whole(alarm, "alarm", 1)
            monitor._rows_in_block = inputs.whole(content["rows_in_block"], "rows_in_block", 1)
            gains = np.array(content["gains"], dtype=np.float64).reshape(-1, len(_ALTERNATIVES))
            evidence = np.array(content["evidence"], dtype=np.float64)
            n_blocks = -(-monitor.n_rows_ // monitor._rows_in_block)
            if len(gains) != n_blocks or not np.isfinite(gains).all() or (alarm or 0) > monitor.n_rows_:
                raise ValueError("its rows do not fit each other")
            if evidence.shape != (n_blocks,) or not np.isfinite(evidence).all():
                raise ValueError("its evidence does not fit its rows")
            monitor._gains, monitor._evidence = gains, evidence
            if monitor.n_rows_:
                monitor.largest_log10_evidence_ = inputs.number(content["largest_evidence"], "it", -math.inf, math.inf)
            monitor._jumper = CompositeJumper.from_state(content["jumper"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"the text holds no monitor: {error!s:.200}") from None
        return monitor

    def _add(self, gains: np.ndarray, log10: np.ndarray) -> None:
        n_rows = self.n_rows_ + len(gains)
        while n_rows > _MOST_BLOCKS * self._rows_in_block:
            # two blocks become one, so that a stream of any length has few
            self._rows_in_block *= 2
            if len(self._gains):
                starts = np.arange(0, len(self._gains), 2)
                self._gains = np.add.reduceat(self._gains, starts)
                self._evidence = self._evidence[np.minimum(starts + 1, len(self._evidence) - 1)]
        block = np.arange(self.n_rows_, n_rows) // self._rows_in_block
        new = np.zeros((-(-n_rows // self._rows_in_block), len(_ALTERNATIVES)))
        new[: len(self._gains)] = self._gains
        for place in range(len(_ALTERNATIVES)):
            new[:, place] += np.bincount(block, gains[:, place], minlength=len(new))
        evidence = np.zeros(len(new))
        evidence[: len(self._evidence)] = self._evidence
        last_of_block = np.flatnonzero(np.append(block[1:] != block[:-1], True)) if len(block) else block
        evidence[block[last_of_block]] = log10[last_of_block]
        self._gains, self._evidence, self.n_rows_ = new, evidence, n_rows

    def _since(self) -> np.ndarray:
        """Return the gain of each alternative since each block up to the alarm, (n_blocks, n_alternatives)."""
        sums = np.cumsum(self._gains[::-1], axis=0)[::-1]
        return sums[: (self.alarm_ or 0) // self._rows_in_block + 1]

    def _change(self) -> tuple[float, float]:
        since = self._since()
        return _ALTERNATIVES[int(np.argmax(since[np.argmax(since.max(axis=1))]))]


def _gains(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the log-likelihood ratio of each alternative to the predictions, (n_rows, n_alternatives) in nats."""
    base = np.clip(p, _TRUNCATION, 1 - _TRUNCATION)
    values = Cox(_ALTERNATIVES).apply(base)
    of_positive, of_negative = np.log(values / base[:, None]), np.log1p(-values) - np.log1p(-base)[:, None]
    return np.asarray(np.where(y[:, None] == 1, of_positive, of_negative))
