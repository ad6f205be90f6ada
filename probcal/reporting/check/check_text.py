"""Text and JSON of a check, of the agreement with a paper, and of the power of the check.

The text names what is out of band and counts the rest. The JSON holds everything.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tabulate import tabulate

from probcal.metrics.metric import DECIMALS, INFINITY, format_number
from probcal.metrics.registry import metric_named
from probcal.papers.check.accepted import AcceptedDrift
from probcal.papers.check.agreement import SHUFFLES, Agreement, AgreementFigures
from probcal.papers.check.checked_experiment import Findings, Report
from probcal.papers.check.findings import LARGEST_DISTANCE, Finding, sd_of_finite
from probcal.papers.check.judged_claims import (
    ClaimVerdict,
    MeasuredNumbers,
    Tally,
    published_rank_text,
    published_tallies,
)
from probcal.papers.claims import Claim
from probcal.reporting.grid import cell_notes, group_by

_MOST_FAILED = 20
_MOST_EXAMPLES = 5
_MANY_DECIMALS = 8


def report_text(report: Report) -> str:
    stored = report.experiment.stored
    blocks = [
        [f"{stored.title} ({report.experiment.store.folder})"],
        agreement_lines(report.agreement) if report.agreement else [],
        *_finding_blocks("numbers", report.numbers),
        *_finding_blocks("digits", report.digits),
        *_finding_blocks("differences on the same splits", report.differences),
        _no_verdict_lines(report),
        _outdated_lines(report),
        _claim_lines(report),
        _drift_lines(report.drift),
        _missing_lines(report.drift),
        _unplanned_lines(report),
        _cell_lines(report),
        _incomplete_lines(report),
        [report.no_comparison_reason] if report.no_comparison_reason else [],
        # Last, where a terminal still shows it after a long list.
        [summary_text(report)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _finding_blocks(name: str, findings: Findings) -> Iterable[list[str]]:
    if findings.new:
        yield [f"NEW deviations, {name}:", *_finding_table(findings.new)]
    for reason, pairs in group_by(findings.known, lambda pair: pair[1].reason).items():
        yield [f"known deviations, {name}: {reason}", *_finding_table([finding for finding, _ in pairs])]


def _finding_table(findings: list[Finding]) -> list[str]:
    rows = [finding_texts(finding, finding.metric) for finding in findings]
    return table_lines(rows, ["  data set", "column", "metric", "published", "ours", "distance"])


def finding_texts(finding: Finding, metric: str) -> list[str]:
    """Return the cells of a finding in a table, with the name of its ``metric`` there."""
    mean = "" if finding.mean is None else _finding_number(finding, finding.mean) + spread_text(finding.values)
    distance = "" if finding.distance is None else f"{finding.distance:.2f}"
    if finding.distance is not None and finding.distance > LARGEST_DISTANCE:
        distance = f">{LARGEST_DISTANCE:g}"
    return [finding.dataset, finding.label, metric, _finding_number(finding, finding.published), mean, distance]


def _no_verdict_lines(report: Report) -> list[str]:
    findings = [*report.numbers.all, *report.differences.all]
    open_findings = [finding for finding in findings if finding.state == "cannot be judged"]
    lines = []
    # One line for each reason, since a hundred numbers may share it.
    for reason, group in group_by(open_findings, lambda finding: finding.reason).items():
        names = [f"{finding.dataset} {finding.label} {finding.metric}" for finding in group]
        n_more = len(names) - _MOST_EXAMPLES
        listing = ", ".join(names[:_MOST_EXAMPLES]) + (f", and {n_more} more: -f json" if n_more > 0 else "")
        lines.append(f"  {reason}: {listing}")
    return ["cannot be judged:", *lines] if lines else []


def table_lines(rows: list[list[str]], header: list[str], align: str = "left") -> list[str]:
    """Return the lines of an indented table. The first column is at the left, all others are where ``align`` says."""
    lines = tabulate(
        [[f"  {row[0]}", *row[1:]] for row in rows], header, "plain", disable_numparse=True, preserve_whitespace=True,
        colalign=("left", *[align] * (len(header) - 1)),
    )  # fmt: skip
    return [line.rstrip() for line in lines.splitlines()]


def spread_text(values: Sequence[float]) -> str:
    """Return `` ± 0.004, ∞ 2/10``: the sd of the finite splits, and how many are infinite where only some are."""
    sd, infinite = sd_of_finite(values), sum(map(math.isinf, values))
    infinite_text = f", {INFINITY} {infinite}/{len(values)}" if 0 < infinite < len(values) else ""
    return ("" if sd is None else f" ± {format_number(sd)}") + infinite_text


def _finding_number(finding: Finding, number: float) -> str:
    """Return a number with three decimals, or with eight where these do not tell ours from the published one."""
    decimals = DECIMALS
    if finding.state == "out of band" and finding.mean is not None:
        is_equal = format_number(finding.published) == format_number(finding.mean)
        decimals = _MANY_DECIMALS if is_equal else DECIMALS
    return f"{number:+.{decimals}f}" if finding.kind == "difference" else format_number(number, decimals)


def _outdated_lines(report: Report) -> list[str]:
    return [
        f"known deviation that now agrees: {', '.join(deviation.what for deviation in group)} ({reason})"
        for reason, group in group_by(report.outdated_deviations, lambda deviation: deviation.reason).items()
    ]


def _claim_lines(report: Report) -> list[str]:
    paper, lines = report.experiment.published, []
    if paper is None:
        return []
    for result in report.claims:
        mark = "NEW " if result.new else ""
        lines.append(f"  {mark}{result.ours.verdict}: {result.claim.label} ({result.claim.statement()})")
        source = "the paper has no table of it"
        if result.tabled:
            source = f"the paper's own tables {_verdict_text(result.printed)}"
        is_partial = result.tabled and any(tally.known and tally.not_run for tally in result.ours.tallies.values())
        run_text = _published_result_text(result.claim, report) if is_partial else ""
        lines.append(f"      ours {_verdict_text(result.ours)} / {source}{run_text and f', on those run {run_text}'}")
        if result.known and result.ours.verdict == "not supported":
            lines.append(f"      known: {result.known.reason}")
    return ["claims:", *lines] if lines else []


def _verdict_text(verdict: ClaimVerdict) -> str:
    not_run = max((tally.not_run for tally in verdict.tallies.values()), default=0)
    if not verdict.said:
        return tallies_text(verdict.tallies)
    return verdict.said + (f" ({not_run} not run)" if not_run else "")


def _published_result_text(claim: Claim, report: Report) -> str:
    """Return what the paper's own tables say of the data sets that were run, "" of a claim that counts none."""
    paper, numbers = report.experiment.published, MeasuredNumbers(report.experiment)
    assert paper is not None  # claims are those of a paper
    return published_rank_text(claim, paper, numbers) or tallies_text(published_tallies(claim, paper, numbers))


def tallies_text(tallies: Mapping[str, Tally]) -> str:
    """Return the counts of each metric: ``cxe 3 of 5, 10 not run``."""
    text_parts = [
        f"{metric} {tally.wins} of {tally.known}".strip() + (f" ({tally.ties} tied)" if tally.ties else "")
        for metric, tally in tallies.items()
        if tally.known
    ]
    not_run = max((tally.not_run for tally in tallies.values()), default=0)
    return ", ".join(text_parts + ([f"{not_run} not run"] if not_run else []))


def _drift_lines(drift: AcceptedDrift | None) -> list[str]:
    if drift is None or not drift.out:
        return []
    rows = [
        [mean.dataset, mean.column, mean.metric, _accepted_mean_text(mean.accepted, mean.infinite[0], mean.n),
         _accepted_mean_text(mean.now, mean.infinite[1], mean.n), str(mean.n)]
        for mean in drift.out
    ]  # fmt: skip
    return ["DRIFT:", *table_lines(rows, ["  data set", "column", "metric", "accepted", "now", "splits"])]


def _missing_lines(drift: AcceptedDrift | None) -> list[str]:
    means = drift.gone if drift else []
    lines = [
        f"  {mean.dataset} {mean.column} {mean.metric}: "
        + (f"no number in {mean.lost} done cells" if mean.lost else "no split")
        for mean in means
    ]
    return [f"DRIFT, {len(means)} accepted numbers are missing now:", *_first_lines(lines)] if means else []


def _unplanned_lines(report: Report) -> list[str]:
    names = report.drift.unplanned if report.drift else []
    heading = (
        f"DRIFT, {len(names)} accepted numbers that the experiment no longer has; run the experiment file that has"
        f" them, or accept the present numbers: probcal check {report.experiment.store.folder} --accept"
    )
    return [heading, *_first_lines([f"  {name}" for name in names])] if names else []


def _first_lines(lines: list[str], most: int = _MOST_EXAMPLES, command: str = "-f json") -> list[str]:
    """Return at most ``most`` lines, and one that says how many more the ``command`` shows."""
    n_more = len(lines) - most
    return lines[:most] + ([f"  and {n_more} more: {command}"] if n_more > 0 else [])


def _accepted_mean_text(number: float, infinite: int, n: int) -> str:
    return f"{number:.4f}".replace("inf", INFINITY) + (f", {INFINITY} {infinite}/{n}" if 0 < infinite < n else "")


def _cell_lines(report: Report) -> list[str]:
    failures = [f"  {cell.id}: {cell.failure_text}" for cell in report.cell_counts.failed]
    command = f"probcal status {report.experiment.store.folder} --cells"
    return cell_notes(report.cell_counts) + _first_lines(failures, _MOST_FAILED, command)


def _incomplete_lines(report: Report) -> list[str]:
    lines = [
        f"  {title}: {len(names)} missing, the first is {names[0]}"
        for title, names in report.cell_counts.incomplete.items()
    ]
    advice = "probcal run with the experiment's config runs them"
    return [f"INCOMPLETE, some repetitions were not run; {advice}:", *_first_lines(lines)] if lines else []


def summary_text(report: Report) -> str:
    notes = [f"{n} done without {metric}" for metric, n in report.undefined_counts.items()]
    parts = [", ".join(notes)] if notes else []
    if report.experiment.published is not None:
        cells = ", ".join([_findings_summary("cells", report.numbers), *notes])
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
    verdicts = Counter(result.ours.verdict for result in report.claims)
    n_new = sum(result.new for result in report.claims)
    return (
        f"claims: {verdicts['supported']} supported, {verdicts['not supported']} not supported ({n_new} new), "
        f"{verdicts['undecided']} undecided (of {len(report.claims)})"
    )


def _drift_summary(drift: AcceptedDrift | None) -> str:
    if drift is None:
        return "drift: nothing accepted yet (probcal check FOLDER --accept)"
    if not drift.compared and not drift.gone:
        return "drift: accepted.csv has none of the present numbers; probcal check FOLDER --accept writes it again"
    line = f"drift: {len(drift.out)} of {drift.compared} numbers"
    parts = [
        (len(drift.gone), "accepted ones missing now"),
        (len(drift.unplanned), "accepted ones that the experiment no longer has"),
        (drift.unknown, "not accepted yet"),
    ]
    return line + "".join(f", {count} {label}" for count, label in parts if count)


def json_text(reports: list[Report]) -> str:
    return json_of([_json_report(report) for report in reports])


def json_of(value: Any, nan: str | None = "nan") -> str:
    """Return the value as JSON. Infinity becomes the text ``inf`` and NaN becomes ``nan``, since JSON has neither."""
    return json.dumps(_json_values(value, nan), indent=1, ensure_ascii=False) + "\n"


def _json_report(report: Report) -> dict[str, Any]:
    return {
        "ok": report.ok,
        **power_json(report),
        "numbers": _json_findings(report.numbers),
        "digits": _json_findings(report.digits),
        "differences": _json_findings(report.differences),
        "claims": [
            {
                "label": result.claim.label,
                "quote": result.claim.quote,
                "statement": result.claim.statement(),
                "ours": _json_verdict(result.ours),
                "paper": _json_verdict(result.printed),
                "new": result.new,
                "reason": result.known.reason if result.known else None,
            }
            for result in report.claims
        ],
        "known_that_now_agree": [asdict(deviation) for deviation in report.outdated_deviations],
        "drift": None if report.drift is None else asdict(report.drift),
        "nothing_compared": report.no_comparison_reason,
        "undefined_counts": dict(report.undefined_counts),
        "failed": [cell.id for cell in report.cell_counts.failed],
        "failed_when_run_again": [cell.id for cell in report.cell_counts.later_failure],
        "not_run": report.cell_counts.not_run,
        "incomplete": report.cell_counts.incomplete,
        "stale": report.cell_counts.stale.total(),
    }


def _json_findings(findings: Findings) -> list[dict[str, Any]]:
    reasons = {id(finding): deviation.reason for finding, deviation in findings.known}
    return [
        {
            "dataset": finding.dataset,
            "column": finding.label,
            "metric": finding.metric,
            "published": finding.published,
            "mean": finding.mean,
            "sd": finding.sd,
            "n": len(finding.values),
            "infinite": finding.infinite,
            "state": finding.state,
            "distance": finding.distance,
            "why_not_judged": finding.reason,
            "reason": reasons.get(id(finding)),
        }
        for finding in findings.all
    ]


def _json_verdict(verdict: ClaimVerdict) -> dict[str, Any]:
    counts = {name or "all": asdict(tally) for name, tally in verdict.tallies.items()}
    return {"verdict": verdict.verdict, "counts": counts, **({"said": verdict.said} if verdict.said else {})}


def _json_values(value: Any, nan: str | None) -> Any:
    if isinstance(value, dict):
        return {name: _json_values(item, nan) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json_values(item, nan) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return nan if math.isnan(value) else str(value)
    return value


MISSING_MARK = "-"
"""Mark of a figure that nothing can be counted for."""


def agreement_lines(agreement: Agreement) -> list[str]:
    """Return the figures of agreement, with those of shuffled columns and of the plain column beside them."""
    note = f" ({agreement.misprints} misprints left out)" if agreement.misprints else ""
    heading = f"agreement with {agreement.numbers} published numbers{note}"
    table = table_lines(
        agreement_rows(agreement), [f"{heading}:", "ours", "shuffled", *_plain_header(agreement.plain)], "right"
    )
    return [*table, *(f"  {line}" for line in order_lines(agreement))]


def order_lines(agreement: Agreement) -> list[str]:
    """Return what the share of pairs in the same order must exceed, and what it can hardly exceed."""
    lines = []
    if (null := agreement.other_datasets.pairs_kept) is not None:
        lines.append(f"pairs in the order that our columns have on the other data sets: {percent_text(null)}")
    if (ceiling := agreement.one_split.pairs_kept) is not None:
        lines.append(f"pairs of one of our splits in the order of our other splits: {percent_text(ceiling)}")
    return lines


def agreement_rows(agreement: Agreement) -> list[list[str]]:
    """Return one row per figure: its name, and its values for ours, shuffled columns and the plain column."""
    figures = [figure for figure in (agreement.ours, agreement.shuffled, agreement.wrong) if figure is not None]
    columns = [_figure_texts(figure) for figure in figures]
    return [[name, *(column[name] for column in columns)] for name in columns[0]]


def _figure_texts(figures: AgreementFigures) -> dict[str, str]:
    medians = {
        f"median absolute difference, {metric_named(metric).short}": _number_text(median)
        for metric, median in figures.median_difference.items()
    }
    return {
        "digits identical": percent_text(figures.identical),
        "within one unit of the last digit": percent_text(figures.within_one_unit),
        **medians,
        "order of the columns, Kendall's tau": _number_text(figures.tau, 2),
        "pairs of columns in the same order": percent_text(figures.pairs_kept),
        "in band": percent_text(figures.in_band),
    }


def power_text(report: Report) -> str:
    """Return what the check would let pass, as two tables."""
    stored = report.experiment.stored
    lines = [f"{stored.title} ({report.experiment.store.folder})", ""]
    if report.agreement is None:
        return "\n".join([*lines, "no published number to compare with our results\n"])
    plain = report.agreement.plain
    header = ["numbers that pass the check, by rule:", "numbers", "excused", "ours", "shuffled", *_plain_header(plain)]
    rows = [
        [gate.name, str(gate.numbers), str(gate.excused), *map(percent_text, (gate.ours, gate.shuffled))]
        + ([percent_text(gate.wrong)] if plain else [])
        for gate in report.gates
    ]
    lines += [*agreement_lines(report.agreement), "", *table_lines(rows, header, "right"), ""]
    notes = [f"shuffled: our columns in a random order within each data set, the mean of {SHUFFLES} orders"]
    notes += [f"{plain} everywhere: our {plain} stands in every column"] if plain else []
    notes += ["excused: a known deviation lets any number pass; a number that cannot be judged passes too"]
    return "\n".join([*lines, *(f"  {note}" for note in notes), ""])


def _plain_header(plain: str | None) -> list[str]:
    return [f"{plain} everywhere"] if plain else []


def power_json(report: Report) -> dict[str, Any]:
    """Return the same figures as a mapping, with shares from 0 to 1."""
    return {
        "experiment": report.experiment.stored.name,
        "folder": str(report.experiment.store.folder),
        "agreement": asdict(report.agreement) if report.agreement else None,
        "passes": [asdict(gate) for gate in report.gates],
    }


def percent_text(share: float | None) -> str:
    return MISSING_MARK if share is None else f"{100 * share:.0f} %"


def _number_text(number: float | None, decimals: int = 3) -> str:
    if number is None:
        return MISSING_MARK
    # Adding 0.0 turns -0.0 into 0.0, which has no sign.
    return f"{round(number, decimals) + 0.0:.{decimals}f}".replace("inf", INFINITY)
