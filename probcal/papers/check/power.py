"""The power of the check: what share of shuffled columns, and of a wrong method, `probcal check` would let pass.

It is about single numbers. Differences between columns, claims and drift are further gates, and are not counted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from probcal.papers.check.agreement import (
    UNIT_TOLERANCE,
    Block,
    Names,
    Orders,
    RowKind,
    constant_column_order,
    identity_order,
    permuted_entries,
    shuffled_orders,
)
from probcal.papers.check.findings import paper_column
from probcal.papers.deviations import Deviation, Kind

Booleans = NDArray[np.bool_]


@dataclass(frozen=True)
class Rule:
    """Describe one rule of the check."""

    name: str
    kind: Kind
    """Kind of the known deviations that excuse a number."""
    judges: Callable[[Block], Booleans]
    """Which published columns of a block it judges, unless they have no number."""
    agrees: Callable[[Block], Booleans]
    """Shape (published columns, our columns): whether ours agrees, or cannot be judged."""


def _passes_band(block: Block) -> Booleans:
    return np.asarray(block.in_band != 0)  # NaN, which cannot be judged, is not 0


def _row_kind_rule(name: str, rows: RowKind) -> Rule:
    return Rule(
        name, "number", lambda block: np.full(block.size, block.row_kind == rows) & ~block.has_draws, _passes_band
    )


RULES = (
    _row_kind_rule("band of random splits", "random"),
    _row_kind_rule("band of three standard errors, means of random splits", "random means"),
    _row_kind_rule("tolerance on one fixed split", "split"),
    _row_kind_rule("tolerance on the paper's own folds", "folds"),
    Rule(
        "range of our draws, drawn columns on published splits", "number", lambda block: block.has_draws, _passes_band
    ),
    Rule(
        "one unit of the last digit, exact columns on published splits",
        "digits",
        lambda block: block.exact_digits,
        lambda block: block.units <= UNIT_TOLERANCE,
    ),
)


@dataclass(frozen=True)
class Gate:
    """Hold what one rule of the check lets pass. Shares are from 0 to 1.

    A number passes if it is no new deviation: it agrees, it cannot be judged, or a known deviation excuses it.
    """

    name: str
    numbers: int
    excused: int
    """Numbers that a known deviation excuses, whatever ours are."""
    ours: float
    shuffled: float
    """Mean share over the random orders of the columns."""
    wrong: float | None
    """Share for the plain column in all columns, None where it was not run."""


def build_gates(
    blocks: Sequence[Block], deviations: Sequence[Deviation], experiment: str, plain: Names | None
) -> list[Gate]:
    """Return one gate per rule that judges numbers of an ``experiment``.

    ``deviations`` are the known ones. ``plain`` is the paper's column that stands in all columns.
    """
    all_gates = (_build_gate(rule, blocks, deviations, experiment, plain) for rule in RULES)
    return [gate for gate in all_gates if gate is not None]


def _build_gate(
    rule: Rule, blocks: Sequence[Block], deviations: Sequence[Deviation], experiment: str, plain: Names | None
) -> Gate | None:
    masks = [rule.judges(block) & ~np.isnan(block.published) for block in blocks]
    excuse_masks = [_excused_columns(rule.kind, block, deviations, experiment) for block in blocks]
    if not any(mask.any() for mask in masks):
        return None

    def share(orders_of: Callable[[Block], Orders]) -> float | None:
        counts, total = [], 0
        for block, mask, excuse in zip(blocks, masks, excuse_masks, strict=True):
            orders = orders_of(block)
            if len(orders) and mask.any():
                counts.append((permuted_entries(rule.agrees(block), orders) | excuse)[:, mask].sum(axis=1).mean())
                total += int(mask.sum())
        return float(sum(counts) / total) if total else None

    return Gate(
        name=rule.name,
        numbers=int(sum(mask.sum() for mask in masks)),
        excused=int(sum((mask & excuse).sum() for mask, excuse in zip(masks, excuse_masks, strict=True))),
        ours=share(identity_order) or 0.0,
        shuffled=share(shuffled_orders) or 0.0,
        wrong=share(functools.partial(constant_column_order, plain)),
    )


def _excused_columns(kind: Kind, block: Block, deviations: Sequence[Deviation], experiment: str) -> Booleans:
    """Return, per published column, whether a known deviation of this ``kind`` explains its number."""
    dataset, metric = block.row.paper_dataset, block.metric
    return np.array([
        any(deviation.explains(experiment, kind, dataset, paper_column(column), metric) for deviation in deviations)
        for column in block.columns
    ])  # fmt: skip
