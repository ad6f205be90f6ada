"""The card of an exported model: its data, columns, splits, measures, reliability and versions, as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from probcal import __version__
from probcal._io import counted, printable
from probcal.distribution import NAME
from probcal.errors import installation, is_installed
from probcal.metrics.decisions import Costs
from probcal.try_table.measures import Measure
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.ranked_methods import interval_of
from probcal.try_table.unseen_rows import HEADER, UnseenResult

_PACKAGES = ("scikit-learn", "numpy", "pandas", "joblib")
RELIABILITY = "reliability.svg"


@dataclass(frozen=True)
class CardFacts:
    """Hold what the card says besides the table."""

    name: str
    """The method and learner, such as ``sigmoid on forest``."""
    verdict: str
    splits: str
    """How the rows were split, in words."""
    values: Mapping[Measure, Sequence[float]]
    """Measure -> its value on each split."""
    baseline: Mapping[Measure, Sequence[float]]
    """The same of the base rate."""
    test_share: float
    bound: float
    """The smallest probability that was measured and that ``predict.py`` gives."""
    traps: Sequence[str]
    notes: Sequence[str]
    """What else to know about the splits."""
    code: str
    n_rows: int
    """Number of rows on which the exported model was fitted."""
    digest: str
    """Digest of the file of the table, or an empty text."""
    costs: Costs | None = None
    """What wrong decisions cost, where the user said so."""
    unseen: UnseenResult | None = None
    """What the winner reached on the file of ``--test``, if there is one."""


def card_text(prepared: PreparedTable, facts: CardFacts) -> str:
    """Return the model card as Markdown."""
    return "\n".join(_lines(prepared, facts)) + "\n"


def _lines(prepared: PreparedTable, facts: CardFacts) -> Iterator[str]:
    target = prepared.target
    yield from (f"# {printable(facts.name)}, for `{printable(target.name)}`", "", printable(facts.verdict), "")
    outcome = f"the positive label `{printable(target.positive)}`" if target.positive else "each label"
    yield f"The model predicts the probability of {outcome}. It was fitted on all {facts.n_rows:,} labelled rows."
    if facts.costs:
        yield from ("", f"To keep the cost low, {facts.costs.advice}: FP / (FP + FN).")
    yield from ("", "## Data", "")
    yield f"- Table: `{printable(prepared.table.origin)}`" + (f", sha256 `{facts.digest}`" if facts.digest else "")
    yield f"- Rows: {len(target.labels):,}, of which {prepared.n_labelled:,} have a label"
    yield from (f"- `{printable(label)}`: {counted(rows)}" for label, rows in prepared.counts.items())
    yield from (f"- {printable(note)}" for note in prepared.notes)
    yield from ("", "## How it was measured", "", f"- {printable(facts.splits)}")
    if len(prepared.rows) < prepared.n_labelled:
        sampling = ", with more rows of rare classes and weights to make up for it" if prepared.enriched_classes else ""
        yield f"- A sample of {len(prepared.rows):,} rows{sampling}"
    limits = f"{facts.bound:.2g} and {1 - facts.bound:.6g}"
    yield f"- Probabilities are kept within {limits}, for the log loss here and in `predict.py`"
    yield from (f"- {printable(note)}" for note in facts.notes)
    yield from ("", "| measure | mean | 95 % interval | base rate |", "|---|---|---|---|")
    for measure, values in facts.values.items():
        yield f"| {measure.about} | {_cells(measure, values, facts.baseline[measure], facts.test_share)} |"
    yield from (
        "",
        "The intervals are those of Nadeau & Bengio (2003). The winner was chosen on the same splits, so its",
    )
    yield from ("means are a little too good.", "")
    if is_installed("matplotlib"):
        yield f"![Reliability of held-out rows]({RELIABILITY})"
    else:
        hint = "The reliability diagram needs matplotlib, which was not installed; install it with"
        yield f"{hint}: {installation('matplotlib')}"
    if facts.unseen:
        yield from _unseen_lines(facts.unseen)
    if facts.traps:
        yield from ("", "## Before you trust it", "", *(f"- {printable(trap)}." for trap in facts.traps))
    yield from ("", "## Columns", "", "| column | type | values |", "|---|---|---|")
    yield from (f"| {_cell(column.name)} | {column.kind} | {_cell(column.about)} |" for column in prepared.columns)
    yield from ("", "## Files", "")
    yield "- `predict.py`: `python predict.py new.csv > predicted.csv` adds the probabilities to new rows"
    weights = "; measure them with `--weight weight`, because rare classes have more rows"
    weights = weights if prepared.enriched_classes else ""
    yield f"- `predictions.csv`: the probabilities of held-out rows, with row, line and ids of the table{weights}"
    yield "- `train.py`: fits the same model again"
    yield "- `columns.json`: how the columns are read"
    yield "- `model.joblib`: the fitted scikit-learn pipeline. joblib stores every estimator; skops would be one more"
    yield "  package, and needs a list of every type to trust. Loading runs code from the file, so load only files"
    yield "  that you trust. `predict.py` warns you if it is not the exported file"
    yield from ("", "```python", facts.code.rstrip(), "```", "", "## Versions", "")
    yield f"- Python {platform.python_version()}"
    yield f"- {NAME} {__version__}"
    yield from (f"- {name} {version(name)}" for name in _PACKAGES)


def _unseen_lines(unseen: UnseenResult) -> Iterator[str]:
    table = unseen.rows.table
    yield from ("", "## The test file", "", f"- {printable(unseen.sentence)}")
    yield f"- File: `{printable(table.origin)}`" + (f", sha256 `{table.digest}`" if table.digest else "")
    yield from (f"- {note}" for note in unseen.notes)
    yield from ("", f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|")
    yield from (f"| {' | '.join(map(_cell, row))} |" for row in unseen.table())
    yield from (
        "",
        "Each test row was predicted once. In the column base rate, it gets the class shares of the training",
    )
    yield "rows."


def _cells(measure: Measure, values: Sequence[float], baseline: Sequence[float], test_share: float) -> str:
    mean, is_finite = np.mean(values), bool(np.isfinite(values).all())
    interval = "{:.4f} to {:.4f}".format(*interval_of(values, test_share, measure)) if is_finite else ""
    return f"{mean:.4f} | {interval} | {np.mean(baseline):.4f}" if is_finite else " | | "


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|")
