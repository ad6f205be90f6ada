"""Where the results of a trial go: into a folder that holds no results of another table or of other settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from probcal.errors import ProbcalError
from probcal.store.folder import Store
from probcal.try_table import experiment_files as files
from probcal.try_table.boosting_search import METHOD as SEARCH_METHOD
from probcal.try_table.boosting_search import earlier_settings
from probcal.try_table.choices import Entry
from probcal.try_table.experiment_files import TableFiles


@dataclass(frozen=True)
class ResultFolder:
    """Hold the folder of a trial and the ``name`` of its experiment."""

    folder: Path
    name: str
    note: str = ""
    """Why it is not the usual folder."""

    @property
    def experiment(self) -> Path:
        """Return the path of the experiment."""
        return self.folder / "input" / f"{self.name}.yaml"


@dataclass(frozen=True)
class TrialSettings:
    """Hold what decides the numbers of a trial, so that a folder of results is of these settings or of others."""

    heading: str
    """First line of the experiment: the table and its target."""
    table_files: TableFiles
    seed: int
    entries: Mapping[str, Mapping[str, Entry]]
    """``learners`` and ``methods`` -> name -> its entry."""
    n_settings: int | None = None
    """Number of settings of each search, where the user gave it."""

    def differences(self, place: ResultFolder) -> list[str]:
        """Return what differs in the trial whose results are in this folder, in words. An empty list if nothing."""
        path = place.experiment
        heading = files.heading_of(path)
        if heading is None:
            return ["an experiment that is lost"] if Store(place.folder).exists() else []
        if heading != self.heading:
            return [f"another table ({heading})"]
        card, _ = files.data_paths(path, self.table_files.name)
        found = [] if _text_of(card) == self.table_files.card else ["other rows, columns or splits"]
        earlier = _content_of(path)
        found += ["another seed"] if earlier.get("seed") != self.seed else []
        for kind, entries in self.entries.items():
            old, new = earlier.get(kind) or {}, yaml.safe_load(files.yaml_text(entries))
            found += [f"other settings of {name}" for name in new if name in old and old[name] != new[name]]
        if self.n_settings is not None and earlier_settings(path) not in (None, self.n_settings):
            found.append(f"other settings of {SEARCH_METHOD}")
        return found


def result_folder(output: Path | None, name: str, settings: TrialSettings) -> ResultFolder:
    """Return the folder for the results of these ``settings``: ``output``, or the first that fits in ``results``.

    Other learners, methods or measures on the same rows and splits share a folder. Raises ProbcalError if ``output``
    holds results of others.
    """
    if output:
        place = ResultFolder(output, name)
        if found := settings.differences(place):
            raise ProbcalError(f"{output} holds results of {', '.join(found)}; choose another folder with -o")
        return place
    usual, *_ = places = [*_usual_folders(name, settings)]
    if len(places) == 1:
        return usual
    listing = ", ".join(settings.differences(usual))
    note = f"{usual.folder.as_posix()} keeps its results of {listing}; these go to {places[-1].folder.as_posix()}"
    return replace(places[-1], note=note)


def _usual_folders(name: str, settings: TrialSettings) -> Iterator[ResultFolder]:
    """Yield the folders in ``results`` that hold results of others, and then the first that does not."""
    for number in count(1):
        numbered = name if number == 1 else f"{name}-{number}"
        place = ResultFolder(Path("results") / numbered, numbered)
        yield place
        if not settings.differences(place):
            return


def _text_of(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def _content_of(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) else {}
