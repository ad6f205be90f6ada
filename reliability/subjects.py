"""What probcal reads that others may have written: a sound example of each kind, and the functions that read it."""

from __future__ import annotations

import io
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from mutations import changed_bytes, changed_tree

from tests.stored_rows import stored_rows

CONFIG = {
    "name": "small",
    "title": "Small",
    "seed": 3,
    "repeats": 2,
    "datasets": ["wine-first", "mine.yaml"],
    "learners": {
        "tree": {"params": {"max_depth": 3, "criterion": "gini"}, "label": "T", "shared_seed": True},
        "nb": {"type": "kernel_nb", "encoding": "native"},
        "forest": {"type": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 5}},
        "weka": {"params": {"classifier": "trees.J48", "options": "-C 0.25"}},
    },
    "methods": {
        "direct": None,
        "probing": {"params": {"n_probes": 3}, "variants": {"a": {"clip": [0.1, 0.9]}, "b": {}}},
        "bagging": {"label": "B"},
    },
    "combinations": {"nb": ["direct"], "weka": ["direct"], "tree": ["direct", {"probing": {"weighting": "rejection"}}]},
    "exceptions": [{"dataset": "wine-first", "learner": "forest", "params": {"n_estimators": 3}, "why": "slow"}],
    "metrics": ["rms", "auc", "cost(0.05)"],
    "stages": ["cxe"],
    "curves": ["roc"],
}
CARD = {
    "name": "mine",
    "title": "Mine",
    "about": "of my own",
    "reading_of": "adult",
    "columns": {"a": "numeric", "b": "nominal", "f1..f2": "infer", "y": "target"},
    "positive": [1],
    "split": {"kind": "holdout", "train_fraction": 0.5},
    "expect": {"rows": 12, "columns": 4},
    "missing_codes": {"a": ["9"]},
    "files": [
        {
            "format": "delimited",
            "separator": ",",
            "header": True,
            "missing": ["?"],
            "comment": "%",
            "label_until": ".",
            "rename": {"b": {"x": "z"}},
            "column_names": {"q": "a"},
            "first_rows": 12,
            "files": [{"name": "mine.csv", "skip_lines": [99]}],
        },
        {"format": "arff", "files": [{"name": "mine.arff"}]},
    ],
}
CSV = "q,b,f1,f2,y\n" + "".join(f"{row},{'xy'[row % 2]},{row / 3:.3f},k{row},{row % 2}.\n" for row in range(12))
ARFF = (
    "% mine\n@relation mine\n@attribute a numeric\n@attribute b {x,y}\n@attribute f1 real\n@attribute f2 string\n"
    "@attribute y {0,1}\n@data\n"
    + "".join(f"{row},{'xy'[row % 2]},{row / 3:.3f},'k {row}',{row % 2}\n" for row in range(12))
)
RUN = CONFIG | {
    "datasets": ["mine.yaml"],
    "paper": "langford-zadrozny-2005",
    "learners": {
        "tree": {"paper": "J48", "variants": {"a": {"max_depth": 3}, "b": {"max_depth": 2}}},
        "nb": {"type": "sklearn.naive_bayes.GaussianNB"},
    },
    "methods": {"direct": None, "probing": {"params": {"n_probes": 3}}, "sigmoid": None},
    "combinations": {},
    "exceptions": [],
}


@dataclass(frozen=True)
class Subject:
    """A kind of input. ``read`` gives it, as bytes, to all of probcal that reads such a thing."""

    kind: str
    sound: bytes
    read: Callable[[bytes, random.Random], None]
    parsed: Any = None
    """The same as plain values, where it is a tree; with ``written``, which makes bytes of it."""
    written: Callable[[Any], str | bytes] | None = None

    def changed(self, rng: random.Random) -> bytes:
        if self.written is None or rng.random() < 0.4:
            return changed_bytes(rng, self.sound)
        content = self.written(changed_tree(rng, self.parsed))
        return content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")


def subjects(folder: Path) -> list[Subject]:
    """All of them; files are put into ``folder``, which is empty, and changed there."""
    _put_sources(folder)
    results = _results(folder)
    kept = {path.name: path.read_bytes() for path in results.iterdir() if path.is_file()}
    live, experiment, rows = _live(), json.loads(kept["experiment.json"]), stored_rows(results)
    sound = kept | {"cells.jsonl": _json_lines(rows).encode()}  # as a killed run leaves it

    def of_results(name: str, parsed: Any = None, written: Callable[[Any], str | bytes] | None = None) -> Subject:
        def read(content: bytes, rng: random.Random) -> None:
            (results / name).write_bytes(content)
            if name == "cells.jsonl" and rng.random() < 0.5:  # the run was the first one
                (results / "cells.parquet").unlink()
            try:
                _show(results, rng, name)
            finally:
                for one in {name, "cells.parquet"}:
                    (results / one).write_bytes(kept[one])

        return Subject(name, sound[name], read, parsed, written)

    return [
        Subject("config", _yaml(CONFIG).encode(), lambda content, _: _read_config(folder, content), CONFIG, _yaml),
        Subject("card", _yaml(CARD).encode(), lambda content, _: _read_card(folder, content), CARD, _yaml),
        Subject("CSV", CSV.encode(), lambda content, _: _read_data(folder, "mine.csv", content)),
        Subject("ARFF", ARFF.encode(), lambda content, _: _read_data(folder, "mine.arff", content)),
        of_results("cells.jsonl", rows, _json_lines),
        of_results("cells.parquet", _columns(kept["cells.parquet"]), _table),
        of_results("experiment.json", experiment, json.dumps),
        of_results("runs.jsonl", [json.loads(line) for line in kept["runs.jsonl"].decode().splitlines()], _json_lines),
        of_results("accepted.csv"),
        of_results("predictions.bin"),
        Subject("running.json", json.dumps(live).encode(), lambda said, _: _hear(results, said), live, json.dumps),
    ]


def _put_sources(folder: Path) -> None:
    place = folder / "mine"
    place.mkdir()
    (place / "mine.csv").write_text(CSV)
    (folder / "mine.yaml").write_text(_yaml(CARD))
    (folder / "run.yaml").write_text(_yaml(RUN))


def _results(folder: Path) -> Path:
    from probcal.config.experiment import read_experiment
    from probcal.papers.check.accepted import accept_numbers
    from probcal.papers.check.findings import CheckedResults
    from probcal.runner.run import run_experiment
    from probcal.runner.run_options import RunOptions
    from probcal.store.folder import Store

    experiment, results = read_experiment(folder / "run.yaml"), folder / "results"
    assert run_experiment(experiment, experiment, RunOptions(results, folder), lambda line: None) == 0
    accept_numbers(CheckedResults.of(Store(results)))
    (results / ".lock").unlink(missing_ok=True)
    return results


def _read_config(folder: Path, content: bytes) -> None:
    from probcal.config.experiment import read_experiment
    from probcal.runner.cell import list_cells
    from probcal.runner.description import describe, small_experiment

    path = folder / "hostile.yaml"
    path.write_bytes(content)
    experiment = read_experiment(path)
    if len(experiment.columns) * experiment.repeats < 1000:
        list_cells(experiment)
        json.dumps(describe(experiment, folder))
        small_experiment(experiment)


def _read_card(folder: Path, content: bytes) -> None:
    from probcal.data.card import read_card
    from probcal.data.dataset import assemble
    from probcal.data.sources.files import missing_files, read_original_files

    elsewhere = folder / "hostile"
    elsewhere.mkdir(exist_ok=True)
    path = elsewhere / "mine.yaml"
    path.write_bytes(content)
    card = read_card(path)
    if not card.generator and not missing_files(card, folder):
        assemble(card, read_original_files(card, folder))


def _read_data(folder: Path, name: str, content: bytes) -> None:
    from probcal.data.card import read_card
    from probcal.data.dataset import assemble
    from probcal.data.sources.files import origin, read_original_files

    elsewhere = folder / "hostile data"
    shutil.rmtree(elsewhere, ignore_errors=True)
    (elsewhere / "mine").mkdir(parents=True)
    (elsewhere / "mine" / name).write_bytes(content)
    # files beside the card are read before all others, so the card lies where the changed file is
    card = read_card(shutil.copy(folder / "mine.yaml", elsewhere / "mine.yaml"))
    assemble(card, read_original_files(card, elsewhere))
    origin(card, elsewhere, 3)


def _show(results: Path, rng: random.Random, changed: str) -> None:
    """Commands that read the file that was ``changed``, each by itself: what one refuses, another may show."""
    from probcal.errors import ProbcalError
    from probcal.papers.check.checked_experiment import check
    from probcal.papers.check.findings import CheckedResults
    from probcal.reporting import FORMATS
    from probcal.reporting.check.audit import audit_text
    from probcal.reporting.check.check_text import json_text, report_text
    from probcal.reporting.figures import plot
    from probcal.reporting.tables import tables_text
    from probcal.runner.description import load_experiment
    from probcal.runner.plan import make_plan, plan_lines
    from probcal.store.folder import Store

    store = Store(results)

    def status() -> None:
        plan_lines(make_plan(load_experiment(store), store), every_cell=True)

    def checked() -> None:
        report = check(CheckedResults.of(store))
        report_text(report), json_text([report])

    def remeasure() -> None:
        for result in store.results().values():
            store.predictions(result)

    few: dict[str, list[Callable[[], Any]]] = {
        "runs.jsonl": [status],
        "accepted.csv": [checked],
        "predictions.bin": [remeasure],
    }
    every = [
        *(lambda one=one: tables_text(store, format=one) for one in FORMATS),
        *(status, checked, lambda: audit_text(store), remeasure),
    ]
    commands = few.get(changed) or rng.sample(every, 3)
    if changed not in few and rng.random() < 0.04:  # drawing takes a second
        commands.append(lambda: list(plot([store], lambda line: None)))
    refused = None
    for command in commands:
        try:
            command()
        except ProbcalError as error:
            refused = error
    if refused is not None:
        raise refused


def _live() -> dict[str, Any]:
    """What a run in this process would say of itself."""
    from probcal.runner.progress import HeartbeatFile, RunState

    with tempfile.TemporaryDirectory() as folder:
        running = {"mine/0/nb/direct": (time.time(), 3.0), "mine/0/tree.a/direct": (time.time(), None)}
        HeartbeatFile(Path(folder)).write(RunState(time.time(), 2, 18, 3, 1, running, 9.0, 2.0, "ValueError: x"))
        return json.loads(Path(folder, "running.json").read_text(encoding="utf-8"))


def _hear(results: Path, content: bytes) -> None:
    from probcal.runner.progress import heartbeat_lines, read_heartbeat

    (results / "running.json").write_bytes(content)
    if heard := read_heartbeat(results):
        heartbeat_lines(heard)


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def _json_lines(rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in (rows if isinstance(rows, list) else [rows]))


def _columns(content: bytes) -> dict[str, Any]:
    """What a table says about itself, and its columns."""
    table = pq.read_table(pa.BufferReader(content))
    return {"about": json.loads(table.schema.metadata[b"probcal"]), "columns": table.to_pydict()}


def _table(tree: Any) -> bytes:
    """A table of such columns, whatever they are now: short ones are filled up, and mixed values become texts."""
    columns = tree.get("columns") if isinstance(tree, dict) else None
    if not isinstance(columns, dict):
        return repr(tree).encode("utf-8", "replace")
    lists = {str(name): one if isinstance(one, list) else [one] for name, one in columns.items()}
    n = max(map(len, lists.values()), default=0)
    arrays = {_text(name): _array([*one, *[None] * (n - len(one))]) for name, one in lists.items()}
    about = {} if "about" not in tree else {"probcal": _text(json.dumps(tree["about"]))}
    file = io.BytesIO()
    pq.write_table(pa.table(arrays).replace_schema_metadata(about), file)
    return file.getvalue()


def _array(values: list[Any]) -> pa.Array:
    try:
        array = pa.array(values)
        pq.write_table(pa.table({"a": array}), io.BytesIO())
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        array = pa.array([None if value is None else _text(str(value)) for value in values], pa.string())
    return array


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
