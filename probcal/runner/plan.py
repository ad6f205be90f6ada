"""The plan of a run: its cells, their states, which of them run, what they require, and all of it in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from probcal.components.classes import import_class, unmet_requirement
from probcal.components.nested import paths
from probcal.components.numerics import numerics
from probcal.config.experiment import Experiment
from probcal.data.load import data_folder
from probcal.errors import ProbcalError
from probcal.learners.registry import WEKA_PACKAGE
from probcal.runner.cell import Cell, PlannedCell, State, list_cells
from probcal.runner.data_step import DataStep, current_data
from probcal.runner.identity import (
    REQUESTED_METRICS,
    Identities,
    changed_parts,
    has_same_metrics,
    used_packages,
)
from probcal.runner.instruction_set import lacking_flags, recorded_level
from probcal.runner.package_versions import other_versions
from probcal.runner.run_options import RunOptions
from probcal.runner.stale_data import CARD_CHANGED, unverified_data_reason
from probcal.runner.time_left import TimeEstimates, duration
from probcal.store.cell_result import CellResult
from probcal.store.first_keys import present_key
from probcal.store.folder import Store

_NO_OPTIONS = RunOptions(Path())


def make_plan(  # noqa: C901
    experiment: Experiment, store: Store, data: DataStep | None = None, options: RunOptions = _NO_OPTIONS
) -> list[PlannedCell]:
    """Return the state of every cell, from the stored results and the present data sets.

    ``data`` holds the data sets. Without it they are searched for in PROBCAL_DATA_DIR, the cache and beside the cards.
    Raises DataError when they cannot be used.
    """
    data = current_data(experiment.used_cards(), data_folder()) if data is None else data
    results, runs = store.results(), store.runs()
    identities = Identities(experiment.weka)
    seconds = {_timing_key(result): result.seconds for result in results.values() if result.status == "done"}
    cells = list_cells(data.bind_cards(experiment))
    # Cells share cards, and hashing one takes a while.
    cards = {id(cell.card): cell.card for cell in cells}
    local_cards = {key for key, card in cards.items() if card.bind(None) in data.local_cards}
    texts_of_versions: dict[tuple[int, str], str] = {}
    """Column and run -> other versions. The cells keep the columns, so that no other column gets their ids."""
    doubts: dict[tuple[int, str], str | None] = {}
    """Card and run -> reason for doubt. The cells keep the cards."""
    plan = []
    for cell in cells:
        key, expected_seconds = identities.key(cell), seconds.get(_timing_key(cell))
        result = results.get(cell.id)
        if result is None:
            plan.append(PlannedCell(cell, key, "to run", "", expected_seconds))
            continue
        run = runs.get(result.run, {})
        is_current = present_key(result.key) == key  # as nearly always, and compared once
        state, reason, old_result = _state(key, result, options.retry_failed, is_current), "", None
        missing_metrics: frozenset[str] = frozenset()
        if state == "failed":
            reason = (result.later_failure or result).failure_text
            if result.later_failure is not None:
                reason += "; its last done result, which is stale, is kept"
        elif state == "stale":
            reason = identities.staleness_reason(cell, key, result, run)
            reason = reason or f"{'failed' if result.later_failure else result.status} before and runs again"
        elif not is_current and not has_same_metrics(key, result):
            missing_metrics = find_missing_metrics(cell, key, result)
            if store.has_predictions(result):
                state, old_result, reason = "stale", result, "metrics changed or were added; no fit is needed"
            elif missing_metrics:
                names = ", ".join(sorted(missing_metrics))
                state, reason = "stale", f"lacks {names}, and its predictions are not stored"
            else:
                reason = "measured by an earlier version of the metrics; its predictions are not stored"
        else:
            column_and_run = id(cell.column), result.run
            if column_and_run not in texts_of_versions:
                texts_of_versions[column_and_run] = _other_versions(cell, run)
            reason = texts_of_versions[column_and_run]
            # A fit again is impossible without the jar file, so the result stays the best there is.
            if identities.absent_weka(cell):
                weka = run.get("versions", {}).get("weka.jar", experiment.weka)
                reason = f"measured with Weka {weka}, which is not at hand; PROBCAL_WEKA_JAR names a jar file"
            elif reason and options.strict:
                state = "stale"
            if result.later_failure and state == "done":
                reason = "failed when run again; the last done result is kept"
        if options.refit:
            reason = reason if state == "stale" and old_result is None else f"{state}, and run again as --refit asks"
            state, old_result = "stale", None
        # Data on this machine are compared by their values. Others are known only by what the run recorded.
        doubt = None
        if id(cell.card) not in local_cards:
            card_and_run = id(cell.card), result.run
            if card_and_run not in doubts:
                doubts[card_and_run] = unverified_data_reason(cell.card, result, runs)
            doubt = doubts[card_and_run]
        if doubt == CARD_CHANGED and state != "stale":
            state, reason = "stale", CARD_CHANGED
        elif doubt and state == "done":
            reason = doubt
        plan.append(PlannedCell(cell, key, state, reason, expected_seconds, old_result, missing_metrics))
    return plan


def _other_versions(cell: Cell, run: Mapping[str, Any]) -> str:
    versions = run.get("versions", {})
    texts = [other_versions(used_packages(cell), versions) if isinstance(versions, dict) else ""]
    if cell.processor and run and (level := recorded_level(run)) != cell.processor:
        texts.append(f"made with the instructions of {level}, and the experiment declares {cell.processor}")
    return "; ".join(filter(None, texts))


def find_missing_metrics(cell: Cell, key: Mapping[str, str], result: CellResult) -> frozenset[str]:
    """Return the metrics that the experiment asks for now, and that ``result`` was not asked for and lacks."""
    has_same_request = result.key.get(REQUESTED_METRICS) == key[REQUESTED_METRICS]
    return frozenset() if has_same_request else frozenset(cell.extra_metrics) - result.metrics.keys()


def mark_missing_data(plan: list[PlannedCell], missing: Mapping[str, str]) -> list[PlannedCell]:
    """Return the plan with ``missing`` data sets (data set -> reason) marked."""
    return [
        replace(planned, state="no data", reason=missing[planned.cell.card.name])
        if planned.needs_run and planned.cell.card.name in missing
        else planned
        for planned in plan
    ]


def count_states(plan: list[PlannedCell]) -> Counter[str]:
    return Counter(planned.state for planned in plan)


def expected_seconds(plan: list[PlannedCell]) -> tuple[float, int]:
    """Return the seconds that the cells to fit took before, and the number of cells never timed."""
    times = [planned.expected_seconds for planned in plan if planned.needs_fit]
    return sum(time for time in times if time is not None), sum(time is None for time in times)


def guess_seconds(plan: list[PlannedCell]) -> float:
    """Return the seconds that the cells never timed may take, judged by others of their learner and method.

    These are cells of the plan on other data sets, in proportion to their rows. The result is 0 if no cell was timed.
    """
    untimed_cells = [planned for planned in plan if planned.needs_fit and planned.expected_seconds is None]
    if not untimed_cells:
        return 0.0
    estimates = TimeEstimates(plan)
    return sum(estimates.expected_seconds(planned.cell.id) or 0.0 for planned in untimed_cells)


def _state(key: dict[str, str], result: CellResult, retry_failed: bool, is_current: bool) -> State:
    if not is_current and changed_parts(key, result):
        # A stale cell that fails would otherwise be fitted again by every run.
        was_tried = result.later_failure is not None and not changed_parts(key, result.later_failure)
        return "failed" if was_tried and not retry_failed else "stale"
    if result.status == "done":
        return "stale" if retry_failed and result.later_failure else "done"
    return "stale" if retry_failed else "failed"


def _timing_key(item: Cell | CellResult) -> tuple[str, str, str]:
    if isinstance(item, CellResult):
        return item.dataset, item.learner, item.method
    return item.row_and_column


class RequirementError(ProbcalError):
    """Report a package that a learner or method needs and that is not installed."""


def refuse_unmet_requirements(cells: Sequence[Cell], weka: str | None = None) -> None:
    """Raise RequirementError with a line for each thing that the components of ``cells`` need and that is missing.

    A line names the learners or methods that need it and the command that installs it. ``weka`` is the release that the
    experiment is of.
    """
    parts = [("learner", cell.column.learner) for cell in cells] + [("method", cell.column.method) for cell in cells]
    users_by_need: dict[str, dict[str, list[str]]] = {}
    components = (
        (word, path, component.name) for word, component in parts for path in (component.path, *paths(component.params))
    )
    for word, path, name in dict.fromkeys(components):
        need = unmet_requirement(import_class(path))
        if not need and weka and numerics().canonical(path).startswith(WEKA_PACKAGE):
            from probcal.learners.weka.jvm import other_release  # imports pandas, which most commands do not need

            need = other_release(weka)
        if need:
            users_by_need.setdefault(" ".join(need.split()), {}).setdefault(word, []).append(name)
    for level in {cell.processor for cell in cells}:
        if level and (lacking := lacking_flags(level=level)):
            users_by_need[
                f"this processor lacks {', '.join(sorted(lacking))} of {level}, which the experiment declares; use "
                'another machine, or remove the key "processor"'
            ] = {}
    if users_by_need:
        raise RequirementError("\n".join(f"{_users_text(users)}{need}" for need, users in users_by_need.items()))


def cells_to_fit(plan: list[PlannedCell]) -> list[Cell]:
    """Return the cells of a plan that will be fitted. Done cells, and those only measured again, are left out."""
    return [planned.cell for planned in plan if planned.needs_fit]


def _users_text(users: dict[str, list[str]]) -> str:
    texts = [f"{word}{'s' * (len(names) > 1)} {', '.join(names)}" for word, names in users.items()]
    return f"{', '.join(texts)}: " if texts else ""


_STATES = ("done", "failed", "stale", "to run", "no data")


def plan_lines(plan: list[PlannedCell], every_cell: bool = False) -> list[str]:
    """Return the counts of states, and the reasons why cells failed, are stale or have no data.

    With ``every_cell``, one line for each cell comes first.
    """
    lines = []
    for planned in plan if every_cell else ():
        # A line below explains missing data once.
        reason = f"  ({planned.reason})" if planned.reason and planned.state != "no data" else ""
        lines.append(f"{planned.state:8} {planned.cell.id}{reason}")
    states = count_states(plan)
    counts = [f"{states[state]} {state}" for state in _STATES if states[state]]
    lines.append(f"{cells_text(len(plan))}: {', '.join(counts)}")
    for state in () if every_cell else ("failed", "stale", "done"):
        reasons = Counter(
            planned.reason for planned in plan if planned.state == state and (planned.reason or state != "done")
        )
        lines += [f"  {state}: {cells_text(n)}: {reason}" for reason, n in reasons.items()]
    lines += [
        f"  no data: {reason}"
        for reason in dict.fromkeys(planned.reason for planned in plan if planned.state == "no data")
    ]
    n_remeasured = sum(planned.old_result is not None for planned in plan)
    if n_remeasured:
        lines.append(f"  {cells_text(n_remeasured)} need no fit: the stored predictions are measured again")
    seconds, n_untimed = expected_seconds(plan)
    if seconds:
        lines.append(
            f"  {_duration_text(seconds)} of work" + (f", and {cells_text(n_untimed)} never timed" if n_untimed else "")
        )
    if guess := guess_seconds(plan):
        lines.append(
            f"  {cells_text(n_untimed)} never timed may take {_duration_text(guess)}, judged by other data sets"
        )
    return lines


def _duration_text(seconds: float) -> str:
    return "less than 1 s" if seconds < 1 else f"about {duration(seconds)}"


def summary(plan: list[PlannedCell], n_ended: int, n_failures: int, folder: Path) -> str:
    """Return what is left after a run, and what to do next.

    ``n_ended`` counts cells that ran, ``n_failures`` those that failed.
    """
    states = count_states(plan)
    n_failed, n_missing = n_failures + states["failed"], states["no data"]
    n_left = states["to run"] + states["stale"] - n_ended
    parts = [
        f"{cells_text(n_failed)} failed (--retry-failed runs them again)" if n_failed else "",
        f"{cells_text(n_missing)} without data" if n_missing else "",
        f"{cells_text(n_left)} not run (the same command continues)" if n_left else "",
    ]
    return f"{', '.join(filter(None, parts)) or 'all cells are done'}; probcal table {folder}"


def cells_text(n: int) -> str:
    return "1 cell" if n == 1 else f"{n} cells"
