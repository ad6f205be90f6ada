"""Text and JSON of a check. The text names what is out of band and counts the rest. The JSON holds everything."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from tabulate import tabulate

from probcal.papers.check.accepted import AcceptedDrift
from probcal.papers.check.checked_experiment import Findings, Report
from probcal.papers.check.findings import FARTHEST, Finding, spread_text
from probcal.papers.check.judged_claims import (
    ClaimVerdict,
    MeasuredNumbers,
    Tally,
    published_rank_text,
    published_tallies,
)
from probcal.papers.check.power_text import agreement_lines, power_json
from probcal.papers.published import Claim
from probcal.reporting.grid import DECIMALS, INFINITY, grouped, printed, troubles
from probcal.store.cell_result import CellResult

_MOST_FAILED = 20
_FIRST_FEW = 5
_MANY_DECIMALS = 8


def text(report: Report) -> str:
    outline = report.checked.outline
    blocks = [
        [f"{outline.title} ({report.checked.store.folder})"],
        agreement_lines(report.agreement) if report.agreement else [],
        *_findings("numbers", report.numbers),
        *_findings("digits", report.digits),
        *_findings("differences on the same splits", report.differences),
        _not_judged(report),
        _agreeing(report),
        _claims(report),
        _drift(report.drift),
        _gone(report.drift),
        _cells(report),
        [report.nothing] if report.nothing else [],
        [summary(report)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _findings(name: str, findings: Findings) -> Iterable[list[str]]:
    if findings.new:
        yield [f"NEW deviations, {name}:", *_table(findings.new)]
    for reason, several in grouped(findings.known, lambda known: known[1].reason).items():
        yield [f"known deviations, {name}: {reason}", *_table([finding for finding, _ in several])]


def _table(findings: list[Finding]) -> list[str]:
    rows = [
        [
            f"  {one.dataset}",
            one.what,
            one.metric,
            signed(one, one.published),
            our_mean(one),
            distance_text(one.distance),
        ]
        for one in findings
    ]
    return _aligned(rows, ["  data set", "column", "metric", "published", "ours", "distance"])


def _not_judged(report: Report) -> list[str]:
    """Return one line per reason, since a hundred numbers may share it."""
    every = [*report.numbers.all, *report.differences.all]
    not_judged = [one for one in every if one.state == "cannot be judged"]
    lines = []
    for reason, several in grouped(not_judged, lambda one: one.why).items():
        names = [f"{one.dataset} {one.what} {one.metric}" for one in several]
        more = len(names) - _FIRST_FEW
        named = ", ".join(names[:_FIRST_FEW]) + (f", and {more} more: -f json" if more > 0 else "")
        lines.append(f"  {reason}: {named}")
    return ["cannot be judged:", *lines] if lines else []


def _aligned(rows: list[list[str]], header: list[str]) -> list[str]:
    lines = tabulate(rows, header, tablefmt="plain", disable_numparse=True, preserve_whitespace=True)
    return [line.rstrip() for line in lines.splitlines()]


def distance_text(distance: float | None) -> str:
    if distance is None:
        return ""
    return f">{FARTHEST:g}" if distance > FARTHEST else f"{distance:.2f}"


def our_mean(finding: Finding) -> str:
    return "" if finding.mean is None else signed(finding, finding.mean) + spread_text(finding.values)


def signed(finding: Finding, number: float) -> str:
    """Return a number with three decimals, or with eight where these do not tell ours from the published one."""
    decimals = DECIMALS
    if finding.state == "out of band" and finding.mean is not None:
        alike = printed(finding.published) == printed(finding.mean)
        decimals = _MANY_DECIMALS if alike else DECIMALS
    return f"{number:+.{decimals}f}" if finding.kind == "difference" else printed(number, decimals)


def _agreeing(report: Report) -> list[str]:
    return [
        f"known deviation that now agrees: {', '.join(one.what for one in several)} ({reason})"
        for reason, several in grouped(report.agreeing, lambda one: one.reason).items()
    ]


def _claims(report: Report) -> list[str]:
    paper, lines = report.checked.published, []
    if paper is None:
        return []
    for one in report.claims:
        mark = "NEW " if one.new else ""
        lines.append(f"  {mark}{one.ours.verdict}: {one.claim.label} ({one.claim.statement()})")
        own = f"the paper's own tables {_found(one.printed)}" if one.tabled else "the paper has no table of it"
        partly = one.tabled and any(tally.known and tally.not_run for tally in one.ours.tallies.values())
        there = _published_result_text(one.claim, report) if partly else ""
        lines.append(f"      ours {_found(one.ours)} / {own}{there and f', on those run {there}'}")
        if one.known and one.ours.verdict == "not supported":
            lines.append(f"      known: {one.known.reason}")
    return ["claims:", *lines] if lines else []


def _found(judged: ClaimVerdict) -> str:
    not_run = max((tally.not_run for tally in judged.tallies.values()), default=0)
    if not judged.said:
        return counts(judged.tallies)
    return judged.said + (f" ({not_run} not run)" if not_run else "")


def _published_result_text(claim: Claim, report: Report) -> str:
    """Return what the paper's own tables say of the data sets that were run, "" of a claim that counts none."""
    paper, ours = report.checked.published, MeasuredNumbers(report.checked)
    assert paper is not None  # claims are those of a paper
    return published_rank_text(claim, paper, ours) or counts(published_tallies(claim, paper, ours))


def counts(tallies: Mapping[str, Tally]) -> str:
    """Return the counts of each metric: ``cxe 3 of 5, 10 not run``."""
    text_parts = [
        f"{metric} {tally.wins} of {tally.known}".strip() + (f" ({tally.ties} tied)" if tally.ties else "")
        for metric, tally in tallies.items()
        if tally.known
    ]
    not_run = max((tally.not_run for tally in tallies.values()), default=0)
    return ", ".join(text_parts + ([f"{not_run} not run"] if not_run else []))


def _drift(drift: AcceptedDrift | None) -> list[str]:
    if drift is None or not drift.out:
        return []
    rows = [
        [f"  {one.dataset}", one.column, one.metric, _mean(one.accepted, one.infinite[0], one.n),
         _mean(one.now, one.infinite[1], one.n), str(one.n)]
        for one in drift.out
    ]  # fmt: skip
    return ["DRIFT:", *_aligned(rows, ["  data set", "column", "metric", "accepted", "now", "splits"])]


def _gone(drift: AcceptedDrift | None) -> list[str]:
    gone = drift.gone if drift else []
    named = [
        f"  {one.dataset} {one.column} {one.metric}: "
        + (f"no number in {one.lost} finished cells" if one.lost else "no split")
        for one in gone
    ]
    return [f"DRIFT, {len(gone)} accepted numbers are missing now:", *_first_few(named)] if gone else []


def _first_few(lines: list[str]) -> list[str]:
    more = len(lines) - _FIRST_FEW
    return lines[:_FIRST_FEW] + ([f"  and {more} more: -f json"] if more > 0 else [])


def _mean(number: float, infinite: int, n: int) -> str:
    return f"{number:.4f}".replace("inf", INFINITY) + (f", {INFINITY} {infinite}/{n}" if 0 < infinite < n else "")


def _cells(report: Report) -> list[str]:
    lines = troubles(report.census)
    failed = report.census.failed
    lines += [f"  {one.id}: {_failure_text(one)}" for one in failed[:_MOST_FAILED]]
    if len(failed) > _MOST_FAILED:
        lines.append(f"  and {len(failed) - _MOST_FAILED} more: probcal status {report.checked.store.folder} --cells")
    return lines


def _failure_text(result: CellResult) -> str:
    return f"{result.error_type or result.status}: {(result.message or '').strip().partition(chr(10))[0]}"


def summary(report: Report) -> str:
    without = [f"{n} finished without {metric}" for metric, n in report.undefined_counts.items()]
    parts = [", ".join(without)] if without else []
    if report.checked.published is not None:
        cells = ", ".join([_findings_summary("cells", report.numbers), *without])
        digits = [_findings_summary("digits", report.digits)] if report.digits.all else []
        parts = [cells, *digits, _findings_summary("differences", report.differences), _claims_summary(report)]
    return "; ".join([*parts, _drift_summary(report.drift)])


def _findings_summary(name: str, findings: Findings) -> str:
    states = Counter(finding.state for finding in findings.all)
    line = f"{name}: {states['in band']} in band, {len(findings.known)} known deviations, {len(findings.new)} new"
    for state in ("not run", "cannot be judged", "no finite difference", "misprint"):
        if states[state] or state == "not run":
            line += f", {states[state]} {state}" + ("s" if state == "misprint" and states[state] > 1 else "")
    return f"{line} (of {len(findings.all)})"


def _claims_summary(report: Report) -> str:
    verdicts = Counter(one.ours.verdict for one in report.claims)
    new = sum(one.new for one in report.claims)
    return (
        f"claims: {verdicts['supported']} supported, {verdicts['not supported']} not supported ({new} new), "
        f"{verdicts['undecided']} undecided (of {len(report.claims)})"
    )


def _drift_summary(drift: AcceptedDrift | None) -> str:
    if drift is None:
        return "drift: nothing accepted yet (probcal check FOLDER --accept)"
    line = f"drift: {len(drift.out)} of {drift.compared} numbers"
    more = [
        (len(drift.gone), "accepted ones missing now"),
        (drift.unplanned, "accepted ones that the experiment no longer has"),
        (drift.unknown, "not accepted yet"),
    ]
    return line + "".join(f", {count} {what}" for count, what in more if count)


def json_text(reports: list[Report]) -> str:
    return json_of([_report(report) for report in reports])


def json_of(value: Any) -> str:
    """Return the value as JSON. Infinity becomes the text ``inf``, since JSON has no infinity."""
    return json.dumps(_json_values(value), indent=1, ensure_ascii=False) + "\n"


def _report(report: Report) -> dict[str, Any]:
    return {
        "ok": report.ok,
        **power_json(report),
        "numbers": _json_findings(report.numbers),
        "digits": _json_findings(report.digits),
        "differences": _json_findings(report.differences),
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
        "undefined_counts": dict(report.undefined_counts),
        "failed": [one.id for one in report.census.failed],
        "failed_when_run_again": [one.id for one in report.census.failed_since],
        "not_run": report.census.not_run,
        "stale": report.census.stale.total(),
    }


def _json_findings(findings: Findings) -> list[dict[str, Any]]:
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


def _judged(judged: ClaimVerdict) -> dict[str, Any]:
    counts = {name or "all": asdict(one) for name, one in judged.tallies.items()}
    return {"verdict": judged.verdict, "counts": counts, **({"said": judged.said} if judged.said else {})}


def _json_values(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _json_values(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_json_values(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
