"""Row numbers of a split that somebody published: the JSON file that a card's split of ``kind: rows`` names."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from probcal.errors import DataError

_PARTS = ("train", "test")


class RowNumbers(BaseModel):
    """Hold which rows train and which test, counted from 0 among the rows that the card reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: tuple[int, ...]
    """Row numbers for training, in the order in which a learner gets them."""
    test: tuple[int, ...]
    """Row numbers for testing."""

    @property
    def in_order(self) -> list[int]:
        """Return the training rows and then the test rows."""
        return [*self.train, *self.test]


def read_row_numbers(path: Path) -> RowNumbers:
    """Read the lists ``train`` and ``test`` of the JSON object in ``path``. Other keys tell where they come from.

    Raises DataError, which names the file, unless both parts are lists of whole numbers from 0 and each number
    occurs once.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: is no JSON: {error}") from None
    parts = content if isinstance(content, dict) else {}
    seen: dict[int, str] = {}
    for part in _PARTS:
        if not isinstance(parts.get(part), list) or not parts[part]:
            raise DataError(f'{path}: needs the lists "train" and "test" of row numbers; "{part}" is none')
        for number in parts[part]:
            if type(number) is not int or number < 0:
                raise DataError(f'{path}: "{part}" holds {number!r}; rows are counted 0, 1, 2, ...')
            if number in seen:
                where = f'is in "{seen[number]}" and in' if seen[number] != part else "is twice in"
                raise DataError(f'{path}: row {number} {where} "{part}"; each row may occur once')
            seen[number] = part
    return RowNumbers(train=parts["train"], test=parts["test"])
