"""The tables that pages of docs take from results."""

from __future__ import annotations

import csv
from typing import Any

from speed import ROOT
from tabulate import tabulate

from probcal import load_results
from probcal.metrics.registry import metric_named
from probcal.papers.bands import units_off
from probcal.papers.check.findings import Finding
from probcal.papers.check.judged_claims import ClaimVerdict, MeasuredNumbers, Tally, published_tallies
from probcal.papers.check.power_text import agreement_rows, percent
from probcal.reporting.comparison.claim_support import ClaimSupport, ResampledVerdict
from probcal.reporting.comparison.comparison_tables import draws_text, grids, wins_text
from probcal.reporting.comparison.pairs import p_text
from probcal.reporting.grid import markdown

SHORT = {
    "probing-beats-j48": "ProbJ48 beats J48 on all but Mushroom (CXE, RMS, AUC)",
    "probing-beats-bagging": "ProbJ48 beats BagJ48 on most (CXE, RMS, AUC)",
    "j48-is-infinite": "J48 has an infinite CXE on most",
    "bagging-is-finite": "BagJ48 has no infinite CXE",
    "probing-beats-svm-sigmoid": "ProbSVM beats SigSVM on most (CXE, RMS, AUC)",
    "svm-gains-most-auc": "ProbSVM leads SigSVM most clearly by AUC (AUC, CXE, RMS)",
    "probing-beats-nb": "ProbNB beats NB on most (CXE, RMS)",
    "nb-ranks-better": "NB ranks better than ProbNB on most (AUC)",
    "nb-sigmoid-beats-probing": "SigNB beats ProbNB on most (CXE, RMS, AUC)",
    "sigmoid-keeps-the-auc": "the sigmoid keeps the AUC of NB within .005",
    "probing-beats-log": "ProbLog beats Log on most (CXE)",
    "log-is-infinite": "Log has an infinite CXE on some",
    "probing-log-is-finite": "ProbLog has no infinite CXE",
    "log-even-otherwise": "no clear difference of ProbLog and Log otherwise (RMS, AUC)",
    "best-methods": "Table 4 names the best method",
    "probing-wins-20": "Probing wins 20 of 45",
    "j48-is-very-good": "a J48 column is best in most",
    "converges-after-20": "Probing has converged after 20 or so probes, within .02 bits",
}
"""The statements of section 5, in fewer words than the claims have."""


def claims(asked: Any) -> str:
    rows = []
    partly = any(one.on_those_run for one in asked.comparison.claims)
    for one in asked.comparison.claims:
        counts = list(one.counts.values())
        tested = [count for count in counts if count.better is not None]
        rows.append([
            SHORT[one.claim.label],
            asked.printed(one.claim.label),
            wins_text(one),
            ", ".join(f"{count.splits[0]}\N{EN DASH}{count.splits[1]}" for count in counts),
            ", ".join(f"{count.better}:{count.worse}" for count in tested),
            ", ".join(p_text(count.wilcoxon_holm) for count in tested).replace("<", "&lt;"),
            one.measured.verdict,
            _sure(one.drawn),
            *([_sure(one.on_those_run or one.drawn)] if partly else []),
        ])  # fmt: skip
    header = [
        "statement",
        "the paper's tables",
        "ours",
        "95 %",
        "significant",
        "Wilcoxon p",
        "by the means",
        "verdict (for : against)",
        *(["on those run (for : against)"] if partly else []),
    ]
    return _pipe(rows, header)


def claims_there(asked: Any) -> str:
    """The paper's own counts on the data sets that were run, and ours."""
    paper, ours = asked.checked.published, MeasuredNumbers(asked.checked)
    rows = [
        [SHORT[one.claim.label], _won(published_tallies(one.claim, paper, ours)), _won(one.ours.tallies)]
        for one in asked.report.claims
        if one.claim.label in SHORT and any(tally.known for tally in one.ours.tallies.values())
    ]
    return _pipe(rows, ["statement", "the paper's tables, there", "ours"])


def _won(tallies: dict[str, Tally]) -> str:
    """``7, 7, 6 of 7``, one number a metric."""
    wins = ", ".join(str(one.wins) for one in tallies.values())
    return f"{wins} of {max(one.known for one in tallies.values())}"


def _sure(one: ResampledVerdict) -> str:
    return f"**{one.verdict}** ({draws_text(one)})"


def surviving(asked: Any) -> str:
    """List the statements by their verdict."""
    claims = asked.comparison.claims
    lines = []
    for verdict in ("supported", "not supported"):
        whatever = [one for one in claims if one.verdict == verdict]
        there = [one for one in claims if _there(one).verdict == verdict and one.verdict != verdict]
        lines.append(f"- **{verdict.capitalize()}, whatever the missing data sets would give:**{_named(whatever)}")
        lines.append(f"- **{verdict.capitalize()} only on the data sets that were run:**{_named(there)}")
    left = [one for one in claims if _there(one).verdict == "undecided" == one.verdict]
    for by_the_means, said in (
        ("supported", "supported"),
        ("not supported", "contradicted"),
        ("undecided", "left open"),
    ):
        found = [one for one in left if _there(one).by_the_means == by_the_means]
        if found:
            lines.append(f"- **Undecided on both, {said} by our means:**{_named(found)}")
    return "\n".join(lines)


def _there(one: ClaimSupport) -> ResampledVerdict:
    return one.on_those_run or one.drawn


def _named(claims: list[ClaimSupport]) -> str:
    return "".join(f"\n  - {SHORT[one.claim.label]}" for one in claims) if claims else " none."


def statements(asked: Any) -> str:
    """The claims of another paper, as ``probcal compare`` words them."""
    rows = [
        [one.claim.statement(), wins_text(one), one.measured.verdict, _sure(one.drawn)]
        for one in asked.comparison.claims
    ]
    return _pipe(rows, ["statement", "ours", "by the means", "verdict (for : against)"])


def best(asked: Any) -> str:
    """Our winner and the paper's, each with the share of draws in which it has, or shares, the first place."""
    places = {(one.row.title, one.metric): one for one in asked.comparison.places if one.printed}
    paper = asked.checked.published
    titles = {(one.paper_learner, one.paper_method): one for one in asked.checked.outline.columns}
    rows = []
    for title in dict.fromkeys(title for title, _ in places):
        rows.append([title])
        for metric in ("rms", "cxe", "auc"):
            place = places[title, metric]
            ours = [place.labels.index(one) for one in place.winners]
            theirs = [
                place.columns.index(titles[paper.columns[one]])
                for one in paper.best_columns(place.row.published, metric)
            ]
            rows[-1].append(
                f"{'/'.join(place.winners)} {_share(place, ours)} [{place.printed} {_share(place, theirs)}]"
            )
    return _pipe(rows, ["", "RMS", "CXE", "AUC"])


def _share(place: Any, columns: list[int]) -> str:
    share = float(place.first[:, columns].any(axis=1).mean())
    return f"{share:.2f}".removeprefix("0")


def changed(asked: Any) -> str:
    """The pairs of methods by one line each: ahead, significantly better and worse, Wilcoxon with Holm."""
    rows = []
    for pair in asked.comparison.pairs["cxe"]:
        row = [f"{pair.later.label} against {pair.earlier.label}"]
        for metric in ("cxe", "cxe_clipped", "rms", "auc"):
            found = asked.comparison.pairs.get(metric, [])
            one = next((each for each in found if (each.later, each.earlier) == (pair.later, pair.earlier)), None)
            row.append(
                f"{one.ahead} of {len(one.tested)}; {one.count('better')}:{one.count('worse')}; "
                f"{p_text(one.p_holm)}".replace("<", "&lt;")
                if one
                else ""
            )
        rows.append(row)
    return _pipe(rows, ["", "CXE", "CXE clipped", "RMS", "AUC"])


def pairs(asked: Any) -> str:
    return _grid(asked, "Pairs of methods")


def ranks(asked: Any) -> str:
    return _grid(asked, "Mean ranks")


def out_of_band_table(asked: Any) -> str:
    titles = {row.name: row.title for row in asked.checked.outline.datasets}
    found = [one for one in asked.report.numbers.all if one.state == "out of band"]
    found.sort(key=lambda one: (list(titles).index(one.dataset), one.what))
    rows = [
        [titles[one.dataset], one.what, metric_named(one.metric).short, _number(one.published), _number(one.mean),
         f"{one.infinite} of {len(one.values)}" if one.infinite else "",
         f"{one.distance:.1f}" if one.distance is not None and one.distance <= 10 else "> 10"]
        for one in found
    ]  # fmt: skip
    return _pipe(rows, ["", "column", "metric", "paper", "ours (finite splits)", "∞ on", "distance"])


def agreement_figures(asked: Any) -> str:
    """The figures of agreement, each with its power."""
    found = asked.report.agreement
    return _pipe(agreement_rows(found), ["", "ours", "shuffled columns", f"{found.plain} in all columns"])


def digits(asked: Any) -> str:
    """The paper's numbers of its exact columns, RMS / CXE / AUC, with the units that ours are off behind each."""
    found = _digits(asked)
    titles = {row.name: row.title.split(",")[0] for row in asked.checked.outline.datasets}
    rows = []
    for dataset in dict.fromkeys(one.dataset for one in found):
        of = {(one.what, one.metric): one for one in found if one.dataset == dataset}
        columns = dict.fromkeys(one.what for one in found)
        rows.append([
            titles[dataset],
            *(" / ".join(_with_units(of[what, metric]) for metric in ("rms", "cxe", "auc") if (what, metric) in of)
              for what in columns),
        ])  # fmt: skip
    return _pipe(rows, ["", *dict.fromkeys(one.what for one in found)])


def digits_by_column(asked: Any) -> str:
    """How many numbers of each exact column are the printed digits, and how many are at most one unit away."""
    found = _digits(asked)
    rows = []
    for what in [*dict.fromkeys(one.what for one in found), ""]:
        units = [one.distance for one in found if what in ("", one.what)]
        same, near = sum(one == 0 for one in units), sum(one <= 1 for one in units)
        rows.append([what or "all", f"{same} of {len(units)}", f"{near} of {len(units)}"])
    return _pipe(rows, ["column", "the printed digits", "at most one unit away"])


def _digits(asked: Any) -> Any:
    """The numbers of exact columns on the paper's own splits, with their distances in units."""
    return asked.report.digits.all


def _with_units(one: Any) -> str:
    units, said = units_off(one.values[0], one.published, one.decimals), _number(one.published, one.decimals)
    return f"**{said} ({units:+.0f})**" if units else said


def what_passes(asked: Any) -> str:
    """What each rule of the check lets pass."""
    plain = asked.report.agreement.plain
    rows = [
        [one.name, str(one.numbers), str(one.excused), percent(one.shuffled), percent(one.wrong)]
        for one in asked.report.gates
    ]
    return _pipe(rows, ["rule", "numbers", "excused", "shuffled columns pass", f"{plain} in all columns passes"])


def agreement(asked: Any) -> str:
    """The share of test rows with the same label, native learners against Weka's."""
    with (ROOT / "results" / asked.folder).open(encoding="utf-8") as file:
        found: dict[str, dict[str, dict[str, str]]] = {}
        for row in csv.DictReader(file):
            found.setdefault(row["dataset"], {})[row["pair"]] = row
    rows = [
        [dataset, f"{int(next(iter(of.values()))['rows']):,}",
         *(_share_alike(of.get(one)) for one in ("svm", "hinge", "log", "nb")),
         f"{float(of['nb']['largest_difference']):.4f}"]
        for dataset, of in found.items()
    ]  # fmt: skip
    header = ["", "rows", "linear_svm, SMO", "hinge_svm, SMO", "logistic, Logistic", "kernel_nb, NaiveBayes -K",
              "largest difference of its predictions"]  # fmt: skip
    return _pipe(rows, header)


def _share_alike(line: dict[str, str] | None) -> str:
    return "" if line is None else f"{100 * int(line['same']) / int(line['rows']):.2f} %"


def _grid(asked: Any, name: str) -> str:
    """That table of ``probcal compare``, without its heading."""
    [one] = [grid for grid in grids(asked.comparison) if grid.name.startswith(name)]
    return markdown("x", [one]).split("\n\n", 2)[2].rstrip("\n")


def _number(number: float, decimals: int = 3) -> str:
    return "∞" if number == float("inf") else f"{number:.{decimals}f}".removeprefix("0")


def columns_in_band(asked: Any) -> str:
    """Count, for each learner and method, the data sets whose log loss agrees, of those with a number to compare."""
    counts: dict[str, dict[str, list[bool]]] = {}
    for one in asked.report.numbers.all:
        if one.metric == "log_loss" and one.state in ("in band", "out of band"):
            learner, method = one.columns[0]
            counts.setdefault(learner, {}).setdefault(method, []).append(one.state == "in band")
    methods = list(dict.fromkeys(method for of in counts.values() for method in of))
    rows = [
        [learner, *(f"{sum(of[method])} of {len(of[method])}" if method in of else "" for method in methods)]
        for learner, of in counts.items()
    ]
    return _pipe(rows, ["learner", *methods])


def median_differences(asked: Any) -> str:
    """Print the median absolute difference of each metric, over all published numbers with results."""
    found = asked.report.agreement.ours.median_difference
    return _pipe(
        [[metric_named(metric).short, f"{median:.4f}"] for metric, median in found.items()], ["metric", "median"]
    )


def known_reasons(asked: Any) -> str:
    """Print each reason of known deviations with the numbers that it explains."""
    by_reason: dict[str, list[Finding]] = {}
    for one, why in asked.report.numbers.known:
        by_reason.setdefault(why.reason, []).append(one)
    return _pipe([[_joined(numbers), reason] for reason, numbers in by_reason.items()], ["numbers", "reason"])


def _joined(numbers: list[Finding]) -> str:
    """Return the numbers in few words: data sets with the same columns of the same metrics are named together."""
    metrics_of: dict[tuple[str, str], list[str]] = {}
    for one in numbers:
        metrics_of.setdefault((one.dataset.removeprefix("kull-"), one.what), []).append(one.metric)
    columns_of: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (dataset, column), metrics in metrics_of.items():
        columns_of.setdefault((dataset, tuple(metrics)), []).append(column)
    datasets_of: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (dataset, metrics), columns in columns_of.items():
        datasets_of.setdefault((tuple(columns), metrics), []).append(dataset)
    return "; ".join(
        f"{', '.join(datasets)}: {', '.join(columns)} ({', '.join(metrics)})"
        for (columns, metrics), datasets in datasets_of.items()
    )


def verdicts_by_ranks(asked: Any) -> str:
    """Print each claim by the paper's own numbers and by ours."""
    rows = [
        [one.claim.statement(), _judged(one.printed), _judged(one.ours), f"**{one.ours.verdict}**"]
        for one in asked.report.claims
    ]
    return _pipe(rows, ["claim", "the authors' files", "ours", "verdict"])


def _judged(one: ClaimVerdict) -> str:
    return one.said or ", ".join(f"{tally.wins} of {tally.known}" for tally in one.tallies.values())


def processor_hours(asked: Any) -> str:
    """Print the hours that the finished cells of each learner took, and half of them, for two processors."""
    seconds: dict[str, float] = {}
    for one in asked.checked.every_finished():
        seconds[one.learner] = seconds.get(one.learner, 0.0) + one.seconds
    rows = [[learner, f"{total / 3600:.1f}", f"{total / 7200:.1f}"] for learner, total in seconds.items()]
    total = sum(seconds.values())
    rows.append(["all", f"{total / 3600:.1f}", f"{total / 7200:.1f}"])
    return _pipe(rows, ["learner", "hours of cells", "on two processors"])


def beside_the_paper(asked: Any) -> str:
    """Print each of our methods beside the paper's beta map and isotonic regression on the same folds, by log loss."""
    ours, theirs = _mean_log_losses(asked.folder), _mean_log_losses(asked.folder.removesuffix("-ours"))
    rows = []
    for learner, method in ours.columns:
        row = [ours.attrs["labels"][learner, method]]
        for other in ("beta", "isotonic"):
            gain = (theirs[learner, other] - ours[learner, method]).dropna()
            row += [f"{(gain > 0).sum()} of {len(gain)}", f"{-gain.median():+.4f}"]
        rows.append(row)
    header = ["our method", "better than beta", "median difference", "better than isotonic", "median difference"]
    return _pipe(rows, header)


def _mean_log_losses(folder: str) -> Any:
    """Return the mean log loss in nats: a row for each data set, a column for each learner and method."""
    frame = load_results(ROOT / "results" / folder).frame
    frame = frame[frame["metric"] == "log_loss"]
    table = frame.pivot_table(index="dataset", columns=["learner", "method"], values="value", sort=False)
    table.attrs["labels"] = frame.set_index(["learner", "method"])["label"].to_dict()
    return table


def _pipe(rows: list[list[str]], header: list[str]) -> str:
    return str(tabulate(rows, header, tablefmt="pipe", disable_numparse=True))


TABLES = {
    one.__name__.replace("_", "-"): one
    for one in (
        claims,
        claims_there,
        surviving,
        statements,
        best,
        changed,
        pairs,
        ranks,
        out_of_band_table,
        agreement,
        agreement_figures,
        digits,
        digits_by_column,
        what_passes,
        columns_in_band,
        median_differences,
        known_reasons,
        verdicts_by_ranks,
        processor_hours,
        beside_the_paper,
    )
}
