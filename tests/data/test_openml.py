"""Rows from OpenML, by its real client, from a server on loopback."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import numpy as np
import pytest

from probcal.data.dataset import assemble
from probcal.data.sources.openml import fetch_openml_rows
from probcal.errors import DataError, MissingDataError
from tests.data.weather import ARFF, CARD, ROWS, assert_weather, card_with, weather
from tests.openml_server import Fault


def test_rows_come_under_the_cards_names_with_the_values_of_the_original(fetch, in_process, openml_server):
    assert_weather(fetch(weather()))
    assert [request.rpartition("/")[2] for request in openml_server.requests] == ["61", "weather.arff"]


def test_parquet_gives_the_same_rows(fetch, parquet):
    assert_weather(fetch(weather(arff=None, parquet=parquet)))


def test_numbers_are_float64_even_where_the_client_delivers_bytes(fetch, in_process):
    assert set(fetch(weather())[["wind", "pressure"]].dtypes) == {np.dtype("float64")}


def test_a_missing_label_stays_missing(fetch, in_process):
    rows = fetch(weather())
    assert rows["play"].isna().tolist() == [False, False, False, True, False]
    assert assemble(CARD, rows).y.tolist() == [0, 1, 1, 0]


def test_columns_match_by_position_with_the_target_apart(fetch, in_process):
    columns = {"when": "ignore", "play": "target", "a": "numeric", "b": "numeric", "c": "nominal"}
    columns |= {"d": "nominal", "e": "numeric", "f": "nominal"}
    rows = fetch(weather(), card_with(columns, column_names="by position"))
    assert list(rows) == list(columns)
    assert rows["when"].tolist() == [1, 2, 3, 4, 5]
    assert rows["f"].tolist() == ROWS["station"].tolist()


def test_a_match_by_position_may_leave_out_what_openml_does_not_count_as_data(fetch, in_process):
    columns = dict.fromkeys(["wind", "pressure", "sky", "snow"], "infer") | {"play": "target"}
    assert list(fetch(weather(), card_with(columns, column_names="by position"))) == list(columns)


@pytest.mark.parametrize("ignore", [["rain", "station"], ["rain,station"]])
def test_all_other_columns_are_those_that_openml_counts_as_data(fetch, in_process, ignore):
    card = card_with({"station": "nominal", "*": "infer", "play": "target"})
    rows = fetch(weather(ignore=ignore), card)
    assert list(rows) == ["station", "play", "wind", "pressure", "sky", "snow"]


def test_only_the_first_rows_belong_to_the_data_set(fetch, in_process):
    assert fetch(weather(), card_with(first_rows=2))["wind"].tolist() == [3, 255]


def test_test_rows_at_the_top_move_behind_the_others(fetch, in_process):
    rows = fetch(weather(), card_with(test_rows_first=2))
    assert rows["wind"].tolist() == [0, 17, 1, 3, 255]
    assert rows.index.tolist() == [0, 1, 2, 3, 4]


def test_letters_beyond_ascii_survive_a_server_that_does_not_name_its_charset(fetch, in_process):
    assert_weather(fetch(weather(content_type="text/plain")))


def test_the_name_of_the_data_set_may_be_spelt_with_other_capitals(fetch, in_process):
    assert_weather(fetch(weather(name="Weather")))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"target": "rained"}, "has no column 'rained' (openml.target on the card); it has day, wind,"),
        ({"column_names": {}}, "has no column 'pressure', which the card names; it has day, wind,"),
        ({"column_names": {"day": "wind", "air pressure": "pressure"}}, "has two columns 'wind' once"),
    ],
)
def test_columns_that_are_not_the_cards_are_told_in_one_sentence(fetch, in_process, changes, reason):
    with pytest.raises(DataError) as caught:
        fetch(weather(), card_with(**changes))
    assert str(caught.value).startswith(f"weather: OpenML data set 61 {reason}")


def test_columns_that_cannot_be_matched_by_position_are_told_in_one_sentence(fetch, in_process):
    card = card_with({"wind": "numeric", "play": "target"}, column_names="by position")
    with pytest.raises(DataError, match="has 7 columns besides the target, the card 1, so they cannot"):
        fetch(weather(), card)


def test_a_card_without_an_openml_data_set_says_why():
    changes = {"openml": None, "no_openml": "Only a normalised copy is there."}
    with pytest.raises(MissingDataError) as caught:
        fetch_openml_rows(CARD.model_copy(update=changes))
    assert str(caught.value) == (
        "weather: is not available from OpenML: Only a normalised copy is there; put days.txt, played.txt "
        "into DATA_DIR/observatory (--data-dir or PROBCAL_DATA_DIR names DATA_DIR)"
    )


# --- in a process of its own, as for a user ------------------------------------------------------------


@pytest.mark.slow
def test_nothing_is_left_behind_printed_or_taken_from_another_cache(fetch, openml_server, monkeypatch, tmp_path, capfd):
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
def test_an_answer_without_end_is_given_up_at_the_deadline(fetch, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(MissingDataError, match="it took longer than 6 seconds; try again later, or put days"):
        fetch(weather(fault=Fault("drip", "arff")), timeout=6, stall=30)
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_breaks_down_is_told_in_one_sentence(fetch, monkeypatch, tmp_path):
    (tmp_path / "openml.py").write_text("import os; os.write(2, b'out of memory'); os._exit(9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"the OpenML client broke down \(out of memory\); try again"):
        fetch(weather())


@pytest.mark.slow
def test_the_openml_client_is_not_imported_with_the_package():
    program = "import sys, probcal.data.sources.openml; print({'openml', 'minio', 'requests'} & {*sys.modules})"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.strip() == "set()", ran.stderr


# --- the server of these tests -------------------------------------------------------------------------


def test_the_client_also_finds_the_data_set_by_name_with_features_and_qualities(openml_server, in_process):
    import openml

    openml_server.add(weather())
    openml.config.server = openml_server.url
    found = openml.datasets.get_dataset("weather", version=2, download_features_meta_data=True, download_qualities=True)
    assert found.features[4].nominal_values == ["TRUE", "FALSE"]
    assert found.qualities["NumberOfInstances"] == 5


def test_the_client_finds_no_data_set_by_a_name_that_nobody_has(openml_server, in_process):
    import openml

    openml.config.server = openml_server.url
    with pytest.raises(RuntimeError, match="No active datasets exist with name 'climate'"):
        openml.datasets.get_dataset("climate", version=1)
