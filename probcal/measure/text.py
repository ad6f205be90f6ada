"""Text of measurements: tables for a terminal of 80 columns and the page, sentences below them, and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from probcal._io import aligned_lines, counted, join_first, printable, wrap_line
from probcal.measure.measured_part import Line, MeasuredSection
from probcal.measure.measurement import MOST_CLASSES
from probcal.measure.part_tests import ALL, GRADE, LEVEL, PartTests, Verdict, calibration_verdict, families, part_title
from probcal.measure.summary import SummarisedClasses, Summary, folds_text
from probcal.metrics.bootstrap import FEW_DRAWS, Interval, Quantity
from probcal.metrics.decisions import Costs
from probcal.metrics.row_support import FEWEST_CLASS_ROWS, FEWEST_ROWS
from probcal.reading.prediction_file import FilePredictions
from probcal.reading.target import class_lines

_DASH = "\N{EN DASH}"
# Smaller costs and thresholds are shown in powers of ten.
_LEAST_SHOWN = 0.001


@dataclass(frozen=True)
class Measurement:
    """Hold what one call measured. ``map`` is the short name of the map, or None without calibration."""

    predictions: FilePredictions
    sections: list[MeasuredSection]
    map: str | None
    draws: int
    seed: int
    costs: Costs | None = None
    classes: list[MeasuredSection] = field(default_factory=list)
    """Each of several classes against all others."""
    tests: list[PartTests] = field(default_factory=list)
    likeliest: MeasuredSection | None = None
    """The likeliest class of each row: whether it is right. None for two classes."""
    excess_cost: float | str = ""
    """How much dearer the threshold of the costs can be than any other one, or what a bound on it lacks, in words."""

    @property
    def tables(self) -> list[MeasuredSection]:
        """Return all tables in their order."""
        return [*self.sections, *([] if self.likeliest is None else [self.likeliest]), *self.classes]

    @property
    def verdict(self) -> Verdict:
        """Return whether calibration is rejected over all rows."""
        return calibration_verdict(self.sections[0], self.tests, self.predictions)

    @property
    def shown_tests(self) -> list[PartTests]:
        """Return the tests of the tables. Those of all rows alone are in the verdict only."""
        return [] if [part.kind for part in self.tests] == [ALL] else self.tests


def description(predictions: FilePredictions) -> Iterator[str]:
    """Yield lines that say what was read."""
    table, counts = predictions.table, class_lines(predictions.counts())
    if predictions.has_weights:
        shares = predictions.shares()
        counts = [(label, f"{words}, {100 * shares[label]:.3g} % of the weight") for label, words in counts]
    yield from wrap_line("; ".join([f"{table.origin_name}: {counted(predictions.n_rows)}", *table.notes]))
    columns = ", ".join(predictions.columns[:MOST_CLASSES])
    if predictions.is_binary:
        label, words = counts[1]
        yield from wrap_line(f'target {predictions.target}: "{label}" is positive, {words}; its probability: {columns}')
    else:
        yield from wrap_line(f"target {predictions.target}: {len(counts)} classes; their probabilities: {columns}")
        yield from (f"  {label}  {words}" for label, words in counts[:MOST_CLASSES])
        if len(counts) > MOST_CLASSES:
            yield f"  … {len(counts) - MOST_CLASSES} more"
    for note in predictions.notes:
        yield from wrap_line(f"note: {note}")


def table(section: MeasuredSection, map: str | None) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of a section, all as text."""
    interval = "95 % interval"
    if map is None:
        header = [section.name, "value", interval]
    else:
        header = [section.name, "before", interval, "after", interval, "change"]
    first = ["rows", f"{section.n_rows:,}"]
    rows = [first + [""] * (len(header) - len(first))]
    for line in section.lines:
        rows.append([line.quantity.label, *_cells(line.before, line.quantity)])
        if map is not None:
            rows[-1] += ["", "", ""] if line.after is None else [*_cells(line.after, line.quantity), _change(line)]
    return header, rows


def table_lines(section: MeasuredSection, map: str | None) -> Iterator[str]:
    """Yield the lines of a section for a terminal: names to the left, numbers to the right."""
    header, rows = table(section, map)
    text_rows = [[printable(cell, 60) for cell in row] for row in [header, *rows]]
    # the name of a section may be long, and then has a line of its own
    if len(text_rows[0][0]) > max(len(row[0]) for row in text_rows[1:]):
        yield text_rows[0][0]
        text_rows[0][0] = ""
    yield from aligned_lines(text_rows)


def tests_tables(measurement: Measurement) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Yield header and rows of the tests of groups and classes, and then of the tests of grades, all as text."""
    for parts in families(measurement.shown_tests):
        is_grade = parts[0].kind == GRADE
        p_values = {"binomial_p": "binomial", "jeffreys_p": "Jeffreys"}
        if not is_grade:
            first = ("exact_p", "exact p") if measurement.predictions.cluster is None else ("robust_p", "robust p")
            p_values = dict([first, ("spiegelhalter_p", "Spiegelhalter")])
        name = "tests" if not is_grade else "grade" if parts[0].column else "bin of probability"
        rows = []
        for part in parts:
            tests = part.tests
            numbers = [_small(value, 4) for value in (tests.mean, tests.observed, tests.low, tests.high)]
            marked = [number(part.corrected[one]) + ("*" if part.corrected[one] <= LEVEL else " ") for one in p_values]
            title = part.name if is_grade else part_title(part, measurement.predictions.is_binary)
            rows.append([title, f"{tests.n_rows:,}", *numbers[:2], " to ".join(numbers[2:]), *marked])
        yield [name, "rows", "mean p", "observed", "95 % interval", *(f"{one} " for one in p_values.values())], rows


def tests_legend(measurement: Measurement) -> list[str]:
    """Return sentences on the tests of groups, classes and grades."""
    parts, predictions = measurement.shown_tests, measurement.predictions
    if not parts:
        if isinstance(predictions, Summary) and not predictions.is_binary:
            return ["There are no tests, which need single rows that count alike."]
        summarised = predictions.group_cells if isinstance(predictions, Summary) else None
        no_tests = "The groups have no tests, which need single rows that count alike."
        return [no_tests] if predictions.groups or summarised else []
    rows = "positive rows"
    if not predictions.is_binary:
        rows = "rows of the class, and for the likeliest class the rows in which it is right"
    large = "exact p: the number of these rows against its Poisson binomial distribution, two-sided"
    few = "and has a dash where rows are too few"
    if predictions.cluster is not None:
        large = "robust p: the number of these rows against its mean and its variance over the clusters, two-sided"
        few = "with the variance over the clusters. Both have a dash where clusters are too few"
    lines = [
        f"Tests of the probabilities in the file: observed is the share of {rows}, with Jeffreys' interval. {large}; "
        f"Spiegelhalter: sees also predictions that are too extreme or not extreme enough, {few}."
    ]
    if any(part.kind == GRADE for part in parts):
        lines.append(
            "binomial, Jeffreys: the tests of rating grades against a mean p that is too low, one-sided. They say "
            "nothing about a mean p that is too high; see the interval."
        )
    lines.append(
        "All these p-values have Holm's correction: over the groups of a column, or the classes, and both tests; and "
        "over the grades for each test. *: at most .05. If all predictions are calibrated, a star stands anywhere in "
        "such a family with a probability of at most 5 %. "
        + ("Spiegelhalter's and Jeffreys'" if predictions.cluster is None else "These")
        + " p-values are approximate."
    )
    return lines


def findings(measurement: Measurement) -> list[str]:
    """Return sentences on what the numbers of all rows mean."""
    section, predictions = measurement.sections[0], measurement.predictions
    sentence = measurement.verdict.sentence
    # the tests are about the probabilities in the file
    lines = [sentence if measurement.map is None else f"Without {measurement.map}, c{sentence[1:]}"]
    if section.impossible_rows:
        n, first = len(section.impossible_rows), predictions.line(section.impossible_rows[0])
        rows, location = counted(n), f"({first})" if n == 1 else f"(first: {first})"
        lines.append(
            f"The log loss is infinite: {rows} had predicted probability 0 for the observed class {location}. "
            "Were they rounded in the file? --calibrate gives every class a probability above 0."
        )
    p = section.p
    n_certain = int(((p == 0) | (p == 1) if p.ndim == 1 else (p == 0).any(axis=1)).sum())
    if n_certain and section.line("slope"):
        rows = counted(n_certain, "row has", "rows have")
        lines.append(f"Slope and intercept have no value: {rows} a predicted probability of 0 or 1, without log-odds.")
    if baseline := _baseline_text(section, predictions):
        lines.append(baseline)
    auc = section.line("auc")
    if auc and predictions.is_binary and auc.before.high < 0.5:
        label = predictions.classes[1]
        lines.append(f'The AUC is below .5. Is "{label}" the label whose probability was predicted? See --positive.')
    if measurement.costs is not None:
        lines.append(_cost_text(measurement.costs, section))
        lines.append(_excess_cost_text(measurement))
    lines += _missing_classes_text(measurement)
    lines += _few_rows_text(measurement)
    if measurement.map is not None and (loss := section.line("log_loss_bits")):
        lines.append(_effect_text(measurement.map, loss, section.support.has_losses))
    return lines


def legend(measurement: Measurement) -> list[str]:
    """Return sentences on how the numbers were made."""
    quantities = [line.quantity for line in measurement.sections[0].lines]
    measures = [quantity for quantity in quantities if not quantity.metric.no_end]
    losses = ", ".join(quantity.label for quantity in measures if not quantity.metric.larger_is_better)
    scores = ", ".join(quantity.label for quantity in measures if quantity.metric.larger_is_better)
    meanings = {
        quantity.label: quantity.metric.about for quantity in quantities if quantity.label == quantity.metric.short
    }
    lines = [f"Smaller is better: {losses}; larger: {scores}."]
    lines.append("; ".join(f"{label}: {meaning}" for label, meaning in meanings.items()) + ".")
    slow = [quantity.label for quantity in quantities if quantity.has_interval and quantity.metric.measured == "asked"]
    few_draws = f" ({FEW_DRAWS} for {slow[0]} and below)" if slow and measurement.draws > FEW_DRAWS else ""
    cluster = measurement.predictions.cluster
    if measurement.draws:
        unit = "rows" if cluster is None else f'clusters of "{cluster[0]}"'
        lines.append(
            f"Intervals: {measurement.draws:,} bootstrap draws of the {unit}{few_draws}, seed {measurement.seed}."
        )
    else:
        suffix = "" if cluster is None else f', with the variance over the clusters of "{cluster[0]}"'
        lines.append(
            f"Intervals in closed form: Wilson's for the base rate, DeLong's for the AUC, normal for means{suffix}."
        )
    if isinstance(measurement.predictions, SummarisedClasses):
        lines.append(
            "The log loss and the Brier score are exact, with normal intervals. Any other interval of all classes is "
            "the mean of the intervals of the classes, or half their sum, which may be too wide but not too short. E50 "
            "and E90 have a dash, because they need single rows."
        )
    if measurement.map is not None:
        folds = folds_text(measurement.predictions)
        lines.append(f"After: {measurement.map}; each row by a map fitted on the other four of 5 {folds}.")
        lines.append(
            "* the 95 % interval of the change of a loss excludes 0. After calibration, the calibration errors and "
            "the AUC are a little smaller than on new rows, because five different maps together saw every label."
        )
    return lines + tests_legend(measurement)


def text_lines(measurement: Measurement) -> Iterator[str]:
    """Yield all that the command prints, without control characters."""
    yield from (printable(line) for line in description(measurement.predictions))
    for section in measurement.tables:
        yield ""
        yield from table_lines(section, measurement.map)
    if tables := [[header, *rows] for header, rows in tests_tables(measurement)]:
        yield ""
        # one table: what follows the second header stands below the same columns
        yield from aligned_lines([[printable(cell, 40) for cell in row] for rows in tables for row in rows])
    for sentences in (findings(measurement), legend(measurement)):
        yield ""
        for sentence in sentences:
            yield from wrap_line(printable(sentence), hang=0)


def value_lines(measurement: Measurement) -> Iterator[str]:
    """Yield the values of sections that have no intervals yet."""
    for section in measurement.sections:
        yield from table_lines(section, measurement.map)
        yield ""
    yield "These values are final. The intervals above are in closed form."
    yield f"The bootstrap intervals of all metrics need {measurement.draws:,} draws, which are made now."


def _cells(interval: Interval, quantity: Quantity) -> list[str]:
    value, low, high = (_shown(bound, quantity) for bound in (interval.value, interval.low, interval.high))
    return [value, "" if math.isnan(interval.low) else f"{low} to {high}"]


def _shown(value: float, quantity: Quantity) -> str:
    return _small(value, quantity.decimals) if quantity.is_small else number(value, quantity.decimals)


def _small(value: float, decimals: int) -> str:
    # -2.9e-4 and not -2.9e-04, because the tables are for 80 columns
    return f"{value:.1e}".replace("e-0", "e-") if 0 < abs(value) < _LEAST_SHOWN else number(value, decimals)


def _change(line: Line) -> str:
    if line.change is None or not math.isfinite(line.change.value):
        return ""
    mark = "*" if line.quantity.is_tested and line.change.excludes_zero else " "
    text = _shown(line.change.value, line.quantity)
    return f"{'' if text.startswith('-') else '+'}{text}{mark}"


def number(value: float, decimals: int = 4) -> str:
    """Return a number as the tables show it, a dash where it is undefined."""
    if math.isnan(value):
        return _DASH
    return f"{value:.{decimals}f}" if abs(value) < 10 else f"{value:.4g}"


def _baseline_text(section: MeasuredSection, predictions: FilePredictions) -> str | None:
    """Return the log loss of predicting the base rates for every row, beside that of the predictions."""
    loss = section.line("log_loss_bits")
    if loss is None:
        return None
    shares = section.class_weight / section.weight.sum()
    constant = -sum(share * math.log2(share) for share in shares.tolist() if share)
    baseline = "the base rate" if predictions.is_binary else "the share of each class"
    prefix = f"The log loss is {number(loss.before.value)} bits. " if math.isfinite(loss.before.value) else ""
    better = ", which is better" if loss.before.value > constant else ""
    return f"{prefix}Predicting {baseline} for every row would give {number(constant)} bits{better}."


def _missing_classes_text(measurement: Measurement) -> Iterator[str]:
    predictions = measurement.predictions
    names = "the AUC, the slope and the intercept have" if predictions.is_binary else "the AUC has"
    absent = []
    for section in measurement.sections:
        labels = [f'"{label}"' for label, n in zip(predictions.classes, section.counts, strict=True) if not n]
        absent += [f"{section.name} (no row of {join_first(labels, 3)})"] if labels else []
    if absent:
        yield f"Where a class has no rows, {names} no value: {join_first(absent, 5)}."


def _few_rows_text(measurement: Measurement) -> Iterator[str]:
    few = [f"{section.name} ({section.support.reason})" for section in measurement.sections if section.support.reason]
    if few:
        losses = "" if measurement.predictions.is_binary else " (a log loss or Brier score: outside the largest class)"
        unit = "rows" if measurement.predictions.cluster is None else "clusters"
        yield (
            f"Too few {unit} for intervals{'' if measurement.map is None else ' and stars'}: {join_first(few, 5)}. "
            f"{FEWEST_ROWS} {unit} are needed, and {FEWEST_CLASS_ROWS} of each class{losses}."
        )
    unknown = [section.name for section in measurement.sections if not section.support.has_p_value]
    if isinstance(measurement.predictions, Summary):
        yield "p(c_emp) is left out: it needs single rows, and these predictions are summarised."
    elif measurement.predictions.cluster is not None:
        yield "p(c_emp) is left out: it needs independent rows, and the rows of a cluster are not independent."
    elif unknown:
        yield f"Too few rows, or too certain predictions, for p(c_emp): {join_first(unknown, 5)}."


def _cost_text(costs: Costs, section: MeasuredSection) -> str:
    """Return what to decide, and whether that is cheaper than the same decision for every row."""
    cost = section.line("cost")
    always = {one: section.line(f"cost_always_{one}") for one in ("positive", "negative")}
    assert cost is not None
    same = {one: line.before.value for one, line in always.items() if line is not None}
    cheaper = min(same, key=lambda one: same[one])
    last = cost.before if cost.after is None else cost.after
    better = "" if last.value < same[cheaper] else ", which is no dearer than the predictions"
    return (
        f"To keep the cost low, {costs.advice}. Then a row costs {_shown(last.value, cost.quantity)} on average"
        f"{'' if cost.after is None else ' after calibration'}. To decide always {cheaper} costs "
        f"{_shown(same[cheaper], cost.quantity)}{better}. The best threshold of the table was chosen on these "
        "rows, so its lowest cost is optimistic: on new rows the best threshold costs more than that."
    )


def _excess_cost_text(measurement: Measurement) -> str:
    """Say how much dearer the threshold of the costs can be than any other one, in the words of the lemma."""
    line = measurement.sections[0].line("cost")
    assert measurement.costs is not None and line is not None
    cost, bound = line.before if line.after is None else line.after, measurement.excess_cost
    which, whose = "these", ""
    if measurement.map is not None:
        which, whose = "the calibrated", ", on average over the maps of the 5 folds"
    if isinstance(bound, float) and bound < cost.value:  # no cost is negative, so a larger bound says nothing
        advice = " A map lowers this bound where it lowers c_emp." if measurement.map is None else ""
        return (
            f"With 95 % confidence, the threshold {measurement.costs.threshold:.4g} costs at most {bound:.3g} a row "
            f"more than any other threshold of {which} probabilities{whose}.{advice}"
        )
    lack = bound if isinstance(bound, str) else "more rows, or costs that differ less, to be below the cost itself"
    return f"No bound is given on how much less another threshold of {which} probabilities could cost: it needs {lack}."


def _effect_text(map: str, loss: Line, has_rows: bool) -> str:
    if loss.change is None or loss.after is None:
        return ""
    if math.isinf(loss.before.value):
        return f"With {map} the log loss is {number(loss.after.value)} bits."
    change = loss.change
    if math.isnan(change.low):
        # A summary without draws has no test either: it lacks the rows whose losses differ.
        reason = "Without draws, its change has no test." if has_rows else "There are too few rows to test the change."
        return f"With {map} the log loss is {number(loss.after.value)} bits. {reason}"
    if not change.excludes_zero:
        return f"With {map} the log loss is not significantly different ({number(loss.after.value)} bits)."
    is_lower = change.value < 0
    low, high = sorted((abs(change.low), abs(change.high)))
    return (
        f"With {map} the log loss is {number(abs(change.value))} bits {'lower' if is_lower else 'higher'} "
        f"(95 % interval {number(low)} to {number(high)})."
    )
