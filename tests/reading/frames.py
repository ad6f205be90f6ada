"""A read table as pandas has it, to compare tables."""

import pandas as pd


def frame_of_table(table):
    """Return (n_rows, n_columns): categorical text without words for missing values, numbers and booleans."""
    columns = {place: table.pandas_column(place) for place in range(len(table.columns))}
    return pd.DataFrame(columns).set_axis(list(table.names), axis=1)
