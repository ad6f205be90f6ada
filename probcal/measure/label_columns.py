"""Which label a column of probabilities belongs to, by its name and the labels of the target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from probcal.errors import DataError

_LABEL_PAIRS = (
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


def positive_of(labels: Sequence[str], source: str, column: str, default: str | None = None) -> str:
    """Return the label whose probability a column holds: 1 beside 0 or -1, yes, true or positive.

    ``source`` and ``column`` name the target and the probabilities in messages. Raises DataError where the labels do
    not decide and there is no ``default``. Of other numbers, such as 1 and 2, either may be the positive one.
    """
    if len(labels) == 2:
        spellings = {label.casefold(): label for label in labels}
        for negative, positive in _LABEL_PAIRS:
            if spellings.keys() == {negative, positive}:
                return spellings[positive]
    if default is not None:
        return default
    listing = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
    if len(labels) > 2:
        raise DataError(
            f"{source} holds {len(labels)} labels ({listing}); give a --probability column for each of them (such as "
            "--probability 'p_*'), or --positive LABEL to take one against the rest"
        )
    raise DataError(f'{source} holds {listing}; name the label whose probability "{column}" is with --positive')


def class_of_columns(columns: Sequence[str], labels: Sequence[str], source: str) -> list[str]:
    """Return the label of each column. A column is named by its label, after and before what all names share.

    ``p_cat``, ``p_dog`` belong to ``cat`` and ``dog``. Raises DataError if a label has no column.
    """
    max_prefix, max_suffix = _prefix_length(columns), _prefix_length([name[::-1] for name in columns])
    shortest = min(map(len, columns))
    for prefix in range(max_prefix + 1):
        for suffix in range(min(max_suffix, shortest - prefix) + 1):
            candidates = [name[prefix : len(name) - suffix] for name in columns]
            if set(labels) <= set(candidates) and "" not in candidates:
                return candidates
    raise DataError(
        f"{source} holds the labels {', '.join(labels[:10])}, and the columns {', '.join(columns[:10])} do not name "
        "them; give one column for each label, named like p_LABEL"
    )


def _prefix_length(names: Sequence[str]) -> int:
    """Return how many letters all ``names`` begin with."""
    pairs = zip(min(names), max(names), strict=False)  # the first and the last in order share the least
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
