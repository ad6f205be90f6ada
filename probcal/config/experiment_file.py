"""The model of an experiment's YAML file: its keys, their types and their defaults."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

from probcal.config.overrides import OverrideEntry
from probcal.metrics import DEFAULT_METRICS

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_WINDOWS_DEVICES = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
"""Names that Windows reserves for devices, so that they cannot be folders."""
_MOST_REPEATS = 10_000
"""All cells are listed before the first one runs. A typing error must not fill the memory."""


def _check_folder_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f'name: "{name}" cannot name a folder of results: only letters, digits, - and _, at most 100, the first '
            "a letter or digit"
        )
    if _WINDOWS_DEVICES.fullmatch(name):
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
"""Method -> parameters that apply to one learner only."""


def _fill_empty_variants(variants: Any) -> Any:
    if isinstance(variants, dict):
        return {name: {} if params is None else params for name, params in variants.items()}
    return variants


Variants = Annotated[dict[str, dict[str, Any]], BeforeValidator(_fill_empty_variants), Field(min_length=1)]
"""Variant -> parameters that are merged over the entry's parameters."""


class LearnerEntry(_Part):
    """A learner of the experiment: its class, its parameters, and its label in tables."""

    type: str | None = None
    """A built-in learner, or the import path of a classifier. The default is the entry's own name."""
    params: dict[str, Any] = {}
    """Parameters of its constructor, merged over those of the built-in."""
    label: str | None = None
    """Its label in tables. The default is the built-in's label, or else the entry's own name."""
    encoding: str | None = None
    """How the learner gets the columns: ``numeric`` (indicators, scaled to [0, 1]), ``ordinal`` (positions in the
    alphabet, standardised) or ``native`` (the frame as it is). The default is the built-in's encoding, or else
    numeric.
    """
    paper: str | None = None
    """The learner of the paper whose published numbers are shown beside this one's."""
    shared_seed: Annotated[bool, Field(strict=True)] = False
    """Whether it uses the same seed with every method: the experiment's seed plus the number of the repetition."""
    variants: Variants | None = None
    """Variant -> parameters that are merged over ``params``. Each is a learner of its own, called ``entry.variant``."""


class MethodEntry(_Part):
    """A method of the experiment."""

    type: str | None = None
    """A built-in method, or the import path of a meta-estimator. The default is the entry's own name."""
    params: dict[str, Any] = {}
    """Parameters of its constructor, merged over those of the built-in."""
    label: str | None = None
    """Its label in tables, before the learner's label.

    The default is the built-in's label, or else the entry's own name.
    """
    paper: str | dict[str, str] | None = None
    """The method of the paper whose published numbers are shown beside this one's.

    The default is its type. Where variants match different methods of the paper, give a mapping: variant -> its method.
    Variants left out have none.
    """
    variants: Variants | None = None
    """Variant -> parameters that are merged over ``params``. Each is a method of its own, called ``entry.variant``."""


class ExperimentFile(_Part):
    """An experiment of probcal: data sets x learners x methods x splits."""

    name: Annotated[str, AfterValidator(_check_folder_name)]
    """Its name, which is also the name of its folder below results/. Use letters, digits, - and _, at most 100."""
    title: str = ""
    """The heading of its tables. The default is the name."""
    paper: str | None = None
    """The paper whose published numbers are shown beside ours."""
    seed: Annotated[int, Field(ge=0, strict=True)] = 0
    """The seed of all splits and fits. ``--seed`` overrides it."""
    repeats: Annotated[int, Field(ge=1, le=_MOST_REPEATS, strict=True)] = 1
    """How often a data set is split at random, or drawn by its generator. A fixed split is run once."""
    repeat_fixed_splits: Annotated[bool, Field(strict=True)] = False
    """Whether a fixed split is also run ``repeats`` times, each time with other seeds."""
    datasets: Annotated[list[str], Field(min_length=1)]
    """Names (``probcal list datasets``), or paths of your own cards, relative to this file."""
    learners: Annotated[dict[str, LearnerEntry], Field(min_length=1)]
    """The base learners: a list of names, or a mapping from names of your choice to entries."""
    methods: Annotated[dict[str, MethodEntry], Field(min_length=1)]
    """The methods: a list of names, or a mapping from names of your choice to entries."""
    combinations: dict[str, Annotated[list[MethodsHere], Field(min_length=1)]] = {}
    """Learner -> its methods, each alone or with parameters for this learner.

    A learner that is not listed gets all methods.
    """
    exceptions: list[OverrideEntry] = []
    """Other settings for single data sets, with the reason."""
    metrics: Annotated[list[str], Field(min_length=1)] = list(DEFAULT_METRICS)
    """The metrics of the tables (``probcal list metrics``)."""
    stages: list[str] = []
    """Metrics that are also measured after every stage of a method with stages, such as each probe of probing."""
    curves: list[str] = []
    """Curves for figures, stored for the first repetition."""

    @field_validator("learners", "methods", mode="before")
    @classmethod
    def _expand_names(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, list):
            if not all(isinstance(name, str) for name in value):
                raise ValueError(f"{info.field_name}: a list may hold only names; with settings, write name: {{...}}")
            return {name: {} for name in value}
        if isinstance(value, dict):
            return {name: {} if entry is None else entry for name, entry in value.items()}
        return value
