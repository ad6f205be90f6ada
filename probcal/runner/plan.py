"""Which cells an experiment has, and which of them still have to run.

The plan, and what became of it, in words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from probcal._io import visible
from probcal.config.experiment import Column, Experiment
from probcal.data.card import Card
from probcal.data.load import data_folder
from probcal.metrics import METRICS
from probcal.runner.fingerprint import Fingerprints, card_before, changed_parts
from probcal.runner.heartbeat import duration
from probcal.runner.requirements import DataStep, data_now
from probcal.store.cell_result import CellResult, cell_id
from probcal.store.folder import Store

State = Literal["done", "failed", "stale", "to run", "no data"]


@dataclass(frozen=True)
class Cell:
    """One data set, split, learner and method: the unit that is run, stored and reported.

    ``dataset`` is the row that it belongs to, ``card`` what it reads: another one only by an exception. The card of
    a planned cell is bound to the fingerprint of its data set, which goes with it to the worker.
    """

    dataset: str
    card: Card
    repetition: int
    column: Column
    seed: int
    max_rows: int | None = None
    stages: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """The metrics that are measured only where an experiment asks for them."""
    curves: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return cell_id(self.dataset, self.repetition, self.column.learner.name, self.column.method.name)


@dataclass(frozen=True)
class Planned:
    """A cell, what is known of it, and why it has to run again if it is stale."""

    cell: Cell
    key: dict[str, str]
    state: State
    why: str = ""
    expected_seconds: float | None = None
    kept: CellResult | None = None
    """Its result, where nothing but the metrics changed since: its predictions can be measured again."""

    @property
    def runs(self) -> bool:
        return self.state in ("stale", "to run")


def cells_of(experiment: Experiment) -> list[Cell]:
    """Every cell, data set by data set and split by split, so that one split at a time is in memory.

    Within a split, cells that read another card by an exception come last.
    """
    asked = tuple(metric for metric in experiment.metrics if metric not in METRICS)
    return [
        Cell(
            dataset=card.name,
            card=read,
            repetition=repetition,
            column=column,
            seed=experiment.seed,
            max_rows=experiment.max_rows,
            stages=experiment.stages,
            asked=asked,
            curves=() if repetition else experiment.curves,
        )
        for card in experiment.cards
        for departed in [_departed(experiment, card)]
        for repetition in range(experiment.repetitions_of(card))
        for read, column in departed
    ]


def _departed(experiment: Experiment, card: Card) -> list[tuple[Card, Column]]:
    found = [experiment.departed(card, column) for column in experiment.columns]
    return sorted((one for one in found if one is not None), key=lambda one: (one[0] != card, one[0].name))


def make_plan(
    experiment: Experiment, store: Store, data: DataStep | None = None, *, retry_failed: bool = False
) -> list[Planned]:
    """The state of every cell, from what the store holds and the data sets that the cards stand for now.

    ``data``: those; where it is not given they are looked for in PROBCAL_DATA_DIR, the cache and beside the cards.
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
        at_hand = result is None or cell.card.bound_to(None) in data.at_hand
        unsure = None if at_hand else doubt(cell.card, result, runs)  # type: ignore[arg-type]  # there is one here
        if result is not None and state == "failed":
            why = _why_failed(result)
        elif result is not None and state == "stale":
            changed = changed_parts(key, result)
            once_more = changed == ["metrics"] and not {"stages", "curves"} & key.keys()  # what they need is not kept
            kept = result if once_more and store.has_predictions(result) else None
            why = fingerprints.why_stale(cell, key, result, runs.get(result.run, {}))
            why = why or f"{result.status} before and is tried again"
        if unsure == CARD_CHANGED and state != "stale":
            state, why = "stale", CARD_CHANGED
        elif unsure and state == "done":
            why = unsure
        plan.append(Planned(cell, key, state, why, seconds.get(_kind(cell)), kept))
    return plan


CARD_CHANGED = "the card changed, and its data are not at hand"


def doubt(card: Card, result: CellResult, runs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return what speaks against a result whose data set is not at hand; None where the card names the values."""
    if card_before(card, runs.get(result.run, {})) not in (None, card.reading):
        return CARD_CHANGED
    return None if card.values or card.expect.fingerprint else "not checked: the data are not at hand"


def without_data(plan: list[Planned], missing: Mapping[str, str]) -> list[Planned]:
    """The plan when some data sets are not to be had. ``missing``: data set -> why."""
    return [
        replace(one, state="no data", why=missing[one.cell.card.name])
        if one.runs and one.cell.card.name in missing
        else one
        for one in plan
    ]


def count_states(plan: list[Planned]) -> Counter[str]:
    return Counter(planned.state for planned in plan)


def expected_seconds(plan: list[Planned]) -> tuple[float, int]:
    """(seconds that the cells to fit took before, number of cells never timed)."""
    times = [planned.expected_seconds for planned in plan if planned.runs and planned.kept is None]
    return sum(time for time in times if time is not None), sum(time is None for time in times)


_LONGEST_LINE = 200


def first_line(text: str | None) -> str:
    """At most 200 characters of it, with control characters spelt out, which a message of a learner may hold."""
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
    """What takes about the same time in every repetition."""
    if isinstance(one, CellResult):
        return one.dataset, one.learner, one.method
    return one.dataset, one.column.learner.name, one.column.method.name


_STATES = ("done", "failed", "stale", "to run", "no data")


def plan_lines(plan: list[Planned], every_cell: bool = False) -> list[str]:
    """Counts, why cells failed or are stale, what is missing; with ``every_cell`` one line each before."""
    lines = [f"{one.state:8} {one.cell.id}{_because(one)}" for one in plan if every_cell]
    states = count_states(plan)
    counts = [f"{states[state]} {state}" for state in _STATES if states[state]]
    lines.append(f"{cells(len(plan))}: {', '.join(counts)}")
    for state in () if every_cell else ("failed", "stale", "done"):
        reasons = Counter(one.why for one in plan if one.state == state and (one.why or state != "done"))
        lines += [f"  {state}: {cells(n)}: {why}" for why, n in reasons.items()]
    lines += [f"  no data: {why}" for why in dict.fromkeys(one.why for one in plan if one.state == "no data")]
    again = sum(one.kept is not None for one in plan)
    if again:
        lines.append(f"  {cells(again)} need no fit: the kept predictions are measured again")
    seconds, untimed = expected_seconds(plan)
    if seconds:
        told = "less than 1 s" if seconds < 1 else f"about {duration(seconds)}"
        lines.append(f"  {told} of work" + (f", and {cells(untimed)} never timed" if untimed else ""))
    return lines


def _because(planned: Planned) -> str:
    """Why, behind its cell; what is missing is long and is told once, below."""
    return f"  ({planned.why})" if planned.why and planned.state != "no data" else ""


def summary(plan: list[Planned], finished: int, failures: int, folder: Path) -> str:
    """What a run leaves behind, and what to do next. ``finished``: cells that ran, ``failures``: of those."""
    states = count_states(plan)
    failed, missing = failures + states["failed"], states["no data"]
    left = states["to run"] + states["stale"] - finished
    said = [
        f"{cells(failed)} failed (--retry-failed tries them again)" if failed else "",
        f"{cells(missing)} have no data" if missing else "",
        f"{cells(left)} not run (the same command goes on)" if left else "",
    ]
    return f"{', '.join(filter(None, said)) or 'all cells are done'}; probcal table {folder}"


def cells(n: int) -> str:
    return "1 cell" if n == 1 else f"{n} cells"
