"""The files of a trial: the experiment as YAML, and beside it a folder with the card and the rows as CSV."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml

from probcal._io import data_text
from probcal.config.experiment import Experiment, read_experiment
from probcal.data.card import read_card
from probcal.data.dataset import Dataset, assemble
from probcal.data.sources.files import read_original_files
from probcal.data.text_values import as_text
from probcal.errors import FileProblems, ProbcalError
from probcal.try_table.choices import Entry
from probcal.try_table.column_types import TableColumn
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.split_choice import SplitChoice

METRICS = ["cxe", "rms", "auc", "c_emp", "ece"]
# A card lists at most this many columns one by one. With more, it gives the most frequent type once.
_MOST_LISTED_COLUMNS = 150
_KINDS = {
    "number": "numeric",
    "date": "numeric",
    "time": "numeric",
    "category": "nominal",
    "group": "nominal",
    "weight": "weight",
}


class _TextDumper(yaml.SafeDumper):
    """Write text that any reader of YAML takes for text: between quotation marks, unless it is one plain word."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_word = text.isidentifier() and text.isascii()
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_word else '"')


_TextDumper.add_representer(str, _represent_text)


def yaml_text(content: Mapping[str, Any]) -> str:
    """Return ``content`` as YAML. It may hold text, numbers, true and false, lists and mappings."""
    return yaml.dump(content, Dumper=_TextDumper, sort_keys=False, allow_unicode=True, width=1000)


@dataclass(frozen=True)
class Plan:
    """Hold what will run on the table."""

    learners: Mapping[str, Entry]
    methods: Mapping[str, Entry]
    combinations: Mapping[str, Sequence[str]]
    split: SplitChoice
    seed: int
    exclusions: Mapping[str, str] = field(default_factory=dict)
    """Default learner that does not run here -> the reason."""

    @property
    def pairs(self) -> dict[str, list[str]]:
        """Return learner -> its methods."""
        return {learner: list(self.combinations.get(learner, self.methods)) for learner in self.learners}

    @property
    def n_cells(self) -> int:
        return self.split.n_splits * sum(map(len, self.pairs.values()))


def experiment_text(plan: Plan, name: str, title: str, card: str, heading: str) -> str:
    """Return the text of the experiment ``name``.

    ``card`` is the path of its card relative to the experiment, and ``heading`` its first line.
    """
    content = {
        "name": name,
        "title": title,
        "seed": plan.seed,
        "repeats": plan.split.repeats,
        "datasets": [card],
        "learners": plan.learners,
        "methods": plan.methods,
        "combinations": plan.combinations,
        "metrics": METRICS,
    }
    return f"# {heading}\n{yaml_text({name: value for name, value in content.items() if value or name == 'seed'})}"


def rows_text(prepared: PreparedTable) -> str:
    """Return the used rows as CSV: the input columns, and the target last."""
    target = prepared.target
    columns = [_texts(column, prepared) for column in prepared.stored_columns]
    labels = target.labels[target.label_mask][prepared.rows]
    header = [*(column.name for column in prepared.stored_columns), target.name]
    return data_text([header, *zip(*columns, labels, strict=True)])


def card_text(prepared: PreparedTable, name: str, rows: str, fingerprint: str | None = None) -> str:
    """Return the card ``name`` of the file NAME.csv beside it. ``rows`` is the text of that file."""
    target, table = prepared.target, prepared.table
    of_all = f" of {prepared.n_labelled:,}" if len(prepared.rows) < prepared.n_labelled else ""
    kinds = {column.name: _KINDS[column.kind] for column in prepared.stored_columns}
    n_columns = sum(kind != "weight" for kind in kinds.values())
    checks = {"rows": len(prepared.rows), "columns": n_columns, "classes": dict(target.counts)}
    if len(kinds) > _MOST_LISTED_COLUMNS:
        [(default_kind, _)] = Counter(kinds.values()).most_common(1)
        kinds = {name: kind for name, kind in kinds.items() if kind != default_kind} | {"*": default_kind}
    # The seed comes from the labels in the order of the file, so that neither names nor formats change the splits.
    labels = chr(0).join(target.labels[target.label_mask][prepared.rows])
    content = {
        "name": name,
        "title": table.name,
        "about": f"{len(prepared.rows):,}{of_all} rows of {table.name}, as probcal try read them.",
        "columns": kinds | {target.name: "target"},
        **({"task": "multiclass"} if target.positive is None else {"positive": target.positive}),
        "split": prepared.split.card_entry(),
        "seed_name": f"labels-{hashlib.sha256(labels.encode()).hexdigest()[:16]}",
        "expect": checks | ({"fingerprint": fingerprint} if fingerprint else {}),
        "folder": ".",
        "files": [
            {
                "format": "delimited",
                "header": True,
                "missing": [""],
                "files": [{"name": f"{name}.csv", "sha256": hashlib.sha256(rows.encode()).hexdigest()}],
            }
        ],
    }
    return yaml_text(content)


def _texts(column: TableColumn, prepared: PreparedTable) -> list[str]:
    values = column.values.iloc[prepared.rows]
    if column.kind == "weight":
        return [repr(number) for number in prepared.sample_weights.tolist()]
    if column.kind in ("category", "group"):
        return [*values.astype(object).where(values.notna(), "")]
    return ["" if math.isnan(number) else as_text(number) for number in values.to_numpy(np.float64).tolist()]


@dataclass(frozen=True)
class TableFiles:
    """Hold a table as the texts ``rows`` (CSV) and ``card`` (YAML), and the ``dataset`` read from them."""

    name: str
    """Name of the card and of the file of rows."""
    rows: str
    card: str
    dataset: Dataset


def table_files(prepared: PreparedTable, name: str) -> TableFiles:
    """Write the table and read it again, so that the card can state the fingerprint of the data."""
    rows = rows_text(prepared)
    with TemporaryDirectory(prefix="probcal-try-") as folder:
        path = Path(folder) / f"{name}.yaml"
        # the card states the digest of this text, whose line ends Windows would change without newline=""
        path.with_suffix(".csv").write_text(rows, encoding="utf-8", newline="")
        path.write_text(card_text(prepared, name, rows), encoding="utf-8")
        card = read_card(path)
        dataset = assemble(card, read_original_files(card, None))
    return TableFiles(name, rows, card_text(prepared, name, rows, dataset.fingerprint()), dataset)


def write(table_files: TableFiles, plan: Plan, path: Path, title: str, heading: str) -> list[Path]:
    """Write the experiment to ``path``, and card and rows into a folder beside it. Return the files written."""
    card, rows = data_paths(path, table_files.name)
    experiment = experiment_text(plan, path.stem, title, card.relative_to(path.parent).as_posix(), heading)
    texts = {rows: table_files.rows, card: table_files.card, path: experiment}
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return list(texts)


def refuse_overwriting(path: Path, name: str) -> None:
    """Raise ProbcalError when ``write`` would overwrite a file."""
    if path.suffix not in (".yaml", ".yml"):
        raise ProbcalError(f"--save {path}: an experiment is a YAML file; end its name in .yaml")
    for file in (path, *data_paths(path, name)):
        if file.exists():
            raise ProbcalError(f"--save: {file} already exists and is not overwritten; remove it or choose another")


def checked_experiment(table_files: TableFiles, plan: Plan, name: str) -> Experiment:
    """Return the experiment of this ``plan``. Raise ProbcalError with its faults, without line numbers."""
    with TemporaryDirectory(prefix="probcal-try-") as folder:
        path = Path(folder) / f"{name}.yaml"
        write(table_files, plan, path, name, name)
        try:
            return read_experiment(path)
        except FileProblems as error:
            raise ProbcalError("\n".join(problem.message for problem in error.problems)) from None


def heading_of(path: Path) -> str | None:
    """Return the first line of an experiment that ``write`` wrote, or None where there is none."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().removeprefix("# ").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return None


def data_paths(path: Path, name: str) -> tuple[Path, Path]:
    """Return where ``write`` puts the card and the rows of the table ``name`` of the experiment at ``path``."""
    folder = path.with_name(f"{path.stem}-data")
    return folder / f"{name}.yaml", folder / f"{name}.csv"
