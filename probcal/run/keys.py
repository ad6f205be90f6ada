"""The key of a cell: digests of all that can change its numbers, and what changed when they differ."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from probcal.components import import_class, parameter_names
from probcal.data.load import known_fingerprint
from probcal.run.code import code_of, code_of_metrics, versions_of
from probcal.shortcuts.shortcut import modules_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from probcal.cell_result import CellResult
    from probcal.config import Component
    from probcal.data.card import Card
    from probcal.run.plan import Cell


class Fingerprints:
    """Makes the keys of many cells, each shared part worked out once."""

    def __init__(self) -> None:
        self._digest, self._data, self._split = cache(_digest_of_json), cache(known_fingerprint), cache(_split)

    def key(self, cell: Cell) -> dict[str, str]:
        """Part -> digest. Without ``data`` while nobody knows the values: neither the card nor the cache."""
        learner, method = cell.column.learner, cell.column.method
        modules = modules_of(cell)
        data = self._data(cell.card)
        return {
            **({"data": data[:12]} if data else {}),
            "split": self._of(self._split(cell.card), cell.seed, cell.repetition, cell.max_rows, *_another_name(cell)),
            "learner": self._of(learner.path, learner.params, learner.encoding, *_seeding(learner)),
            "method": self._of(method.path, method.params),
            **({"stages": self._of(cell.stages)} if cell.stages and _has_stages(method.path) else {}),
            **({"curves": self._of(cell.curves)} if cell.curves else {}),
            "code": self._of(code_of(*modules), *_drawing(method)),
            "metrics": self._of(code_of_metrics(), *cell.asked),
            "versions": self._of(versions_of(*modules)),
        }

    def why_stale(self, cell: Cell, key: dict[str, str], result: CellResult, run: dict[str, Any]) -> str:
        """Which part changed since ``result`` was made by ``run`` (its provenance), in words."""
        reasons: dict[str, Callable[[], str]] = {
            "data": lambda: "the data changed",
            "split": lambda: "the split or the seed changed",
            "learner": lambda: f"the settings of {cell.column.learner.name} changed",
            "method": lambda: f"the settings of {cell.column.method.name} changed",
            "stages": lambda: "the metrics to take after every stage changed",
            "curves": lambda: "the curves to keep changed",
            "code": lambda: _changed_code(code_of(*modules_of(cell)), run.get("code", {})),
            "metrics": lambda: f"{'the metrics asked for or ' if cell.asked else ''}the code of the metrics changed",
            "versions": lambda: _changed_versions(versions_of(*modules_of(cell)), run.get("versions", {})),
        }
        return "; ".join(reasons[part]() for part in changed_parts(key, result))

    def _of(self, *parts: Any) -> str:
        return self._digest(json.dumps(parts, sort_keys=True, default=str))


def changed_parts(key: dict[str, str], result: CellResult) -> list[str]:
    """The parts of ``key`` that were not so when ``result`` was made; what it leaves out is not held against it."""
    return [part for part, digest in key.items() if result.key.get(part) != digest]


def modules_of(cell: Cell) -> tuple[str, ...]:
    """Where the classes of the learner and of the method are, and what they bring that no import tells.

    That is the generator of the rows, if they are drawn, and the learner's shortcut; all there are, where the
    learner or the method is the user's own and may hand any other learner on.
    """
    learner, method = cell.column.learner.path, cell.column.method.path
    generator = ("probcal.data.generators",) if cell.card.generator else ()
    return _module(learner), _module(method), *generator, *_shortcuts(learner, method)


@cache
def _shortcuts(learner: str, method: str) -> tuple[str, ...]:
    if "probcal.shortcuts.shortcut" not in code_of(_module(learner), _module(method)):
        return ()
    own = not {"probcal", "sklearn"} >= {path.partition(".")[0] for path in (learner, method)}
    return tuple(modules_for(Pipeline if own else import_class(learner)))


def _module(path: str) -> str:
    return path.rpartition(".")[0]


def _seeding(learner: Component) -> tuple[str, ...]:
    return ("shared seed",) if learner.shared_seed else ()


def _drawing(method: Component) -> tuple[str, ...]:
    return ("random_state",) if "random_state" in parameter_names(import_class(method.path)) else ()


def _another_name(cell: Cell) -> tuple[str, ...]:
    """Splits are drawn by the name of the card, which an exception may take the place of."""
    return (cell.card.name,) if cell.card.name != cell.dataset else ()


def _has_stages(method: str) -> bool:
    return hasattr(import_class(method), "staged_predict_proba")


def _split(card: Card) -> dict[str, Any]:
    return {**card.split.model_dump(), "n_train": card.split.n_train(card.expect.rows)}


def _changed_code(now: dict[str, str], before: dict[str, str]) -> str:
    changed = [name for name, digest in now.items() if before.get(name) != digest]
    return f"code changed: {', '.join(changed) or 'a module less, or the way a class is made'}"


def _changed_versions(now: dict[str, str], before: dict[str, str]) -> str:
    changed = [f"{name} {before.get(name, '?')} -> {new}" for name, new in now.items() if before.get(name) != new]
    return ", ".join(changed) or "package versions changed"


def _digest_of_json(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
