"""A run under way, in words: in its own log and bar, and in ``probcal status``."""

from __future__ import annotations

import time

from probcal.run.live import Heard, Live
from probcal.run.time_left import Under


def counts(live: Live) -> str:
    """``13/340 cells: 12 done, 1 failed, 2 running, 325 to run``; what is none is left out."""
    each = (
        (live.done, "done"),
        (live.failed, "failed"),
        (len(live.running), "running"),
        (live.waiting, "to run"),
    )
    return f"{live.done + live.failed}/{live.total} cells: {', '.join(f'{n} {what}' for n, what in each if n)}"


def left(live: Live, now: float) -> str:
    """``2 h 5 min left``; empty where nothing is left, or nothing known to go by."""
    if not live.running and not live.waiting:
        return ""
    seconds = live.left(now)
    return "" if seconds is None else f"{duration(seconds)} left"


def under_way(one: Under) -> str:
    return f"{one.cell} {duration(one.seconds)}"


def line(live: Live, now: float) -> str:
    """All of it in one line, for a log."""
    said = [counts(live), left(live, now)]
    if live.running:
        said.append(f"now {', '.join(map(under_way, live.under_way(now)))}")
    return "; ".join(filter(None, said))


def heard_lines(heard: Heard) -> list[str]:
    """A run as another process sees it."""
    live, now = heard.live, time.time()
    lines = [
        f"process {heard.pid} on {heard.host} has been running it for {duration(max(now - live.since, 0))}",
        f"  {'; '.join(filter(None, [counts(live), left(live, now) or 'time left not known yet']))}",
        *(f"  now: {under_way(one)}" for one in live.under_way(now)),
    ]
    return [*lines, f"  last error: {live.last_error}"] if live.last_error else lines


def duration(seconds: float) -> str:
    """``under 1 s``, ``42 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    whole = round(seconds)
    if seconds < 1:
        return "under 1 s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
