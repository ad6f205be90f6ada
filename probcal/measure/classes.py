"""Classes of predictions: which of two labels is positive, and which column belongs to which label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from probcal.errors import DataError

_PAIRS = (
    ("0", "1"),
    ("-1", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("negative", "positive"),
    ("neg", "pos"),
)
"""Pairs of labels of which everybody means the second by "the probability"."""


def positive_of(labels: Sequence[str], where: str, column: str, otherwise: str | None = None) -> str:
    """Return the label whose probability a column holds: 1 beside 0 or -1, yes, true or positive.

    ``where`` and ``column`` name the target and the probabilities in messages. Raises DataError where the labels do not
    decide and there is no ``otherwise``. Of other numbers, such as 1 and 2, either may be the positive one.
    """
    if len(labels) == 2:
        folded = {label.casefold(): label for label in labels}
        for negative, positive in _PAIRS:
            if folded.keys() == {negative, positive}:
                return folded[positive]
    if otherwise is not None:
        return otherwise
    held = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
    if len(labels) > 2:
        raise DataError(
            f"{where} holds {len(labels)} labels ({held}); give a --probability column for each of them (such as "
            "--probability 'p_*'), or --positive LABEL to take one against the rest"
        )
    raise DataError(f'{where} holds {held}; name the label whose probability "{column}" is with --positive')


def class_of_columns(columns: Sequence[str], labels: Sequence[str], where: str) -> list[str]:
    """Return the label of each column. A column is named by its label, after and before what all names share.

    ``p_cat``, ``p_dog`` belong to ``cat`` and ``dog``. Raises DataError if a label has no column.
    """
    shared_before, shared_after = _shared(columns), _shared([name[::-1] for name in columns])
    shortest = min(map(len, columns))
    for before in range(shared_before + 1):
        for after in range(min(shared_after, shortest - before) + 1):
            found = [name[before : len(name) - after] for name in columns]
            if set(labels) <= set(found) and "" not in found:
                return found
    raise DataError(
        f"{where} holds the labels {', '.join(labels[:10])}, and the columns {', '.join(columns[:10])} do not name "
        "them; give one column for each label, named like p_LABEL"
    )


def _shared(names: Sequence[str]) -> int:
    """Return how many letters all ``names`` begin with."""
    pairs = zip(min(names), max(names), strict=False)  # the first and the last in order share the least
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
