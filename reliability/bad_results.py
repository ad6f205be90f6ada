"""Bad results folders: what a run left, as somebody else changed it, and names that would be more than text."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bad_case import Case, link_to
from bad_tables import with_columns

from tests.stored_rows import unpack

_NO_RESULT = "is not the result of a cell"
_HOSTILE = '<script>alert(1)</script>\x1b[2J\u202e\\input{/etc/passwd} & " $x$ % #'
_ROW = {"dataset": "mine", "repetition": 0, "learner": "tree", "method": "direct", "status": "done", "run": "r",
        "seconds": 1.0, "metrics": {"rms": 0.5}}  # fmt: skip


def _line(text: str | bytes) -> Callable[[Path], None]:
    """Puts a line in front of the others."""
    content = text.encode() if isinstance(text, str) else text
    return lambda path: path.write_bytes(content + b"\n" + path.read_bytes()) and None


def _row(**changed: Any) -> Callable[[Path], None]:
    return _line(json.dumps(_ROW | changed))


def _every_row(**changed: Any) -> Callable[[Path], None]:
    """Changes every result, in a folder whose results are lines, as a killed run leaves it."""

    def change(path: Path) -> None:
        unpack(path.parent)
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(json.dumps(row | changed) + "\n" for row in rows), encoding="utf-8")

    return change


def _key(name: str, value: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        experiment = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(experiment | {name: value}), encoding="utf-8")

    return change


def _hostile_names(path: Path) -> None:
    experiment = json.loads(path.read_text(encoding="utf-8"))
    experiment["title"] = experiment["datasets"][0]["title"] = _HOSTILE
    experiment["columns"][0]["label"] = experiment["columns"][0]["group"] = _HOSTILE
    path.write_text(json.dumps(experiment), encoding="utf-8")


def _60_mb(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"[" * 60_000_000 + b"\n")


def _lines(what: str, put: Callable[[Path], Any], says: str = _NO_RESULT, words: str = "table results") -> Case:
    return Case("result line", what, words, 2, says, {"results/cells.jsonl": put})


LINES = [
    _lines("seconds: 1e400", _line(json.dumps(_ROW).replace("1.0", "1e400"))),
    _lines("a whole number of 5,000 digits", _line(json.dumps(_ROW).replace("1.0", "9" * 5000))),
    _lines("seconds of 400 digits", _row(seconds=10**400)),
    _lines("seconds: NaN", _row(seconds=float("nan"))),
    _lines("a metric of 400 digits", _row(metrics={"rms": 10**400})),
    _lines("a metric that is a list", _row(metrics={"rms": []})),
    _lines("metrics that are a text", _row(metrics="rms")),
    _lines("repetition: true", _row(repetition=True)),
    _lines("repetition: -1", _row(repetition=-1)),
    _lines("a data set that is a list", _row(dataset=[])),
    _lines("a key of numbers", _row(key={"data": 1})),
    _lines("warnings that are no counts", _row(warnings={"UserWarning": "many"})),
    _lines("an unknown key", _row(pickle="gASVIQAAAA=="), "written by another version of probcal"),
    _lines("of a newer version", _row(probcal="99.1", pickle="gASVIQAAAA=="), "written by probcal 99.1"),
    _lines("a list", _line("[]")),
    _lines("100,000 brackets", _line("[" * 100_000)),
    _lines("bytes", _line(bytes(range(128, 256)))),
    _lines("a line of 60 MB", _60_mb),
    _lines("20,000 broken lines", _line("x\n" * 20_000), "and 19990 more lines"),
    _lines("a place beyond all files", _row(predictions={"at": 10**18, "rows": 1, "digest": "x"})),
    _lines("a negative place", _row(predictions={"at": -1, "rows": 1, "digest": "x"})),
    _lines("predictions of 10^18 rows", _row(predictions={"at": 0, "rows": 10**18, "digest": "x"})),
    _lines("predictions of 10^12 columns",
           _row(predictions={"at": 0, "rows": 10**9, "columns": 10**12, "digest": "x"})),
    Case("result line", "10^14 rows of predictions, metrics to be measured again", "run small.yaml -o results", 0,
         "all cells are done", {
             "small.yaml": lambda path: path.open("a").write("metrics: [rms, cost(0.1)]\n"),
             "results/cells.jsonl": _every_row(predictions={"at": 0, "rows": 10**14, "digest": "x"}),
         }),
    Case("result line", "a line that is cut off", "table results", 0, "Table 1",
         {"results/cells.jsonl": lambda path: path.open("a").write('{"dataset": "mi')}),
    Case("result line", "a line that is cut off, without a table", "table results", 0, "Table 1",
         {"results/cells.jsonl": lambda path: unpack(path.parent).open("a").write('{"dataset": "mi')}),
    Case("result line", "a number that cannot be, without a table", "table results", 2, "rms lies between 0 and 1",
         {"results/cells.jsonl": _every_row(metrics={"rms": 1.5})}),
]  # fmt: skip


def _kept(what: str, name: str, value: Any, says: str, words: str = "table results", code: int = 2) -> Case:
    return Case("experiment.json", what, words, code, says, {"results/experiment.json": _key(name, value)})


def _whole(what: str, text: str | bytes, says: str) -> Case:
    return Case("experiment.json", what, "table results", 2, says, {"results/experiment.json": text})


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _piped(name: str, words: str, code: int = 2, says: str = "is a pipe, socket or device, not a file") -> Case:
    return Case("pipe", f"{name} is a pipe", words, code, says, {f"results/{name}": _pipe})


PIPES = [
    _piped("running.json", "status results", 0, "1 done"),
    _piped("running.json", "run small.yaml -o results --data-dir . --seed 9", 0, "all cells are done"),
    _piped("running.json.new", "run small.yaml -o results --data-dir . --seed 9", 0, "all cells are done"),
    _piped("accepted.csv", "check results"),
    _piped("cells.jsonl", "run small.yaml -o results --data-dir ."),
    _piped("cells.jsonl", "run small.yaml -o results --dry-run"),
    _piped("cells.jsonl", "status results"),
    _piped("cells.jsonl", "table results"),
    _piped("cells.jsonl", "verify results --discard"),
    _piped("cells.parquet", "run small.yaml -o results --data-dir ."),
    _piped("cells.parquet", "run small.yaml -o results --dry-run"),
    _piped("cells.parquet", "status results"),
    _piped("cells.parquet", "table results"),
    _piped("cells.parquet", "verify results --discard"),
    _piped("cells.parquet", "convert results"),
    _piped("cells.parquet.new", "run small.yaml -o results --data-dir . --seed 9"),
    _piped("cells.jsonl.new", "run small.yaml -o results --data-dir . --seed 9"),
    _piped("experiment.json", "table results"),
    _piped("experiment.json", "run small.yaml -o results --data-dir ."),
    _piped("predictions.bin", "run small.yaml -o results --data-dir ."),
    _piped("runs.jsonl", "run small.yaml -o results --data-dir ."),
    _piped(".lock", "run small.yaml -o results --data-dir ."),
    _piped("figures", "plot results", says="is a pipe, socket or device, not a folder"),
    Case("pipe", "figures/roc.svg is a pipe", "plot drawn", 2, "roc.svg is a pipe, socket or device, not a file",
         {"drawn/figures/roc.svg": _pipe}),
    Case("pipe", "cells.jsonl is a folder", "table results", 2, "is a folder, not a file",
         {"results/cells.jsonl": lambda path: (path.unlink(), path.mkdir())}),
    Case("pipe", "cells.jsonl is a link to /dev/zero", "table results", 2, "is a pipe, socket or device",
         {"results/cells.jsonl": link_to("/dev/zero")}),
    Case("pipe", "cells.parquet is a folder", "table results", 2, "is a folder, not a file",
         {"results/cells.parquet": lambda path: (path.unlink(), path.mkdir())}),
    Case("pipe", "cells.parquet.new is a folder", "run small.yaml -o results --data-dir . --seed 9", 2,
         "is a folder, not a file", {"results/cells.parquet.new": lambda path: path.mkdir()}),
    Case("pipe", "cells.parquet is a link to /dev/zero", "table results", 2, "is a pipe, socket or device",
         {"results/cells.parquet": link_to("/dev/zero")}),
]  # fmt: skip


EXPERIMENTS = [
    _whole("a list", "[]", "does not describe an experiment"),
    _whole("nothing in it", "{}", "does not describe an experiment"),
    _whole("100,000 brackets", "[" * 100_000, "cannot be read"),
    _whole("a number of 5,000 digits", '{"name": ' + "9" * 5000 + "}", "cannot be read"),
    _whole("bytes", bytes(range(128, 256)), "cannot be read"),
    _whole("a null character", "\0", "cannot be read"),
    _kept("a name that is a list", "name", [], "does not describe an experiment"),
    _kept("a billion repetitions", "repetitions", {"mine": 10**9}, "less than or equal to 10000"),
    _kept("repetitions of another set", "repetitions", {}, "no number of repetitions is given"),
    _kept("columns that are a text", "columns", "all", "columns"),
    _kept("an unknown paper", "paper", "../../x", "../../x"),
    _kept("a seed that is a text", "seed", "1", 'has no sound "seed"', "status results"),
    _kept("a negative seed", "seed", -1, 'has no sound "seed"', "status results"),
    _kept("a config that is a number", "config", 1, 'has no sound "config"', "status results"),
    _kept("a config of 2 MB", "config", "a: 1\n" * 400_000, "more than 1,000,000 bytes", "status results"),
    _kept("a config_path with a null character", "config_path", "a\0b", "no such file", "status results"),
    _kept("keys of an earlier version that are a list", "keys", [], "Table 1", code=0),
    _kept("stale results that are a list", "stale", [], "stale"),
    _kept("stale results that are a list", "stale", [], "stale", "verify results"),
    _kept("stale results of a run that are a number", "stale", {"r": 1}, "stale"),
    Case("experiment.json", "runs.jsonl of lists and texts", "status results", 0, "1 done",
         {"results/runs.jsonl": '[]\n"x"\n{"run": []}\n{"run": "r", "code": [], "versions": 1}\n'}),
    Case("experiment.json", "accepted.csv with NaN", "check results", 2, "is not a line of accepted numbers",
         {"results/accepted.csv": "dataset,learner,method,metric,values\nmine,tree,direct,rms,nan\n"}),
]  # fmt: skip


def _shown(what: str, words: str, *never: str, says: str = "Table 1") -> Case:
    files = {"results/experiment.json": _hostile_names}
    return Case("text", what, words, 0, says, files, never=("\x1b", "\u202e", *never))


TEXTS = [
    _shown("hostile names in HTML", "table results -f html", "<script>"),
    _shown("hostile names in LaTeX", "table results -f latex", "\\input{", says="\\begin{table}"),
    _shown("hostile names in Markdown", "table results"),
    _shown("hostile names in CSV", "table results -f csv", says="dataset,"),
    Case("text", "hostile names in a check", "check results", 1, "\\x1b[2J",
         {"results/experiment.json": _hostile_names}, never=("\x1b", "\u202e")),
    Case("text", "a hostile message in HTML", "table results -f html", 0, "&lt;script&gt;",
         {"results/cells.jsonl": _every_row(status="failed", error_type="E", message=_HOSTILE)},
         never=("<script>", "\x1b", "\u202e")),
    Case("text", "a hostile message in LaTeX", "table results -f latex", 0, "textbackslash",
         {"results/cells.jsonl": _every_row(status="failed", error_type="E", message=_HOSTILE)},
         never=("\\input{", "\x1b", "\u202e")),
    Case("text", "a hostile message in the status", "status results --cells", 0, "\\x1b[2J",
         {"results/cells.jsonl": _every_row(status="failed", error_type="E", message=_HOSTILE)},
         never=("\x1b", "\u202e")),
    Case("text", "a hostile message in the status, from the table", "status results --cells", 0, "\\x1b[2J",
         {"results/cells.parquet": with_columns(status=["failed"], error_type=["E"], message=[_HOSTILE])},
         never=("\x1b", "\u202e")),
    Case("text", "a hostile message in HTML, from the table", "table results -f html", 0, "&lt;script&gt;",
         {"results/cells.parquet": with_columns(status=["failed"], error_type=["E"], message=[_HOSTILE])},
         never=("<script>", "\x1b", "\u202e")),
    Case("text", "a hostile name of an experiment", "status results", 0, "\\x1b[2J",
         {"results/experiment.json": _key("name", _HOSTILE)}, never=("\x1b", "\u202e")),
]  # fmt: skip
