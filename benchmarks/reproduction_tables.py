"""The tables that pages of docs take from results."""

from __future__ import annotations

import csv
from typing import Any

from speed import ROOT
from tabulate import tabulate

from probcal import load_results
from probcal.metrics.registry import metric_named
from probcal.papers.bands import difference_in_units
from probcal.papers.check.findings import Finding
from probcal.papers.check.judged_claims import ClaimVerdict, MeasuredNumbers, Tally, published_tallies
from probcal.reporting.check.check_text import agreement_rows, percent_text
from probcal.reporting.comparison.claim_support import ClaimSupport, ResampledVerdict
from probcal.reporting.comparison.comparison_tables import comparison_grids, draws_text, wins_text
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


def claims(run: Any) -> str:
    rows = []
    is_partial = any(claim.partial_verdict for claim in run.comparison.claims)
    for claim in run.comparison.claims:
        counts = list(claim.counts.values())
        tests = [count for count in counts if count.better is not None]
        rows.append([
            SHORT[claim.claim.label],
            run.printed(claim.claim.label),
            wins_text(claim),
            ", ".join(f"{count.splits[0]}\N{EN DASH}{count.splits[1]}" for count in counts),
            ", ".join(f"{count.better}:{count.worse}" for count in tests),
            ", ".join(p_text(count.wilcoxon_holm) for count in tests).replace("<", "&lt;"),
            claim.means_verdict.verdict,
            _verdict_text(claim.draws_verdict),
            *([_verdict_text(claim.partial_verdict or claim.draws_verdict)] if is_partial else []),
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
        *(["on those run (for : against)"] if is_partial else []),
    ]
    return _pipe(rows, header)


def partial_claims(run: Any) -> str:
    """The paper's own counts on the data sets that were run, and ours."""
    paper, numbers = run.checked.published, MeasuredNumbers(run.checked)
    rows = [
        [
            SHORT[claim.claim.label],
            _wins_text(published_tallies(claim.claim, paper, numbers)),
            _wins_text(claim.ours.tallies),
        ]
        for claim in run.report.claims
        if claim.claim.label in SHORT and any(tally.known for tally in claim.ours.tallies.values())
    ]
    return _pipe(rows, ["statement", "the paper's tables, there", "ours"])


def _wins_text(tallies: dict[str, Tally]) -> str:
    """``7, 7, 6 of 7``, one number a metric."""
    wins = ", ".join(str(tally.wins) for tally in tallies.values())
    return f"{wins} of {max(tally.known for tally in tallies.values())}"


def _verdict_text(verdict: ResampledVerdict) -> str:
    return f"**{verdict.verdict}** ({draws_text(verdict)})"


def surviving(run: Any) -> str:
    """List the statements by their verdict."""
    claims = run.comparison.claims
    lines = []
    for verdict in ("supported", "not supported"):
        robust = [claim for claim in claims if claim.verdict == verdict]
        partial = [
            claim for claim in claims if _measured_verdict(claim).verdict == verdict and claim.verdict != verdict
        ]
        lines.append(f"- **{verdict.capitalize()}, whatever the missing data sets would give:**{_claim_list(robust)}")
        lines.append(f"- **{verdict.capitalize()} only on the data sets that were run:**{_claim_list(partial)}")
    open_claims = [claim for claim in claims if _measured_verdict(claim).verdict == "undecided" == claim.verdict]
    for means_verdict, word in (
        ("supported", "supported"),
        ("not supported", "contradicted"),
        ("undecided", "left open"),
    ):
        group = [claim for claim in open_claims if _measured_verdict(claim).by_the_means == means_verdict]
        if group:
            lines.append(f"- **Undecided on both, {word} by our means:**{_claim_list(group)}")
    return "\n".join(lines)


def _measured_verdict(claim: ClaimSupport) -> ResampledVerdict:
    return claim.partial_verdict or claim.draws_verdict


def _claim_list(claims: list[ClaimSupport]) -> str:
    return "".join(f"\n  - {SHORT[claim.claim.label]}" for claim in claims) if claims else " none."


def statements(run: Any) -> str:
    """The claims of another paper, as ``probcal compare`` words them."""
    rows = [
        [claim.claim.statement(), wins_text(claim), claim.means_verdict.verdict, _verdict_text(claim.draws_verdict)]
        for claim in run.comparison.claims
    ]
    return _pipe(rows, ["statement", "ours", "by the means", "verdict (for : against)"])


def best(run: Any) -> str:
    """Our winner and the paper's, each with the share of draws in which it has, or shares, the first place."""
    places = {(place.row.title, place.metric): place for place in run.comparison.places if place.published_winner}
    paper = run.checked.published
    titles = {(column.paper_learner, column.paper_method): column for column in run.checked.stored.columns}
    rows = []
    for title in dict.fromkeys(title for title, _ in places):
        rows.append([title])
        for metric in ("rms", "cxe", "auc"):
            place = places[title, metric]
            own_places = [place.labels.index(label) for label in place.winners]
            paper_places = [
                place.columns.index(titles[paper.columns[name]])
                for name in paper.best_columns(place.row.paper_dataset, metric)
            ]
            rows[-1].append(
                f"{'/'.join(place.winners)} {_share(place, own_places)} "
                f"[{place.published_winner} {_share(place, paper_places)}]"
            )
    return _pipe(rows, ["", "RMS", "CXE", "AUC"])


def _share(place: Any, columns: list[int]) -> str:
    share = float(place.first_flags[:, columns].any(axis=1).mean())
    return f"{share:.2f}".removeprefix("0")


def changed(run: Any) -> str:
    """The pairs of methods by one line each: ahead, significantly better and worse, Wilcoxon with Holm."""
    rows = []
    for pair in run.comparison.pairs["cxe"]:
        row = [f"{pair.later.label} against {pair.earlier.label}"]
        for metric in ("cxe", "cxe_clipped", "rms", "auc"):
            all_pairs = run.comparison.pairs.get(metric, [])
            match = next(
                (
                    candidate
                    for candidate in all_pairs
                    if (candidate.later, candidate.earlier) == (pair.later, pair.earlier)
                ),
                None,
            )
            row.append(
                f"{match.n_ahead} of {len(match.tests)}; {match.count('better')}:{match.count('worse')}; "
                f"{p_text(match.p_holm)}".replace("<", "&lt;")
                if match
                else ""
            )
        rows.append(row)
    return _pipe(rows, ["", "CXE", "CXE clipped", "RMS", "AUC"])


def pairs(run: Any) -> str:
    return _grid(run, "Pairs of methods")


def ranks(run: Any) -> str:
    return _grid(run, "Mean ranks")


def out_of_band_table(run: Any) -> str:
    titles = {row.name: row.title for row in run.checked.stored.datasets}
    numbers = [number for number in run.report.numbers.all if number.state == "out of band"]
    numbers.sort(key=lambda number: (list(titles).index(number.dataset), number.label))
    rows = [
        [titles[number.dataset], number.label, metric_named(number.metric).short,
         _number(number.published), _number(number.mean),
         f"{number.infinite} of {len(number.values)}" if number.infinite else "",
         f"{number.distance:.1f}" if number.distance is not None and number.distance <= 10 else "> 10"]
        for number in numbers
    ]  # fmt: skip
    return _pipe(rows, ["", "column", "metric", "paper", "ours (finite splits)", "∞ on", "distance"])


def agreement_figures(run: Any) -> str:
    """The figures of agreement, each with its power."""
    figures = run.report.agreement
    return _pipe(agreement_rows(figures), ["", "ours", "shuffled columns", f"{figures.plain} in all columns"])


def digits(run: Any) -> str:
    """The paper's numbers of its exact columns, RMS / CXE / AUC, with the units that ours are off behind each."""
    numbers = _digits(run)
    titles = {row.name: row.title.split(",")[0] for row in run.checked.stored.datasets}
    rows = []
    for dataset in dict.fromkeys(number.dataset for number in numbers):
        groups = {(number.label, number.metric): number for number in numbers if number.dataset == dataset}
        columns = dict.fromkeys(number.label for number in numbers)
        rows.append([
            titles[dataset],
            *(" / ".join(
                _with_units(groups[column, metric])
                for metric in ("rms", "cxe", "auc") if (column, metric) in groups)
              for column in columns),
        ])  # fmt: skip
    return _pipe(rows, ["", *dict.fromkeys(number.label for number in numbers)])


def digits_by_column(run: Any) -> str:
    """How many numbers of each exact column are the printed digits, and how many are at most one unit away."""
    numbers = _digits(run)
    rows = []
    for column in [*dict.fromkeys(number.label for number in numbers), ""]:
        units = [number.distance for number in numbers if column in ("", number.label)]
        n_same, n_near = sum(unit == 0 for unit in units), sum(unit <= 1 for unit in units)
        rows.append([column or "all", f"{n_same} of {len(units)}", f"{n_near} of {len(units)}"])
    return _pipe(rows, ["column", "the printed digits", "at most one unit away"])


def _digits(run: Any) -> Any:
    """The numbers of exact columns on the paper's own splits, with their distances in units."""
    return run.report.digits.all


def _with_units(number: Any) -> str:
    units, text = (
        difference_in_units(number.values[0], number.published, number.decimals),
        _number(number.published, number.decimals),
    )
    return f"**{text} ({units:+.0f})**" if units else text


def passing_shares(run: Any) -> str:
    """What each rule of the check lets pass."""
    label = run.report.agreement.plain
    rows = [
        [gate.name, str(gate.numbers), str(gate.excused), percent_text(gate.shuffled), percent_text(gate.wrong)]
        for gate in run.report.gates
    ]
    return _pipe(rows, ["rule", "numbers", "excused", "shuffled columns pass", f"{label} in all columns passes"])


def agreement(run: Any) -> str:
    """The share of test rows with the same label, native learners against Weka's."""
    with (ROOT / "results" / run.folder).open(encoding="utf-8") as file:
        lines: dict[str, dict[str, dict[str, str]]] = {}
        for row in csv.DictReader(file):
            lines.setdefault(row["dataset"], {})[row["pair"]] = row
    rows = [
        [dataset, f"{int(next(iter(cells.values()))['rows']):,}",
         *(_same_share(cells.get(name)) for name in ("svm", "hinge", "log", "nb")),
         f"{float(cells['nb']['largest_difference']):.4f}"]
        for dataset, cells in lines.items()
    ]  # fmt: skip
    header = ["", "rows", "linear_svm, SMO", "hinge_svm, SMO", "logistic, Logistic", "kernel_nb, NaiveBayes -K",
              "largest difference of its predictions"]  # fmt: skip
    return _pipe(rows, header)


def _same_share(line: dict[str, str] | None) -> str:
    return "" if line is None else f"{100 * int(line['same']) / int(line['rows']):.2f} %"


def _grid(run: Any, name: str) -> str:
    """That table of ``probcal compare``, without its heading."""
    [grid] = [grid for grid in comparison_grids(run.comparison) if grid.name.startswith(name)]
    return markdown("x", [grid]).split("\n\n", 2)[2].rstrip("\n")


def _number(number: float, decimals: int = 3) -> str:
    return "∞" if number == float("inf") else f"{number:.{decimals}f}".removeprefix("0")


def columns_in_band(run: Any) -> str:
    """Count, for each learner and method, the data sets whose log loss agrees, of those with a number to compare."""
    counts: dict[str, dict[str, list[bool]]] = {}
    for number in run.report.numbers.all:
        if number.metric == "log_loss" and number.state in ("in band", "out of band"):
            learner, method = number.columns[0]
            counts.setdefault(learner, {}).setdefault(method, []).append(number.state == "in band")
    methods = list(dict.fromkeys(method for row in counts.values() for method in row))
    rows = [
        [learner, *(f"{sum(row[method])} of {len(row[method])}" if method in row else "" for method in methods)]
        for learner, row in counts.items()
    ]
    return _pipe(rows, ["learner", *methods])


def median_differences(run: Any) -> str:
    """Print the median absolute difference of each metric, over all published numbers with results."""
    medians = run.report.agreement.ours.median_difference
    return _pipe(
        [[metric_named(metric).short, f"{median:.4f}"] for metric, median in medians.items()], ["metric", "median"]
    )


def known_reasons(run: Any) -> str:
    """Print each reason of known deviations with the numbers that it explains."""
    groups: dict[str, list[Finding]] = {}
    for number, cause in run.report.numbers.known:
        groups.setdefault(cause.reason, []).append(number)
    return _pipe([[_numbers_text(numbers), reason] for reason, numbers in groups.items()], ["numbers", "reason"])


def _numbers_text(numbers: list[Finding]) -> str:
    """Return the numbers in few words: data sets with the same columns of the same metrics are named together."""
    metric_groups: dict[tuple[str, str], list[str]] = {}
    for number in numbers:
        metric_groups.setdefault((number.dataset.removeprefix("kull-"), number.label), []).append(number.metric)
    column_groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (dataset, column), metrics in metric_groups.items():
        column_groups.setdefault((dataset, tuple(metrics)), []).append(column)
    dataset_groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (dataset, metrics), columns in column_groups.items():
        dataset_groups.setdefault((tuple(columns), metrics), []).append(dataset)
    return "; ".join(
        f"{', '.join(datasets)}: {', '.join(columns)} ({', '.join(metrics)})"
        for (columns, metrics), datasets in dataset_groups.items()
    )


def verdicts_by_ranks(run: Any) -> str:
    """Print each claim by the paper's own numbers and by ours."""
    rows = [
        [
            claim.claim.statement(),
            _judgement_text(claim.printed),
            _judgement_text(claim.ours),
            f"**{claim.ours.verdict}**",
        ]
        for claim in run.report.claims
    ]
    return _pipe(rows, ["claim", "the authors' files", "ours", "verdict"])


def _judgement_text(verdict: ClaimVerdict) -> str:
    return verdict.said or ", ".join(f"{tally.wins} of {tally.known}" for tally in verdict.tallies.values())


def processor_hours(run: Any) -> str:
    """Print the hours that the done cells of each learner took, and half of them, for two processors."""
    seconds: dict[str, float] = {}
    for cell in run.checked.all_done_cells():
        seconds[cell.learner] = seconds.get(cell.learner, 0.0) + cell.seconds
    rows = [[learner, f"{total / 3600:.1f}", f"{total / 7200:.1f}"] for learner, total in seconds.items()]
    total = sum(seconds.values())
    rows.append(["all", f"{total / 3600:.1f}", f"{total / 7200:.1f}"])
    return _pipe(rows, ["learner", "hours of cells", "on two processors"])


def own_methods(run: Any) -> str:
    """Print each of our methods beside the paper's beta map and isotonic regression on the same folds, by log loss."""
    losses, peer_losses = _mean_log_losses(run.folder), _mean_log_losses(run.folder.removesuffix("-ours"))
    rows = []
    for learner, method in losses.columns:
        row = [losses.attrs["labels"][learner, method]]
        for peer in ("beta", "isotonic"):
            gain = (peer_losses[learner, peer] - losses[learner, method]).dropna()
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
    function.__name__.replace("_", "-"): function
    for function in (
        claims,
        partial_claims,
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
        passing_shares,
        columns_in_band,
        median_differences,
        known_reasons,
        verdicts_by_ranks,
        processor_hours,
        own_methods,
    )
}
