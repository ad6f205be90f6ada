"""What calibration changed, as tables: c_emp before it, and the mean loss ratio beside what a paper's text says."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

import numpy as np

from probcal.paper.published import Published
from probcal.show.before_after import LOSS_RATIO, Effect, effects_of
from probcal.show.grid import NOT_RUN, Grid, Text, printed
from probcal.show.lines import PAPER, beneath
from probcal.show.outline import Column, Outline
from probcal.show.summary import Results


def calibration_tables(first: int, outline: Outline, results: Results, published: Published | None) -> list[Grid]:
    """Numbered from ``first``; empty where no method has stages before and after calibration."""
    effects = effects_of(outline, results)
    errors = [one for one in effects if len(one.errors)]
    ratios = [one for one in effects if one.ratios.size]
    grids = []
    if errors:
        explanation = f"before calibration, from the same fits; smaller is better; {_splits(errors)}."
        rows = _rows(errors, lambda one: one.errors[:, 0])
        grids.append(Grid(first, "c_emp before", explanation, ["", *_names(errors)], rows, []))
    if ratios:
        grids.append(_ratios(first + len(grids), ratios, published))
    return grids


def _ratios(number: int, effects: list[Effect], published: Published | None) -> Grid:
    parameters = np.unique(np.concatenate([one.parameters for one in effects]))
    explanation = (
        f"the loss after calibration over that before, mean over the {len(parameters)} loss parameters from "
        f"{parameters[0]:g} to {parameters[-1]:g}; below 1 calibration has paid; {_splits(effects)}."
    )
    rows = _rows(effects, lambda one: one.mean_ratios)
    of_columns = {name: [one for one in effects if one.name == name] for name in _names(effects)}
    means = [[statistics.fmean(one.mean_ratios) for one in several] for several in of_columns.values()]
    if len(rows) > 1 and all(len(several) == len(rows) for several in means):
        rows.append([Text("mean"), *(Text(printed(statistics.fmean(several))) for several in means)])
    said = [_published(published, several[0].column) for several in of_columns.values()] if published else []
    notes = [f"in brackets what the text of {published.short} says of the average."] if published and any(said) else []
    return Grid(number, "Loss ratio", explanation, ["", *of_columns], rows + beneath(PAPER, said), notes)


def _published(published: Published, column: Column) -> str:
    """1 less what the text says is saved."""
    names = (column.paper_learner or "", column.paper_method or "")
    for claim in published.claims:
        if claim.kind == "saves" and claim.metrics == (LOSS_RATIO,) and published.columns[claim.columns[0]] == names:
            ends = dict.fromkeys(printed(1 - saved) for saved in reversed(claim.between))
            return f"[{' to '.join(ends)}]"
    return ""


def _rows(effects: Sequence[Effect], values: Callable[[Effect], np.ndarray]) -> list[list[Text]]:
    found = {(one.row.name, one.name): _said(values(one)) for one in effects}
    titles = {one.row.name: one.row.title for one in effects}
    return [
        [Text(title), *(Text(found.get((name, column_name), NOT_RUN)) for column_name in _names(effects))]
        for name, title in titles.items()
    ]


def _said(values: np.ndarray) -> str:
    spread = f" ± {printed(statistics.stdev(values))}" if len(values) > 1 and np.isfinite(values).all() else ""
    return printed(statistics.fmean(values)) + spread


def _names(effects: Sequence[Effect]) -> list[str]:
    return list(dict.fromkeys(one.name for one in effects))


def _splits(effects: Sequence[Effect]) -> str:
    counts = sorted({max(len(one.ratios), len(one.errors)) for one in effects})
    if counts == [1]:
        return "one split"
    return f"mean ± sd over {counts[0] if len(counts) == 1 else f'{counts[0]} to {counts[-1]}'} random splits"
