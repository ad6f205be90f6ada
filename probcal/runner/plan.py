"""The plan of a run: the state of every cell, which cells run, and what they require."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from probcal._io import visible
from probcal.config.components import import_class, unmet_requirement
from probcal.config.experiment import Component, Experiment
from probcal.data.card import Card
from probcal.data.load import data_folder
from probcal.errors import ProbcalError
from probcal.runner.cells import Cell, cells_of
from probcal.runner.data_step import DataStep, data_now
from probcal.runner.fingerprint import Fingerprints, card_before, changed_parts, is_measured_alike
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store

State = Literal["done", "failed", "stale", "to run", "no data"]


@dataclass(frozen=True)
class Planned:
    """Hold a cell, its state, and the reason if it is stale or failed."""

    cell: Cell
    key: dict[str, str]
    state: State
    why: str = ""
    expected_seconds: float | None = None
    kept: CellResult | None = None
    """Its result, where only metrics changed since. Its stored predictions are measured again."""
    lacking: frozenset[str] = frozenset()
    """The metrics that the experiment asks for and its result lacks."""

    @property
    def runs(self) -> bool:
        return self.state in ("stale", "to run")


def make_plan(
    experiment: Experiment, store: Store, data: DataStep | None = None, *, retry_failed: bool = False
) -> list[Planned]:
    """Return the state of every cell, from the stored results and the present data sets.

    ``data`` holds the data sets. Without it they are searched for in PROBCAL_DATA_DIR, the cache and beside the cards.
    Raises DataError when they cannot be used.
    """
    data = data_now(experiment.cards_read(), data_folder()) if data is None else data
    results, runs = store.results(), store.runs()
    fingerprints = Fingerprints()
    seconds = {_kind(result): result.seconds for result in results.values() if result.status == "done"}
    plan = []
    for cell in cells_of(data.bound(experiment)):
        key, result = fingerprints.key(cell), results.get(cell.id)
        state, why, kept = _state(key, result, retry_failed), "", None
        lacking: frozenset[str] = frozenset()
        at_hand = result is None or cell.card.bound_to(None) in data.at_hand
        unsure = None if at_hand or result is None else doubt(cell.card, result, runs)
        if result is not None and state == "failed":
            why = _why_failed(result)
        elif result is not None and state == "stale":
            why = fingerprints.why_stale(cell, key, result, runs.get(result.run, {}))
            why = why or f"{result.status} before and runs again"
        elif result is not None and state == "done" and not is_measured_alike(key, result):
            if result.key.get("asked") != key["asked"]:
                lacking = frozenset(cell.asked) - result.metrics.keys()
            if store.has_predictions(result):
                state, kept, why = "stale", result, "metrics changed or were added; no fit is needed"
            elif lacking:
                state, why = "stale", f"lacks {', '.join(sorted(lacking))}, and its predictions are not stored"
            else:
                why = "measured by an earlier version of the metrics; its predictions are not stored"
        if unsure == CARD_CHANGED and state != "stale":
            state, why = "stale", CARD_CHANGED
        elif unsure and state == "done":
            why = unsure
        plan.append(Planned(cell, key, state, why, seconds.get(_kind(cell)), kept, lacking))
    return plan


CARD_CHANGED = "the card changed, and its data are not at hand"


def doubt(card: Card, result: CellResult, runs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return why a result whose data set is not at hand may be stale, or None where the card names the values."""
    if card_before(card, runs.get(result.run, {})) not in (None, card.reading):
        return CARD_CHANGED
    return None if card.values or card.expect.fingerprint else "not checked: the data are not at hand"


def without_data(plan: list[Planned], missing: Mapping[str, str]) -> list[Planned]:
    """Return the plan with ``missing`` data sets (data set -> reason) marked."""
    return [
        replace(one, state="no data", why=missing[one.cell.card.name])
        if one.runs and one.cell.card.name in missing
        else one
        for one in plan
    ]


def count_states(plan: list[Planned]) -> Counter[str]:
    return Counter(planned.state for planned in plan)


def expected_seconds(plan: list[Planned]) -> tuple[float, int]:
    """Return the seconds that the cells to fit took before, and the number of cells never timed."""
    times = [planned.expected_seconds for planned in plan if planned.runs and planned.kept is None]
    return sum(time for time in times if time is not None), sum(time is None for time in times)


_LONGEST_LINE = 200


def first_line(text: str | None) -> str:
    """Return the first line, at most 200 characters, with control characters escaped."""
    line = (text or "").strip().partition("\n")[0]
    return visible(line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…")


def _state(key: dict[str, str], result: CellResult | None, retry_failed: bool) -> State:
    if result is None:
        return "to run"
    if changed_parts(key, result):
        tried = result.failed_since is not None and not changed_parts(key, result.failed_since)
        return "failed" if tried and not retry_failed else "stale"
    if result.status == "done":
        return "done"
    return "stale" if retry_failed else "failed"


def _why_failed(result: CellResult) -> str:
    failed = result.failed_since or result
    kept = "; its last finished result, which is stale, is kept" if result.failed_since else ""
    return f"{first_line(failed.error_type)}: {first_line(failed.message)}{kept}"


def _kind(one: Cell | CellResult) -> tuple[str, str, str]:
    """Return what decides the run time of a cell: data set, learner and method."""
    if isinstance(one, CellResult):
        return one.dataset, one.learner, one.method
    return one.dataset, one.column.learner.name, one.column.method.name


class RequirementMissing(ProbcalError):
    """Report a package that a learner or method needs and that is not installed."""


def refuse_unmet(cells: Iterable[Cell]) -> None:
    """Raise RequirementMissing with a line for each thing that the components of ``cells`` need and that is missing.

    A line names the learners or methods that need it and the command that installs it.
    """
    needing: dict[str, dict[tuple[str, str], None]] = {}
    for word, component in _components(cells):
        if unmet := unmet_requirement(import_class(component.path)):
            needing.setdefault(" ".join(unmet.split()), {})[word, component.name] = None
    if needing:
        raise RequirementMissing("\n".join(f"{_named([*who])}: {unmet}" for unmet, who in needing.items()))


def to_fit(plan: list[Planned]) -> list[Cell]:
    """Return the cells of a plan that will be fitted. Done cells, and those only measured again, are left out."""
    return [planned.cell for planned in plan if planned.runs and planned.kept is None]


def _components(cells: Iterable[Cell]) -> list[tuple[str, Component]]:
    """Return every learner and method once, by its class and its name."""
    found: dict[tuple[str, str, str], tuple[str, Component]] = {}
    for cell in cells:
        for word, one in (("learner", cell.column.learner), ("method", cell.column.method)):
            found.setdefault((word, one.path, one.name), (word, one))
    return list(found.values())


def _named(who: list[tuple[str, str]]) -> str:
    names = {word: [name for kind, name in who if kind == word] for word, _ in who}
    return ", ".join(f"{word}{'s' * (len(of) > 1)} {', '.join(of)}" for word, of in names.items())
