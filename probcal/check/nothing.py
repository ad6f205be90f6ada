"""Why a check had nothing to compare, and what to do: agreement with nothing is no agreement."""

from __future__ import annotations

from collections.abc import Sequence

from probcal.check.claims import Judged
from probcal.check.experiment import Checked
from probcal.check.finding import Finding
from probcal.paper.bands import FEWEST
from probcal.paper.published import Published


def why_nothing(checked: Checked, numbers: Sequence[Finding], untabled: Sequence[Judged]) -> str | None:
    """None where something was compared. ``numbers``: every published number that ours stand beside.

    ``untabled``: what came of claims about what the paper has no table of, which are a comparison by themselves.

    An experiment that follows no paper only has to have a finished cell.
    """
    if not checked.every_finished():
        some_failed = any(one.status != "done" for one in checked.results.values())
        failed = ", with --retry-failed for those that failed" if some_failed else ""
        return f"nothing was compared: no cell is done; probcal run with the experiment's config runs them{failed}"
    decided = any(one.verdict != "undecided" for one in untabled)
    if checked.published is None or decided or any(one.distance is not None for one in numbers):
        return None
    return f"nothing was compared: {_reason(checked, checked.published, numbers)}"


def _reason(checked: Checked, published: Published, numbers: Sequence[Finding]) -> str:
    outline, paper = checked.outline, checked.outline.paper
    if numbers:
        return (
            f"none of the {len(numbers)} published numbers can be judged by the splits of ours that are finished "
            f"(random ones: {FEWEST} at least); probcal run with the experiment's config runs the rest"
        )
    if not any(column.paper_learner for column in outline.columns):
        return "no learner says which of the paper's it is; add `paper: J48`, or another of its learners, to the config"
    if not published.tables:
        return f"the cells that the claims of {paper} are about are not all done; probcal run runs them"
    if not checked.paper_metrics:
        return f"{paper} has no table of {', '.join(outline.metrics)}; measure one of {', '.join(published.tables)}"
    return (
        f"no column of ours stands beside a published one; {paper} has {', '.join(published.columns)} of "
        f"{', '.join(published.titles)} (`reading_of` says that another data set is a reading of one of these)"
    )
