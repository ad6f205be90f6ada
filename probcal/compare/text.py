"""A comparison as Markdown, as JSON for a program, or as CSV: one line a test."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from probcal.compare.comparison import Comparison
from probcal.compare.kept import column_id
from probcal.compare.pairs import Pair
from probcal.compare.tables import grids
from probcal.csv_text import Field, csv_text
from probcal.show.render import markdown

FORMATS = ("markdown", "json", "csv")
_HEADER = [
    "experiment", "metric", "later", "earlier", "dataset", "splits", "difference", "low", "high", "p", "p_holm", "how",
    "verdict",
]  # fmt: skip


def text(comparisons: Sequence[Comparison], format: str) -> str:
    """``format``: one of ``FORMATS``."""
    if format == "json":
        return json.dumps([_as_json(one) for one in comparisons], indent=1, ensure_ascii=False) + "\n"
    if format == "csv":
        return _csv(comparisons)
    return "\n".join(markdown(one.checked.outline.title, grids(one)) for one in comparisons)


def _csv(comparisons: Sequence[Comparison]) -> str:
    rows: list[list[Field]] = [[*_HEADER]]
    for comparison in comparisons:
        for metric, found in comparison.pairs.items():
            for pair in found:
                for one in pair.tested:
                    names = [comparison.checked.outline.name, metric, column_id(pair.later), column_id(pair.earlier)]
                    numbers = [_number(number) for number in (one.difference, one.low, one.high, one.p, one.p_holm)]
                    rows.append([*names, one.row.name, one.n_splits, *numbers, one.how, one.verdict])
    return csv_text(rows)


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def _as_json(comparison: Comparison) -> dict[str, Any]:
    """JSON has no infinity: it is the text ``inf``."""
    return {
        "experiment": comparison.checked.outline.name,
        "ranks": {metric: _plain(asdict(one)) for metric, one in comparison.ranks.items()},
        "pairs": {metric: [_pair(one) for one in found] for metric, found in comparison.pairs.items()},
        "best": [
            {"dataset": one.row.name, "metric": one.metric, "winners": one.winners, "printed": one.printed,
             "shares": one.shares, "drawn": one.drawn} for one in comparison.places
        ],
        "claims": [
            {"label": one.claim.label, "statement": one.claim.statement(), "verdict": one.verdict, "shares": one.shares,
             "on_those_run": asdict(one.on_those_run) if one.on_those_run else None,
             "by_the_means": one.measured.verdict, "said": one.measured.said,
             "counts": {metric: _plain(asdict(count)) for metric, count in one.counts.items()}}
            for one in comparison.claims
        ],
        "without_predictions": comparison.kept.lacking,
    }  # fmt: skip


def _pair(pair: Pair) -> dict[str, Any]:
    tested = [
        _plain({**{name: value for name, value in vars(one).items() if name != "row"}, "dataset": one.row.name})
        for one in pair.tested
    ]
    return {
        "later": column_id(pair.later), "earlier": column_id(pair.earlier), "p": pair.p, "p_holm": pair.p_holm,
        "ahead": pair.ahead, "datasets": tested,
    }  # fmt: skip


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }
