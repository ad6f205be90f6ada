"""An experiment as its YAML file has it: keys, their kinds and their defaults."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from probcal.config.overrides import DepartureEntry
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
    """A built-in learner, or the import path of a classifier; the entry's own name unless given."""
    params: dict[str, Any] = {}
    """Parameters of its constructor, over those of the built-in."""
    label: str | None = None
    """How tables call it; the built-in's label unless given, else the entry's own name."""
    encoding: str | None = None
    """How it gets the columns: ``numeric`` (indicators, scaled to [0, 1]), ``ordinal`` (places in the alphabet,
    standardised) or ``native`` (the frame as it is); the built-in's unless given, else numeric."""
    paper: str | None = None
    """The learner of the paper whose published numbers belong beside this one's."""
    shared_seed: Annotated[bool, Field(strict=True)] = False
    """Whether it draws the same under every method: its seed is then the experiment's plus the repetition."""
    variants: Variants | None = None
    """Variant -> parameters that are merged over ``params``; each is a learner of its own, called ``entry.variant``."""


class MethodEntry(_Part):
    """A method of the experiment."""

    type: str | None = None
    """A built-in method, or the import path of a meta-estimator; the entry's own name unless given."""
    params: dict[str, Any] = {}
    """Parameters of its constructor, over those of the built-in."""
    label: str | None = None
    """How tables call it, before the learner's label; the built-in's label unless given, else the entry's own name."""
    paper: str | dict[str, str] | None = None
    """The method of the paper whose published numbers belong beside this one's; its type unless given. Of variants that
    are several of the paper's: variant -> its method, and none for those left out."""
    variants: Variants | None = None
    """Variant -> parameters that are merged over ``params``; each is a method of its own, called ``entry.variant``."""


class ExperimentFile(_Part):
    """An experiment of probcal: data sets x learners x methods x splits."""

    name: Annotated[str, AfterValidator(_name_of_a_folder)]
    """What it is called, and its folder below results/: letters, digits, - and _, at most 100."""
    title: str = ""
    """The heading of its tables; the name unless given."""
    paper: str | None = None
    """The paper whose published numbers stand beside ours."""
    seed: Annotated[int, Field(ge=0, strict=True)] = 0
    """The seed of all splits and fits; ``--seed`` overrides it."""
    repeats: Annotated[int, Field(ge=1, le=_MOST_REPEATS, strict=True)] = 1
    """How often a data set is split at random, or drawn by its generator; a fixed split is run once."""
    repeat_fixed_splits: Annotated[bool, Field(strict=True)] = False
    """Whether a split that is always the same is run ``repeats`` times too, with other seeds of what is drawn."""
    datasets: Annotated[list[str], Field(min_length=1)]
    """Names (``probcal list datasets``), or paths of cards of your own, relative to this file."""
    learners: Annotated[dict[str, LearnerEntry], Field(min_length=1)]
    """The base learners: a list of names, or a name of your choice -> what it stands for."""
    methods: Annotated[dict[str, MethodEntry], Field(min_length=1)]
    """The methods: a list of names, or a name of your choice -> what it stands for."""
    combinations: dict[str, Annotated[list[MethodsHere], Field(min_length=1)]] = {}
    """Learner -> its methods, each alone or with parameters for this learner; all methods if not listed."""
    exceptions: list[DepartureEntry] = []
    """Where single data sets depart from all this, and why."""
    metrics: Annotated[list[str], Field(min_length=1)] = list(DEFAULT_METRICS)
    """Which tables are shown (``probcal list metrics``)."""
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
