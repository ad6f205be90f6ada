"""Descriptions of a table and of its plan for a terminal of 80 columns, with a rough run time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from textwrap import wrap

from probcal._io import TERMINAL_WIDTH, counted, join_first, printable, shortened, wrap_line
from probcal.reading.target import FEW_ROWS, class_lines
from probcal.runner.time_left import duration
from probcal.try_table.column_types import Kind, TableColumn
from probcal.try_table.experiment_files import Plan
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.split_choice import RARE_SHARE

# Learner -> seconds of a fit, and of every further thousand training rows. Measured on Adult with one core in 2026.
_SECONDS = {
    "shares": (0.005, 0.0),
    "logistic": (0.01, 0.01),
    "nb": (0.05, 0.01),
    "tree": (0.005, 0.01),
    "svm": (0.02, 0.1),
    "forest": (0.25, 0.1),
    "boosting": (0.25, 0.05),
    "lightgbm": (0.1, 0.05),
    "xgboost": (0.1, 0.05),
    "catboost": (0.3, 0.1),
}
_DEFAULT_SECONDS = (0.5, 0.2)
FITS = {"direct": 1, "bagging": 100, "probing": 120, "relabeling": 100, "weight_sweep": 20}
# Three folds, and all rows.
_CROSS_VAL_FITS = 4
# Number of columns, with one for each level. Fits of wider tables take longer in proportion.
_USUAL_WIDTH = 100
# They need about one more fit for every class.
_PER_CLASS_LEARNERS = ("boosting", "logistic")
# Every column makes them slower, even with few rows.
_PER_COLUMN_LEARNERS = ("boosting", "nb")
_LONGEST_NAME = 24
_LONGEST_REASON = 150
_MOST_LISTED_COLUMNS = 40
_MOST_CLASSES = 12
_KIND_NAMES: dict[Kind, tuple[str, str]] = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "date": ("date", "dates"),
    "group": ("group", "groups"),
    "time": ("time", "times"),
    "weight": ("weight", "weights"),
    "left out": ("left out", "left out"),
}


def seconds(plan: Plan, n_rows: int, width: int, n_classes: int) -> float:
    """Return the rough run time of all cells one after another, within a factor of two or three.

    ``width`` counts the columns, with one for each level of a category.
    """
    wide = max(1.0, width / _USUAL_WIDTH)
    per_split = sum(
        _seconds_per_fit(learner, plan.split.train_share * n_rows / 1000, wide, n_classes) * _total_fits(plan, methods)
        for learner, methods in plan.pairs.items()
    )
    return plan.split.n_splits * per_split


def _seconds_per_fit(learner: str, thousands: float, wide: float, n_classes: int) -> float:
    base, slope = _SECONDS.get(learner, _DEFAULT_SECONDS)
    seconds = base * (wide if learner in _PER_COLUMN_LEARNERS else 1) + slope * thousands * wide
    return seconds * (n_classes - 1 if learner in _PER_CLASS_LEARNERS else 1)


def _total_fits(plan: Plan, methods: Sequence[str]) -> int:
    """Return the number of fits of one learner. Methods with a shared seed share theirs."""
    fits: dict[str, int] = {}
    for method in methods:
        entry = plan.methods[method]
        params = entry.get("params", {})
        fits_of_method = FITS.get(method, _CROSS_VAL_FITS if params.get("calibration") == "cross_val" else 1)
        if "n_settings" in params:
            fits_of_method = params["cv"] * params["n_settings"]
        fits["shared" if entry.get("shared_seed") else method] = fits_of_method
    return sum(fits.values())


def table_lines(prepared: PreparedTable) -> Iterator[str]:
    """Yield the description of the table, its target and the types of its columns."""
    table = prepared.table
    size = f"{table.origin_name}: {counted(table.n_rows)}, {counted(len(table.names), 'column')}"
    yield from wrap_line(printable("; ".join([size, *table.notes])))
    yield ""
    yield from _target_lines(prepared)
    yield ""
    yield from _column_lines(prepared.columns)
    if prepared.notes:
        yield ""
        yield from (line for note in prepared.notes for line in wrap_line(f"note: {printable(note)}"))


def plan_lines(prepared: PreparedTable, plan: Plan, custom_rows: bool = False) -> Iterator[str]:
    """Yield the description of what will run, on which rows. ``custom_rows`` says that the user gave their number."""
    n = len(prepared.rows)
    if n < prepared.n_labelled:
        note = "so that it takes minutes" if prepared.width < 400 else f"for {prepared.width:,} columns, levels counted"
        hint = "" if custom_rows else f", {note}; --rows uses more"
        yield from wrap_line(f"a sample of {n:,} of {prepared.n_labelled:,} rows is used{hint}")
    if prepared.enriched_classes:
        yield from wrap_line(_sentence_on_rare_classes(prepared))
    yield from wrap_line(printable(plan.split.sentence(n)))
    learner_groups: dict[tuple[str, ...], list[str]] = {}
    for learner, methods in plan.pairs.items():
        learner_groups.setdefault(tuple(methods), []).append(learner)
    for group_methods, learners in learner_groups.items():
        yield from wrap_line(printable(f"  {', '.join(learners)}: {', '.join(group_methods)}"))
    for note in dict.fromkeys(plan.exclusions.values()):
        names = ", ".join(name for name, reason in plan.exclusions.items() if reason == note)
        yield f"  without {names} ({note})"
    estimate = duration(max(1.0, seconds(plan, n, prepared.width, len(prepared.target.class_counts))))
    yield f"{plan.n_cells} cells (split, learner, method): roughly {estimate} with one job"


def trap_lines(traps: Sequence[str]) -> Iterator[str]:
    """Yield the traps of the table under a heading, nothing where there are none."""
    if traps:
        yield ""
        yield "Before you trust these results:"
        for trap in traps:
            yield from wrap_line(printable(f"- {trap}."))


def _sentence_on_rare_classes(prepared: PreparedTable) -> str:
    counts = prepared.table_class_counts
    parts = (
        f'all {rows:,} rows of "{name}"' if rows == counts[name] else f'{rows:,} of {counts[name]:,} rows of "{name}"'
        for name, rows in prepared.enriched_classes.items()
    )
    return printable(
        f"it keeps {join_first(parts, 5)}, because a class under {100 * RARE_SHARE:.0f} % is rare; "
        + ("" if prepared.weight is not None else "predictions are corrected and ")
        + "rows weighted for the shares of the whole table"
    )


def _target_lines(prepared: PreparedTable) -> Iterator[str]:
    target = prepared.target
    counts = class_lines(prepared.counts)
    yield printable(f"target: {target.name}, {len(counts)} classes")
    width = min(_LONGEST_NAME, max(len(label) for label, _ in counts))
    for label, words in counts[:_MOST_CLASSES]:
        mark = ""
        if label == target.positive:
            has_rarer_class = len(set(prepared.counts.values())) > 1
            mark = "  <- positive" + ("" if target.has_choice else ", the rarer" if has_rarer_class else "")
        yield f"  {_cell(label, width)}  {words}{mark}"
    if len(counts) > _MOST_CLASSES:
        yield f"  … {len(counts) - _MOST_CLASSES} more"
    if prepared.weight is not None:
        shares = zip(prepared.class_names, prepared.class_shares, strict=True)
        listing = join_first((f"{name} {100 * share:.3g} %" for name, share in shares), _MOST_CLASSES)
        yield from wrap_line(printable(f"weighted shares: {listing}"))
    rare_labels = [label for label, rows in target.class_counts.items() if rows < FEW_ROWS]
    if rare_labels:
        names = join_first((f'"{label}"' for label in rare_labels), 5)
        yield from wrap_line(printable(f"note: few rows of {names}, so results for them are rough"))


def _column_lines(columns: list[TableColumn]) -> Iterator[str]:
    kinds = Counter(column.kind for column in columns)
    yield f"columns: {', '.join(counted(kinds[kind], *words) for kind, words in _KIND_NAMES.items() if kinds[kind])}"
    used_columns = [column for column in columns if column.kind != "left out"]
    unused_columns = [column for column in columns if column.kind == "left out"]
    listing = [*used_columns[:_MOST_LISTED_COLUMNS], *unused_columns[:_MOST_LISTED_COLUMNS]]
    name_width = min(_LONGEST_NAME, max(len(printable(column.name)) for column in listing))
    for group in (used_columns, unused_columns):
        for column in group[:_MOST_LISTED_COLUMNS]:
            yield from _column_lines_of(column, name_width)
        if len(group) > _MOST_LISTED_COLUMNS:
            yield f"  … {len(group) - _MOST_LISTED_COLUMNS:,} more{' left out' if group is unused_columns else ''}"


def _column_lines_of(column: TableColumn, name_width: int) -> Iterator[str]:
    missing = f" ({column.missing:,} missing)" if column.missing and column.kind != "left out" else ""
    start = f"  {_cell(column.name, name_width)}  {column.kind:8}  "
    description = printable(column.about)
    if column.kind == "category":  # levels may be long
        yield start + shortened(description, TERMINAL_WIDTH - len(start) - len(missing)) + missing
        return
    if column.kind == "left out":
        description = shortened(description, _LONGEST_REASON)
    lines = wrap(description + missing, TERMINAL_WIDTH - len(start), break_long_words=False, break_on_hyphens=False)
    yield start + lines[0]
    for line in lines[1:]:
        yield " " * len(start) + line


def _cell(text: str, width: int) -> str:
    return shortened(printable(text), width).ljust(width)
