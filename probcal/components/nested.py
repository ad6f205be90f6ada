"""Nested components: parameters that are learners, methods or other classes, such as the steps of a Pipeline.

A mapping with ``type``, and ``params`` if there are any, stands for an instance of that class:

    params:
      steps:
        - [scale, {type: sklearn.preprocessing.MinMaxScaler}]
        - [svm, {type: linear_svm, params: {C: 0.1}}]

It may stand in lists and mappings, and have components among its own parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from probcal.components.classes import import_class, takes_parameter, unknown_parameters, value_fault
from probcal.components.numerics import numerics
from probcal.components.registry import LEARNER_NAMES, METHOD_NAMES, Builtin
from probcal.components.trust import text_faults, trusted_class
from probcal.errors import ProbcalError, did_you_mean, unknown_name
from probcal.yaml_file import KeyPath

_KEYS = {"type", "params"}


def is_component(value: Any) -> bool:
    """Return whether ``value`` is a mapping with ``type`` and perhaps ``params``, and nothing else."""
    return _has_type(value) and set(value) <= _KEYS and isinstance(value.get("params"), dict | None)


def _has_type(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("type"), str)


def resolve_names(value: Any) -> Any:
    """Return ``value`` with every short name replaced by its import path and the parameters behind it.

    An unknown name stays. Without a component, the value is equal to what was given.
    """
    if is_component(value):
        try:
            builtin = _find_builtin(value["type"])
        except ProbcalError:  # several packages declare the name, which ``faults`` reports
            builtin = None
        path, defaults = (builtin.path, builtin.params) if builtin else (value["type"], {})
        return {"type": path, "params": resolve_names({**defaults, **(value.get("params") or {})})}
    if isinstance(value, dict):
        return {name: resolve_names(item) for name, item in value.items()}
    return [resolve_names(item) for item in value] if isinstance(value, list) else value


def paths(value: Any) -> list[str]:
    """Return the import paths of all components in a resolved value, each once."""
    if not value:  # as for most learners, once for each cell
        return []
    types = dict.fromkeys(component["type"] for _, component in _components((), value))
    return list(types)


def canonical(value: Any) -> Any:
    """Return a resolved value with the first import path of every class, which identities name for ever."""
    if not value or not numerics().first_path:
        return value
    if is_component(value):
        return {"type": numerics().canonical(value["type"]), "params": canonical(value.get("params"))}
    if isinstance(value, dict):
        return {name: canonical(item) for name, item in value.items()}
    return [canonical(item) for item in value] if isinstance(value, list) else value


def build(component: type, *arguments: Any, **params: Any) -> Any:
    """Return an unfitted instance, with its nested components.

    Raises ProbcalError when a constructor rejects its arguments.
    """
    values = instances(params)
    try:
        return component(*arguments, **values)
    except Exception as error:  # a user's class may raise anything
        raise ProbcalError(f"{component.__name__} cannot be made: {error}") from None


def instances(value: Any) -> Any:
    """Return ``value`` with an unfitted instance in place of every component.

    A list that begins with a name and holds a component becomes a tuple, as scikit-learn's steps are. Nothing is
    checked: see ``faults``. Raises ProbcalError if a class cannot be imported or built.
    """
    if is_component(value):
        component = resolve_names(value)
        return build(import_class(component["type"]), **component["params"])
    if isinstance(value, dict):
        return {name: instances(item) for name, item in value.items()}
    if isinstance(value, list):
        items = [instances(item) for item in value]
        return tuple(items) if value and isinstance(value[0], str) and any(map(is_component, value)) else items
    return value


def faults(value: Any, key_path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield the key path and message of each fault of the components in ``value``, which stands at ``key_path``.

    Nothing is imported that is not trusted.
    """
    yield from _spelling_faults(key_path, value)
    for inner_path, component in _components(key_path, value):
        yield from _component_faults(component, inner_path)


def _component_faults(mapping: Mapping[str, Any], key_path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    name, params = mapping["type"], mapping.get("params") or {}
    try:
        builtin = _find_builtin(name)
        if builtin is None and "." not in name:
            remark = "; any other class by its import path"
            raise ProbcalError(unknown_name("learner or method", name, _known(), remark))
        component = trusted_class(builtin.path if builtin else name)
    except ProbcalError as error:
        yield (*key_path, "type"), str(error)
        return
    other_params = {name: value for name, value in params.items() if not takes_parameter(component, str(name))}
    messages = unknown_parameters(component, other_params)
    yield from (((*key_path, "params", name), message) for name, message in messages.items())
    untrusted_texts = list(text_faults(component, params))
    yield from (((*key_path, "params", name), message) for name, message in untrusted_texts)
    # faults of its own components are reported at their key paths
    if messages or untrusted_texts or any(True for _ in faults(params, ())):
        return
    try:
        fault = value_fault(instances(mapping))
    except ProbcalError as error:
        fault = str(error)
    if fault:
        parameter = next((name for name in params if f"'{name}'" in fault or fault.startswith(f"{name} ")), None)
        yield (*key_path, "params", parameter) if parameter else (*key_path, "type"), f"{component.__name__}: {fault}"


def _find_builtin(name: str) -> Builtin | None:
    return LEARNER_NAMES.find(name) or METHOD_NAMES.find(name)


def _known() -> dict[str, Builtin]:
    return {**LEARNER_NAMES.known(), **METHOD_NAMES.known()}


def _components(key_path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield each component in ``value`` with its key path, those among its parameters after it."""
    if is_component(value):
        yield key_path, value
    for inner_path, part in _parts(key_path, value):
        yield from _components(inner_path, part)


def _spelling_faults(key_path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, str]]:
    """Yield mappings that would be components if one key were spelt right, or its value were right."""
    if _has_type(value):
        if set(value) == _KEYS and not is_component(value):
            yield (*key_path, "params"), "params of a component must be a mapping, as in {a: b}"
        for key in sorted(map(str, set(value) - _KEYS)):
            suggestion = did_you_mean(key, ("params",))
            if suggestion or "." in value["type"] or value["type"] in _known():
                hint = suggestion or "; parameters belong below params: {type: …, params: {…}}"
                yield (*key_path, key), f'unknown key "{key}" of a component{hint}'
    elif isinstance(value, Mapping) and "_target_" in value:
        yield (*key_path, "_target_"), 'a component has "type" and "params", not "_target_"'
    for inner_path, part in _parts(key_path, value):
        yield from _spelling_faults(inner_path, part)


def _parts(key_path: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    if isinstance(value, Mapping):
        yield from (((*key_path, str(name)), part) for name, part in value.items())
    elif isinstance(value, list):
        yield from (((*key_path, index), part) for index, part in enumerate(value))
