"""The outcome of checks for another program; every comparison is in it. Infinity is the text "inf"."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from probcal.check.claims import Judged
from probcal.check.report import Findings, Report


def json_text(reports: list[Report]) -> str:
    return json.dumps([_plain(_report(report)) for report in reports], indent=1, ensure_ascii=False) + "\n"


def _report(report: Report) -> dict[str, Any]:
    return {
        "experiment": report.checked.outline.name,
        "folder": str(report.checked.store.folder),
        "ok": report.ok,
        "numbers": _findings(report.numbers),
        "differences": _findings(report.differences),
        "claims": [
            {
                "label": one.claim.label,
                "quote": one.claim.quote,
                "statement": one.claim.statement(),
                "ours": _judged(one.ours),
                "paper": _judged(one.printed),
                "new": one.new,
                "reason": one.known.reason if one.known else None,
            }
            for one in report.claims
        ],
        "known_that_now_agree": [asdict(one) for one in report.agreeing],
        "drift": None if report.drift is None else asdict(report.drift),
        "nothing_compared": report.nothing,
        "without_number": dict(report.without_number),
        "failed": [one.id for one in report.census.failed],
        "failed_when_run_again": [one.id for one in report.census.failed_since],
        "not_run": report.census.not_run,
        "stale": report.census.stale.total(),
    }


def _findings(findings: Findings) -> list[dict[str, Any]]:
    reasons = {id(finding): why.reason for finding, why in findings.known}
    return [
        {
            "dataset": one.dataset,
            "column": one.what,
            "metric": one.metric,
            "published": one.published,
            "mean": one.mean,
            "sd": one.sd,
            "n": len(one.values),
            "infinite": one.infinite,
            "state": one.state,
            "distance": one.distance,
            "why_not_judged": one.why,
            "reason": reasons.get(id(one)),
        }
        for one in findings.all
    ]


def _judged(judged: Judged) -> dict[str, Any]:
    counts = {name or "all": asdict(one) for name, one in judged.tallies.items()}
    return {"verdict": judged.verdict, "counts": counts, **({"said": judged.said} if judged.said else {})}


def _plain(value: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
