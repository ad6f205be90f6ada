"""The three files that run a table again: the experiment, and in a folder beside it the card and the rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from probcal.config import read_experiment
from probcal.data.card import read_card
from probcal.data.dataset import Dataset, assemble
from probcal.data.files import read_original_files
from probcal.errors import FileProblems, ProbcalError
from probcal.own_table.card_text import card_text, rows_text
from probcal.own_table.experiment_text import Plan, experiment_text
from probcal.own_table.prepare import Prepared


@dataclass(frozen=True)
class Described:
    """A table as files: ``rows`` (CSV) and ``card`` (YAML) are their texts, ``dataset`` what is read from them."""

    name: str
    """Of the card and of the file of rows; splits are drawn by it."""
    rows: str
    card: str
    dataset: Dataset


def described(prepared: Prepared, name: str) -> Described:
    """The table written and read again, so that its card can say by a fingerprint what must come out."""
    rows = rows_text(prepared)
    with TemporaryDirectory(prefix="probcal-try-") as folder:
        path = Path(folder) / f"{name}.yaml"
        path.with_suffix(".csv").write_text(rows, encoding="utf-8", newline="")
        path.write_text(card_text(prepared, name, rows), encoding="utf-8")
        card = read_card(path)
        dataset = assemble(card, read_original_files(card, None))
    return Described(name, rows, card_text(prepared, name, rows, dataset.fingerprint()), dataset)


def write(described: Described, plan: Plan, path: Path, title: str, heading: str) -> list[Path]:
    """Write the experiment to ``path``, and card and rows into a folder beside it; returns the files written."""
    texts = _texts(described, plan, path, title, heading)
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return list(texts)


def refuse_others(path: Path, name: str) -> None:
    """Raises ProbcalError when a file that ``write`` would write is there."""
    if path.suffix not in (".yaml", ".yml"):
        raise ProbcalError(f"--save {path}: an experiment is a YAML file; end its name in .yaml")
    for one in (path, *_beside(path, name)):
        if one.exists():
            raise ProbcalError(f"--save: {one} is already there, and is not written over; remove it or choose another")


def refuse_unsound(described: Described, plan: Plan, name: str) -> None:
    """Raises ProbcalError with what an experiment of this ``plan`` would be refused for, without lines of its file."""
    with TemporaryDirectory(prefix="probcal-try-") as folder:
        path = Path(folder) / f"{name}.yaml"
        write(described, plan, path, name, name)
        try:
            read_experiment(path)
        except FileProblems as error:
            raise ProbcalError("\n".join(problem.message for problem in error.problems)) from None


def heading_of(path: Path) -> str | None:
    """The first line of an experiment that is there, as ``write`` was given it; None where there is none."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline().removeprefix("# ").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return None


def _texts(described: Described, plan: Plan, path: Path, title: str, heading: str) -> dict[Path, str]:
    card, rows = _beside(path, described.name)
    place = card.relative_to(path.parent).as_posix()
    return {
        rows: described.rows,
        card: described.card,
        path: experiment_text(plan, path.stem, title, place, heading),
    }


def _beside(path: Path, name: str) -> tuple[Path, Path]:
    folder = path.with_name(f"{path.stem}-data")
    return folder / f"{name}.yaml", folder / f"{name}.csv"
