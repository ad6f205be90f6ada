"""The outcome of a verification: the rows that differ and a line of counts, or JSON for another program."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from tabulate import tabulate

from probcal.verify.rows import Difference, Value, Verified

_HEADER = ["  data set", "split", "learner", "method", "metric", "stored", "recomputed"]


def text(found: Verified) -> str:
    blocks = [[f"{found.title} ({found.store.folder})"], _differences(found.differences), _counts(found)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def json_text(every: Sequence[Verified]) -> str:
    """Infinity and NaN are text: ``"inf"``, ``"nan"``."""
    return json.dumps([_as_json(one) for one in every], indent=1, ensure_ascii=False) + "\n"


def _differences(differences: list[Difference]) -> list[str]:
    if not differences:
        return []
    parts = [part.name for part in fields(Difference)[1:]]
    rows = [[f"  {one.dataset}", *(_written(getattr(one, part)) for part in parts)] for one in differences]
    lines = tabulate(rows, _HEADER, tablefmt="plain", disable_numparse=True, preserve_whitespace=True)
    return ["these rows do not agree with their stored predictions:", *(line.rstrip() for line in lines.splitlines())]


def _written(value: Value) -> str:
    if value is None:
        return "missing"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _counts(found: Verified) -> list[str]:
    lines = [
        f"{_rows(count, 'has', 'have')} {what}" for what, count in sorted(found.not_recomputed.items())
    ]
    if lines:
        lines.insert(0, "not recomputed, since stored predictions cannot tell it:")
        lines[1:] = [f"  {line}" for line in lines[1:]]
    if found.n_stale:
        lines.append(f"{_rows(found.n_stale, 'is', 'are')} stale: probcal status {found.store.folder} says why")
    return [*lines, _summary(found)]


def _summary(found: Verified) -> str:
    parts = [f"{_rows(found.n_agree, 'agrees', 'agree')} with the stored predictions"]
    if found.n_differ:
        parts.append(
            f"{_rows(found.n_differ, 'differs', 'differ')}; remove the lines from {found.store.folder / 'cells.jsonl'}"
            " and run again to make these cells anew"
        )
    parts += [f"{count} cannot be verified: {reason}" for reason, count in found.not_verified.items()]
    if not found.n_rows:
        parts = ["nothing was verified: no row is done"]
    return "; ".join(parts)


def _rows(n: int, one: str, several: str) -> str:
    return f"{n} row {one}" if n == 1 else f"{n} rows {several}"


def _as_json(found: Verified) -> dict[str, Any]:
    return {
        "experiment": found.title,
        "folder": str(found.store.folder),
        "ok": found.ok,
        "agree": found.n_agree,
        "differ": found.n_differ,
        "differences": [{name: _plain(value) for name, value in asdict(one).items()} for one in found.differences],
        "not_verified": dict(found.not_verified),
        "not_recomputed": dict(found.not_recomputed),
        "stale": found.n_stale,
    }


def _plain(value: Value) -> Value:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
