"""Test that a fault on the way from OpenML is retried or ends in a message of one sentence."""

from __future__ import annotations

import pytest

from probcal.errors import MissingDataError
from tests.data.weather import ARFF, CARD, assert_weather, weather
from tests.openml_server import Fault

pytestmark = pytest.mark.usefixtures("in_process")

SILENT = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("hang", "stall")]
"""The client waits for some seconds."""
GET_THE_FILES = (
    ", or put days.txt, played.txt into DATA_DIR/observatory (--data-dir or PROBCAL_DATA_DIR names DATA_DIR)"
)


@pytest.fixture
def refusal(fetch, openml_server):
    """Return ``refusal(**changes)``, which gives the message for the data set of CARD served with these changes."""

    def refusal(card=CARD, **changes: object) -> str:
        with pytest.raises(MissingDataError) as caught:
            fetch(weather(**changes), card)
        message = str(caught.value)
        assert "\n" not in message
        assert message.startswith("weather: OpenML data set 61 could not be fetched from ")
        return message

    return refusal


# --- temporary faults --------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["description", "arff"])
@pytest.mark.parametrize("kind", ["busy", "cut", pytest.param("stall", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_temporary_fault_is_retried(fetch, kind, part):
    assert_weather(fetch(weather(fault=Fault(kind, part, times=1))))


def test_a_temporary_overload_is_retried(fetch):
    assert_weather(fetch(weather(fault=Fault("overloaded", times=1))))


def test_a_damaged_file_is_fetched_again(fetch, openml_server):
    assert_weather(fetch(weather(fault=Fault("damaged", "arff", times=1))))
    assert len(openml_server.requests) == 3


@pytest.mark.parametrize("kind", [*SILENT, "cut", "damaged", "busy", "page"])
def test_a_failed_parquet_file_is_replaced_by_arff(fetch, parquet, kind):
    assert_weather(fetch(weather(parquet=parquet, fault=Fault(kind, "parquet"))))


def test_a_missing_parquet_file_is_replaced_by_arff(fetch, openml_server):
    assert_weather(fetch(weather(parquet=b"")))
    assert "dataset_61.pq" in openml_server.requests[1]


# --- permanent faults --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "part", "reason"),
    [
        ("busy", "description", "the server answers with HTTP status 503"),
        ("busy", "arff", "the server answers with HTTP status 503"),
        ("overloaded", "description", "the server says: Database connection error"),
        pytest.param("hang", "description", "the server does not answer", marks=pytest.mark.slow),
        ("hang", "arff", "the server does not answer"),
        pytest.param("stall", "arff", "the server does not answer", marks=pytest.mark.slow),
        ("cut", "description", "the connection broke off in the middle"),
        ("cut", "arff", "the connection broke off in the middle"),
        ("damaged", "arff", "the file that arrived does not have the checksum that OpenML states"),
        ("page", "description", "what answers there is not OpenML"),
    ],
)
def test_message_names_the_fault_of_the_server(refusal, openml_server, kind, part, reason):
    message = refusal(fault=Fault(kind, part))
    assert f"fetched from {openml_server.url}: {reason}" in message
    assert message.endswith(f"; try again later{GET_THE_FILES}")


def test_message_names_the_arff_fault_of_two_failed_files(refusal, parquet):
    message = refusal(arff=None, parquet=parquet, fault=Fault("cut", "parquet"))
    assert ": the server answers with HTTP status 404; try" in message


def test_message_names_a_refused_connection(refusal, openml_server):
    openml_server.close()
    assert ": the server refuses the connection; try again later" in refusal()


@pytest.mark.parametrize(
    ("served", "reason"),
    [
        ({"id": 62}, "the server knows no data set of this id"),
        ({"fault": Fault("no results")}, "the server knows no data set of this id"),
        ({"fault": Fault("private")}, "the server gives it only to its owner"),
        ({"version": 3}, 'there it is "weather" version 3, on the card "weather" version 2'),
        ({"name": "climate"}, 'there it is "climate" version 2, on the card "weather" version 2'),
        ({"format": "Sparse_ARFF"}, "it is stored as sparse ARFF, which the client reads without labels"),
        ({"arff": ARFF.replace(b"grey}", b"blue}")}, "its ARFF file cannot be read: Data value grey"),
        ({"arff": ARFF.decode().encode("latin-1")}, "its file is not UTF-8 text"),
    ],
)
def test_message_says_how_the_data_set_differs_from_the_card(refusal, served, reason):
    message = refusal(**served)
    assert f": {reason}" in message
    assert message.endswith(f"; correct the card{GET_THE_FILES}")


def test_message_names_no_files_if_the_card_has_none(refusal):
    card = CARD.model_copy(update={"files": []})
    assert refusal(card, id=62).endswith(": the server knows no data set of this id; correct the card")


# --- a server that is not to be trusted ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["endless", "bomb"])
def test_endless_data_end_at_the_size_limit(refusal, monkeypatch, kind):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "3")
    message = refusal(fault=Fault(kind, "arff"))
    assert "weather.arff sends more than 3 MB; set PROBCAL_LARGEST_MB to allow larger files" in message


@pytest.mark.parametrize("kind", ["endless", "bomb"])
def test_an_endless_description_ends_at_its_own_limit(refusal, monkeypatch, kind):
    monkeypatch.setattr("probcal.data.sources.openml_download._LARGEST_DESCRIPTION", 2_000_000)
    assert "data/61 sends more than 2 MB" in refusal(fault=Fault(kind))


@pytest.mark.parametrize("kind", ["endless", pytest.param("bomb", marks=pytest.mark.slow), "elsewhere"])
def test_an_unsafe_parquet_file_is_replaced_by_arff(fetch, parquet, monkeypatch, kind):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "3")
    assert_weather(fetch(weather(parquet=parquet, fault=Fault(kind, "parquet"))))


@pytest.mark.parametrize("served", [{"fault": Fault("elsewhere")}, {"fault": Fault("elsewhere", "arff")},
                                    {"root": "http://elsewhere.invalid"}])  # fmt: skip
def test_plain_http_from_a_server_reply_is_rejected(refusal, served):
    message = refusal(**served)
    assert "http://elsewhere.invalid/" in message
    assert "is not encrypted, and plain http is spoken with this machine only; name a server with https" in message


def test_a_remote_server_of_plain_http_is_rejected(refusal, monkeypatch):
    monkeypatch.setenv("PROBCAL_OPENML_SERVER", "http://www.openml.invalid/api/v1/xml")
    assert "http://www.openml.invalid/api/v1/xml/data/61 is not encrypted" in refusal()


@pytest.mark.parametrize(
    ("url", "here"),
    [("http://localhost/x", True), ("http://127.0.0.1:8/x", True), ("http://[::1]/x", True),
     ("http://127.0.0.1.evil.example/x", False), ("http://localhost.evil.example/", False),
     ("http://user@evil.example/", False), ("http://127.0.0.1@evil.example/", False), ("http://10.0.0.1/", False)],
)  # fmt: skip
def test_only_loopback_addresses_are_this_machine(url, here):
    from probcal.data.sources.openml_download import _is_local

    assert _is_local(url) is here


def test_storage_uses_tls_unless_it_is_this_machine(in_process):
    import minio

    from probcal.data.sources import openml_download

    openml_download._limit_client(stall=1, attempts=1, limit=1000)
    assert minio.Minio("data.openml.org", secure=False)._base_url.is_https
    assert not minio.Minio("127.0.0.1:9000", secure=False)._base_url.is_https


def test_a_frame_with_a_wrong_checksum_is_not_unpickled(refusal, in_process, monkeypatch):
    import subprocess

    run = subprocess.run

    def spoilt(command, **options):
        done = run(command, **options)
        return subprocess.CompletedProcess(command, done.returncode, b"0" * 64, b"spoilt")

    monkeypatch.setattr("probcal.data.sources.openml.subprocess.run", spoilt)
    monkeypatch.setattr("probcal.data.sources.openml.pickle.loads", lambda content: pytest.fail("it was unpickled"))
    assert "the OpenML client broke down (spoilt)" in refusal()
