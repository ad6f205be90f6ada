"""The rows of the data sets that come with scikit-learn: no file and no network needed."""

from __future__ import annotations

import pandas as pd
import sklearn.datasets

from probcal.data.card import Card
from probcal.errors import DataError


def bundled_rows(card: Card) -> pd.DataFrame:
    """(n_rows, n_columns) ready for ``assemble``: scikit-learn's column names, class names as the target.

    Raises DataError when the card is not of a bundled data set.
    """
    if card.bundled is None:
        raise DataError(f"{card.name}: does not come with scikit-learn")
    bunch = getattr(sklearn.datasets, card.bundled.loader)(as_frame=True)
    class_names = [str(name) for name in bunch.target_names]
    return bunch.data.assign(**{card.target: [class_names[number] for number in bunch.target]})
