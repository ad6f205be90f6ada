"""Experts that a protected forecaster listens to: each predicts a row before its label, and then learns the label."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from probcal.protection.jumpers import CompositeJumper, SimpleJumper
from probcal.protection.protector import Protector
from probcal.protection.stream_input import entries, is_whole, list_of, numbers, whole

# Gradient steps of a sigmoid: a slow one for a world that stays, a fast one for a world that turns. Each is some three
# times the one before. A closer grid gained less than .02 % on five real streams, and costs a share of capital.
_SIGMOID_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_BETA_RATES = (0.003, 0.01, 0.03)
# What a histogram remembers: about 100 and 1,000 rows of each bin.
_KEPT = (0.99, 0.999)
_BINS = 20
# A bin starts as if it had seen two rows whose labels agree with the middle of the bin.
_PRIOR_ROWS = 2.0
# A prediction of exactly 0 or 1 would lose all of an expert's capital at one label.
_LEAST = 1e-9
_STEEPEST = 100.0


class OnlineScaling:
    """Scale log-odds by gradient steps on the log loss, at several rates: online Platt and online beta scaling.

    Two classes: q = sigmoid(a log p - b log(1 - p) + c), which starts at a = b = 1 and c = 0. Online Platt scaling has
    a = b, and one step changes them by -rate (q - y) log(p / (1 - p)), and c by -rate (q - y). Online beta scaling
    (Kull et al. 2017) has both. Slopes never fall below 0, so that larger probabilities stay larger.

    More classes: q = softmax(a log p + c) with one slope and an intercept for each class, only at the Platt rates.
    """

    def __init__(self, n_classes: int) -> None:
        self._two = n_classes == 2
        tied = len(_SIGMOID_RATES)
        rates = _SIGMOID_RATES + (_BETA_RATES if self._two else ())
        self.n_experts = len(rates)
        self._rates = np.array(rates)[:, None]
        self._tied = np.arange(len(rates)) < tied
        start = [1.0, 1.0, 0.0] if self._two else [1.0] + [0.0] * n_classes
        self.values = np.tile(start, (len(rates), 1))

    def predict(self, p: Any) -> np.ndarray:
        """Return the predictions of one row, (n_experts,) or (n_experts, n_classes).

        ``p`` is a float, or (n_classes,).
        """
        p = np.clip(p, _LEAST, 1 - _LEAST)
        if self._two:
            log_odds = self.values @ np.array([np.log(p), -np.log1p(-p), 1.0])
            return np.asarray(np.clip(1 / (1 + np.exp(-log_odds)), _LEAST, 1 - _LEAST))
        logits = self.values[:, :1] * np.log(p) + self.values[:, 1:]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        clipped = np.maximum(powers / powers.sum(axis=1, keepdims=True), _LEAST)
        return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))

    def learn(self, p: Any, y: int) -> None:
        """Take one step for the label ``y`` of a row."""
        q = self.predict(p)
        p = np.clip(p, _LEAST, 1 - _LEAST)
        if self._two:
            log_p, log_rest = float(np.log(p)), float(-np.log1p(-p))
            direction = np.array([[log_p, log_rest, 1.0]]).repeat(len(q), axis=0)
            direction[self._tied, :2] = log_p + log_rest  # a = b: both take the sum of their two steps
            step = (q - y)[:, None] * direction
        else:
            error = q - (np.arange(len(p)) == y)
            step = np.column_stack([error @ np.log(p), error])
        self.values -= self._rates * step
        slopes = self.values[:, : 2 if self._two else 1]
        np.clip(slopes, 0, _STEEPEST, out=slopes)


class OnlineHistogram:
    """Predict the share of positive labels in the bin of p, in which older labels weigh less and less. Two classes."""

    n_experts = len(_KEPT)

    def __init__(self) -> None:
        middles = (np.arange(_BINS) + 0.5) / _BINS
        self._prior = _PRIOR_ROWS * np.stack([1 - middles, middles], axis=1)
        self._kept = np.array(_KEPT)[:, None]
        self.values = np.repeat(self._prior[None], len(_KEPT), axis=0)

    def predict(self, p: float) -> np.ndarray:
        """Return the predictions of one row, (n_experts,)."""
        counts = self.values[:, self._bin(p)]
        return np.asarray(counts[:, 1] / counts.sum(axis=1))

    def learn(self, p: float, y: int) -> None:
        """Count the label ``y`` of a row. What a bin forgets of its labels, it takes from its start."""
        place = self._bin(p)
        self.values[:, place] = self._kept * self.values[:, place] + (1 - self._kept) * self._prior[place]
        self.values[:, place, y] += 1

    @staticmethod
    def _bin(p: float) -> int:
        return min(int(p * _BINS), _BINS - 1)


class Experts:
    """Hold all experts of one stream. The first one is the base itself, and the last ones are given forecasts.

    ``waiting`` holds row, base probability and label of the rows whose labels have not arrived.
    """

    def __init__(self, n_classes: int, n_forecasts: int) -> None:
        self.n_classes = n_classes
        self.n_forecasts = n_forecasts
        # the base arrives truncated
        self.jumpers: list[Protector] = [
            SimpleJumper("quadratic", truncation=None),
            CompositeJumper("cox" if n_classes == 2 else "quadratic", truncation=None),
        ]
        self.online: list[OnlineScaling | OnlineHistogram] = [OnlineScaling(n_classes)]
        if n_classes == 2:
            self.online.append(OnlineHistogram())
        self.row = 0
        self.waiting: deque[tuple[int, Any, int]] = deque()

    @property
    def n_experts(self) -> int:
        return 1 + len(self.jumpers) + sum(expert.n_experts for expert in self.online) + self.n_forecasts

    def predict_one(self, p: Any, forecasts: np.ndarray, labelled: bool) -> np.ndarray:
        """Return the predictions of one row, (n_experts,) or (n_experts, n_classes)."""
        of_jumpers = [jumper.predict_one(p, labelled) for jumper in self.jumpers]
        return np.concatenate([np.array([p, *of_jumpers]), *(expert.predict(p) for expert in self.online), forecasts])

    def learn_one(self, p: Any, y: int) -> None:
        """Learn the label of one row."""
        for jumper in self.jumpers:
            jumper.learn_one(p, y)
        for expert in self.online:
            expert.learn(p, y)

    def protect(self, p: np.ndarray, y: np.ndarray, forecasts: np.ndarray, delay: int, every: int) -> np.ndarray:
        """Learn labels, and return the predictions of rows in order, (n, n_experts) or (n, n_experts, n_classes)."""
        predictions = np.empty((len(p), self.n_experts, *p.shape[1:]))
        predictions[:, 0] = p
        for place, jumper in enumerate(self.jumpers, start=1):
            predictions[:, place] = jumper.protect(p, y, delay=delay, every=every)[0]
        first = 1 + len(self.jumpers)
        last = self.n_experts - self.n_forecasts
        predictions[:, last:] = forecasts
        labels = y.tolist()
        rows = p.tolist() if p.ndim == 1 else list(p)
        for place, (row, label) in enumerate(zip(rows, labels, strict=True)):
            predictions[place, first:last] = np.concatenate([expert.predict(row) for expert in self.online])
            if self.row % every == 0:
                self.waiting.append((self.row, row, label))
            while self.waiting and self.waiting[0][0] + delay <= self.row:
                _, earlier, its_label = self.waiting.popleft()
                for expert in self.online:
                    expert.learn(earlier, its_label)
            self.row += 1
        return predictions

    def state(self) -> dict[str, Any]:
        """Return all that changes from row to row, as dicts, lists and numbers."""
        return {
            "jumpers": [jumper.state() for jumper in self.jumpers],
            "online": [expert.values.tolist() for expert in self.online],
            "row": self.row,
            "waiting": [[row, np.asarray(p).tolist(), y] for row, p, y in self.waiting],
        }

    @classmethod
    def from_state(cls, state: Any, n_classes: int, n_forecasts: int) -> Experts:
        """Return saved experts. Raises ValueError, which names the place, for an invalid ``state``."""
        saved = entries(state, "experts", ("jumpers", "online", "row", "waiting"))
        experts = cls(n_classes, n_forecasts)
        saved_jumpers = list_of(saved["jumpers"], "experts.jumpers", len(experts.jumpers))
        experts.jumpers = [type(new).from_state(old) for new, old in zip(experts.jumpers, saved_jumpers, strict=True)]
        for expert, values in zip(
            experts.online, list_of(saved["online"], "experts.online", len(experts.online)), strict=True
        ):
            array = numbers(values, "experts.online").astype(np.float64)
            if array.shape != expert.values.shape or not np.isfinite(array).all():
                raise ValueError(f"experts.online must hold {expert.values.shape} finite numbers for each expert")
            expert.values[...] = array
        experts.row = whole(saved["row"], "experts.row", 0)
        if not isinstance(saved["waiting"], list):
            raise ValueError(f"experts.waiting must be a list, not {saved['waiting']!r}")
        for label in saved["waiting"]:
            row, p, y = list_of(label, "each of experts.waiting", 3)
            sound = is_whole(row, 0, experts.row - 1) and is_whole(y, 0, n_classes - 1)
            values = numbers(p, "experts.waiting")
            if (
                not sound
                or values.shape != (() if n_classes == 2 else (n_classes,))
                or not ((values >= 0) & (values <= 1)).all()
            ):
                raise ValueError(f"experts.waiting must hold a row, its probability and its label, not {label!r}")
            experts.waiting.append((int(row), float(p) if n_classes == 2 else values, int(y)))
        return experts
