"""The row of a cell that could not tell of itself, and what a row may hold."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Literal

from probcal.cell_result import CellResult
from probcal.run.execute import Outcome
from probcal.run.plan import Planned

_SIGKILL = 9
"""What a system sends that has no memory left; Windows has no name for it."""
_LONGEST_NAME, _LONGEST_MESSAGE, _LONGEST_TRACEBACK = 200, 2_000, 20_000
"""Characters: more is cut out of the middle."""


def lost(
    planned: Planned,
    run: str,
    seconds: float,
    status: Literal["failed", "timeout"],
    error_type: str,
    message: str,
    traceback: str | None = None,
) -> Outcome:
    """The outcome of a cell from which none came."""
    cell = planned.cell
    return Outcome(
        CellResult(
            dataset=cell.dataset,
            repetition=cell.repetition,
            learner=cell.column.learner.name,
            method=cell.column.method.name,
            status=status,
            run=run,
            seconds=round(seconds, 6),
            key=planned.key,
            error_type=error_type,
            message=message,
            traceback=traceback,
        )
    )


def how_it_ended(exitcode: int | None) -> str:
    """What became of a process, None where it still ran."""
    if exitcode is None:
        return "its process cannot be heard any more: it closed its connection to the run"
    if exitcode >= 0:
        return f"its process ended by itself with exit code {exitcode}"
    if -exitcode == _SIGKILL:
        return "killed: out of memory?"
    named = {one.value: one.name for one in signal.Signals}  # not those for real time
    return f"its process was ended by {named.get(-exitcode, f'signal {-exitcode}')}"


def bounded(outcome: Outcome) -> Outcome:
    """``outcome`` with a message and a traceback that are no novel, and of plain characters.

    Raises ValueError or TypeError when the row could not be read again, as with a measure that is no number.
    """
    result = outcome.result
    if result.status != "done":
        result = replace(
            result,
            error_type=_shortened(_plain(result.error_type or ""), _LONGEST_NAME),
            message=_shortened(_plain(result.message or ""), _LONGEST_MESSAGE),
            traceback=_shortened(_plain(result.traceback or ""), _LONGEST_TRACEBACK),
        )
    return replace(outcome, result=CellResult.from_json(result.to_json()))


def with_output(outcome: Outcome, said: str) -> Outcome:
    """A failed row with the last that its cell printed, after the traceback."""
    if outcome.result.status == "done" or not said.strip():
        return outcome
    traceback = f"{outcome.result.traceback or ''}\nThe last that was printed:\n{said}".lstrip("\n")
    return replace(outcome, result=replace(outcome.result, traceback=traceback))


def _plain(text: str) -> str:
    """An exact str: a subclass would come out of the pipe as what its module makes of it."""
    return "".join(str.__iter__(text))


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n[{len(text) - most:,} characters left out]\n{text[-(most // 2) :]}"
