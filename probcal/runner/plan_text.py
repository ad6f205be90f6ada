"""The plan of a run, and its outcome, in words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from probcal.runner.heartbeat import duration
from probcal.runner.plan import Planned, count_states, expected_seconds

_STATES = ("done", "failed", "stale", "to run", "no data")


def plan_lines(plan: list[Planned], every_cell: bool = False) -> list[str]:
    """Return the counts of states, and the reasons why cells failed, are stale or have no data.

    With ``every_cell``, one line for each cell comes first.
    """
    lines = [f"{one.state:8} {one.cell.id}{_reason(one)}" for one in plan if every_cell]
    states = count_states(plan)
    counts = [f"{states[state]} {state}" for state in _STATES if states[state]]
    lines.append(f"{cells(len(plan))}: {', '.join(counts)}")
    for state in () if every_cell else ("failed", "stale", "done"):
        reasons = Counter(one.why for one in plan if one.state == state and (one.why or state != "done"))
        lines += [f"  {state}: {cells(n)}: {why}" for why, n in reasons.items()]
    lines += [f"  no data: {why}" for why in dict.fromkeys(one.why for one in plan if one.state == "no data")]
    again = sum(one.kept is not None for one in plan)
    if again:
        lines.append(f"  {cells(again)} need no fit: the stored predictions are measured again")
    seconds, untimed = expected_seconds(plan)
    if seconds:
        work = "less than 1 s" if seconds < 1 else f"about {duration(seconds)}"
        lines.append(f"  {work} of work" + (f", and {cells(untimed)} never timed" if untimed else ""))
    return lines


def _reason(planned: Planned) -> str:
    """Return the reason in parentheses. Missing data are left out, because a line below explains them once."""
    return f"  ({planned.why})" if planned.why and planned.state != "no data" else ""


def summary(plan: list[Planned], finished: int, failures: int, folder: Path) -> str:
    """Return what is left after a run, and what to do next.

    ``finished`` counts cells that ran, ``failures`` those that failed.
    """
    states = count_states(plan)
    failed, missing = failures + states["failed"], states["no data"]
    left = states["to run"] + states["stale"] - finished
    parts = [
        f"{cells(failed)} failed (--retry-failed runs them again)" if failed else "",
        f"{cells(missing)} have no data" if missing else "",
        f"{cells(left)} not run (the same command continues)" if left else "",
    ]
    return f"{', '.join(filter(None, parts)) or 'all cells are done'}; probcal table {folder}"


def cells(n: int) -> str:
    return "1 cell" if n == 1 else f"{n} cells"
