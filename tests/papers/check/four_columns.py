"""Provide the RMS of four columns on Adult: one is out of band, one differs by a unit, and two are as printed."""

import pytest

NAME = "langford-zadrozny-2005"
PUBLISHED = {"nb.direct": 0.335, "nb.sigmoid": 0.332, "nb.probing": 0.320, "log.direct": 0.321}
"""As in Table 2."""
OURS = {"nb.direct": 0.3349, "nb.sigmoid": 0.3311, "nb.probing": 0.3263, "log.direct": 0.3208}


@pytest.fixture
def four_columns(small):
    """Return a function that writes results; each data set has the numbers of Adult."""

    def four_columns(name="small", datasets=None):
        datasets = datasets or {"adult": 1}
        splits = dict.fromkeys(datasets, "standard")
        writer = small(name, paper=NAME, columns=tuple(OURS), datasets=datasets, splits=splits, metrics=("rms",))
        return writer.write({
            (dataset, column): [{"rms": number}] for dataset in datasets for column, number in OURS.items()
        })  # fmt: skip

    return four_columns
