"""Tables without a format, their order and footnotes, and their output as Markdown, LaTeX or a web page.

Titles and messages are escaped.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tabulate import tabulate

from probcal._io import Field, csv_text, printable, shortened
from probcal.metrics.metric import INFINITY

if TYPE_CHECKING:
    from probcal.store.stored_experiment import StoredExperiment
    from probcal.store.summary import CellCounts, Summary

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)

NOT_RUN = "\N{EN DASH}"
INCOMPLETE = "†"


class Text(NamedTuple):
    """Hold the text of one cell: ``main``, which may be bold, then ``rest``, which never is."""

    main: str = ""
    rest: str = ""
    bold: bool = False
    minor: bool = False
    """Whether it belongs to the line above, such as the sd or the published number."""


@dataclass(frozen=True)
class Grid:
    """Hold a table. ``rows`` have as many cells as ``header``. ``notes`` are lines below the table."""

    name: str
    explanation: str
    header: list[str]
    rows: list[list[Text]]
    notes: list[str] = field(default_factory=list)
    number: int = 0
    """0 until ``number_tables`` has numbered the tables that stand together."""


Columns = Sequence[tuple[str, Callable[[Item], Text | str]]]
"""Columns of a table, each with its header and the function that writes the cell of an item.

Whoever adds a column adds its function here and nowhere else, so that header and cells cannot disagree.
"""
CsvColumns = Sequence[tuple[str, Callable[[Item], Field]]]
"""The same for a CSV file."""


def table_of(
    name: str, explanation: str, columns: Columns[Item], items: Iterable[Item], notes: Iterable[str] = ()
) -> Grid:
    """Return a table with one row per item."""
    cells = [[write(item) for _, write in columns] for item in items]
    rows = [[cell if isinstance(cell, Text) else Text(cell) for cell in line] for line in cells]
    return Grid(name, explanation, [header for header, _ in columns], rows, [*notes])


def csv_lines(columns: CsvColumns[Item], items: Iterable[Item], has_header: bool = True) -> str:
    """Return CSV with one line per item, below the header."""
    header: list[list[Field]] = [[name for name, _ in columns]] if has_header else []
    return csv_text(chain(header, ([write(item) for _, write in columns] for item in items)))


def number_tables(grids: Iterable[Grid], first: int = 1) -> list[Grid]:
    """Return the tables numbered from ``first``."""
    return [replace(grid, number=number) for number, grid in enumerate(grids, first)]


def span_text(counts: Iterable[int]) -> str:
    """Return ``3``, or ``3 to 10`` for different numbers."""
    numbers = sorted(counts)
    return f"{numbers[0]}" if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"


@dataclass(frozen=True)
class _Format:
    tabulate_name: str
    escape: Callable[[str], str]
    bold: str
    minor: str

    def text(self, cell: Text) -> str:
        main = self.plain(cell.main)
        if cell.bold:
            main = self.bold.format(main)
        elif cell.minor and main:
            main = self.minor.format(main)
        return main + self.escape(cell.rest) if cell.rest else main

    def plain(self, text: str) -> str:
        return self.escape(" ".join(text.split()))

    def table(self, grid: Grid) -> str:
        return str(
            tabulate(
                [[self.text(cell) for cell in row] for row in grid.rows],
                headers=[self.plain(name) for name in grid.header],
                tablefmt=self.tabulate_name,
                # It would print 0.850 as 0.85.
                disable_numparse=True,
                # Centred, "**0.326**", "±0.004" and "[0.331]" have their points one under the other.
                colalign=("left", *["center"] * (len(grid.header) - 1)),
            )
        )


_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "∞": r"$\infty$", "±": r"$\pm$", "†": r"$\dagger$", "\N{EN DASH}": "--",
    "…": r"\ldots{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "[": "{[}", "*": "{*}",  # [ and * after the end of a line would be read as its options
}  # fmt: skip


# [ stays, since only what follows ] makes a link or an image of it.
_MARKDOWN_MARKS = re.compile(r"[\\|*`<]|(?<=\])[(\[:]")


def _escape_markdown(text: str) -> str:
    # A function, because Python would parse a text with a backslash in each call.
    return _MARKDOWN_MARKS.sub(lambda match: f"\\{match[0]}", text)


def _escape_latex(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(letter, letter) for letter in text)


_MARKDOWN = _Format("pipe", _escape_markdown, "**{}**", "{}")
_TEX = _Format("latex_raw", _escape_latex, r"\textbf{{{}}}", "{}")
# "unsafe", because the cells are escaped already and hold our own tags.
_HTML = _Format("unsafehtml", html.escape, "<b>{}</b>", "<small>{}</small>")


def markdown(title: str, grids: list[Grid]) -> str:
    blocks = [f"# {_MARKDOWN.plain(title)}"]
    for grid in grids:
        name, explanation = _MARKDOWN.plain(grid.name), _MARKDOWN.plain(grid.explanation)
        blocks.append(f"**Table {grid.number}. {name}**; {explanation}")
        blocks.append(_MARKDOWN.table(grid))
        if grid.notes:
            blocks.append("\n".join(f"- {_MARKDOWN.plain(note)}" for note in grid.notes))
    return "\n\n".join(blocks) + "\n"


def latex(title: str, grids: list[Grid]) -> str:
    r"""Return LaTeX for ``\input`` into a document. It needs no package, and LaTeX numbers the tables."""
    blocks = [f"% {_TEX.plain(title)}"]
    for grid in grids:
        name, explanation = _TEX.plain(grid.name), _TEX.plain(grid.explanation)
        notes = "".join(f"\\par {_TEX.plain(note)}\n" for note in grid.notes)
        blocks.append(
            f"\\begin{{table}}[p]\n\\centering\\scriptsize\\setlength{{\\tabcolsep}}{{3pt}}\n"
            f"\\caption{{{_TEX.plain(title)}. \\textbf{{{name}}}; {explanation}}}\n"
            f"{_TEX.table(grid)}\n{notes}\\end{{table}}"
        )
    return "\n\n".join(blocks) + "\n"


_SCREEN = '<meta name="viewport" content="width=device-width, initial-scale=1">'
_STYLE = """
:root { color-scheme: light dark }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em }
table { border-collapse: collapse; margin: .6em 0 } td, th { padding: .15em .6em; white-space: nowrap }
thead th { border-bottom: 2px solid } tbody tr { border-top: 1px solid #8886 }
tbody tr:has(small) { border-top: none } small, ul { opacity: .75 } figure { margin: 0 0 2.5em; overflow-x: auto }
ul { padding-left: 1.2em; margin: .3em 0 }
""".strip()


def html_page(experiments: list[tuple[str, list[Grid]]]) -> str:
    """Return a self-contained web page of (title, tables)."""
    title = _HTML.plain(experiments[0][0] if len(experiments) == 1 else "probcal: results")
    sections = "\n".join(
        f"<h1>{_HTML.plain(name)}</h1>\n" + "\n".join(html_table(grid) for grid in grids) for name, grids in experiments
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{_SCREEN}\n<title>{title}</title>\n'
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{sections}\n</body>\n</html>\n"
    )


def html_table(grid: Grid) -> str:
    """Return one table with caption and notes, as a part of a page."""
    notes = "".join(f"<li>{_HTML.plain(note)}</li>\n" for note in grid.notes)
    return (
        f"<figure>\n<figcaption><b>Table {grid.number}. {_HTML.plain(grid.name)}</b>; "
        f"{_HTML.plain(grid.explanation)}</figcaption>\n{_HTML.table(grid)}\n"
        + (f"<ul>\n{notes}</ul>\n" if notes else "")
        + "</figure>"
    )


TABLES_1_TO_3 = ("cxe", "rms", "auc")


def group_by(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Return the items by key, in the order in which the keys first occur."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def order_metrics(metrics: Iterable[str], priority: Sequence[str] = TABLES_1_TO_3) -> list[str]:
    """Return the metrics, each once, with those of Tables 1 to 3 first, or those of ``priority``."""
    names = list(dict.fromkeys(metrics))
    first = [metric for metric in priority if metric in names]
    return first + [metric for metric in names if metric not in first]


def order_tables(metric_tables: Mapping[str, Grid], best_table: Grid | None) -> list[Grid]:
    """Return the tables of ``TABLES_1_TO_3``, ``best_table`` unless None, then those of the other metrics."""
    names = order_metrics(metric_tables)
    grids = [metric_tables[metric] for metric in names]
    if best_table:
        grids.insert(sum(metric in TABLES_1_TO_3 for metric in names), best_table)
    return grids


UNDEFINED = "n/a"
_LONGEST_REASON = 120


def footnotes(summaries: Sequence[Summary], cell_counts: CellCounts) -> list[str]:
    """Return footnotes for the marks in the table. Failed and missing cells are counted over the experiment."""
    notes = []
    if any(0 < summary.infinite < summary.n for summary in summaries):
        notes.append(f"{INFINITY} (k/n): k of n splits are {INFINITY}, so the mean is {INFINITY}.")
    if n_partial := sum(summary.is_partial for summary in summaries):
        notes.append(f"{INCOMPLETE} mean over fewer splits than planned ({n_partial} in this table).")
    if n_undefined := sum(summary.undefined for summary in summaries):
        notes.append(f"{UNDEFINED}: the metric has no value ({n_undefined} done cells).")
    return notes + cell_notes(cell_counts)


def cell_notes(counts: CellCounts) -> list[str]:
    """Return notes on cells that are missing, stale or have warnings."""
    warnings = sorted(counts.warned.items())
    return missing_cells(counts) + [
        f"{printable(kind)} in {columns.total()} of {counts.planned} cells: {_column_counts(columns)}."
        for kind, columns in warnings
    ]


def missing_cells(counts: CellCounts) -> list[str]:
    """Return notes on cells that failed, were not run or are stale."""
    notes = []
    if counts.failed:
        first = counts.failed[0]
        reason = shortened(first.failure_text, _LONGEST_REASON)
        notes.append(f"failed: {len(counts.failed)} of {counts.planned} cells; the first is {first.id}: {reason}")
    if counts.later_failure:
        first = counts.later_failure[0]
        reason = shortened(first.failure_text, _LONGEST_REASON)
        notes.append(
            f"failed when run again: {len(counts.later_failure)} of {counts.planned} cells. Their last done "
            f"results are shown; the first is {first.id}: {reason}"
        )
    if counts.not_run:
        empty_text = f"; none for {', '.join(counts.empty)}" if counts.empty else ""
        notes.append(f"{NOT_RUN} not run: {counts.not_run} of {counts.planned} cells{empty_text}.")
    if counts.stale:
        notes.append(
            f"stale: {counts.stale.total()} of {counts.planned} cells have other settings, data or code than the last "
            f"run, or data that changed since ({_column_counts(counts.stale)}); probcal run renews them."
        )
    return notes


def override_notes(stored: StoredExperiment, only_skips: bool = False) -> list[str]:
    """Return each override of the experiment with its reason, or only those that leave cells out.

    A group of columns whose every column it applies to is named as a whole.
    """
    titles = {row.name: row.title for row in stored.datasets}
    groups = group_by(stored.columns, lambda column: column.group)
    notes = []
    for override in stored.exceptions:
        names = ", ".join(titles[name] for name in override.datasets if name in titles)
        labels: list[str] = []
        for group, columns in groups.items():
            matches = [column.label for column in columns if (column.learner, column.method) in override.columns]
            labels += [group] if len(matches) == len(columns) else matches
        if override.skip or not only_skips:
            notes.append(f"{names}, {', '.join(labels)} ({override.what}): {override.why}")
    return notes


def _column_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{label} {n}" for label, n in counts.most_common())
