"""Columns as text: trimmed, without the words that mean missing, and with one text for each typed value."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal.data.text_values import as_text

MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "<NA>", "#N/A"))
"""Texts that programs write for a missing value. The word "none" is not one, because it is often an answer."""
TEXT = pa.large_string()
_NO_NUMBER = "^[-+]?(?:0[0-9]+$|[a-zA-Z])|^[-+][-+]"
"""Codes such as 007, and words such as inf that a cast to numbers takes."""


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds text, encoded as levels or not."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds numbers. Booleans are none."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def is_date(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds dates or times."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


class TextColumn:
    """Hold a column of text. ``words`` are its texts that mean a missing value."""

    def __init__(self, column: pa.ChunkedArray | pa.Array, missing: Iterable[str] = MISSING) -> None:
        values, self._codes = one_array(column), None
        if pa.types.is_dictionary(values.type):
            self._codes = values.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
            values = values.dictionary
        missing_words = set(missing) | {""}
        self._texts = pc.utf8_trim_whitespace(values.cast(TEXT)) if _has_blanks(values) else values.cast(TEXT)
        is_word = pc.is_in(self._texts, value_set=pa.array(sorted(missing_words), TEXT))
        words = pc.unique(self._texts.filter(is_word)).to_pylist() if pc.any(is_word).as_py() else []
        self.words = sorted({word for word in words if word})
        self._values = pc.if_else(is_word, pa.scalar(None, TEXT), self._texts) if words else self._texts

    def __len__(self) -> int:
        return len(self._values) if self._codes is None else len(self._codes)

    def with_words(self, words: Iterable[str]) -> TextColumn:
        """Return the column in which the given ``words`` are ordinary texts."""
        column = TextColumn(self._texts, MISSING - set(words))
        column._codes = self._codes
        return column

    @property
    def distinct(self) -> pa.Array:
        """Return texts that contain every text of the column. Few of them are repeated or missing, or none."""
        return self._values

    def spread(self, values: npt.NDArray[Any], absent: Any) -> npt.NDArray[Any]:
        """Return (n_rows,) the entry of ``values`` for each row, in the order of ``distinct``."""
        return values if self._codes is None else np.append(values, absent)[self._codes]

    @cached_property
    def point_numbers(self) -> npt.NDArray[np.float64] | None:
        """Return the values of ``distinct`` if all are plain numbers with a decimal point, or else None.

        Whole numbers with a leading 0 are codes. This is the fast way for most columns.
        """
        texts = self.distinct
        if texts.null_count == len(texts):
            return None
        try:
            values = np.array(pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        except pa.ArrowInvalid:
            return None
        # A cast takes inf and nan for numbers, and a column of such words is a category.
        is_sound = (
            np.isfinite(values) if not texts.null_count else np.isfinite(values) | texts.is_null().to_numpy(False)
        )
        if not is_sound.all() or (
            _may_be_no_number(texts) and pc.any(pc.match_substring_regex(texts, _NO_NUMBER)).as_py()
        ):
            return None
        return values

    @cached_property
    def encoded(self) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return (n_rows,) codes, -1 for missing, and the texts that they stand for, in order of appearance.

        A run of blanks or line breaks inside a text counts as one blank.
        """
        encoded = self._values.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        levels = [" ".join(text.split()) for text in encoded.dictionary.to_pylist()]
        code_of: dict[str, int] = {}
        # Two texts that differ by blanks within them are one level.
        level_codes = [code_of.setdefault(level, len(code_of)) if level else -1 for level in levels]
        codes = np.array([*level_codes, -1], dtype=np.int64)[codes]
        if self._codes is not None:
            codes = np.append(codes, -1)[self._codes]
            # A file may declare levels that no row has.
            used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(code_of)))
            if len(used) < len(code_of):
                new_codes = np.full(len(code_of) + 1, -1)
                new_codes[used] = np.arange(len(used))
                names = list(code_of)
                return new_codes[codes], [names[code] for code in used]
        return codes, list(code_of)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Return text -> number of rows that have it."""
        codes, levels = self.encoded
        rows = np.bincount(codes[codes >= 0], minlength=len(levels))
        return {level: int(count) for level, count in zip(levels, rows, strict=True)}

    @property
    def missing_mask(self) -> npt.NDArray[np.bool_]:
        """Return (n_rows,) whether each row has no value."""
        return self.spread(self._values.is_null().to_numpy(zero_copy_only=False), True)

    @property
    def n_missing(self) -> int:
        """Return the number of rows without a value."""
        return int(self.missing_mask.sum())

    def categories(self) -> pd.Series:
        """Return (n_rows,) the texts as a categorical column."""
        codes, levels = self.encoded
        return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(levels, dtype=object)))

    def first_row(self, text: str) -> int:
        """Return the number of the first row that has this text, counted from 0."""
        codes, levels = self.encoded
        return int(np.argmax(codes == levels.index(text)))


def raw_texts(column: pa.ChunkedArray) -> list[str | None]:
    """Return (n_rows,) the texts of a column of text, with every blank, line break and word for no value."""
    texts: list[str | None] = column.cast(pa.large_string()).to_pylist()
    return texts


def text_of(column: pa.ChunkedArray) -> TextColumn:
    """Return a column of any type as text: 1.0 as ``1``, True as ``true``, a decimal 1.250 as ``1.25``."""
    if is_text(column.type):
        return TextColumn(column)
    encoded = one_array(column).dictionary_encode()
    if pa.types.is_dictionary(encoded.type) and pa.types.is_dictionary(encoded.type.value_type):
        encoded = encoded.cast(encoded.type.value_type)
    texts = pa.array([None if value is None else _typed_text(value) for value in _values(encoded.dictionary)], TEXT)
    return TextColumn(pa.DictionaryArray.from_arrays(encoded.indices.cast(pa.int32()), texts))


def _values(array: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type):
        unit = "us" if pa.types.is_timestamp(array.type) else "D"
        whole = array.cast(pa.timestamp(unit, array.type.tz), safe=False) if unit == "us" else array.cast(pa.date32())
        days = whole.cast(pa.int64() if unit == "us" else pa.int32())
        return list(np.array(days.to_pylist(), dtype=f"datetime64[{unit}]"))
    if pa.types.is_float16(array.type) or pa.types.is_float32(array.type):
        return list(array.to_numpy(zero_copy_only=False))
    return list(array.to_pylist())


def _typed_text(value: Any) -> str | None:
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        text = str(value).replace("T", " ").removesuffix(".000000")
        return text.removesuffix(" 00:00:00")
    if isinstance(value, float | np.floating):
        return as_text(value) if np.isfinite(value) else None
    if hasattr(value, "normalize") and hasattr(value, "as_tuple"):
        text = format(value, "f")
        return (text.rstrip("0").rstrip(".") or "0") if "." in text else text
    return as_text(value)


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return the chunks of a column as one array."""
    if isinstance(column, pa.Array):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    elif is_text(column.type):
        column = column.cast(TEXT)
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _has_blanks(values: pa.Array) -> bool:
    """Return whether a text begins or ends with anything but a visible character of ASCII."""
    # Most files have none, and trimming is slow.
    content, starts, ends = _bytes_of(values)
    edges = np.concatenate([content[starts], content[ends - 1]])
    return bool(((edges < ord("!")) | (edges > ord("~"))).any())


def _bytes_of(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the bytes of all texts, and where each text that is neither empty nor missing begins and ends."""
    texts = texts.cast(TEXT)
    _, offsets, content = texts.buffers()
    places = np.frombuffer(offsets or b"", np.int64)[texts.offset : texts.offset + len(texts) + 1]
    starts, ends = places[:-1], places[1:]
    is_text = starts < ends
    if texts.null_count:
        is_text &= texts.is_valid().to_numpy(zero_copy_only=False)
    return np.frombuffer(content or b"", np.uint8), starts[is_text], ends[is_text]


def _may_be_no_number(texts: pa.Array) -> bool:
    """Return whether a text may match ``_NO_NUMBER``. Two bytes say no for most columns, faster than a pattern."""
    content, starts, ends = _bytes_of(texts)
    first, last = content[starts], ends - 1
    has_sign = (first == ord("+")) | (first == ord("-"))
    second = content[np.minimum(starts + 1, last)]
    digit = np.where(has_sign, second, first)
    after = content[np.minimum(starts + 1 + has_sign, last)]
    is_long = ends - starts > 1 + has_sign
    is_code = (digit == ord("0")) & is_long & (after >= ord("0")) & (after <= ord("9"))
    return bool((is_code | (digit > ord("9")) | (has_sign & (digit < ord("0")) & (digit != ord(".")))).any())
