"""Families of calibrating functions: what a Jumper may make of a base estimate.

Calibrators in a saved state.
"""

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
    """A finite family of functions from probabilities to probabilities, in a fixed order; its input is read-only."""

    def apply(self, p: np.ndarray) -> np.ndarray:
        """(n,) estimates of P(y = 1) -> (n, n_calibrators); (n, n_classes) -> (n, n_calibrators, n_classes)."""

    def apply_one(self, p: float) -> list[float]:
        """One estimate of P(y = 1) -> n_calibrators of them."""


@dataclass(frozen=True)
class Quadratic:
    """f_eps(p) = p + eps p (1 - p), Vovk, Petej & Gammerman (2021), section 1; the identity first.

    For more than two classes f_{k, eps}(p) = p + eps p_k (e_k - p) for every class k and every eps but 0, where e_k
    is certain of class k: class k gains eps p_k (1 - p_k), the others give it up in proportion. For two classes
    these are the f_eps above.
    """

    eps: tuple[float, ...] = (0.0, 1.0, -1.0, 0.5, -0.5)

    def __post_init__(self) -> None:
        """Raises ValueError for what are no such numbers."""
        eps = tuple(map(as_number, items(self.eps, "eps")))
        if not eps or not all(-1 <= one <= 1 for one in eps):
            raise ValueError(f"eps must be one or more numbers within [-1, 1], not {self.eps!r}")
        object.__setattr__(self, "eps", eps)

    # p + eps p (1 - p) is written as p (p + (1 + eps) (1 - p)), where nothing cancels: p^2 at eps = -1, however small

    def apply(self, p: np.ndarray) -> np.ndarray:
        """(n,) estimates -> (n, n_eps); (n, k) of k classes -> (n, n_calibrators, k)."""
        if p.ndim == 1:
            values = np.multiply.outer([1 + eps for eps in self.eps], 1 - p)  # each calibrator in one piece of memory
            values += p
            values *= p
            return values.T
        own, p_k = np.eye(p.shape[1]), p[:, :, None]
        parts = [
            p[:, None, :] * ((1 - p_k) * (1 + eps * own) + p_k * (1 - eps * (1 - own))) if eps else p[:, None, :]
            for eps in self.eps
        ]
        return np.concatenate(parts, axis=1)

    def apply_one(self, p: float) -> list[float]:
        """One estimate of P(y = 1) -> as many as there are eps."""
        rest = 1 - p
        return [p * (p + (1 + eps) * rest) for eps in self.eps]


@dataclass(frozen=True)
class Cox:
    """f(p) = p^b e^a / (p^b e^a + (1 - p)^b) for pairs (a, b): Cox (1958, Biometrika 45); for two classes only."""

    pairs: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        """Raises ValueError for what are no such pairs, and beyond 100, where floats overflow."""
        pairs = [tuple(map(as_number, items(pair, "each of pairs"))) for pair in items(self.pairs, "pairs")]
        sound = all(len(pair) == 2 and abs(pair[0]) <= _MOST and 0 <= pair[1] <= _MOST for pair in pairs)
        if not pairs or not sound:
            raise ValueError(f"Cox needs pairs (a, b) of at most 100 in size, b not negative, not {self.pairs!r}")
        object.__setattr__(self, "pairs", tuple(pairs))

    def apply(self, p: np.ndarray) -> np.ndarray:
        """(n,) estimates -> (n, n_pairs). Raises ValueError for more than two classes."""
        if p.ndim > 1:
            raise ValueError("Cox calibrators are for two classes; for more use 'quadratic' or functions of your own")
        values = np.empty((len(self.pairs), len(p)))
        powers = {b: (p**b, (1 - p) ** b) for _, b in self.pairs}
        for row, (a, b) in zip(values, self.pairs, strict=True):
            for_it = powers[b][0] * math.exp(a)
            np.divide(for_it, for_it + powers[b][1], out=row)
        return values.T

    def apply_one(self, p: float) -> list[float]:
        """One estimate of P(y = 1) -> as many as there are pairs."""
        powers = {b: (p**b, (1 - p) ** b) for _, b in self.pairs}
        odds = [(powers[b][0] * math.exp(a), powers[b][1]) for a, b in self.pairs]
        return [for_it / (for_it + against) for for_it, against in odds]


@dataclass(frozen=True)
class Own:
    """Functions of the user's: each takes p, (n,) or (n, n_classes), and returns probabilities of the same shape."""

    functions: tuple[Callable[[np.ndarray], Any], ...]

    def apply(self, p: np.ndarray) -> np.ndarray:
        return np.stack([self._values(number, p) for number in range(len(self.functions))], axis=1)

    def apply_one(self, p: float) -> list[float]:
        return self.apply(np.array([p]))[0].tolist()

    def _values(self, number: int, p: np.ndarray) -> np.ndarray:
        values = np.asarray(self.functions[number](p.copy()), dtype=np.float64)  # it may work in place
        sound = values.shape == p.shape and bool(((values >= 0) & (values <= 1)).all())
        if sound and p.ndim > 1:
            sound = bool((np.abs(values.sum(axis=1) - 1) <= SUM_TOLERANCE).all())
        if not sound:
            raise ValueError(f"calibrator {number} (from 0) must turn p of shape {p.shape} into as many probabilities")
        return values


_ALPHAS, _BETAS = (0.0, 1.0, -1.0), (1.0, 0.5, 2.0)
FAMILIES: dict[str, Calibrators] = {
    "quadratic": Quadratic(),
    "cox": Cox(tuple((a, b) for b in _BETAS for a in _ALPHAS)),
    # the authors' notebook passes the place of a and of b in their lists instead of a and b themselves
    "cox_slipped": Cox(tuple((float(a), float(b)) for b in range(len(_BETAS)) for a in range(len(_ALPHAS)))),
}
"""Those with a name; "cox" and "cox_slipped" are the nine of the authors' notebook, intended and as it is run."""


def family(calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]]) -> Calibrators:
    """The family meant by a name, a family, or a sequence of functions. Raises ValueError for anything else."""
    if isinstance(calibrators, str):
        if calibrators not in FAMILIES:
            known = ", ".join(f'"{name}"' for name in FAMILIES)
            raise ValueError(f"no calibrators {calibrators!r}{did_you_mean(calibrators, FAMILIES)} (there are {known})")
        return FAMILIES[calibrators]
    if hasattr(calibrators, "apply") and hasattr(calibrators, "apply_one"):
        return calibrators
    functions = tuple(calibrators) if isinstance(calibrators, Sequence) else ()
    if not functions or not all(map(callable, functions)):
        raise ValueError(f"calibrators must be a name, a family or a list of functions, not {calibrators!r}")
    return Own(functions)  # type: ignore[arg-type]  # each was asked whether it is callable


def kept(calibrators: Any) -> Any:
    """What is kept of them: a name, the parameters of a family, or the names of functions, which are not kept."""
    if isinstance(calibrators, str):
        return calibrators
    found = family(calibrators)
    if isinstance(found, Quadratic):
        return {"quadratic": list(found.eps)}
    if isinstance(found, Cox):
        return {"cox": [list(pair) for pair in found.pairs]}
    if isinstance(found, Own):
        return {"functions": [getattr(one, "__name__", type(one).__name__) for one in found.functions]}
    return {"family": type(found).__name__}


def restored(saved: Any, given: Any) -> Any:
    """The calibrators of ``saved``, as ``kept`` returned it, with those given again, or None.

    Raises ValueError where they must be given and are not, and where others are given.
    """
    known = _known(saved)
    if known is None and given is None:
        raise ValueError("the calibrators of this stream have no name: give them as calibrators=")
    if given is not None and (kept(given) != saved if known is None else family(given) != known):
        raise ValueError(f"the stream has the calibrators {saved!r}, not {kept(given)!r}")
    if known is None:
        return given
    return saved if isinstance(saved, str) else known


def _known(saved: Any) -> Calibrators | None:
    """None for what must be given again."""
    if isinstance(saved, str):
        return family(saved)
    [(kind, values)] = saved.items() if isinstance(saved, dict) and len(saved) == 1 else [(None, None)]
    if kind in ("functions", "family"):
        return None
    if kind == "quadratic":
        return Quadratic(values)  # type: ignore[arg-type]
    if kind == "cox":
        return Cox(values)  # type: ignore[arg-type]
    raise ValueError(f"there are no such calibrators as {saved!r}")
