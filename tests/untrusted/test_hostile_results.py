"""Test that any content of a results folder or data file is shown or rejected, never with a traceback."""

from __future__ import annotations

import contextlib
import json
import os
import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from probcal import _io as json_lines
from probcal._io import printable, refuse_links_out
from probcal.errors import ProbcalError, StoreError
from probcal.reporting import FORMATS
from probcal.reporting.tables import tables_text
from probcal.runner.progress import HeartbeatFile, RunState, read_heartbeat
from probcal.store.folder import CellResult, Store
from tests.commands import refused

ROW = {"dataset": "wine", "repetition": 0, "learner": "tree", "method": "direct", "status": "done", "run": "r",
       "seconds": 1.0, "key": {"data": "x"}, "metrics": {"rms": 0.5}, "stages": {"cxe": [1.0]}, "curves": {},
       "n_train": 3, "n_test": 3, "warnings": {"UserWarning": 2}, "predictions": {"at": 0, "rows": 3, "digest": "x"},
       }  # fmt: skip
EXPERIMENT = {"name": "small", "title": "Small", "metrics": ["rms"], "datasets": [{"name": "wine", "title": "Wine"}],
              "columns": [{"learner": "tree", "method": "direct", "label": "T", "group": "T"}],
              "repetitions": {"wine": 1}, "exceptions": [], "stale": {}}  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just(10**400), st.just(-(10**400))
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=5,
)
many = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


def shown(folder, experiment, *lines):
    """Write a results folder and show it in every format. The formats must agree whether it can be shown."""
    (folder / "experiment.json").write_text(json.dumps(experiment), encoding="utf-8")
    (folder / "cells.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    store = Store(folder)
    for format_ in FORMATS:
        try:
            tables_text(store, format=format_)
        except ProbcalError:
            assert format_ == FORMATS[0] or not lines, "what one format shows, all do"
            return
    for result in store.results().values():
        with contextlib.suppress(StoreError):
            store.predictions(result)


@many
@given(name=st.sampled_from([*ROW, "traceback", "error_type", "message", "other"]), value=ANYTHING)
@example(name="metrics", value={"rms": 10**400})
@example(name="seconds", value=10**400)
@example(name="warnings", value={"a": "b"})
def test_result_with_any_value_gives_no_traceback(folder, name, value):
    shown(folder, EXPERIMENT, json.dumps(ROW | {name: value}))


@many
@given(name=st.sampled_from([*EXPERIMENT, "keys", "paper", "seed", "curves", "config", "other"]), value=ANYTHING)
@example(name="repetitions", value={"wine": 10**9})
@example(name="paper", value="a\0b")
@example(name="keys", value={"wine/0/tree/direct": [1]})
@example(name="stale", value={"r": [["wine/0/tree/direct"]]})
@example(name="paper", value="langford-zadrozny-2005-deviations")
def test_experiment_with_any_value_gives_no_traceback(folder, name, value):
    shown(folder, EXPERIMENT | {name: value}, json.dumps(ROW))


@pytest.mark.parametrize("values", [[1e308, 1e308, -1e308], [1e308] * 3, [-1e308] * 3])
def test_a_mean_of_the_largest_floats_is_shown(folder, values):
    experiment = EXPERIMENT | {"repetitions": {"wine": len(values)}, "metrics": ["log10_martingale"]}
    rows = [ROW | {"repetition": n, "metrics": {"log10_martingale": value}} for n, value in enumerate(values)]
    lines = [json.dumps(row) for row in rows]
    shown(folder, experiment, *lines)


def test_overlong_lines_are_skipped_and_others_read(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "_LONGEST", 500)
    monkeypatch.setattr(json_lines, "_PIECE", 7)
    path = tmp_path / "cells.jsonl"
    path.write_bytes(b"a\n" + b"x" * 499 + b"\n" + b"x" * 500 + b"\n" + b"x" * 5000 + b"\nb\n\ncut off")
    found = [(number, line and len(line)) for number, line in json_lines.numbered_lines(path)]
    assert found == [(1, 1), (2, 499), (3, None), (4, None), (5, 1), (6, "")]


def test_metric_bounds_allow_for_rounding():
    metrics = {"auc": 1 + 5e-10, "rms": -5e-10, "cxe": "inf"}
    assert CellResult.from_json(json.dumps(ROW | {"metrics": metrics})).metrics["auc"] > 1


def test_at_most_ten_impossible_values_are_listed(tmp_path):
    rows = [ROW | {"repetition": n, "metrics": {"rms": 7.5}} for n in range(25)]
    (tmp_path / "experiment.json").write_text(json.dumps(EXPERIMENT), encoding="utf-8")
    (tmp_path / "cells.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    said = refused("check", tmp_path).splitlines()
    assert [line.partition(": ")[2] for line in said[:10]] == [
        f"wine/{n}/tree/direct: rms is 7.5, but rms lies between 0 and 1" for n in range(10)
    ]
    assert said[10] == "and 15 more lines"
    assert len(said) == 12 and said[11].startswith("probcal verify ")


@pytest.mark.parametrize(
    "changed",
    [{"learner": "\ud800"}, {"key": {"data": "\ud800"}}, {"key": {"\ud800": "x"}}, {"metrics": {"\ud800": 0.5}},
     {"predictions": {"at": 0, "rows": 3, "digest": "\ud800"}}, {"warnings": {"\ud800": 1}}],
)  # fmt: skip
def test_half_of_a_surrogate_pair_in_a_line_ends_no_run(tmp_path, changed):
    (tmp_path / "cells.jsonl").write_text(json.dumps(ROW | changed) + "\n", encoding="utf-8")
    with Store(tmp_path).writing("small") as store:
        store.add(CellResult.from_json(json.dumps(ROW | {"repetition": 1})))
    assert len(store.results()) == 2


# --- links -----------------------------------------------------------------------------------------


def test_only_links_out_of_the_folder_are_rejected(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    (results / "kept").write_text("")
    for name in ("cells.jsonl", "cells.parquet"):
        (results / name).symlink_to("kept")
    refuse_links_out(results, ("cells.jsonl", "cells.parquet", "kept", "nowhere"))
    (results / "runs.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match=r"runs\.jsonl is a link that leads out of the folder, to .*elsewhere"):
        refuse_links_out(results, ("cells.jsonl", "runs.jsonl"))


def test_the_results_folder_itself_may_be_a_link(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "results").symlink_to("disk")
    with Store(tmp_path / "results").writing("small"):
        assert (tmp_path / "disk" / ".lock").exists()


def test_nothing_is_written_through_a_link(tmp_path):
    results, precious = tmp_path / "results", tmp_path / "precious"
    results.mkdir()
    precious.write_text("precious")
    names = (".lock", "cells.jsonl", "cells.parquet", "runs.jsonl", "predictions.bin")
    for name in (*names, "cells.jsonl.new", "cells.parquet.new", "experiment.json.new"):
        (results / name).symlink_to(precious)
        with pytest.raises(StoreError, match="leads out of the folder"), Store(results).writing("small"):
            pass
        (results / name).unlink()
    assert precious.read_text() == "precious"


# --- pipes -----------------------------------------------------------------------------------------

NEITHER = r"is a pipe, socket or device, not a file; remove it"
FILES = (".lock", "accepted.csv", "accepted.csv.new", "cells.jsonl", "cells.jsonl.new", "cells.parquet",
         "cells.parquet.new", "estimates.json", "estimates.json.new", "experiment.json", "experiment.json.new",
         "predictions.bin", "runs.jsonl")  # fmt: skip


@pytest.fixture
def results(tmp_path):
    with Store(tmp_path / "results").writing("small") as store:
        store.write_experiment({"name": "small"})
        store.add(CellResult.from_json(json.dumps(ROW)))
    return store


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
@pytest.mark.parametrize("name", FILES)
def test_pipe_in_place_of_a_file_is_rejected(results, name):
    (results.folder / name).unlink(missing_ok=True)
    os.mkfifo(results.folder / name)
    for read in (results.experiment, results.results, lambda: results.refuse_other_results("small")):
        with pytest.raises(StoreError, match=f"{re.escape(name)} {NEITHER}"):
            read()
    with pytest.raises(StoreError, match=f"{re.escape(name)} {NEITHER}"), results.writing("small"):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_pipe_as_heartbeat_file_blocks_no_reader_or_writer(results):
    for name in ("running.json", "running.json.new"):
        os.mkfifo(results.folder / name)
        assert read_heartbeat(results.folder) is None
        with results.writing("small"):
            file = HeartbeatFile(results.folder)
            file.write(RunState(since=0.0, workers=1, total=1))
            file.remove()
    assert len(results.results()) == 1


@pytest.mark.parametrize("name", ["cells.jsonl", "cells.parquet"])
def test_devices_and_swapped_folders_or_files_are_rejected(results, name):
    cells, figures = results.folder / name, results.folder / "figures"
    figures.write_text("")
    with pytest.raises(StoreError, match="figures is a file, not a folder; remove it"):
        results.results()
    figures.unlink()
    cells.unlink()
    cells.mkdir()
    with pytest.raises(StoreError, match=f"{re.escape(name)} is a folder, not a file; remove it"):
        results.results()
    cells.rmdir()
    cells.symlink_to(os.devnull)
    with pytest.raises(StoreError, match=f"{re.escape(name)} {NEITHER}"):
        results.results()


# --- text that is shown ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\x1b[2J", "\\x1b[2J"), ("a\tb\r", "a\\x09b\\x0d"), ("\u202egnp", "\\u202egnp"), ("\x9b1m", "\\x9b1m"),
        ("\u2028", "\\u2028"), ("\ud800", "\\ud800"), ("a\nb", "a\nb"), ("Größe ≤ ∞ 雪", "Größe ≤ ∞ 雪"), ("", ""),
        ("\U000e0041", "\\U000e0041"), ("abcdefgh", "abc…fgh"),
    ],
)  # fmt: skip
def test_control_characters_are_escaped(text, said):
    assert printable(text, 6 if text == "abcdefgh" else 4000) == said


HOSTILE = "<script>x</script>\x1b[2J\u202e\\input{/etc/passwd}&\"'$%#_~^[*"


@pytest.mark.parametrize("failed", [False, True])
def test_names_and_messages_are_text_in_every_format(folder, failed):
    experiment = EXPERIMENT | {"title": HOSTILE, "datasets": [{"name": "wine", "title": HOSTILE}]}
    experiment["columns"] = [EXPERIMENT["columns"][0] | {"label": HOSTILE, "group": HOSTILE}]
    row = ROW | {"warnings": {HOSTILE: 1}}
    row |= {"status": "failed", "error_type": HOSTILE, "message": HOSTILE} if failed else {}
    shown(folder, experiment, json.dumps(row))
    for format_ in FORMATS:
        text = tables_text(Store(folder), format=format_)
        assert "\x1b" not in text and "\u202e" not in text
        assert not (format_ == "html" and "<script" in text)
        assert not (format_ == "latex" and "\\input" in text)
