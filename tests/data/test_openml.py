"""Test the rows that OpenML's real client fetches from a local server, by a card or by the number alone."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import numpy as np
import pytest

from probcal.data.dataset import assemble
from probcal.data.sources.openml import fetch_openml_rows, fetch_openml_table
from probcal.errors import DataError, MissingDataError
from tests.commands import probcal, refused
from tests.data.weather import ARFF, CARD, ROWS, assert_weather, card_with, weather
from tests.openml_server import Fault


def test_rows_have_the_names_of_the_card(fetch, in_process, openml_server):
    assert_weather(fetch(weather()))
    assert [request.rpartition("/")[2] for request in openml_server.requests] == ["61", "weather.arff"]


def test_parquet_gives_the_same_rows(fetch, parquet):
    assert_weather(fetch(weather(arff=None, parquet=parquet)))


def test_numbers_are_float64_even_if_the_client_sends_bytes(fetch, in_process):
    assert set(fetch(weather())[["wind", "pressure"]].dtypes) == {np.dtype("float64")}


def test_a_missing_label_stays_missing(fetch, in_process):
    rows = fetch(weather())
    assert rows["play"].isna().tolist() == [False, False, False, True, False]
    assert assemble(CARD, rows).y.tolist() == [0, 1, 1, 0]


def test_columns_match_by_position_without_the_target(fetch, in_process):
    columns = {"when": "ignore", "play": "target", "a": "numeric", "b": "numeric", "c": "nominal"}
    columns |= {"d": "nominal", "e": "numeric", "f": "nominal"}
    rows = fetch(weather(), card_with(columns, column_names="by position"))
    assert list(rows) == list(columns)
    assert rows["when"].tolist() == [1, 2, 3, 4, 5]
    assert rows["f"].tolist() == ROWS["station"].tolist()


def test_a_match_by_position_may_omit_ignored_columns(fetch, in_process):
    columns = dict.fromkeys(["wind", "pressure", "sky", "snow"], "infer") | {"play": "target"}
    assert list(fetch(weather(), card_with(columns, column_names="by position"))) == list(columns)


@pytest.mark.parametrize("ignore", [["rain", "station"], ["rain,station"]])
def test_a_star_selects_the_data_columns_of_openml(fetch, in_process, ignore):
    card = card_with({"station": "nominal", "*": "infer", "play": "target"})
    rows = fetch(weather(ignore=ignore), card)
    assert list(rows) == ["station", "play", "wind", "pressure", "sky", "snow"]


def test_first_rows_selects_the_first_rows(fetch, in_process):
    assert fetch(weather(), card_with(first_rows=2))["wind"].tolist() == [3, 255]


def test_test_rows_first_moves_test_rows_to_the_end(fetch, in_process):
    rows = fetch(weather(), card_with(test_rows_first=2))
    assert rows["wind"].tolist() == [0, 17, 1, 3, 255]
    assert rows.index.tolist() == [0, 1, 2, 3, 4]


def test_non_ascii_letters_need_no_charset_from_the_server(fetch, in_process):
    assert_weather(fetch(weather(content_type="text/plain")))


def test_the_data_set_name_ignores_case(fetch, in_process):
    assert_weather(fetch(weather(name="Weather")))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "rained"}, "has no column 'rained' (openml.target on the card); it has day, wind,"),
        ({"column_names": {}}, "has no column 'pressure', which the card names; it has day, wind,"),
        ({"column_names": {"day": "wind", "air pressure": "pressure"}}, "has two columns 'wind' once"),
    ],
)
def test_message_names_a_column_that_does_not_match(fetch, in_process, changes, reason):
    with pytest.raises(DataError) as caught:
        fetch(weather(), card_with(**changes))
    assert str(caught.value).startswith(f"weather: OpenML data set 61 {reason}")


def test_message_names_a_wrong_number_of_columns(fetch, in_process):
    card = card_with({"wind": "numeric", "play": "target"}, column_names="by position")
    with pytest.raises(DataError, match="has 7 columns besides the target, the card 1, so they cannot"):
        fetch(weather(), card)


def test_message_says_why_openml_lacks_a_data_set():
    changes = {"openml": None, "no_openml": "Only a normalised copy is there."}
    with pytest.raises(MissingDataError) as caught:
        fetch_openml_rows(CARD.model_copy(update=changes))
    assert str(caught.value) == (
        "weather: is not available from OpenML: Only a normalised copy is there; put days.txt, played.txt "
        "into DATA_DIR/observatory (--data-dir or PROBCAL_DATA_DIR names DATA_DIR)"
    )


# --- in a separate process, as for a user ------------------------------------------------------------


@pytest.mark.slow
def test_a_download_leaves_no_files_and_prints_nothing(fetch, openml_server, monkeypatch, tmp_path, capfd):
    home, temporary, cache = (tmp_path / name for name in ("home", "temporary", "cache"))
    port = openml_server.root.rpartition(":")[2]
    cut_off = cache / f"1:{port}" / "0" / "0" / "127" / "datasets" / "61"
    for folder in (home, temporary, cut_off):
        folder.mkdir(parents=True)
    (cut_off / "dataset.arff").write_bytes(ARFF[:-50])
    for name in ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("OPENML_CACHE_DIR", str(cache))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    assert_weather(fetch(weather(compressed=False), stall=30))

    assert [list(home.iterdir()), list(temporary.iterdir())] == [[], []]
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_slow_response_ends_at_the_deadline(fetch, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(MissingDataError, match="it took longer than 6 seconds; try again later, or put days"):
        fetch(weather(fault=Fault("drip", "arff")), timeout=6, stall=30)
    assert list(tmp_path.iterdir()) == []


def test_message_says_that_the_client_broke_down(fetch, monkeypatch, tmp_path):
    (tmp_path / "openml.py").write_text("import os; os.write(2, b'out of memory'); os._exit(9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"the OpenML client broke down \(out of memory\); try again"):
        fetch(weather())


@pytest.mark.slow
def test_the_openml_client_is_not_imported_with_the_package():
    program = "import sys, probcal.data.sources.openml; print({'openml', 'minio', 'requests'} & {*sys.modules})"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.strip() == "set()", ran.stderr


def test_a_table_has_name_target_and_data_columns(openml_server, in_process):
    openml_server.add(weather())
    found = fetch_openml_table(61, stall=5, attempts=1)
    assert (found.name, found.version, found.target) == ("weather", 2, "PLAY")
    assert list(found.frame) == ["wind", "air pressure", "sky", "snow", "PLAY"]
    assert found.frame["wind"].tolist() == [3, 255, 0, 17, 1]


def test_message_names_an_unknown_openml_number(openml_server, in_process):
    with pytest.raises(MissingDataError, match=r"OpenML data set 62 could not be fetched from .*: the server"):
        fetch_openml_table(62, stall=5, attempts=1)


def test_message_says_that_the_data_set_is_private(openml_server, in_process):
    openml_server.add(weather(fault=Fault("private")))
    with pytest.raises(MissingDataError, match="the server gives it only to its owner"):
        fetch_openml_table(61, stall=5, attempts=1)


@pytest.mark.parametrize("source", ["openml:7", "7"])
def test_probcal_try_accepts_an_openml_number(openml_server, in_process, source):
    rows = "".join(f"{i % 9}, {'ab'[i % 2]}, {'yes' if i % 4 == 0 else 'no'}\n" for i in range(60))
    head = "@relation t\n@attribute n numeric\n@attribute c {a,b}\n@attribute good {yes,no}\n@data\n"
    openml_server.add(weather(id=7, name="small", target="good", arff=(head + rows).encode(), row_id=[], ignore=[]))
    result = probcal("try", source, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "openml:7: 60 rows, 3 columns; OpenML data set 7, small version 2" in result.stdout
    assert "target: good, 2 classes" in result.stdout


def test_probcal_try_rejects_an_unknown_openml_number(openml_server, in_process):
    assert "OpenML data set 8 could not be fetched" in refused("try", "8")
