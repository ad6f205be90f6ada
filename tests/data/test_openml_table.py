"""A data set of OpenML of which nobody has a card, by its number alone."""

import pytest

from probcal.data.sources.openml import fetch_openml_table
from probcal.errors import MissingDataError
from tests.commands import probcal, refused
from tests.data.weather import weather
from tests.openml_server import Fault


def test_it_comes_with_its_name_its_target_and_what_counts_as_data(openml_server, in_process):
    openml_server.add(weather())
    found = fetch_openml_table(61, stall=5, attempts=1)
    assert (found.name, found.version, found.target) == ("weather", 2, "PLAY")
    assert list(found.frame) == ["wind", "air pressure", "sky", "snow", "PLAY"]
    assert found.frame["wind"].tolist() == [3, 255, 0, 17, 1]


def test_one_that_is_not_there_is_told_in_one_sentence(openml_server, in_process):
    with pytest.raises(MissingDataError, match=r"OpenML data set 62 could not be fetched from .*: the server"):
        fetch_openml_table(62, stall=5, attempts=1)


def test_a_server_that_fails_says_so(openml_server, in_process):
    openml_server.add(weather(fault=Fault("private")))
    with pytest.raises(MissingDataError, match="the server gives it only to its owner"):
        fetch_openml_table(61, stall=5, attempts=1)


@pytest.mark.parametrize("source", ["openml:7", "7"])
def test_probcal_try_takes_the_number_and_the_target_of_openml(openml_server, in_process, source):
    rows = "".join(f"{i % 9}, {'ab'[i % 2]}, {'yes' if i % 4 == 0 else 'no'}\n" for i in range(60))
    head = "@relation t\n@attribute n numeric\n@attribute c {a,b}\n@attribute good {yes,no}\n@data\n"
    openml_server.add(weather(id=7, name="small", target="good", arff=(head + rows).encode(), row_id=[], ignore=[]))
    result = probcal("try", source, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "openml:7: 60 rows, 3 columns; OpenML data set 7, small version 2" in result.stdout
    assert "target: good, 2 classes" in result.stdout


def test_probcal_try_refuses_a_number_that_openml_does_not_have(openml_server, in_process):
    assert "OpenML data set 8 could not be fetched" in refused("try", "8")
