"""Test that OpenML and the original files give the same Dataset to the last bit.

The test makes the files of OpenML from the original files, with the known differences. The rows of adult begin
with the test part. The rows of australian are reversed. The test parts of sick and coil are merged with the
training parts. For most other data sets OpenML uses Weka's ARFF files, with their order, names and spellings.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probcal.data.card import Card, Expectation, card_names
from probcal.data.dataset import assemble
from probcal.data.encode import NumericEncoder
from probcal.data.sources.files import missing_files, read_original_files
from probcal.data.sources.specifications import DataFile, FileSource
from tests.data.small_cards import shipped_card
from tests.data.weather import as_parquet
from tests.openml_server import Served

CARDS = {name: shipped_card(name) for name in card_names()}
WITH_OPENML = [name for name, card in CARDS.items() if card.openml]

COVERTYPE_PART = "covtype.20k.data"
"""The first 20,000 of covtype.data's 581,012 rows: the whole would take minutes."""
CARDS["covertype"] = CARDS["covertype"].model_copy(
    update={
        "files": [FileSource(format="delimited", files=[DataFile(name=COVERTYPE_PART)])],
        "expect": Expectation(rows=20000, columns=54),
    }
)

LARGE = {
    "adult", "adult-3000", "adult-random", "arena-adult", "arena-bank-marketing", "arena-coil", "arena-mushroom",
    "bank-marketing", "coil", "coil-nominal", "coil-random", "coil-selected", "covertype", "kr-vs-kp", "mushroom",
    "sick-all", "sick-standard",
}  # fmt: skip
"""Data sets that take seconds."""
SERVED = [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in WITH_OPENML]

WEKA = {
    "bank-marketing": "phpkIxskf.arff.gz",
    "breast": "breast-cancer.arff",
    "diabetes": "diabetes.arff",
    "hepatitis": "hepatitis.arff",
    "ionosphere": "ionosphere.arff",
    "kr-vs-kp": "kr.vs.kp.arff",
    "mushroom": "mushroom.arff",
    "sick": "sick.arff",
}


def on_openml(card: Card, folder: Path) -> bytes:
    """Return the ARFF file as OpenML serves it; all readings of a data set use the same file."""
    card = CARDS[card.reading_of or card.like or card.name]
    if card.name == "adult":
        train, test = ((folder / f"adult.{part}").read_text().splitlines() for part in ("data", "test"))
        return arff_of(card, [row.rstrip(".") for row in (*test[1:], *train) if row])
    if card.name == "australian":
        rows = (folder / "australian.dat").read_text().split("\n")
        return arff_of(card, [",".join(row.split()) for row in reversed(rows) if row])
    if card.name == "coil":
        train, test, labels = (
            (folder / f"{part}2000.txt").read_text().split() for part in ("ticdata", "ticeval", "tictgts")
        )
        inputs = (test[start : start + 85] for start in range(0, len(test), 85))
        cells = train + [cell for row, label in zip(inputs, labels, strict=True) for cell in (*row, label)]
        return arff_of(card, [",".join(cells[start : start + 86]) for start in range(0, len(cells), 86)])
    if card.name == "covertype":
        return arff_of(card, (folder / COVERTYPE_PART).read_text().split())
    content = (folder / WEKA[card.name]).read_bytes()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    return content.replace(b"bruises?", b"bruises%3F")


def arff_of(card: Card, rows: list[str]) -> bytes:
    """Return an ARFF file of ``rows``; each row is a line of comma-separated cells in the card's columns."""
    columns = zip(*(row.split(",") for row in rows), strict=True)
    header = []
    for (name, kind), cells in zip(card.columns.items(), columns, strict=True):
        levels = ", ".join(sorted({cell.strip() for cell in cells} - {"?"}))
        name = card.openml.target if kind == "target" else name
        header.append(f"@attribute {name} {'numeric' if kind == 'numeric' else f'{{{levels}}}'}")
    return "\n".join([f"@relation {card.name}", *header, "@data", *rows]).encode()


@pytest.fixture
def original(request, original_files) -> tuple[Card, Path]:
    card = CARDS[request.param]
    if lacking := missing_files(card, original_files):
        pytest.skip(f"not at hand: {lacking[0]}")
    return card, original_files


def served(card: Card, **content: bytes | None) -> Served:
    source = card.openml
    return Served(source.id, source.name, source.target, version=source.version, **content)


@pytest.mark.parametrize("original", SERVED, indirect=True)
def test_openml_and_the_original_files_give_the_same_dataset(original, fetch, in_process, tmp_path):
    card, folder = original
    expected = assemble(card, read_original_files(card, folder))
    content = on_openml(card, folder / (card.folder or card.name))

    for source in ({"arff": content}, {"parquet": as_parquet(content, tmp_path)}):
        found = assemble(card, fetch(served(card, **source), card, stall=60))

        assert found.fingerprint() == expected.fingerprint()
        pd.testing.assert_frame_equal(found.X, expected.X)
        np.testing.assert_array_equal(found.y, expected.y)
        encoded, wanted = (NumericEncoder().fit(X).transform(X) for X in (found.X, expected.X))
        assert encoded.tobytes() == wanted.tobytes()
