"""A protected forecaster: capital spread over a base, its corrections, and whatever learns along the stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal.protection import stream_input as inputs
from probcal.protection.experts import Experts
from probcal.protection.protector import Protector
from probcal.protection.stream_input import LEAST_JUMP_RATE, as_number, is_whole, whole

# The least rate never switches in practice: that part of the capital competes with the best single expert. The others
# expect a change of the best expert about every 10,000, 1,000 and 100 rows.
_SWITCH_RATES = (LEAST_JUMP_RATE, 1e-4, 1e-3, 1e-2)


class ProtectedForecaster(Protector):
    """Protect base probabilities by a mixture of experts, so that you lose little against the best of them.

    Half of the capital stays on the base. The other half is spread evenly over four rates of switching, and each of
    them evenly over the experts, as a Simple Jumper spreads its capital over calibrating functions. The experts are the
    base, a ``SimpleJumper`` (quadratic), a ``CompositeJumper`` (Cox), online Platt scaling at six rates and online beta
    scaling at three, two histograms of 20 bins that forget, and forecasts of your own. Each of them predicts a row
    before it learns the label. For three or more classes the experts are the base, both Jumpers with quadratic
    functions, online scaling with one slope and an intercept for each class, and your forecasts.

    If each row gets its label before the next row is predicted, and with ``learning_rate=1``, log2 loss summed over a
    stream of n rows exceeds

    - that of the truncated base by at most 1 bit,
    - that of any expert among N by at most log2(8 N) bits (7 bits for the 14 experts of two classes),
    - that of any sequence of experts with k switches by at most log2(8) plus ``regret_bound(n, N, J, k)`` times
      log2(10), for J = .01, .001 or .0001, whichever is least.

    The ratio to the truncated base is a test martingale: if that base is right, P(S_n >= c for some n) <= 1 / c. This
    holds for late labels as well, because each prediction is made before its label. The other bounds do not hold then.
    Where truncation moves probabilities that were right, S grows for that reason alone.

    One object is one stream: threads that share it must take turns.

    Parameters
    ----------
    n_forecasts : int, default=0
        Number of forecasts of your own that come with each row, such as those of a model that you refit now and then.
    learning_rate : float, default=1.0
        Exponent of the likelihood by which a label changes the capital of an expert, above 0 and at most 1. With labels
        that arrive D labels late, use 1 / (1 + D). With 1, D labels in a row would each push the capital to the same
        expert, before the first of them shows what that does.
    truncation : float or None, default=1e-9
        Least distance of base probabilities and your forecasts from 0 and 1, as in ``SimpleJumper``.

    Raises
    ------
    ValueError
        If a parameter is invalid.

    See Also
    --------
    SimpleJumper : Is Algorithm 1 of Vovk, Petej & Gammerman (2021).
    CompositeJumper : Mixes Simple Jumpers and the base.
    probcal.ProtectedClassifier : Is a classifier with its protection.
    probcal.protection.CalibrationMonitor : Only watches, and raises an alarm.

    Notes
    -----
    The mixture over switching rates and experts is the fixed share of Herbster & Warmuth (1998, Machine Learning 32)
    for several rates, which the Simple Jumper is, too. The page on protection has the theorem and its proof.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import log_loss
    >>> from probcal.protection import ProtectedForecaster, SimpleJumper
    >>> random = np.random.default_rng(0)
    >>> log_odds = random.normal(size=3000)
    >>> p = 1 / (1 + np.exp(-log_odds))
    >>> shift = np.where(np.arange(3000) < 1000, 0, 2)  # after 1000 rows positive labels become more frequent
    >>> y = (random.uniform(size=3000) < 1 / (1 + np.exp(-log_odds - shift))).astype(int)
    >>> streams = p, SimpleJumper().protect(p, y)[0], ProtectedForecaster().protect(p, y)[0]
    >>> [round(log_loss(y, stream), 3) for stream in streams]
    [0.668, 0.513, 0.465]
    """

    _parameters = ("n_forecasts", "learning_rate", "truncation")
    _more_state = ("experts",)

    def __init__(self, n_forecasts: int = 0, learning_rate: float = 1.0, truncation: float | None = 1e-9) -> None:
        if not is_whole(n_forecasts, 0):
            raise ValueError(f"n_forecasts must be a whole number of at least 0, not {n_forecasts!r}")
        if not 0 < as_number(learning_rate) <= 1:
            raise ValueError(f"learning_rate must be a number above 0 and at most 1, not {learning_rate!r}")
        super().__init__("quadratic", _SWITCH_RATES, 0.5, "uniform", truncation)
        self._n_forecasts, self._learning_rate = int(n_forecasts), float(learning_rate)

    @property
    def n_forecasts(self) -> int:
        """Return the number of your own forecasts that come with each row.

        Returns
        -------
        int
            The parameter ``n_forecasts``.
        """
        return self._n_forecasts

    @property
    def learning_rate(self) -> float:
        """Return the exponent of the likelihood by which a label changes the capital of an expert.

        Returns
        -------
        float
            The parameter ``learning_rate``.
        """
        return self._learning_rate

    def expert_predictions(self, p: Any, forecasts: Any = None, labelled: bool = True) -> np.ndarray:
        """Return what each expert predicts for one row. It changes nothing.

        Parameters
        ----------
        p : float or array-like of shape (n_classes,)
            Base probability P(y = 1), or probabilities of three or more classes.
        forecasts : array-like of shape (n_forecasts,) or (n_forecasts, n_classes), default=None
            Your own forecasts of the row.
        labelled : bool, default=True
            False for a row that will never get its label.

        Returns
        -------
        ndarray of shape (n_experts,) or (n_experts, n_classes)
            Predicted probabilities: base, Jumpers, online scaling, histograms, and your forecasts.

        Raises
        ------
        ValueError
            If ``p`` or ``forecasts`` is invalid.
        """
        base = self._base(p)
        self._jumpers_for(base)  # refuses another number of classes than before
        row = None if forecasts is None else np.asarray(forecasts)[None]
        checked = self._checked_forecasts(row, np.atleast_1d(base), 0)[0]
        single = base if isinstance(base, float) else base[0]
        return self._experts_for(base).predict_one(single, checked, labelled)

    def predict_one(self, p: Any, labelled: bool = True, forecasts: Any = None) -> Any:
        """Predict the protected probability of one row.

        It takes constant time and memory, and changes nothing.

        Parameters
        ----------
        p : float or array-like of shape (n_classes,)
            Base probability P(y = 1), or probabilities of three or more classes.
        labelled : bool, default=True
            False for a row that will never get its label.
        forecasts : array-like of shape (n_forecasts,) or (n_forecasts, n_classes), default=None
            Your own forecasts of the row.

        Returns
        -------
        float or ndarray of shape (n_classes,)
            Protected P(y = 1), or protected probabilities of three or more classes.

        Raises
        ------
        ValueError
            If ``p`` or ``forecasts`` is invalid.
        """
        base = self._base(p)
        predictions = self.expert_predictions(p, forecasts, labelled)
        return self._mean(base, predictions.tolist() if predictions.ndim == 1 else predictions, labelled)

    def learn_one(self, p: Any, y: int, forecasts: Any = None, predictions: Any = None) -> None:
        """Learn the label of a row, whenever it arrives.

        Parameters
        ----------
        p : float or array-like of shape (n_classes,)
            Base probability of the row.
        y : int
            Label, 0 or 1, or 0 to n_classes - 1.
        forecasts : array-like of shape (n_forecasts,) or (n_forecasts, n_classes), default=None
            Your own forecasts of the row.
        predictions : ndarray, default=None
            What ``expert_predictions`` returned when you predicted the row. Give it if the label is late: the capital
            of an expert then counts what the expert said in time, and so does S, but with the capital of now. None
            means what the experts would say now.

        Raises
        ------
        ValueError
            If an argument is invalid, or the base gives the label probability 0.
        """
        base = self._base(p)
        inputs.check_label(y, inputs.classes_of(base))
        values = self.expert_predictions(p, forecasts) if predictions is None else np.asarray(predictions)
        experts = self._experts_for(base)
        if values.shape != (experts.n_experts, *np.shape(base)[1:]):
            raise ValueError(f"predictions must be what expert_predictions returned, not of shape {values.shape}")
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError("predictions must lie within [0, 1], as expert_predictions returned them")
        self._learn(base, int(y), values.tolist() if values.ndim == 1 else values)
        experts.learn_one(base if isinstance(base, float) else base[0], int(y))
        self._progress.experts = experts

    def protect(
        self, p: Any, y: Any, *, delay: int = 0, every: int = 1, forecasts: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Predict the protected probabilities of rows in order, and log10 S after each row.

        The stream continues from the end of the last call, as that of a ``SimpleJumper`` does. The predictions equal
        those of ``predict_one`` and ``learn_one`` for each row to a relative 1e-12. S also counts rows without a label,
        of which ``learn_one`` does not know.

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
        forecasts : array-like of shape (n, n_forecasts) or (n, n_forecasts, n_classes), default=None
            Your own forecasts of the rows. That of row i must use no label that row i does not know.

        Returns
        -------
        protected : ndarray of shape (n,) or (n, n_classes)
            Protected probabilities, in the shape of ``p``.
        log10_martingale : ndarray of shape (n,)
            Value of log10 S after each row.

        Raises
        ------
        ValueError
            If an argument is invalid, or the base gives a label probability 0. The message then names the row.
        """
        return self._protect_rows(p, y, forecasts, delay, every)

    def _values_of_part(
        self, base: np.ndarray, labels: np.ndarray, forecasts: Any, first: int, delay: int, every: int
    ) -> np.ndarray:
        part = None if forecasts is None else forecasts[first : first + len(base)]
        checked = self._checked_forecasts(part, base, first)
        predictions: np.ndarray = self._progress.experts.protect(base, labels, checked, delay, every)
        return predictions

    def _checked_forecasts(self, forecasts: Any, base: np.ndarray, first: int) -> np.ndarray:
        """Return the truncated forecasts of the rows of ``base``, (n, n_forecasts) or (n, n_forecasts, n_classes)."""
        shape = (len(base), self._n_forecasts, *base.shape[1:])
        if forecasts is None and not self._n_forecasts:
            return np.empty(shape)
        values = inputs.numbers(forecasts if forecasts is not None else [], "forecasts")
        if values.shape != shape:
            raise ValueError(
                f"forecasts must be of shape {shape}, because n_forecasts is {self._n_forecasts}, not {values.shape}"
            )
        flat = values.reshape(-1, *base.shape[1:])
        try:
            return inputs.base_probabilities(flat, self.truncation, first * self._n_forecasts).reshape(shape)
        except ValueError as error:
            raise ValueError(f"forecasts: {error}, counted through all forecasts") from None

    def _experts_for(self, base: float | np.ndarray) -> Experts:
        """Return the experts of the stream, or new ones before its first row."""
        return self._progress.experts or Experts(inputs.classes_of(base), self._n_forecasts)

    def _begin(self, p: np.ndarray) -> None:
        super()._begin(p)
        self._progress.experts = self._experts_for(p)

    def _n_values(self, n_classes: int) -> int:
        return Experts(n_classes, self._n_forecasts).n_experts

    def state(self) -> dict[str, Any]:
        """Return all that the stream depends on. ``from_state`` continues from it.

        Returns
        -------
        dict
            Plain dicts, lists and numbers that JSON stores exactly.
        """
        experts = self._progress.experts
        return super().state() | {"experts": None if experts is None else experts.state()}

    def _restore(self, state: dict[str, Any]) -> None:
        super()._restore(state)
        if state["experts"] is not None:
            n_classes = whole(state["n_classes"], "n_classes", 2)
            self._progress.experts = Experts.from_state(state["experts"], n_classes, self._n_forecasts)
