"""A trial whose cells are done: its ranking, its verdict, and the export of its winner."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from probcal._io import printable
from probcal.config.experiment import Experiment
from probcal.data.dataset import Dataset
from probcal.errors import installation, is_installed
from probcal.store.folder import Store
from probcal.store.outline import Outline
from probcal.try_table import choices
from probcal.try_table import description as describe
from probcal.try_table.export import full_bound, pipeline_plan, write_export
from probcal.try_table.file_reader import STANDARD_INPUT
from probcal.try_table.held_out import held_out_predictions
from probcal.try_table.measures import MEASURES, Measure, Scale
from probcal.try_table.model_card import CardFacts
from probcal.try_table.preparation import Prepared
from probcal.try_table.ranked_methods import RankedMethod, cell_ids, name_of, ranked_lines, ranking, split_values
from probcal.try_table.traps import Traps
from probcal.try_table.trial_page import TrialFindings
from probcal.try_table.verdict import Circumstances, verdict

_ON_CARD = ("log-loss", "brier", "rms", "auc", "c_emp", "ece")


@dataclass(frozen=True)
class Finished:
    """Hold a trial and the folder of its results."""

    prepared: Prepared
    dataset: Dataset
    """The used rows."""
    experiment: Experiment
    folder: Path
    measure: Measure
    traps: Traps

    @cached_property
    def _store(self) -> Store:
        return Store(self.folder)

    @cached_property
    def _outline(self) -> Outline:
        return Outline.of(self._store)

    @property
    def _scale(self) -> Scale:
        counts = self.prepared.target.class_counts
        return Scale(choices.bound(counts.values()), self.prepared.class_weights)

    @cached_property
    def ranked(self) -> list[RankedMethod]:
        """Return the methods, the best first."""
        return ranking(self._store, self._outline, self._scale, self.measure, self.prepared.split.test_share)

    @property
    def ranked_lines(self) -> Iterator[str]:
        """Yield the table of the ranking."""
        return ranked_lines(self.ranked, self._scale.bound)

    @cached_property
    def verdict(self) -> str:
        """Return which method is best, and how certain that is."""
        best = next((one for one in self.ranked if one.learner != choices.BASELINE and one.is_ranked), None)
        aucs = [] if best is None else self._values(best.learner, best.method, ("auc",))["auc"]
        around = Circumstances(self.prepared.target.class_counts, aucs, self.traps.leaks)
        return verdict(self.ranked, around)

    def findings(self, description: Sequence[str]) -> TrialFindings:
        """Return what the page of the trial shows. ``description`` has the lines about the table and the plan."""
        enriched = bool(self.prepared.enriched)
        return TrialFindings(self.ranked, self._scale.bound, self.verdict, self.traps.lines, description, enriched)

    def _values(self, learner: str, method: str, names: Sequence[str]) -> dict[str, list[float]]:
        ids = cell_ids(self._outline, learner, method)
        return split_values(self._store, self._store.results(), ids, [MEASURES[one] for one in names], self._scale)[0]

    def export(self, folder: Path, asked: tuple[str, ...]) -> Iterator[str]:
        """Write the export of the best method to ``folder``, and yield what was written.

        ``asked`` holds the columns that the user declared as numbers.
        """
        best = self.ranked[0]
        if not best.is_ranked:
            yield f"not exported: {name_of(best)} and all others failed on some split"
            return
        [column] = [
            one for one in self.experiment.columns if (one.learner.name, one.method.name) == (best.learner, best.method)
        ]
        plan = pipeline_plan(column, self.prepared, self.experiment.seed)
        ids = cell_ids(self._outline, best.learner, best.method)
        found = held_out_predictions(self._store, ids, self.prepared, self.dataset, self._scale, self.experiment.seed)
        note = self.prepared.split.note_on_calibration if plan.calibrates else None
        notes = [note] if note else []
        place = self.prepared.table.place
        of_code: list[str] = []
        least = full_bound(self.prepared)
        if place == "standard input":
            place = STANDARD_INPUT
            of_code.append("the table came from standard input: python train.py < TABLE.csv")
        if "clip" not in plan.method.params:
            of_code.append(
                f"predict.py then keeps probabilities in {least:.6g} to {1 - least:.6g}, and divides each row by "
                "its sum"
            )
        facts = CardFacts(
            name=name_of(best),
            verdict=self.verdict,
            splits=self.prepared.split.sentence(len(self.prepared.rows)),
            values=self._values(best.learner, best.method, _ON_CARD),
            baseline=self._values(choices.BASELINE, "direct", _ON_CARD),
            test_share=self.prepared.split.test_share,
            bound=least,
            measured_bound=self._scale.bound,
            traps=self.traps.lines,
            notes=notes,
            code=plan.code(place, None, [*notes, *of_code]),
            n_rows=self.prepared.n_labelled,
            digest=self.prepared.table.digest or "",
        )
        write_export(folder, plan, self.prepared, found, facts, asked)
        yield ""
        fitted = f"exported: {folder} ({facts.name}, fitted on all {facts.n_rows:,} labelled rows; see model-card.md)"
        yield from describe.wrapped(printable(fitted))
        if best.learner == choices.BASELINE:
            yield from describe.wrapped("note: this model is constant: it predicts the class shares for every row")
        if not is_installed("matplotlib"):
            needed = "the reliability diagram needs matplotlib, which is not installed; install it with"
            yield from describe.wrapped(f"note: {needed}: {installation('matplotlib')}")
        if self.traps.leaks:
            names = " and ".join(f'"{name}"' for name in self.traps.leaks)
            yield from describe.wrapped(f"note: do not use this model yet: {names} may give the answer away")
        for note in notes:
            yield from describe.wrapped(printable(f"note: {note}"))
        script = shlex.quote((folder / "predict.py").as_posix())
        yield f"new rows: python {script} new.csv > predicted.csv"
        yield f"the same model in Python ({folder / 'train.py'}):"
        yield ""
        code = plan.code(place, folder, [*notes, *of_code])
        yield from (f"    {line}" if line else "" for line in code.rstrip().splitlines())
