"""Reliability diagrams as the chart draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from probcal.errors import StoreError
from probcal.show.estimates.pictures import Picture, Pictures, pictures_of
from probcal.show.outline import Outline
from probcal.show.summary import Results
from probcal.store import Store

_DECIMALS = 5


@dataclass(frozen=True)
class Reliable:
    """``lines``: places of data set and column, splits, and of each bin (mean, observed, low, high, rows)."""

    lines: list[list[Any]]
    top_label: bool
    """Some have more than two classes: then it is about the likeliest class of each row."""
    notes: list[str]


def reliable(store: Store, outline: Outline, results: Results) -> Reliable:
    """Of the estimates that are kept, or of ``estimates.json``, which is written if the folder can be."""
    found = _pictures(store, outline, results)
    rows = {row.name: place for place, row in enumerate(outline.datasets)}
    columns = {column: place for place, column in enumerate(outline.columns)}
    return Reliable(
        [[rows[one.row.name], columns[one.column], one.n_splits, _bins(one)] for one in found.every],
        any(one.top_label for one in found.every),
        found.notes(outline) if found.every else [],
    )


def _pictures(store: Store, outline: Outline, results: Results) -> Pictures:
    try:
        return pictures_of(store, outline, results, keep=True)
    except StoreError:
        return pictures_of(store, outline, results)


def _bins(one: Picture) -> list[list[float]]:
    bins = one.reliability
    shares = zip(bins.mean, bins.observed, bins.low, bins.high, strict=True)
    return [[*(round(float(x), _DECIMALS) for x in four), n] for four, n in zip(shares, bins.counts, strict=True)]
