"""An experiment as its YAML file has it: keys, their kinds and their defaults."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from probcal.departures import DepartureEntry
from probcal.metrics import DEFAULT_METRICS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_OF_DEVICES = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
"""What Windows makes no folder of."""
_MOST_REPEATS = 10_000
"""Every cell is listed before the first is run; a slip of the finger must not fill the memory."""


def _name_of_a_folder(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f'name: "{name}" cannot name a folder of results: only letters, digits, - and _, at most 100, the first '
            "a letter or digit"
        )
    if _OF_DEVICES.fullmatch(name):
        raise ValueError(f'name: "{name}" is the name of a device on Windows and cannot name a folder there')
    return name


def _method_with_parameters(item: Any) -> Any:
    if isinstance(item, str):
        return {item: {}}
    if isinstance(item, dict) and item:
        return {name: {} if params is None else params for name, params in item.items()}
    raise ValueError("combinations: a method stands alone, or with parameters as in {probing: {weighting: rejection}}")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


MethodsHere = Annotated[dict[str, dict[str, Any]], BeforeValidator(_method_with_parameters)]
"""Method -> parameters that hold for one learner only."""


def _settings_of_each(variants: Any) -> Any:
    if isinstance(variants, dict):
        return {name: {} if params is None else params for name, params in variants.items()}
    return variants


Variants = Annotated[dict[str, dict[str, Any]], BeforeValidator(_settings_of_each), Field(min_length=1)]
"""Variant -> parameters that are merged over the entry's."""


class LearnerEntry(_Part):
    """A learner of the experiment: what it is, its parameters, and how the tables call it."""

    type: str | None = None
    params: dict[str, Any] = {}
    label: str | None = None
    encoding: str | None = None
    paper: str | None = None
    """The learner of the paper whose published numbers belong beside this one's."""
    shared_seed: Annotated[bool, Field(strict=True)] = False
    """Whether it draws the same under every method: its seed is then the experiment's plus the repetition."""
    variants: Variants | None = None


class MethodEntry(_Part):
    """A method of the experiment."""

    type: str | None = None
    params: dict[str, Any] = {}
    label: str | None = None
    paper: str | dict[str, str] | None = None
    """The method of the paper whose published numbers belong beside this one's; its type unless given. Of variants that
    are several of the paper's: variant -> its method, and none for those left out."""
    variants: Variants | None = None


class ExperimentFile(_Part):
    """The YAML file as it is written."""

    name: Annotated[str, AfterValidator(_name_of_a_folder)]
    title: str = ""
    paper: str | None = None
    seed: Annotated[int, Field(ge=0, strict=True)] = 0
    repeats: Annotated[int, Field(ge=1, le=_MOST_REPEATS, strict=True)] = 1
    repeat_fixed_splits: Annotated[bool, Field(strict=True)] = False
    """Whether a split that is always the same is run ``repeats`` times too, with other seeds of what is drawn."""
    datasets: Annotated[list[str], Field(min_length=1)]
    learners: Annotated[dict[str, LearnerEntry], Field(min_length=1)]
    methods: Annotated[dict[str, MethodEntry], Field(min_length=1)]
    combinations: dict[str, Annotated[list[MethodsHere], Field(min_length=1)]] = {}
    """Learner -> its methods, each alone or with parameters for this learner; all methods if not listed."""
    exceptions: list[DepartureEntry] = []
    metrics: Annotated[list[str], Field(min_length=1)] = list(DEFAULT_METRICS)
    stages: list[str] = []
    """Metrics that are also taken after every stage of a method that has stages, as probing after each probe."""
    curves: list[str] = []
    """Lines for figures, kept of the first repetition."""

    @field_validator("learners", "methods", mode="before")
    @classmethod
    def _names_alone(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, list):
            if not all(isinstance(name, str) for name in value):
                raise ValueError(f"{info.field_name}: a list may hold only names; with settings, write name: {{...}}")
            return {name: {} for name in value}
        if isinstance(value, dict):
            return {name: {} if entry is None else entry for name, entry in value.items()}
        return value
