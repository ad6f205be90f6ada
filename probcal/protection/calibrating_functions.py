"""Families of calibrating functions, which a Jumper applies to base probabilities, and how they are saved."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from probcal.errors import did_you_mean
from probcal.protection.stream_input import SUM_TOLERANCE, as_number, items

_MOST = 100


class Calibrators(Protocol):
    """Apply a finite family of functions from probabilities to probabilities, in a fixed order, to read-only input."""

    def apply(self, p: np.ndarray) -> np.ndarray:
        """Apply all functions to many predictions.

        Parameters
        ----------
        p : ndarray of shape (n,) or (n, n_classes)
            Values of P(y = 1), or probabilities of more than two classes.

        Returns
        -------
        ndarray of shape (n, n_calibrators) or (n, n_calibrators, n_classes)
            Values of the functions.
        """

    def apply_one(self, p: float) -> list[float]:
        """Apply all functions to one prediction.

        Parameters
        ----------
        p : float
            Value of P(y = 1).

        Returns
        -------
        list of float, of length n_calibrators
            Values of the functions.
        """


@dataclass(frozen=True)
class Quadratic:
    """Apply f_eps(p) = p + eps p (1 - p), the identity first (Vovk, Petej & Gammerman 2021, section 1).

    For more than two classes there is f_{k, eps}(p) = p + eps p_k (e_k - p) for every class k and every eps but 0,
    where e_k is certain of class k. Class k gains eps p_k (1 - p_k), and the others lose it in proportion. For two
    classes these are the f_eps above.

    Parameters
    ----------
    eps : tuple of float, default=(0.0, 1.0, -1.0, 0.5, -0.5)
        Numbers within [-1, 1].

    Raises
    ------
    ValueError
        If ``eps`` is empty or holds anything but numbers within [-1, 1].

    See Also
    --------
    Cox : Has two parameters for each function, and is for two classes only.
    SimpleJumper : Bets with these functions, as ``calibrators``.

    Examples
    --------
    >>> import numpy as np
    >>> from probcal.protection import Quadratic, SimpleJumper
    >>> Quadratic(eps=(0.0, 1.0, -1.0)).apply(np.array([0.2, 0.5])).round(2)
    array([[0.2 , 0.36, 0.04],
           [0.5 , 0.75, 0.25]])
    >>> jumper = SimpleJumper(Quadratic(eps=(0.0, 1.0, -1.0)))
    >>> jumper.learn_one(0.2, 1)
    >>> round(jumper.predict_one(0.2), 3)
    0.284
    """

    eps: tuple[float, ...] = (0.0, 1.0, -1.0, 0.5, -0.5)

    def __post_init__(self) -> None:
        eps = tuple(map(as_number, items(self.eps, "eps")))
        if not eps or not all(-1 <= number <= 1 for number in eps):
            raise ValueError(f"eps must be one or more numbers within [-1, 1], not {self.eps!r}")
        object.__setattr__(self, "eps", eps)

    # p + eps p (1 - p) is computed as p (p + (1 + eps) (1 - p)), without cancellation: p^2 at eps = -1, however small

    def apply(self, p: np.ndarray) -> np.ndarray:
        """Apply all functions to many predictions.

        Parameters
        ----------
        p : ndarray of shape (n,) or (n, n_classes)
            Values of P(y = 1), or probabilities of more than two classes.

        Returns
        -------
        ndarray of shape (n, n_eps) or (n, n_calibrators, n_classes)
            Values of the functions.
        """
        if p.ndim == 1:
            values = np.multiply.outer([1 + eps for eps in self.eps], 1 - p)  # each calibrator is contiguous in memory
            values += p
            values *= p
            return np.transpose(values)
        own, p_k = np.eye(p.shape[1]), p[:, :, None]
        parts = [
            p[:, None, :] * ((1 - p_k) * (1 + eps * own) + p_k * (1 - eps * (1 - own))) if eps else p[:, None, :]
            for eps in self.eps
        ]
        return np.concatenate(parts, axis=1)

    def apply_one(self, p: float) -> list[float]:
        """Apply all functions to one prediction.

        Parameters
        ----------
        p : float
            Value of P(y = 1).

        Returns
        -------
        list of float, of length n_eps
            Values of the functions.
        """
        rest = 1 - p
        return [p * (p + (1 + eps) * rest) for eps in self.eps]


@dataclass(frozen=True)
class Cox:
    """Apply f(p) = p^b e^a / (p^b e^a + (1 - p)^b) for pairs (a, b) and two classes (Cox 1958, Biometrika 45).

    Parameters
    ----------
    pairs : tuple of tuple (float, float)
        Pairs (a, b), with a from -100 to 100 and b from 0 to 100. Larger numbers would overflow.

    Raises
    ------
    ValueError
        If ``pairs`` is empty or holds anything but such pairs.

    See Also
    --------
    Quadratic : Has one parameter for each function, and is also for several classes.
    SimpleJumper : Bets with these functions, as ``calibrators``.

    Examples
    --------
    >>> import numpy as np
    >>> from probcal.protection import Cox, SimpleJumper
    >>> Cox(pairs=((0, 1), (1, 1), (0, 2))).apply(np.array([0.2, 0.5])).round(2)
    array([[0.2 , 0.4 , 0.06],
           [0.5 , 0.73, 0.5 ]])
    >>> jumper = SimpleJumper(Cox(pairs=((0, 1), (1, 1), (0, 2))))
    >>> jumper.learn_one(0.2, 1)
    >>> round(jumper.predict_one(0.2), 3)
    0.311
    """

    pairs: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        pairs = [tuple(map(as_number, items(pair, "each of pairs"))) for pair in items(self.pairs, "pairs")]
        sound = all(len(pair) == 2 and abs(pair[0]) <= _MOST and 0 <= pair[1] <= _MOST for pair in pairs)
        if not pairs or not sound:
            raise ValueError(f"Cox needs pairs (a, b) of at most 100 in size, b not negative, not {self.pairs!r}")
        object.__setattr__(self, "pairs", tuple(pairs))

    def apply(self, p: np.ndarray) -> np.ndarray:
        """Apply all functions to many predictions.

        Parameters
        ----------
        p : ndarray of shape (n,)
            Values of P(y = 1).

        Returns
        -------
        ndarray of shape (n, n_pairs)
            Values of the functions.

        Raises
        ------
        ValueError
            If ``p`` is for more than two classes.
        """
        if p.ndim > 1:
            raise ValueError("Cox calibrators are for two classes; for more use 'quadratic' or your own functions")
        values = np.empty((len(self.pairs), len(p)))
        powers = {b: (p**b, (1 - p) ** b) for _, b in self.pairs}
        for row, (a, b) in zip(values, self.pairs, strict=True):
            odds_for = powers[b][0] * math.exp(a)
            np.divide(odds_for, odds_for + powers[b][1], out=row)
        return values.T

    def apply_one(self, p: float) -> list[float]:
        """Apply all functions to one prediction.

        Parameters
        ----------
        p : float
            Value of P(y = 1).

        Returns
        -------
        list of float, of length n_pairs
            Values of the functions.
        """
        powers = {b: (p**b, (1 - p) ** b) for _, b in self.pairs}
        odds = [(powers[b][0] * math.exp(a), powers[b][1]) for a, b in self.pairs]
        return [odds_for / (odds_for + against) for odds_for, against in odds]


@dataclass(frozen=True)
class UserFunctions:
    """Apply the user's functions. Each takes p, (n,) or (n, n_classes), and returns probabilities of the same shape."""

    functions: tuple[Callable[[np.ndarray], Any], ...]

    def apply(self, p: np.ndarray) -> np.ndarray:
        return np.stack([self._values(number, p) for number in range(len(self.functions))], axis=1)

    def apply_one(self, p: float) -> list[float]:
        values: list[float] = self.apply(np.array([p]))[0].tolist()
        return values

    def _values(self, number: int, p: np.ndarray) -> np.ndarray:
        values = np.asarray(self.functions[number](p.copy()), dtype=np.float64)  # the function may change its argument
        sound = values.shape == p.shape and bool(((values >= 0) & (values <= 1)).all())
        if sound and p.ndim > 1:
            sound = bool((np.abs(values.sum(axis=1) - 1) <= SUM_TOLERANCE).all())
        if not sound:
            raise ValueError(f"calibrator {number} (from 0) must return probabilities of the shape of p, {p.shape}")
        return values


_ALPHAS, _BETAS = (0.0, 1.0, -1.0), (1.0, 0.5, 2.0)
FAMILIES: dict[str, Calibrators] = {
    "quadratic": Quadratic(),
    "cox": Cox(tuple((a, b) for b in _BETAS for a in _ALPHAS)),
    # the authors' notebook passes the positions of a and b in their lists instead of a and b
    "cox_slipped": Cox(tuple((float(a), float(b)) for b in range(len(_BETAS)) for a in range(len(_ALPHAS)))),
}
"""The families with a name. "cox" is what the authors' notebook intends, and "cox_slipped" is what it runs."""


def family(calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]]) -> Calibrators:
    """Return the family of a name, a family, or a sequence of functions. Raises ValueError for anything else."""
    if isinstance(calibrators, str):
        if calibrators not in FAMILIES:
            known = ", ".join(f'"{name}"' for name in FAMILIES)
            raise ValueError(f"no calibrators {calibrators!r}{did_you_mean(calibrators, FAMILIES)} (there are {known})")
        return FAMILIES[calibrators]
    if hasattr(calibrators, "apply") and hasattr(calibrators, "apply_one"):
        return calibrators
    functions: tuple[Any, ...] = tuple(calibrators) if isinstance(calibrators, Sequence) else ()
    if not functions or not all(map(callable, functions)):
        raise ValueError(f"calibrators must be a name, a family or a list of functions, not {calibrators!r}")
    return UserFunctions(functions)


def saved_calibrators(calibrators: Any) -> Any:
    """Return what a saved state stores: a name, the parameters of a family, or only the names of functions."""
    if isinstance(calibrators, str):
        return calibrators
    members = family(calibrators)
    if isinstance(members, Quadratic):
        return {"quadratic": list(members.eps)}
    if isinstance(members, Cox):
        return {"cox": [list(pair) for pair in members.pairs]}
    if isinstance(members, UserFunctions):
        return {"functions": [getattr(function, "__name__", type(function).__name__) for function in members.functions]}
    return {"family": type(members).__name__}


def restore_calibrators(saved: Any, calibrators: Any) -> Any:
    """Return the calibrators of ``saved``, which ``saved_calibrators`` returned, or else the user's ``calibrators``.

    Raises ValueError if ``calibrators`` are missing but needed, or differ from the saved ones.
    """
    known = _saved_family(saved)
    if known is None and calibrators is None:
        raise ValueError("the state does not hold the calibrators of this stream; give them as calibrators=")
    if calibrators is not None:
        differ = saved_calibrators(calibrators) != saved if known is None else family(calibrators) != known
        if differ:
            raise ValueError(f"the stream has the calibrators {saved!r}, not {saved_calibrators(calibrators)!r}")
    if known is None:
        return calibrators
    return saved if isinstance(saved, str) else known


def _saved_family(saved: Any) -> Calibrators | None:
    """Return the saved calibrators, or None if the user must give them again."""
    if isinstance(saved, str):
        return family(saved)
    known: dict[Any, Any] = saved if isinstance(saved, dict) and len(saved) == 1 else {None: None}
    [(kind, values)] = known.items()
    if kind in ("functions", "family"):
        return None
    if kind == "quadratic":
        return Quadratic(values)
    if kind == "cox":
        return Cox(values)
    raise ValueError(f"unknown calibrators {saved!r}")
