"""The winner of a trial as a scikit-learn pipeline, and as the lines of Python that fit it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from sklearn.pipeline import make_pipeline

import probcal
from probcal._io import printable
from probcal.config.components import import_class, parameter_names
from probcal.config.entries import Component
from probcal.data.encode import ENCODERS

_DIRECT = "probcal.methods.direct.DirectClassifier"
_WIDTH = 110


@dataclass(frozen=True)
class PipelinePlan:
    """Hold what a pipeline is made of: a learner, a method around it, and the seed of their random draws."""

    learner: Component
    method: Component
    seed: int

    @property
    def is_native(self) -> bool:
        """Return whether the learner gets categories as they are."""
        return self.learner.encoding not in ENCODERS

    @property
    def calibrates(self) -> bool:
        """Return whether the method sets training rows aside, or folds of them, to calibrate on."""
        return "calibration" in parameter_names(import_class(self.method.path))

    @property
    def _is_direct(self) -> bool:
        return self.method.path == _DIRECT and not self.method.params

    def _parts(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the import path and the parameters of the learner, then of the method unless it changes nothing."""
        parts = [(self.learner.path, dict(self.learner.params))]
        if not self._is_direct:
            parts.append((self.method.path, dict(self.method.params)))
        path, params = parts[-1]
        if "random_state" in parameter_names(import_class(path)):
            parts[-1] = path, {**params, "random_state": self.seed}
        elif "random_state" in parameter_names(import_class(self.learner.path)):
            parts[0] = self.learner.path, {**parts[0][1], "random_state": self.seed}
        return parts

    def build(self) -> Any:
        """Return the pipeline, which is not fitted. It takes a frame of float64 and of categorical columns."""
        (path, params), *wrappers = self._parts()
        model = import_class(path)(**params)
        for path, params in wrappers:
            model = import_class(path)(model, **params)
        return model if self.is_native else make_pipeline(ENCODERS[self.learner.encoding](), model)

    def code(self, table: str, folder: Path | None, notes: Sequence[str] = ()) -> str:
        """Return the lines of Python that read ``table``, fit the same pipeline and store it.

        ``folder`` has the files of the export. None means the folder of the script itself, from wherever it is started.
        ``notes`` become comments.
        """
        imports = {"import joblib", "from probcal.try_table.new_rows import read_labelled_rows"}
        if folder is None:
            imports.add("from pathlib import Path")
            columns, model = (f'Path(__file__).with_name("{name}")' for name in ("columns.json", "model.joblib"))
        else:
            columns, model = (_literal(str(folder / name)) for name in ("columns.json", "model.joblib"))
        expression = ""
        for path, params in self._parts():
            module, _, name = path.rpartition(".")
            imports.add(f"from {'probcal' if hasattr(probcal, name) else module} import {name}")
            arguments = [expression] * bool(expression) + [f"{key}={_literal(value)}" for key, value in params.items()]
            expression = f"{name}({', '.join(arguments)})"
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
        return "\n".join(
            [
                *sorted(imports, key=_import_order),
                "",
                f"X, y = read_labelled_rows({_literal(table)}, {columns})",
                *(f"# {line}" for note in notes for line in wrap(printable(note), _WIDTH)),
                *lines,
                f"joblib.dump(model.fit(X, y), {model}, compress=3)",
                "",
            ]
        )


def _literal(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _import_order(line: str) -> tuple[bool, bool, str]:
    return "probcal" in line, line.startswith("from"), line
