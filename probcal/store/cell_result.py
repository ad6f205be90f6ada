"""The result of one cell, as an object and as a line of ``cells.jsonl``, with the checks of untrusted values."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError, from_json

from probcal import __version__
from probcal._io import printable, shortened
from probcal.errors import ProbcalError
from probcal.metrics.metric import Metric
from probcal.metrics.plugins import find_metric
from probcal.metrics.registry import metric_named
from probcal.store.first_keys import present_key

T = TypeVar("T")
_NO_PACKAGE_REASON = "the package that declares this metric is not installed, so no end is better"
_DERIVED_METRICS = ("loss_ratio", "steepest_growth")
"""What claims compare besides metrics. Each is computed from several numbers of a cell, and smaller is better."""
LARGEST_COUNT = 10**15
"""Largest number of rows, seconds or bytes. Beyond it, floats are not exact for whole numbers."""


class RowFaultError(ValueError):
    """Report which part of a stored result has the wrong type or is out of bounds."""


class ImpossibleValueError(ValueError):
    """Report a stored number that its metric cannot have."""


def refuse_impossible_values(metrics: Mapping[str, float], stages: Mapping[str, list[float]]) -> None:
    """Raise ImpossibleValueError for the first number that its metric cannot have.

    A metric without a value at a stage is stored as NaN. A name that this version does not know has no bounds.
    """
    for name, number in metrics.items():
        _refuse_impossible(name, name, number)
    for name, values in stages.items():
        for stage, number in enumerate(values, 1):
            if not math.isnan(number):
                _refuse_impossible(name, f"{name} after stage {stage}", number)


@cache
def known_metric(name: str) -> Metric | None:
    """Return the metric, or None where this version and its plugins do not know it."""
    try:
        return find_metric(name)
    except ProbcalError:  # the results of a plugin that no longer works can still be read
        return None


def resolve_metric(name: str) -> Metric:
    """Return how to show the metric of this ``name``. Neither end of an unknown one is better."""
    metric = known_metric(name)
    return metric or replace(metric_named(name), no_end="" if name in _DERIVED_METRICS else _NO_PACKAGE_REASON)


def _refuse_impossible(name: str, label: str, number: float) -> None:
    metric = known_metric(name)
    fault = metric.fault(number) if metric else None
    if fault:
        raise ImpossibleValueError(f"{label} is {number:.10g}, but {name} {fault}")


_NON_FINITE_TEXTS = ("inf", "-inf", "nan")
"""Numbers that JSON lacks, as ``to_json`` writes them."""
LARGEST_FLOAT = 1e100
"""Matplotlib cannot lay out axes near the largest floats."""


def _parse_number(value: Any) -> float:
    """Return ``value`` as a float, infinite beyond 1e100. Raise ValueError for anything but a number."""
    # In Python, true and false are numbers of the type int.
    if isinstance(value, bool) or not (isinstance(value, int | float) or value in _NON_FINITE_TEXTS):
        raise PydanticCustomError("number", "is no number")
    number = float(value)
    # Infinite, so that sums of squares cannot overflow.
    return math.copysign(math.inf, number) if abs(number) > LARGEST_FLOAT else number


def checked_location(location: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return ``location``, which ``Predictions.add`` returned. Raise ValueError when nothing can lie there."""
    numbers = [location.get("at"), location.get("rows"), location.get("columns", 1), location.get("labels", 1)]
    if location.get("weights", 1) != 1:
        raise PydanticCustomError("place", "does not name a place in predictions.bin")
    # Not isinstance, because true is an int, too.
    is_valid = all(type(n) is int and 0 <= n <= LARGEST_COUNT for n in numbers)
    if not is_valid or not isinstance(location.get("digest"), str):
        raise PydanticCustomError("place", "does not name a place in predictions.bin")
    if not 0 < math.prod(numbers[2:]) <= LARGEST_COUNT / max(location["rows"], 1):
        raise PydanticCustomError("shape", "does not have a possible shape")
    return location


_Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST_COUNT)]
_Number = Annotated[float, BeforeValidator(_parse_number)]
_Seconds = Annotated[float, Field(strict=True, ge=0, le=LARGEST_COUNT, allow_inf_nan=False)]
_Location = Annotated[Mapping[str, Any], AfterValidator(checked_location)]


_LINE_LABEL_FIELDS = {"iso_probability": "level, a number within (0, 1)", "training_rows": "label"}
"""Curve name -> what tells its lines apart, where a figure needs it: a number or a text."""


def curves_fault(curves: Mapping[str, Any]) -> str | None:
    """Return the fault of the first invalid curve of a cell, or None.

    ``curves`` maps a name to its lines. Each line is a mapping with lists ``x`` and ``y`` of the same length. They hold
    at least one number, all finite and none beyond 1e100.
    """
    for name, lines in curves.items():
        if not isinstance(lines, list):
            return f'the curve "{name}" is no list of lines'
        for line in lines:
            if not isinstance(line, dict) or not _has_points(line) or not _has_identifier(name, line):
                suffix = f", and its {_LINE_LABEL_FIELDS[name]}" if name in _LINE_LABEL_FIELDS else ""
                return f'a line of the curve "{name}" lacks x and y, equally many finite numbers, one at least{suffix}'
    return None


def _has_points(line: dict[str, Any]) -> bool:
    x, y = line.get("x"), line.get("y")
    return isinstance(x, list) and isinstance(y, list) and 0 < len(x) == len(y) and _are_finite(x) and _are_finite(y)


def _has_identifier(name: str, line: dict[str, Any]) -> bool:
    if name == "iso_probability":
        level, positive = line.get("level"), line.get("positive", True)
        return level is not None and _are_finite([level]) and 0 < level < 1 and isinstance(positive, bool)
    return name != "training_rows" or isinstance(line.get("label"), str)


def _are_finite(values: list[Any]) -> bool:
    return {*map(type, values)} <= {int, float} and all(-LARGEST_FLOAT <= value <= LARGEST_FLOAT for value in values)


@dataclass(frozen=True, slots=True)
class CellResult:
    """Hold the result of one cell. ``key`` holds a digest of everything that can change its numbers."""

    dataset: str
    repetition: _Count
    learner: str
    method: str
    status: str
    """One of ``STATUSES``."""
    run: str
    seconds: _Seconds
    """To fit and to predict, without the fits that an earlier cell made."""
    key: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, _Number] = field(default_factory=dict)
    stages: Mapping[str, list[_Number]] = field(default_factory=dict)
    """Metric -> its value after every stage of the method, for the metrics that the experiment asks for by stage."""
    curves: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Lines for figures: name -> lines, each with ``x``, ``y`` and what tells it from the others."""
    n_train: _Count | None = None
    n_test: _Count | None = None
    warnings: Mapping[str, _Count] = field(default_factory=dict)
    """Kind of warning -> how often the cell gave it."""
    error_type: str | None = None
    message: str | None = None
    traceback: str | None = None
    shared_seconds: _Seconds = 0.0
    """Seconds of the fits that the cell took over from earlier cells. Alone it would have taken these, too."""
    predictions: _Location | None = None
    """Where the labels and probabilities are stored. None if they were not stored."""
    later_failure: CellResult | None = field(default=None, compare=False, repr=False)
    """The last failed attempt to rerun a done result. The store sets it, and no line holds it."""

    @property
    def id(self) -> str:
        return cell_id(self.dataset, self.repetition, self.learner, self.method)

    @property
    def failure_text(self) -> str:
        """Return in one line what failed: the type of the error, and the first line of its message."""
        parts = [_first_line(self.error_type), _first_line(self.message)]
        return ": ".join(filter(None, parts)) or f"{self.status}, without a message"

    def to_json(self, predictions: dict[str, Any] | None = None) -> str:
        """Return the line of the result. ``predictions`` is the location of its predictions, if it is not None."""
        parts = {name: getattr(self, name) for name in FIELD_NAMES}
        row = {
            name: dict(value) if isinstance(value, Mapping) else value
            for name, value in parts.items()
            if value not in (None, {})
        }
        if not self.shared_seconds:
            del row["shared_seconds"]
        if predictions is not None:
            row["predictions"] = predictions
        row[WRITER] = __version__
        if self.metrics:
            row["metrics"] = {name: _json_number(value) for name, value in self.metrics.items()}
        if self.stages:
            row["stages"] = _json_stages(self.stages)
        # a message may hold half of a surrogate pair, as file names do that are not UTF-8
        return _ENCODER.encode(row).encode("utf-8", "replace").decode()

    @classmethod
    def from_json(cls, line: str, *, any_values: bool = False) -> CellResult:
        """Read a result from its line.

        Raises ValueError, TypeError, AttributeError, OverflowError or RecursionError if the line is not a result. Among
        the ValueErrors, UnknownParts reports parts that only another version knows. ImpossibleValueError reports a
        number that its metric cannot have, unless ``any_values`` is true.
        """
        row = _parse_json(line)
        if not isinstance(row.pop(WRITER, ""), str):
            raise TypeError(f"{WRITER} is no version")
        if names := sorted(row.keys() - {*FIELD_NAMES}):
            raise UnknownParts(names)
        if isinstance(status := row.get("status"), str) and status not in STATUSES:
            raise UnknownParts([f"status: {status}"])
        try:
            result: CellResult = _type_adapter().validate_python(row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise RowFaultError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        if fault := curves_fault(result.curves):
            raise ValueError(fault)
        if not any_values:
            refuse_impossible_values(result.metrics, result.stages)
        return result


def _parse_json(line: str) -> Any:
    try:
        # It makes equal short texts of several lines one object, which saves half the memory.
        return from_json(line)
    except ValueError:
        # It reads what the faster parser refuses, such as half of a surrogate pair.
        return json.loads(line)


def part_text(name: str, value: Any) -> str | None:
    """Return the ``warnings``, ``stages`` or ``curves`` of a result as JSON, or None if there are none."""
    return json.dumps(_json_stages(value) if name == "stages" else value) if value else None


@cache
def _part_adapter(name: str) -> TypeAdapter[Any]:
    types = {
        "warnings": dict[str, _Count],
        "stages": dict[str, list[_Number]],
        "curves": dict[str, list[dict[str, Any]]],
    }
    return TypeAdapter(types[name])


def parsed_part(name: str, text: str) -> dict[str, Any]:
    """Return what ``part_text`` wrote. Raise ValueError, TypeError or RecursionError if it is something else."""
    try:
        part: dict[str, Any] = _part_adapter(name).validate_python(_parse_json(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RowFaultError(f"{'.'.join(map(str, (name, *first['loc'])))}: {first['msg']}") from None
    if name == "curves" and (fault := curves_fault(part)):
        raise ValueError(fault)
    return part


def _json_stages(stages: Mapping[str, list[float]]) -> dict[str, list[float | str]]:
    return {name: [_json_number(value) for value in values] for name, values in stages.items()}


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


@cache
def _type_adapter() -> TypeAdapter[CellResult]:
    return TypeAdapter(CellResult)


class UnknownParts(ValueError):
    """Report the ``parts`` of a result that this version does not know."""

    def __init__(self, parts: list[str]) -> None:
        super().__init__(f"unknown: {', '.join(parts)}")
        self.parts = parts


STATUSES = ("done", "failed", "timeout")
WRITER = "probcal"
"""Part of a line that names the version that wrote it."""
FIELD_NAMES = tuple(part.name for part in fields(CellResult) if part.name != "later_failure")


def cell_id(dataset: str, repetition: int, learner: str, method: str) -> str:
    return f"{dataset}/{repetition}/{learner}/{method}"


def key_digest(key: Mapping[str, str]) -> str:
    """Return one digest for a whole identity. Stages and curves change no other number, so they do not count."""
    return _digest(present_key(key))


def has_digest(key: Mapping[str, str], digest: str | None) -> bool:
    """Return whether ``digest`` is that of ``key``, in its present form or in the form in which it was stored."""
    return digest == _digest(key) or digest == key_digest(key)


def _digest(key: Mapping[str, str]) -> str:
    key = {part: digest for part, digest in key.items() if part not in ("stages", "curves")}
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]


def _json_number(value: float) -> float | str:
    # JSON has no infinity and no NaN. ``float`` reads the texts.
    return value if math.isfinite(value) else str(value)


_LONGEST_TEXT = 40
"""Largest number of characters of a version or of the name of a part in a message."""
_LONGEST_LINE = 200


def _first_line(text: str | None) -> str:
    line = (text or "").strip().partition("\n")[0]
    return printable(shortened(line, _LONGEST_LINE))


def version_message(line: str, error: Exception, runs: Callable[[], Mapping[str, Mapping[str, Any]]]) -> str:
    """Return which other version wrote a line that ``error`` reports, and what to do. Empty if nothing shows one.

    ``runs`` reads the provenance, which names the version where the line does not.
    """
    try:
        row = json.loads(line)
        writer = row.get(WRITER) or runs().get(row.get("run"), {}).get("probcal")
    except (ValueError, TypeError, AttributeError, RecursionError):
        writer = None
    if isinstance(writer, str) and is_newer(writer):
        return (
            f"written by probcal {printable(writer, _LONGEST_TEXT)}, and this is probcal {__version__}; "
            "nothing is lost, read it with that version or a newer one"
        )
    if isinstance(error, UnknownParts):
        return (
            f"written by another version of probcal: {__version__} does not know its part "
            f'"{printable(error.parts[0], _LONGEST_TEXT)}"; nothing is lost, use the version that wrote it'
        )
    return ""


def is_newer(version: str) -> bool:
    """Return whether ``version`` of probcal comes after this one, judged by the numbers that it begins with."""
    return _version_numbers(version) > _version_numbers(__version__)


def _version_numbers(version: str) -> list[int]:
    # Few digits, because the line may come from anywhere, and Python reads no number of thousands of digits.
    match = re.match(r"[0-9]{1,9}(\.[0-9]{1,9}){0,9}", version)
    return [int(number) for number in match[0].split(".")] if match else []


class Results(dict[str, CellResult]):
    """Hold cell id -> result, and remember what was computed from the results of one column.

    Tables, checks and reports ask for the same summaries many times, and each is computed once. Do not change the
    results after that.
    """

    def __init__(self, results: Mapping[str, CellResult] | Iterable[tuple[str, CellResult]] = ()) -> None:
        super().__init__(results)
        self._computed: dict[tuple[Any, ...], Any] = {}

    def compute_once(self, name: tuple[Any, ...], compute: Callable[[], T]) -> T:
        """Return what ``compute`` returned when it was first called under this name."""
        if name not in self._computed:
            self._computed[name] = compute()
        value: T = self._computed[name]
        return value
