"""Provide a small data set with all irregularities of OpenML's files, and the card that corrects them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from probcal.data.card import Card
from tests.openml_server import Served

ARFF = """% Weather, as Renée wrote it down
@relation weather
@attribute day numeric
@attribute wind numeric
@attribute 'air pressure' real
@attribute sky {clear, 'half clear', grey}
@attribute rain {TRUE, FALSE}
@attribute snow numeric
@attribute station {Orléans, Paris}
@attribute PLAY {yes, no}
@data
1, 3, 1013.25, 'half clear', TRUE, ?, Orléans, no
2, 255, ?, clear, FALSE, ?, Paris, yes
3, 0, 990.5, ?, FALSE, ?, Orléans, yes
4, 17, -1, grey, ?, ?, Paris, ?
5, 1, 1e3, grey, TRUE, ?, Orléans, no
""".encode()

CARD = Card(
    name="weather",
    title="Weather",
    columns={
        "sky": "nominal",
        "wind": "numeric",
        "pressure": "numeric",
        "rain": "nominal",
        "snow": "numeric",
        "station": "nominal",
        "play": "target",
    },
    positive="1",
    split={"kind": "standard", "train": 2},
    drop_unlabelled=True,
    expect={"rows": 4, "columns": 6, "classes": {"0": 2, "1": 2}},
    folder="observatory",
    files=[{"format": "delimited", "files": [{"name": "days.txt", "labels": {"name": "played.txt"}}]}],
    openml={
        "id": 61,
        "version": 2,
        "name": "weather",
        "target": "PLAY",
        "column_names": {"air pressure": "pressure"},
        "rename": {"rain": {"true": "TRUE", "false": "FALSE"}, "play": {"yes": "1", "no": "0"}},
    },
)

ROWS = pd.DataFrame(
    {
        "sky": ["half clear", "clear", None, "grey", "grey"],
        "wind": [3.0, 255.0, 0.0, 17.0, 1.0],
        "pressure": [1013.25, np.nan, 990.5, -1.0, 1000.0],
        "rain": ["TRUE", "FALSE", "FALSE", None, "TRUE"],
        "snow": [np.nan] * 5,
        "station": ["Orléans", "Paris", "Orléans", "Paris", "Orléans"],
        "play": ["0", "1", "1", None, "0"],
    }
)


def card_with(columns: dict[str, str] | None = None, **openml: object) -> Card:
    """Return CARD with other columns, or with another OpenML source."""
    changes = {"openml": CARD.openml.model_copy(update=openml), "columns": columns or CARD.columns}
    return CARD.model_copy(update=changes)


def weather(**changes: object) -> Served:
    """Return the data set of CARD. For OpenML, day is the row's id, and rain and station are no data."""
    facts = {"id": 61, "name": "weather", "version": 2, "target": "PLAY", "arff": ARFF}
    return Served(**facts | {"row_id": ["day"], "ignore": ["rain", "station"]} | changes)


def assert_weather(rows: pd.DataFrame) -> None:
    missing_alike = rows.astype(object).where(rows.notna(), None)
    pd.testing.assert_frame_equal(missing_alike, ROWS.astype(object).where(ROWS.notna(), None))


def as_parquet(content: bytes, folder: Path) -> bytes:
    """Convert the ARFF file ``content`` to parquet as OpenML does, with the frame of its own client."""
    from openml import OpenMLDataset

    (folder / "dataset.arff").write_bytes(content)
    facts = {"name": "any", "description": None, "dataset_id": 1, "version": 1, "url": "none"}
    return OpenMLDataset(**facts, data_file=str(folder / "dataset.arff")).get_data()[0].to_parquet()
