"""One table of all metrics, for an experiment of one data set and many columns: a row a column of the experiment."""

from __future__ import annotations

from collections.abc import Sequence

from probcal.paper.published import Published
from probcal.show.agreement import verdicts
from probcal.show.grid import Grid, Text, printed
from probcal.show.lines import means
from probcal.show.measured import MOST_ON_ONE_LINE, Measured, splits
from probcal.show.metric_names import MetricName, metric_name
from probcal.show.notes import exceptions, footnotes
from probcal.show.order import in_order
from probcal.show.outline import Outline
from probcal.show.summary import Results, census

_UP, _DOWN = "↑", "↓"


def reads_by_method(outline: Outline, published: Published | None) -> bool:
    """Whether its tables of single metrics would be one wide line each, and the paper has no such tables itself."""
    of_its_own = published is not None and any(table.number is not None for table in published.tables.values())
    return len(outline.datasets) == 1 and len(outline.columns) > MOST_ON_ONE_LINE and not of_its_own


def by_method(number: int, outline: Outline, results: Results, published: Published | None) -> Grid:
    """Table ``number``; each metric in a column, its best in bold, published numbers in brackets."""
    metrics = in_order(outline.metrics)
    several = [Measured(outline, results, metric, published) for metric in metrics]
    names = [metric_name(metric) for metric in metrics]
    columns = [_column(one, name.decimals) for one, name in zip(several, names, strict=True)]
    return Grid(
        number=number,
        name=outline.datasets[0].title,
        explanation=_explanation(outline, names, several),
        header=["", *map(_header, names)],
        rows=[[Text(column.label), *cells] for column, *cells in zip(outline.columns, *columns, strict=True)],
        notes=[*_agreement(names, several), *_footnotes(several, outline, results), *_meant(names)],
    )


def _column(one: Measured, decimals: int) -> list[Text]:
    """A cell for each column of the experiment: ``4790.4 ± 12.1 [4814]``."""
    [row] = one.outline.datasets
    ours, theirs = one.ours(row), one.their_lines(row)
    cells = zip(means(one.outline.columns, ours, one.metric, decimals), ours, theirs, strict=True)
    return [
        Text(mean.main, mean.rest + _spread(summary.sd, decimals) + (number and f" {number}"), mean.bold)
        for mean, summary, number in cells
    ]


def _spread(sd: float | None, decimals: int) -> str:
    return "" if sd is None else f" ± {printed(sd, decimals)}"


def _header(name: MetricName) -> str:
    return name.short if name.no_end else f"{name.short} {_UP if name.larger_is_better else _DOWN}"


def _explanation(outline: Outline, names: Sequence[MetricName], several: Sequence[Measured]) -> str:
    ends = {_header(name)[-1] for name in names if not name.no_end}
    parts = [splits([outline])]
    parts += [f"{mark} {said} is better" for mark, said in ((_UP, "larger"), (_DOWN, "smaller")) if mark in ends]
    one_group = len({column.group for column in outline.columns}) == 1
    parts.append("best in bold" if one_group else "best of each learner in bold")
    places = dict.fromkeys(
        f"{one.table.place} of {one.published.short}" + _of_seed(one.table.seed)
        for one in several
        if one.table and one.published
    )
    return "; ".join(parts + ([f"in brackets {', '.join(places)}"] if places else [])) + "."


def _of_seed(seed: int | None) -> str:
    return "" if seed is None else f" (seed {seed} alone)"


def _agreement(names: Sequence[MetricName], several: Sequence[Measured]) -> list[str]:
    """In one line for all metrics, judged as ``probcal check`` does: of one seed alone, if the table is."""
    counts, compared = [], dict[str, None]()
    for name, one in zip(names, several, strict=True):
        if one.table and (found := verdicts(one.pairs(one.table), one.table)):
            counts.append(f"{name.short} {sum(verdict.in_band for verdict in found)} of {len(found)}")
            if one.table.seed is not None:
                compared[f"our run of seed {one.table.seed} alone, not the mean"] = None
    by = f" ({', '.join(compared)})" if compared else ""
    return [f"Agreement with the published numbers{by}: {', '.join(counts)}."] if counts else []


def _footnotes(several: Sequence[Measured], outline: Outline, results: Results) -> list[str]:
    summaries = [summary for one in several for summary in one.every_summary]
    return [*footnotes(summaries, census(outline, results)), *exceptions(outline)]


def _meant(names: Sequence[MetricName]) -> list[str]:
    """What the headings stand for."""
    several = [(name, name.long.removeprefix(f"{name.short}: ")) for name in names if name.short != name.long]
    meant = [
        f"{name.short}: {long[0].lower()}{long[1:]}" + (f", {name.no_end}" if name.no_end else "")
        for name, long in several
    ]
    return [f"{'; '.join(meant)}."] if meant else []
