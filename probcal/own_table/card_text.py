"""The rows that are taken as a file, and the card that describes it."""

from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np

from probcal.csv_text import data_text
from probcal.data.dataset import as_text
from probcal.own_table.kinds import Column
from probcal.own_table.prepare import Prepared
from probcal.own_table.yaml_text import flow, key, quoted

TRAIN = 0.75
"""The share of the rows that train in every split."""
_LISTED = 150
"""Columns that a card lists one by one; of more, the commonest kind is said once."""
_KINDS = {"number": "numeric", "date": "numeric", "category": "nominal"}


def rows_text(prepared: Prepared) -> str:
    """The rows that are taken as CSV: the columns to learn from, and the target last."""
    target = prepared.target
    columns = [_texts(column, prepared) for column in prepared.inputs]
    labels = target.labels[target.labelled][prepared.rows]
    header = [*(column.name for column in prepared.inputs), target.name]
    return data_text([header, *zip(*columns, labels, strict=True)])


def card_text(prepared: Prepared, name: str, rows: str, fingerprint: str | None = None) -> str:
    """The card called ``name`` of the file NAME.csv beside it, whose text ``rows`` is."""
    target, table = prepared.target, prepared.table
    digest = hashlib.sha256(rows.encode()).hexdigest()
    expect = {"rows": len(prepared.rows), "columns": len(prepared.inputs), "classes": dict(target.counts)}
    if fingerprint:
        expect["fingerprint"] = fingerprint
    task = "task: multiclass" if target.positive is None else f"positive: {quoted(target.positive)}"
    lines = [
        f"name: {name}",
        f"title: {quoted(table.name)}",
        f"about: {quoted(_about(prepared))}",
        "columns:",
        *(f"  {key(column)}: {kind}" for column, kind in _kinds(prepared).items()),
        task,
        f"split: {{kind: holdout, train_fraction: {TRAIN}}}",
        "expect:",
        *(f"  {what}: {flow(value)}" for what, value in expect.items()),
        'folder: "."',
        "files:",
        "  - format: delimited",
        "    header: true",
        '    missing: [""]',
        f"    files: [{{name: {name}.csv, sha256: {digest}}}]",
    ]
    return "\n".join(lines) + "\n"


def _about(prepared: Prepared) -> str:
    of = f" of {prepared.n_labelled:,}" if len(prepared.rows) < prepared.n_labelled else ""
    return f"{len(prepared.rows):,}{of} rows of {prepared.table.name}, as probcal try took them."


def _kinds(prepared: Prepared) -> dict[str, str]:
    kinds = {column.name: _KINDS[column.kind] for column in prepared.inputs}
    usual, _ = Counter(kinds.values()).most_common(1)[0]
    if len(kinds) > _LISTED:
        kinds = {name: kind for name, kind in kinds.items() if kind != usual} | {"*": usual}
    return kinds | {prepared.target.name: "target"}


def _texts(column: Column, prepared: Prepared) -> list[str]:
    assert column.values is not None
    taken = column.values.iloc[prepared.rows]
    if column.kind == "category":
        return [*taken.astype(object).where(taken.notna(), "")]
    return ["" if np.isnan(number) else as_text(number) for number in taken.to_numpy(np.float64)]
