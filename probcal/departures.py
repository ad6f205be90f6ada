"""The exceptions of an experiment: single data sets where some columns read another card or take other settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from probcal.components import Builtin
from probcal.data.card import Card
from probcal.yaml_file import one_or_more, texts

SETTINGS = ("card", "use", "params", "method_params", "skip")


Names = Annotated[list[str], BeforeValidator(one_or_more), Field(min_length=1)]


class DepartureEntry(BaseModel):
    """An exception: single data sets where some columns read another card, take other settings or are skipped."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dataset: Names | None = None
    """The data set that it is about, or several."""
    datasets: Names | None = None
    """The same, for several."""
    learner: Names
    """The learner that it is about, or several; a name stands for all of its variants."""
    method: Names | None = None
    """All methods of the learners unless given."""
    card: str | None = None
    """Another card, which these cells read: of a split that is as often as the data set's."""
    use: str | None = None
    """A learner with a short name, with its own settings, in the place of the column's."""
    params: dict[str, Any] = {}
    """Parameters of the learner, over those of its entry."""
    method_params: dict[str, Any] = {}
    """Parameters of the method, over those of its entry."""
    skip: bool = False
    """Whether there are no such cells at all."""
    why: Annotated[str, Field(min_length=1)]
    """The reason, which stands under every table."""


@dataclass(frozen=True)
class Departure:
    """An exception with its names resolved. ``columns``: (learner, method) of each column that it is about."""

    datasets: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    why: str
    card: Card | None = None
    use: Builtin | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    method_params: Mapping[str, Any] = field(default_factory=dict)
    skip: bool = False

    def is_about(self, dataset: str, learner: str, method: str) -> bool:
        return dataset in self.datasets and (learner, method) in self.columns

    @property
    def what(self) -> str:
        """What departs, in words."""
        said = [f"card {self.card.name}"] if self.card else []
        said += [self.use.path.rpartition(".")[2]] if self.use else []
        said += [f"{name} {value}" for params in (self.params, self.method_params) for name, value in params.items()]
        return "not run" if self.skip else ", ".join(said)


def named_datasets(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(key it stands under, name) of the data sets of an exception as it is written."""
    return [(key, name) for key in ("dataset", "datasets") for name in named(item, key)]


def named(item: Mapping[str, Any], key: str) -> list[str]:
    """The names under ``key``, which holds one or a list; what is no name left out."""
    return texts(item.get(key))


def card_name(dataset: str) -> str:
    """What a data set of the experiment is called, which may name it by the path of its card."""
    return Path(dataset).stem if dataset.endswith((".yaml", ".yml")) else dataset
