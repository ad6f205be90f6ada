"""Failed cells: the result of a cell without numbers, and the words that say why.

A cell fails in one of three ways. Each gives a result of status ``failed`` or ``timeout``, and the run stores it like a
done one (``Store.add``):

- It raises. ``probcal.runner.execute.execute`` makes the traceback a part of the result.
- It raises something that cannot be caught or described there, or returns what cannot be stored.
  ``probcal.runner.worker_process.run_isolated_cell`` catches this.
- Its worker dies, or it takes too long. ``probcal.runner.pool.worker_outcome`` says so, in the process of the run.

A stored failure never replaces a done result. The plan (``probcal.runner.plan``) shows it, and a run leaves it
alone until ``--retry-failed``, or until something changes that decides its numbers.
"""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any, Literal

from probcal.runner.cell import PlannedCell
from probcal.runner.execute import Outcome
from probcal.store.cell_result import CellResult

_SIGKILL = 9
"""The signal that a system sends when memory runs out. Windows has no name for it."""
_LONGEST_NAME, _LONGEST_MESSAGE, _LONGEST_TRACEBACK = 200, 2_000, 20_000
"""Largest numbers of characters. Longer texts are cut in the middle."""


def failed_outcome(
    entry: PlannedCell,
    run_id: str,
    seconds: float,
    status: Literal["failed", "timeout"],
    error_type: str,
    message: str,
    traceback: str | None = None,
) -> Outcome:
    """Return the outcome of a cell whose worker died or timed out."""
    error: dict[str, Any] = {"error_type": error_type, "message": message, "traceback": traceback}
    names, key = entry.cell.names, entry.key
    return Outcome(CellResult(**names, status=status, run=run_id, seconds=round(seconds, 6), key=key, **error))


def exit_reason(exitcode: int | None) -> str:
    """Return in words how a process ended. ``exitcode`` is None if it still runs."""
    if exitcode is None:
        return "its process cannot be heard any more: it closed its connection to the run"
    if exitcode >= 0:
        return f"its process ended by itself with exit code {exitcode}"
    if -exitcode == _SIGKILL:
        return "killed: out of memory?"
    names = {member.value: member.name for member in signal.Signals}  # real-time signals have no name
    return f"its process was ended by {names.get(-exitcode, f'signal {-exitcode}')}"


def limit_texts(outcome: Outcome) -> Outcome:
    """Return ``outcome`` with a message and a traceback of limited length and plain characters.

    Raises ValueError or TypeError when the result could not be read again, for example a metric that is no number.
    """
    result = outcome.result
    if result.status != "done":
        result = replace(
            result,
            error_type=_shorten(_exact_text(result.error_type or ""), _LONGEST_NAME),
            message=_shorten(_exact_text(result.message or ""), _LONGEST_MESSAGE),
            traceback=_shorten(_exact_text(result.traceback or ""), _LONGEST_TRACEBACK),
        )
    # Through JSON once, so that a value that no file can hold fails here, where it is still this cell's fault.
    return Outcome(CellResult.from_json(result.to_json()), outcome.y, outcome.p)


def append_output(outcome: Outcome, output: str) -> Outcome:
    """Return a failed outcome with the last output of its cell after the traceback."""
    if not output.strip():
        return outcome
    traceback = f"{outcome.result.traceback or ''}\nThe last output:\n{output}".lstrip("\n")
    return replace(outcome, result=replace(outcome.result, traceback=traceback))


def _exact_text(text: str) -> str:
    # A pipe would rebuild a subclass of str from the code of its module.
    return "".join(str.__iter__(text))


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n[{len(text) - limit:,} characters left out]\n{text[-(limit // 2) :]}"
