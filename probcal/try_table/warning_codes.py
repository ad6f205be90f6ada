"""The codes of all warnings of a trial, by which ``--ignore`` silences them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from probcal.errors import ProbcalError, did_you_mean

CODES = {
    "leak-column": "one column alone predicts the class nearly without an error",
    "leak-label": "each value of a column occurs with one label only",
    "leak-missing": "whether a column is missing tells the class",
    "identifier": "a column with the name of an identifier is used as a number",
    "copies": "test rows have an equal training row",
    "dates": "rows have dates, and are split at random or in groups",
    "groups": "several rows belong to one person, account or the like",
    "too-good": "few real tables can be predicted so well",
    "missing-code": "a number such as -99 lies far from all others",
    "rounded-number": "whole numbers with too many digits are rounded",
    "open-end": "dates are in the year 9999",
    "words": "words between numbers or dates are missing values",
    "doubtful-text": "a text column looks like numbers or dates",
    "capitals": "labels differ only in capitals",
    "test-level": "the test file has a category that no training row has",
    "test-unlabelled": "rows of the test file have no label",
    "test-weightless": "rows of the test file have the weight 0",
    "test-groups": "the test file lacks the groups, or has some of the training file",
    "test-copies": "rows of the test file are equal to training rows",
    "test-classes": "the test file has too few rows of a class",
}
"""Code -> what the warning says."""


def refuse_unknown_codes(codes: Iterable[str]) -> None:
    """Raise ProbcalError, with all codes, for one that does not exist."""
    for code in codes:
        if code not in CODES:
            listing = ", ".join(CODES)
            raise ProbcalError(
                f'--ignore: there is no warning "{code}"{did_you_mean(code, CODES)} (there are: {listing})'
            )


def shown_warnings(warnings: Iterable[tuple[str, str]], ignored: Collection[str]) -> Iterator[str]:
    """Yield the text of each pair of a code and a text, with the code after it, unless the code is ignored."""
    return (f"{text} [{code}]" for code, text in warnings if code not in ignored)
