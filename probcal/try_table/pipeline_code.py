"""The winner of a trial as a scikit-learn pipeline, and as the lines of Python that fit it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import Any

from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

import probcal
from probcal._io import printable
from probcal.components.classes import import_class, parameter_names
from probcal.components.nested import build, is_component
from probcal.config.columns import ExperimentColumn
from probcal.config.entries import Component
from probcal.data.encode import ENCODERS
from probcal.data.splits import Split
from probcal.methods.calibration_splits import GroupHoldout
from probcal.runner.cell_rows import calibration_cv, cv_params

_DIRECT = "probcal.methods.direct.DirectClassifier"
_LEARNS_IN_THREADS = "HistGradientBoosting"
"""How the classes begin whose fit starts threads for each tree. Other boosting of the package has one thread."""
_WIDTH = 110


@dataclass(frozen=True)
class PipelinePlan:
    """Hold what a pipeline is made of: a learner, a method around it, and the seed of their random draws."""

    learner: Component
    method: Component
    seed: int
    cv: Any = None
    """The ``cv`` with which the method keeps to groups or time: a number of folds, or a splitter. None without any."""
    is_weighted: bool = False
    """Whether the rows have weights."""

    @property
    def is_native(self) -> bool:
        """Return whether the learner gets categories as they are."""
        return self.learner.encoding not in ENCODERS

    @property
    def is_nested(self) -> bool:
        """Return whether the method calibrates on rows of other groups or of a later time."""
        return self.cv is not None

    @property
    def _takes_groups(self) -> bool:
        return bool(has_fit_parameter(import_class(self.method.path), "groups"))

    @property
    def _splitter(self) -> Any:
        """Return ``cv`` for the seed of this pipeline, as a splitter where the method takes no groups."""
        if isinstance(self.cv, GroupHoldout):
            return GroupHoldout(self.cv.share, self.seed)
        if isinstance(self.cv, int) and not self._takes_groups:
            return StratifiedGroupKFold(self.cv, shuffle=True, random_state=self.seed)
        return self.cv

    @property
    def _is_direct(self) -> bool:
        # with weights, the method lets only their ratios count
        return self.method.path == _DIRECT and not self.method.params and not self.is_weighted

    def _parts(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the import path and the parameters of the learner, then of the method unless it changes nothing."""
        parts = [(self.learner.path, dict(self.learner.params))]
        if not self._is_direct:
            params = dict(self.method.params)
            if self.is_nested:
                params |= cv_params(self.method, self._splitter)
            parts.append((self.method.path, params))
        path, params = parts[-1]
        if "random_state" in parameter_names(import_class(path)):
            parts[-1] = path, {**params, "random_state": self.seed}
        elif "random_state" in parameter_names(import_class(self.learner.path)):
            parts[0] = self.learner.path, {**parts[0][1], "random_state": self.seed}
        return parts

    def fit(self, X: Any, y: Any, groups: Any = None, weight: Any = None) -> Any:
        """Return the fitted pipeline. ``X`` is a frame of float64 and of categorical columns, ``y`` are class numbers.

        ``groups``, (n_rows,), is the group or time of each row, and ``weight``, (n_rows,), its weight.
        """
        (path, params), *wrappers = self._parts()
        model = build(import_class(path), **params)
        for path, params in wrappers:
            if self.is_nested and not self._takes_groups:
                # fit of this method takes no groups, so it gets the rows of the folds instead
                params = {**params, "cv": list(params["cv"].split(X, y, groups))}
            model = build(import_class(path), model, **params)
        if not self.is_native:
            model = make_pipeline(ENCODERS[self.learner.encoding](), model)
        return model.fit(X, y, **{name: {"groups": groups, "weight": weight}[value] for name, value in self._routes()})

    def _routes(self) -> Iterator[tuple[str, str]]:
        """Yield each further parameter of ``fit`` and what it gets: the groups or the weights of the rows."""
        step = "" if self.is_native else f"{self.method.path.rpartition('.')[2].lower()}__"
        if self.is_nested and self._takes_groups:
            yield f"{step}groups", "groups"
        if self.is_weighted:
            yield f"{step}sample_weight", "weight"
            if not self.is_native:
                yield f"{ENCODERS[self.learner.encoding].__name__.lower()}__sample_weight", "weight"

    def code(self, table: str, folder: Path | None, notes: Sequence[str] = ()) -> str:
        """Return the lines of Python that read ``table``, fit the same pipeline and store it.

        ``folder`` has the files of the export. None means the folder of the script itself, from wherever it is started.
        ``notes`` become comments.
        """
        reader = "read_grouped_rows" if self.is_nested else "read_labelled_rows"
        rows = "X, y, groups" if self.is_nested else "X, y"
        if self.is_weighted:
            reader, rows = "read_weighted_rows", f"X, y, {'groups' if self.is_nested else '_'}, weight"
        imports = {"import joblib", f"from probcal.try_table.new_rows import {reader}"}
        if self.is_nested and not isinstance(self._splitter, int):
            splitter = type(self._splitter)
            module = "sklearn.model_selection" if splitter.__module__.startswith("sklearn.") else splitter.__module__
            imports.add(f"from {module} import {splitter.__name__}")
        if folder is None:
            imports.add("from pathlib import Path")
            columns, model = (f'Path(__file__).with_name("{name}")' for name in ("columns.json", "model.joblib"))
        else:
            columns, model = (_literal(str(folder / name)) for name in ("columns.json", "model.joblib"))
        expression = ""
        for path, params in self._parts():
            literals = {key: _expression(value, imports) for key, value in params.items()}
            if self.is_nested and not self._takes_groups and "cv" in literals:
                literals["cv"] = f"list({literals['cv']}.split(X, y, groups))"
            expression = _call(path, [expression] * bool(expression), literals, imports)
        arguments_of_fit = ", ".join(["X", "y", *(f"{name}={value}" for name, value in self._routes())])
        lines = [f"model = {expression}"]
        if not self.is_native:
            encoder = ENCODERS[self.learner.encoding]
            imports |= {
                f"from {encoder.__module__} import {encoder.__name__}", "from sklearn.pipeline import make_pipeline",
            }  # fmt: skip
            one_line = f"model = make_pipeline({encoder.__name__}(), {expression})"
            lines = [one_line]
            if len(one_line) > _WIDTH:
                lines = [f"method = {expression}", f"model = make_pipeline({encoder.__name__}(), method)"]
        store = [f"joblib.dump(model.fit({arguments_of_fit}), {model}, compress=3)"]
        if self.learner.path.rpartition(".")[2].startswith(_LEARNS_IN_THREADS):
            imports.add("from threadpoolctl import threadpool_limits")
            store = [
                "with threadpool_limits(1):  # as in the trial: many small fits would wait for each other's threads",
                f"    {store[0]}",
            ]
        return "\n".join(
            [
                *_import_lines(imports),
                "",
                f"{rows} = {reader}({_literal(table)}, {columns})",
                *(f"# {line}" for note in notes for line in wrap(printable(note), _WIDTH)),
                *lines,
                *store,
                "",
            ]
        )


def pipeline_plan(
    column: ExperimentColumn, bound: float, split: Split, seed: int, is_weighted: bool = False
) -> PipelinePlan:
    """Return the pipeline of a column of the experiment. A bound in it becomes the ``bound`` of the whole table.

    Its method calibrates on rows as in the experiment, which has this ``split``.
    """
    method = column.method
    if "clip" in method.params:
        method = replace(method, params={**method.params, "clip": (bound, 1 - bound)})
    cv = calibration_cv(method, split) if split.nested else None
    return PipelinePlan(column.learner, method, seed, cv, is_weighted)


def _import_lines(imports: Collection[str]) -> list[str]:
    """Return the imports with the names of a module in one line, as import sorters have it."""
    names: dict[str, list[str]] = {}
    for line in sorted(imports):
        module, _, name = line.partition(" import ")  # a plain import has no name
        names.setdefault(module, []).append(name)
    lines = [f"{module} import {', '.join(found)}" if found != [""] else module for module, found in names.items()]
    # packages of others first, and of each kind the plain imports first
    return sorted(lines, key=lambda line: ("probcal" in line, line.startswith("from"), line))


def _call(path: str, arguments: Sequence[str], named: Mapping[str, str], imports: set[str]) -> str:
    """Return the call of the class at ``path``, and add its import."""
    module, _, name = path.rpartition(".")
    imports.add(f"from {'probcal' if hasattr(probcal, name) else module} import {name}")
    return f"{name}({', '.join([*arguments, *(f'{key}={value}' for key, value in named.items())])})"


def _expression(value: Any, imports: set[str]) -> str:
    """Return a parameter as Python, where a mapping with ``type`` stands for an object of that class."""
    if not is_component(value):
        return _literal(value)
    params = value.get("params") or {}
    return _call(value["type"], [], {key: _expression(inner, imports) for key, inner in params.items()}, imports)


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
