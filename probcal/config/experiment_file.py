"""The model of an experiment's YAML file: its keys, their types and defaults, and the names that it may give."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from probcal.components.plugins import declarations, refuse_rivals
from probcal.data.card import Card, find_card, read_card
from probcal.data.splits import EXPERIMENT_KINDS, Split
from probcal.errors import OF_A_PLUGIN, DataError, FileProblems, ProbcalError, unknown_name
from probcal.learners.registry import LEARNERS, known_learners
from probcal.methods.registry import METHODS
from probcal.metrics import COST, DEFAULT_METRICS, METHOD_METRICS, NAMED, loss_parameter, nearest_cost
from probcal.metrics.plugins import find_metric, metric_names
from probcal.papers.published import paper_names
from probcal.yaml_file import as_list
from probcal.yaml_validation import Faults, validator_of

ENCODINGS = ("numeric", "ordinal", "native")
CURVES = ("iso_probability", "martingale", "roc", "scores", "training_rows")
"""Curves for figures. ``roc`` is drawn from any predictions, the others only from methods that provide them."""
STAGE_METRICS = tuple(name for name in NAMED if name not in METHOD_METRICS)
SETTINGS = ("card", "use", "params", "method_params", "skip")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_WINDOWS_DEVICES = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", re.IGNORECASE)
"""Names that Windows reserves for devices, so that they cannot be folders."""
MOST_SPLITS = 10_000
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


def _check_split_for_all(split: Split | None) -> Split | None:
    if split is not None and split.kind not in EXPERIMENT_KINDS:
        raise ValueError(f"split: a {split.kind} split belongs to one data set; write it on its card")
    return split


def _method_with_parameters(item: Any) -> Any:
    if isinstance(item, str):
        return {item: {}}
    if isinstance(item, dict) and item:
        return {name: {} if params is None else params for name, params in item.items()}
    raise ValueError("combinations: a method stands alone, or with parameters as in {probing: {weighting: rejection}}")


@dataclass(frozen=True, eq=False)
class KnownNames:
    """Annotate a text that must be one of ``names``. Editors offer these names, and what a built-in is."""

    kind: str
    names: Collection[str]
    """The built-in names, which editors offer."""
    plugin_names: Callable[[], Collection[str]] = tuple
    """Return the names that plugins add. It is called only for a name that is not built in."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return names_schema(self.names)

    def _check(self, name: str) -> str:
        if name not in self.names and name not in (plugin_names := self.plugin_names()):
            raise ValueError(unknown_name(self.kind, name, [*self.names, *plugin_names]) + OF_A_PLUGIN)
        return name


def names_schema(names: Collection[str]) -> dict[str, Any]:
    """Return the JSON Schema of one of ``names``. A registry or mapping also gives what each name means."""
    if not isinstance(names, Mapping):
        return {"enum": list(names)}
    return {"enum": list(names), "enumDescriptions": [getattr(meaning, "about", meaning) for meaning in names.values()]}


def card_reader(folder: Path) -> Callable[[str], Card]:
    """Return a function that reads the card of a name or path in the ``folder``, each card once.

    It raises DataError or FileProblems for a card that is missing or wrong.
    """
    return functools.cache(lambda name: read_card(find_card(name, folder=folder)))


def _card_faults(name: str, info: ValidationInfo) -> Faults:
    """Yield what is wrong with the card ``name``. The context of validation is a ``card_reader``."""
    assert info.context is not None
    try:
        info.context(name)
    except DataError as error:
        yield (), str(error)
    except FileProblems as error:
        yield (), f'the card of "{name}" is wrong:\n  ' + str(error).replace("\n", "\n  ")


def _dataset_faults(names: list[str], info: ValidationInfo) -> Faults:
    first_names: dict[str, str] = {}
    for index, name in enumerate(names):
        # A path and a shipped name can be called alike, and a cell is named after its data set.
        first_name = first_names.setdefault(card_name(name), name)
        if first_name != name:
            yield (index,), f'"{name}" and "{first_name}" are both called "{card_name(name)}"; rename one'
        yield from (((index,), fault) for _, fault in _card_faults(name, info))
    # by the text of the file: two names of one card are reported above
    yield from _duplicate_faults("data set", names)


def _metric_faults(names: list[str], info: ValidationInfo) -> Faults:
    metrics = NAMED if info.field_name == "metrics" else STAGE_METRICS
    for index, name in enumerate(names):
        if name in metrics or loss_parameter(name) is not None:
            continue
        try:
            refuse_rivals("metrics", name)
            if name in metric_names() and find_metric(name):
                continue
        except ProbcalError as error:
            yield (index,), str(error)
            continue
        message = f'there is no metric "{name}"; {COST} takes a p between 0 and 1, neither included: cost(0.05)'
        if cost := nearest_cost(name):
            message = f'there is no metric "{name}"; did you mean "{cost}"?'
        elif not name.startswith("cost"):
            message = (
                unknown_name("metric", name, [*metrics, *metric_names()])
                + "; write an expected cost as cost(0.05)"
                + OF_A_PLUGIN
            )
        yield (index,), message
    yield from _duplicate_faults("metric", names)


def _curve_faults(names: list[str], info: ValidationInfo) -> Faults:
    yield from (
        ((index,), unknown_name("curve", name, CURVES)) for index, name in enumerate(names) if name not in CURVES
    )
    yield from _duplicate_faults("curve", names)


def _duplicate_faults(kind: str, names: list[str]) -> Faults:
    earlier_names: set[str] = set()
    for index, name in enumerate(names):
        if name in earlier_names:
            yield (index,), f'the {kind} "{name}" is listed twice'
        earlier_names.add(name)


def card_name(dataset: str) -> str:
    """Return the name of a data set, which an experiment may also give as the path of its card."""
    return Path(dataset).stem if dataset.endswith((".yaml", ".yml")) else dataset


class _FilePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _fill_empty(mapping: Any) -> Any:
    if isinstance(mapping, dict):
        return {name: {} if value is None else value for name, value in mapping.items()}
    return mapping


_Parameters = dict[str, Any]
_Settings = Annotated[dict[str, _Parameters | None], Field(min_length=1)]
_Several = Annotated[list[str], Field(min_length=1)]
Names = Annotated[_Several, BeforeValidator(as_list, json_schema_input_type=str | _Several)]
MethodEntries = Annotated[
    dict[str, _Parameters],
    BeforeValidator(
        _method_with_parameters, json_schema_input_type=Annotated[str, Field(examples=[*METHODS])] | _Settings
    ),
]
"""Method -> parameters that apply to one learner only."""
Variants = Annotated[
    dict[str, _Parameters], Field(min_length=1), BeforeValidator(_fill_empty, json_schema_input_type=_Settings)
]
"""Variant -> parameters that are merged over the entry's parameters."""


class LearnerEntry(_FilePart):
    """A learner of the experiment: its class, its parameters, and its label in tables."""

    type: str | None = None
    """A built-in learner, or the import path of a classifier. The default is the entry's own name."""
    params: dict[str, Any] = {}
    """Parameters of its constructor, merged over those of the built-in."""
    label: str | None = None
    """Its label in tables. The default is the built-in's label, or else the entry's own name."""
    encoding: Annotated[str, KnownNames("encoding", ENCODINGS)] | None = None
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


class MethodEntry(_FilePart):
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
    shared_seed: Annotated[bool, Field(strict=True)] = False
    """Whether it uses the same seed as the other methods with this key: the experiment's seed plus the number of the
    repetition. Methods that calibrate on folds then have the same folds.
    """
    variants: Variants | None = None
    """Variant -> parameters that are merged over ``params``. Each is a method of its own, called ``entry.variant``."""


class OverrideEntry(_FilePart):
    """An exception: single data sets where some columns read another card, use other settings or are skipped."""

    dataset: Names | None = None
    """The data set of the exception, or several."""
    datasets: Names | None = None
    """The same, for several."""
    learner: Names
    """The learner of the exception, or several. A name stands for all of its variants."""
    method: Names | None = None
    """The methods of the exception. The default is all methods of the learners."""
    card: Annotated[str, validator_of(_card_faults)] | None = None
    """Another card for these cells. Its split must be repeated as often as the data set's."""
    use: Annotated[str, KnownNames("learner", LEARNERS, known_learners)] | None = None
    """A learner with a short name that replaces the column's learner, with its own settings."""
    params: dict[str, Any] = {}
    """Parameters of the learner, merged over those of its entry."""
    method_params: dict[str, Any] = {}
    """Parameters of the method, merged over those of its entry."""
    skip: bool = False
    """Whether these cells are left out."""
    why: Annotated[str, Field(min_length=1)]
    """The reason, which is printed below every table."""

    @property
    def named_datasets(self) -> list[tuple[str, str]]:
        """Return (key, name) of each data set."""
        names_by_key = {"dataset": self.dataset, "datasets": self.datasets}
        return [(key, name) for key, names in names_by_key.items() for name in names or ()]

    @model_validator(mode="after")
    def _check_settings(self) -> OverrideEntry:
        settings = [key for key in SETTINGS if getattr(self, key)]
        if not self.named_datasets:
            raise ValueError('an exception has no data set; give its "dataset", or several "datasets"')
        if not settings:
            raise ValueError(f"an exception changes nothing; give {', '.join(SETTINGS[:-1])} or skip: true")
        if self.skip and len(settings) > 1:
            raise ValueError("skipped cells take no settings; remove the settings or skip")
        return self


class ExperimentFile(_FilePart):
    """An experiment of probcal: data sets x learners x methods x splits."""

    name: Annotated[str, AfterValidator(_check_folder_name)]
    """Its name, which is also the name of its folder below results/. Use letters, digits, - and _, at most 100."""
    title: str = ""
    """The heading of its tables. The default is the name."""
    paper: Annotated[str, KnownNames("paper", paper_names(), lambda: declarations("papers"))] | None = None
    """The paper whose published numbers are shown beside ours."""
    seed: Annotated[int, Field(ge=0, strict=True)] = 0
    """The seed of all splits and fits. ``--seed`` overrides it."""
    repeats: Annotated[int, Field(ge=1, le=MOST_SPLITS, strict=True)] = 1
    """How often a data set is split at random or into folds, or drawn by its generator. A fixed split is run once."""
    split: Annotated[Split | None, AfterValidator(_check_split_for_all)] = None
    """The split of all data sets, which replaces those of their cards."""
    repeat_fixed_splits: Annotated[bool, Field(strict=True)] = False
    """Whether a fixed split is also run ``repeats`` times, each time with other seeds."""
    weka: Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)*$", coerce_numbers_to_str=True)] | None = None
    """The release of Weka that its numbers are of, such as 3.4.1 or 3.9. PROBCAL_WEKA_JAR names the jar file."""
    processor: Literal["x86-64-v3"] | None = None
    """The instructions that compute, so that every x86-64 processor with AVX2 gives the same numbers. The default is
    all that the processor has, which is faster."""
    datasets: Annotated[list[str], Field(min_length=1), validator_of(_dataset_faults)]
    """Names (``probcal list datasets``), or paths of your own cards, relative to this file."""
    learners: Annotated[dict[str, LearnerEntry], Field(min_length=1)]
    """The base learners: a list of names, or a mapping from names of your choice to entries."""
    methods: Annotated[dict[str, MethodEntry], Field(min_length=1)]
    """The methods: a list of names, or a mapping from names of your choice to entries."""
    combinations: dict[str, Annotated[list[MethodEntries], Field(min_length=1)]] = {}
    """Learner -> its methods, each alone or with parameters for this learner.

    A learner that is not listed gets all methods.
    """
    exceptions: list[OverrideEntry] = []
    """Other settings for single data sets, with the reason."""
    metrics: Annotated[list[str], Field(min_length=1), validator_of(_metric_faults)] = list(DEFAULT_METRICS)
    """The metrics of the tables (``probcal list metrics``)."""
    stages: Annotated[list[str], validator_of(_metric_faults)] = []
    """Metrics that are also measured after every stage of a method with stages, such as each probe of probing."""
    curves: Annotated[list[str], validator_of(_curve_faults)] = []
    """Curves for figures, stored for the first repetition."""

    @field_validator("learners", "methods", mode="before")
    @classmethod
    def _expand_names(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, list):
            if not all(isinstance(name, str) for name in value):
                raise ValueError(f"{info.field_name}: a list may hold only names; with settings, write name: {{...}}")
            return {name: {} for name in value}
        return _fill_empty(value)
