"""Trust: which import paths an experiment file may name, because their classes only compute, and what the user adds.

Importing a module runs its code. So an experiment file may import only from probcal, scikit-learn and what the user
trusts. Users trust names by ``--trust`` and ``--allow-imports``, by ``trusting`` in Python, or by the environment
variable PROBCAL_TRUSTED, with ``:`` or ``,`` between names. The name ``weka`` also allows options of Weka that read or
write files (``probcal.learners.weka.allowed``).

A class of scikit-learn or probcal counts if it is defined there and is an estimator, a kernel or a splitter. Modules
import much more than they define, such as ``gzip.GzipFile``, and none of it counts. No class is called before this
is checked.

A text can name a file. So a parameter of scikit-learn takes a text only if scikit-learn declares it as a choice, or if
``FREE_TEXTS`` names the parameter. A name of the user's trust (``--trust``) allows all of this below that name.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from probcal.components.classes import import_class, to_import_path
from probcal.components.registry import plugin_package
from probcal.errors import ProbcalError

ANY_PATH = "*"
"""In place of a name, this trusts any import path."""
_VARIABLE = "PROBCAL_TRUSTED"
_PACKAGES = ("probcal", "sklearn")

FREE_TEXTS = {
    "constant": "a class label",
    "dtype": "a type of numbers",
    "encoding": "a text encoding",
    "fill_value": "a value of a column",
    "importance_getter": "an attribute of the estimator",
    "metric": "a distance by its name",
    "outlier_label": "a class label",
    "pos_label": "a class label",
    "refit": "a scorer by its name",
    "resource": "a parameter of the estimator",
    "scoring": "a scorer by its name",
    "separator": "text between two names",
    "threshold": "a multiple of the mean or median",
    "token_pattern": "a regular expression",
    "verbose_feature_names_out": "a pattern of column names",
}
"""Parameter of scikit-learn that takes any text -> what the text is. None of them reads or writes a file."""
FILE_CHOICES = {"input": ("file", "filename")}
"""Parameter -> choices that scikit-learn declares, and with which it opens the files that the rows name."""
FILE_TEXTS = {"memory": "names a folder whose pickles are loaded", "pre_dispatch": "is evaluated as an expression"}
"""Parameter that takes any text -> what scikit-learn does with it."""
_OPEN_PARTS = ("probcal.learners", "probcal.methods", "probcal.papers", "sklearn")
"""Packages whose classes a config may name. ``probcal.NAME`` counts, too."""
_CLOSED_NAMES = frozenset(("conftest", "externals", "tests"))
"""Modules of these names run code of other packages."""


def is_trusted(path: str) -> bool:
    """Return whether ``path`` is, or lies below, a trusted name: ``mine`` trusts mine.trees, not mine2.

    A class that an installed package declares for probcal is trusted, too (``probcal.components.plugins``).
    """
    return any(path.startswith(f"{name}.") for name in _PACKAGES) or is_trusted_by_user(path)


def is_trusted_by_user(path: str) -> bool:
    """Return whether the user trusts ``path``: by name, or by installing the package that declares it for probcal."""
    names = _names_from_environment()
    if ANY_PATH in names or any(path == name or path.startswith(f"{name}.") for name in names):
        return True
    return plugin_package(path) is not None


def refusal(path: str) -> str:
    """Return why ``path`` is not imported, and what to write to have it imported."""
    import_path = to_import_path(path)
    name = import_path.partition(".")[0]
    if import_path != path:
        return f'"{path}" is not an import path; write  {import_path}  and if you trust {name}, add  --trust {name}'
    return (
        f'"{path}" is not imported: an import runs code, and only that of probcal and scikit-learn is trusted unasked; '
        f"if you trust {name} too, add  --trust {name}  (or  --allow-imports  for any import path, or set "
        "PROBCAL_TRUSTED)"
    )


@contextmanager
def trusting(*names: str) -> Iterator[None]:
    """Allow imports below each of ``names`` inside the context. ``*`` allows all.

    With any trusted name, modules may also lie in the current folder, which is searched last. Without one it is not
    searched. Otherwise a package that looks for an optional module would run a file of that name beside a config.
    """
    old_value = os.environ.get(_VARIABLE)
    if names:  # in the environment, so that new threads and processes trust the same names
        os.environ[_VARIABLE] = ":".join((*_names_from_environment(), *names))
    try:
        if _names_from_environment():
            # The current folder may have been removed. Then nothing can be imported from it.
            with suppress(FileNotFoundError):
                if os.getcwd() not in sys.path:
                    # Last, so that a file there hides no module of an installed package.
                    sys.path.append(os.getcwd())
        yield
    finally:
        if old_value is not None:
            os.environ[_VARIABLE] = old_value
        elif names:
            os.environ.pop(_VARIABLE, None)


def _names_from_environment() -> list[str]:
    return [name for name in re.split(r"[:,\s]+", os.environ.get(_VARIABLE, "")) if name]


def trusted_class(path: str) -> type:
    """Return the class at an import path that an experiment file names.

    Raises ProbcalError if the user must trust the path first, or if there is no such class. Nothing is imported then
    but modules of scikit-learn and probcal.
    """
    if is_trusted_by_user(path):
        return import_class(path)
    if not is_trusted(path):
        raise ProbcalError(refusal(path))
    if not _is_open(path):
        raise ProbcalError(
            f'"{path}" is not imported: without trust, an experiment names classes of probcal.learners, '
            "probcal.methods, probcal.papers and scikit-learn, but none of its tests; if you trust it, add  "
            f"--trust {path}"
        )
    component = import_class(path)
    if fault := _class_fault(component):
        raise ProbcalError(f'"{path}" {fault}; if you trust it, add  --trust {path}')
    return component


def _is_open(path: str) -> bool:
    parts = path.split(".")[:-1]
    is_open = parts == ["probcal"] or any(f"{path}.".startswith(f"{package}.") for package in _OPEN_PARTS)
    return is_open and not any(part in _CLOSED_NAMES or part.startswith("__") for part in parts)


def _class_fault(component: type) -> str | None:
    """Return why a class that can be reached in a trusted package is not trusted, or None."""
    from sklearn.base import BaseEstimator
    from sklearn.gaussian_process.kernels import Kernel

    if component.__module__.partition(".")[0] not in _PACKAGES:
        return f"is {component.__module__}.{component.__qualname__}, which scikit-learn and probcal only import"
    is_splitter = hasattr(component, "split") and hasattr(component, "get_n_splits")
    if not (issubclass(component, BaseEstimator | Kernel) or is_splitter):
        return "is no estimator, kernel or splitter"
    return None


def text_faults(component: type, params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each parameter whose text needs the user's trust, with the message.

    Only classes of scikit-learn are checked. Those of probcal check their texts themselves, and any other class is
    there because the user trusts it.
    """
    # Without private modules, such as ``sklearn.cluster.FeatureAgglomeration``.
    modules = [part for part in component.__module__.split(".") if not part.startswith("_")]
    path = ".".join((*modules, component.__qualname__))
    if not path.startswith("sklearn.") or is_trusted_by_user(path):
        return
    for name, value in params.items():
        for parameter, text in _texts(str(name), value):
            if fault := _text_fault(component if parameter == name else None, parameter, text):
                yield name, f'{component.__name__}: {parameter} "{text}" {fault}; if you trust it, add  --trust {path}'


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (parameter, text) of a value, and of parameters that it names, as ``param_grid`` of a search does."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping) and "type" not in value:  # a nested component is checked by itself
        for key, inner in value.items():
            # A search names parameters of a step as ``step__parameter``.
            parameter = str(key).rpartition("__")[2]
            inner_values = inner if isinstance(inner, list) else [inner]
            for inner_value in inner_values:
                if not isinstance(inner_value, str) or parameter in {*FILE_TEXTS, *FILE_CHOICES}:
                    yield from _texts(f"{name}: {parameter}", inner_value)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, (Mapping, list)):
                yield from _texts(name, item)


def _text_fault(component: type | None, parameter: str, text: str) -> str | None:
    """Return why a text needs trust, or None. ``component`` is None for a parameter of an unknown class."""
    name = parameter.rpartition(": ")[2]
    if text in FILE_CHOICES.get(name, ()):
        return "opens files that the rows name"
    if name in FILE_TEXTS:
        return FILE_TEXTS[name]
    if component is None or name in FREE_TEXTS or _is_choice(component, name, text):
        return None
    return "is no choice that scikit-learn declares, so it may name a file"


def _is_choice(component: type, name: str, text: str) -> bool:
    """Return whether scikit-learn declares the text as a choice, or takes no text at all."""
    from sklearn.utils._param_validation import make_constraint

    constraints = getattr(component, "_parameter_constraints", {}).get(name)
    if constraints is None or isinstance(constraints, str):  # unknown, or "no_validation"
        return False
    declared = [constraint for constraint in constraints if constraint not in (str, object)]
    has_free_text = len(declared) < len(constraints)
    return not has_free_text or any(make_constraint(constraint).is_satisfied_by(text) for constraint in declared)
