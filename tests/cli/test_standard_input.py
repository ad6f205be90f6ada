"""Test that ``probcal try -`` reads a table from standard input."""

import io

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from probcal.cli.main import main
from probcal.errors import DataError
from probcal.reading import table as file_reader
from probcal.reading.table import read_table
from tests.commands import probcal


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    return pd.DataFrame({"age": random.integers(18, 80, 60), "left": random.choice(["yes", "no"], 60)})


def try_from(content, *words):
    return CliRunner().invoke(main, ["try", "-", "--target", "left", *map(str, words)], input=content)


def test_a_piped_table_is_described_like_a_file(frame, tmp_path):
    text = frame.to_csv(index=False)
    (tmp_path / "t.csv").write_text(text)
    piped, read = try_from(text, "--dry-run"), probcal("try", tmp_path / "t.csv", "--target", "left", "--dry-run")
    assert piped.exit_code == 0, piped.output
    assert piped.stdout.splitlines()[0] == "standard input: 60 rows, 2 columns; separated by ','"
    assert piped.stdout.splitlines()[1:] == read.stdout.splitlines()[1:]


def test_a_piped_parquet_file_is_read(frame):
    content = io.BytesIO()
    frame.to_parquet(content)
    assert "standard input: 60 rows, 2 columns; a Parquet file" in try_from(content.getvalue(), "--dry-run").stdout


def test_a_piped_table_is_ranked_and_stored_as_a_file(frame, tmp_path):
    done = try_from(frame.to_csv(index=False), "-l", "tree", "-m", "direct", "--splits", 2, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "log loss" in done.stdout
    assert (tmp_path / "out" / "input" / "try-stdin-left-data" / "stdin.csv").is_file()


def test_an_empty_standard_input_is_rejected():
    refused = try_from("")
    assert refused.exit_code == 2
    assert "error: standard input: is empty" in refused.stderr


def test_a_terminal_as_standard_input_is_rejected(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(file_reader.sys, "stdin", Terminal())
    with pytest.raises(DataError, match="give a path, or pipe a table into the command"):
        read_table("-")
