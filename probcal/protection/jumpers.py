"""The Simple and the Composite Jumper: protection of a stream by test martingales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from probcal.protection.calibrating_functions import Calibrators
from probcal.protection.protector import Protector


class SimpleJumper(Protector):
    """Protect base probabilities by the Simple Jumper: Algorithm 1 of Vovk, Petej & Gammerman (2021).

    The protected probability is a mean of the calibrators' values, weighted by their capital. Each label multiplies a
    calibrator's capital by the probability that it gave to the label. Before each step the share ``jump_rate`` of all
    capital is distributed evenly.

    The test martingale S is the likelihood ratio of the protected probabilities to the base. If the base is right about
    the labels, P(S_n >= c for some n) <= 1 / c (Ville's inequality). log10 S_n is what protection has gained in
    cumulative log10 loss. For ``protect`` that always holds. For ``predict_one`` it holds if each label is learnt
    before the next prediction (see ``log10_martingale``).

    One object is one stream: threads that share it must take turns.

    Parameters
    ----------
    calibrators : {"quadratic", "cox", "cox_slipped"}, Calibrators or sequence of callable, default="quadratic"
        ``"quadratic"`` is p + eps p (1 - p) with eps in {0, 1, -1, .5, -.5}. ``"cox"`` is the nine functions of the
        authors' notebook. ``"cox_slipped"`` is those that the notebook runs, which uses list positions instead of
        values (the first is the constant 1/2). ``Quadratic(eps)`` and ``Cox(pairs)`` have other parameters. A function
        takes a copy of probabilities of shape (n,) or (n, n_classes), and returns as many. The Cox families are for two
        classes.
    jump_rate : float, default=0.01
        J, from 1e-12 to 1.
    start : {"uniform", "first"}, default="uniform"
        Where the capital lies at first. ``"uniform"`` is as printed. ``"first"`` is all capital on the first
        calibrator, as in the notebook.
    truncation : float or None, default=1e-9
        Base probabilities are first moved into [truncation, 1 - truncation], and with more than two classes divided by
        their sum. The default changes only probabilities nearer to 0 or 1, and makes every label possible. None
        truncates nothing, as printed. A label of base probability 0 is then an error, and predictions nearer to 1 than
        1e-9 have fewer digits.

    Raises
    ------
    ValueError
        If a parameter is invalid.

    See Also
    --------
    CompositeJumper : Mixes several jump rates, and leaves a part of the capital on the base.
    probcal.ProtectedClassifier : Is a classifier with its Jumper.
    probcal.protection.regret_bound : Returns how much a Simple Jumper can lose.
    probcal.protection.first_alarm : Returns the row at which S reaches a level.

    Notes
    -----
    A row of several classes must sum to 1 to 1e-5. The poster has J = .01, truncation .1 and start="uniform".

    Examples
    --------
    >>> from probcal.protection import SimpleJumper
    >>> jumper = SimpleJumper()
    >>> for label in [1] * 100:  # the base says 0.4, and all labels are 1
    ...     p = jumper.predict_one(0.4)  # before the label is known
    ...     jumper.learn_one(0.4, label)
    >>> round(p, 2), round(jumper.log10_martingale, 1), jumper.has_reached(1000)
    (0.63, 19.4, True)
    """

    _parameters = ("calibrators", "jump_rate", "start", "truncation")

    def __init__(
        self,
        calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]] = "quadratic",
        jump_rate: float = 0.01,
        start: Literal["uniform", "first"] = "uniform",
        truncation: float | None = 1e-9,
    ) -> None:
        super().__init__(calibrators, (jump_rate,), 0, start, truncation)

    @property
    def calibrators(self) -> Any:
        """Return the calibrators as they were given. They are read-only, like all parameters.

        Returns
        -------
        str, Calibrators or sequence of callable
            The parameter ``calibrators``.
        """
        return self._calibrators

    @property
    def start(self) -> str:
        """Return where the capital lies at first.

        Returns
        -------
        {"uniform", "first"}
            The parameter ``start``.
        """
        return self._start

    @property
    def jump_rate(self) -> float:
        """Return J, the share of all capital that is distributed evenly before each step.

        Returns
        -------
        float
            The parameter ``jump_rate``.
        """
        return self._rates[0]


class CompositeJumper(Protector):
    """Protect base probabilities by a mixture of Simple Jumpers and the base itself, as in the authors' notebook.

    With pi = ``passive_weight`` its test martingale is pi + (1 - pi) times the mean of those of the Simple Jumpers. So
    it never falls below pi, and at most log10(1 / pi) is lost against the base. The martingales are stored as
    logarithms, so none vanishes if another one grows far larger.

    Parameters
    ----------
    calibrators : {"quadratic", "cox", "cox_slipped"}, Calibrators or sequence of callable, default="cox"
        Calibrating functions, as in ``SimpleJumper``.
    jump_rates : sequence of float, default=(1e-2, 1e-3, 1e-4)
        Jump rates of the Simple Jumpers, which have equal weights. Each is from 1e-12 to 1.
    passive_weight : float, default=0.5
        Weight of the base, at least 0 and below 1.
    start : {"uniform", "first"}, default="first"
        Where the capital lies at first, as in ``SimpleJumper``.
    truncation : float or None, default=1e-9
        Least distance of base probabilities from 0 and 1, as in ``SimpleJumper``.

    Raises
    ------
    ValueError
        If a parameter is invalid.

    See Also
    --------
    SimpleJumper : Has one jump rate, and no capital on the base.
    probcal.ProtectedClassifier : Is a classifier with its Jumper.
    probcal.protection.first_alarm : Returns the row at which S reaches a level.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal.protection import CompositeJumper
    >>> X, y = make_classification(2000, n_redundant=8, flip_y=0.1, random_state=0)
    >>> p = GaussianNB().fit(X[:1000], y[:1000]).predict_proba(X[1000:])[:, 1].clip(0.01, 0.99)
    >>> protected, log10_martingale = CompositeJumper().protect(p, y[1000:])
    >>> [round(log_loss(y[1000:], one), 3) for one in (p, protected)]
    [0.229, 0.206]
    >>> round(float(log10_martingale[-1]), 1)
    9.9
    """

    _parameters = ("calibrators", "jump_rates", "passive_weight", "start", "truncation")

    def __init__(
        self,
        calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]] = "cox",
        jump_rates: Sequence[float] = (1e-2, 1e-3, 1e-4),
        passive_weight: float = 0.5,
        start: Literal["uniform", "first"] = "first",
        truncation: float | None = 1e-9,
    ) -> None:
        super().__init__(calibrators, jump_rates, passive_weight, start, truncation)

    calibrators = SimpleJumper.calibrators
    start = SimpleJumper.start

    @property
    def jump_rates(self) -> tuple[float, ...]:
        """Return the jump rates of the Simple Jumpers, in the order given.

        Returns
        -------
        tuple of float
            The parameter ``jump_rates``.
        """
        return self._rates

    @property
    def passive_weight(self) -> float:
        """Return the weight of the base, at least 0 and below 1.

        Returns
        -------
        float
            The parameter ``passive_weight``.
        """
        return self._passive
