"""Test the messages of the script for gains when the experiment has not been run."""

import pytest

from benchmarks.protection_gains import main
from probcal.store.folder import CellResult, Store

RUN = "run the experiment first, into a folder of its own:\nprobcal run protection-simulated -j 2 -o DIR"


def test_message_without_results_names_the_command(tmp_path):
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path)])
    assert "holds no result of stream-none/0/" in ended.value.code and RUN in ended.value.code


def test_message_without_predictions_names_the_cell(tmp_path):
    store = Store(tmp_path)
    with store.writing("protection-simulated"):
        store.add(CellResult("stream-none", 0, "logistic", "base", "done", "run1", 1.0))
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path)])
    assert "predictions.bin does not hold the predictions behind stream-none/0/logistic/base; " in ended.value.code
    assert RUN in ended.value.code


def test_help_shows_the_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0 and "usage: python -m benchmarks.protection_gains" in capsys.readouterr().out
