"""What must not matter: the other rows that are asked about, the order of the rows, the names of the labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from probcal.contract.samples import sample
from probcal.contract.subject import Subject, estimates_of, how_they_differ, largest_difference
from probcal.contract.verdict import Failed

_EQUAL = 1e-12
"""A sum over many rows at once may be rounded in another way than over one."""
_NAMES = ([1, 2], [-7, -3], [10, 2000], [False, True], ["no", "yes"], np.array(["a", "b"], dtype=object))
"""Each rises, so that the first name stands for the class 0."""


def a_row_is_estimated_by_itself(subject: Subject) -> None:
    """Asked alone, in another order or among fewer, a row has the same estimate."""
    data = sample()
    fitted = subject.fitted(data)
    together = estimates_of(fitted, data.asked)
    backwards = estimates_of(fitted, data.asked[::-1])[::-1]
    alone = np.vstack([estimates_of(fitted, data.asked[row : row + 1]) for row in range(len(data.asked))])
    for how, asked in (("in reverse order", backwards), ("one by one", alone)):
        if largest_difference(together, asked) > _EQUAL:
            raise Failed(
                f"the same estimates for rows asked {how}",
                how_they_differ(together, asked),
                "let predict use what fit has learned and the row alone",
            )


def the_order_of_training_rows_moves_no_more_than_a_seed(subject: Subject) -> None:
    """Estimates stay where they are, but for what is drawn.

    A component that draws bootstrap samples or folds draws other ones when the rows come in another order.
    The tolerance is therefore three times the largest difference between the estimates of three seeds, and
    1e-6, for rounding, where nothing is drawn. Folds that are cut by the order of the rows (``cv`` a number)
    count as drawn: the component is given shuffled ones.
    """
    data = sample()
    rows = np.arange(len(data.y))
    orders = {
        "shuffled": np.random.default_rng(0).permutation(rows),
        "reversed": rows[::-1],
        "with the first row of the other class first": np.roll(rows, -int(np.argmax(data.y != data.y[0]))),
        "with the last row of the other class last": np.roll(rows, int(np.argmax(data.y[::-1] != data.y[-1]))),
    }
    as_given = subject.estimates(data)
    for how, order in orders.items():
        reordered = subject.estimates(replace(data, X=data.X[order], y=data.y[order]))
        if largest_difference(as_given, reordered) > subject.tolerance:
            raise Failed(
                f"estimates within {subject.tolerance:.3g} of each other, whatever the order of the training rows",
                f"{how}, {how_they_differ(as_given, reordered)}",
                "draw rows with random_state instead of taking them by their place",
            )


def the_names_of_the_labels_do_not_matter(subject: Subject) -> None:
    """Names that sort as 0 and 1 do give the same estimates to the last bit, and come back from ``predict``."""
    subject.needs_to_repeat_itself()
    data = sample()
    expected = subject.estimates(data)
    for names in map(np.asarray, _NAMES):
        try:
            fitted = subject.fitted(replace(data, y=names[data.y]))
        except Exception as error:
            raise Failed(
                f"the labels {names.tolist()} to be learned as 0 and 1 are",
                f"fit raised {type(error).__name__}: {error}",
                "learn from np.unique(y, return_inverse=True)[1]",
            ) from error
        if hasattr(fitted, "predict") and not np.isin(fitted.predict(data.asked), names).all():
            raise Failed(
                f"labels out of {names.tolist()} from predict", "others came", "predict classes_[index], not the index"
            )
        renamed = estimates_of(fitted, data.asked)
        if largest_difference(expected, renamed) > 0:
            raise Failed(
                f"the same estimates for the labels {names.tolist()} as for 0 and 1",
                how_they_differ(expected, renamed),
                "learn from np.unique(y, return_inverse=True)[1]",
            )
