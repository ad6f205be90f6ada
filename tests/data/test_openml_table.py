"""Test an OpenML data set without a card, which is named by its number alone."""

import pytest

from probcal.data.sources.openml import fetch_openml_table
from probcal.errors import MissingDataError
from tests.commands import probcal, refused
from tests.data.weather import weather
from tests.openml_server import Fault


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
