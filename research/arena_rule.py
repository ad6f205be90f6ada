"""Choose the rule of benchmarks/score_rule.py: python -m research.arena_rule results/arena-ensembles

A random half of the tables chooses, for each learner, which base fit and map to use, with two classes and with several.
The other half scores the choice, as benchmarks/score_rule.py scores it on your own tables. So do fresh splits of some
of these tables, in the folder beside with ``-fresh`` in its name.

The choice has the smallest mean log loss (probabilities in [.001, .999]) over the first half. It may be one for all
sizes, or one below 1,000 training rows and one from there, if each size has five tables. Of these two forms, the one is
taken whose choices do better on tables that are left out one at a time, all in the first half. With fewer than five
tables of several classes, the base fit is that of two classes, and the map is structured matrix scaling.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tabulate import tabulate

from benchmarks.score_rule import LEARNERS, METRICS, report, rule
from probcal.reporting.comparison.leaderboard import measure_scores
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment

SEED = 2026
LARGE = 1_000
"""Training rows from which a table is large."""
FEWEST = 5
"""Tables of each size below which all sizes have one choice."""
Choice = tuple[str, str]
Chooser = Callable[[float], Choice]


def losses_of(store: Store) -> pd.DataFrame:
    """Return the mean losses of all choices: a row for each table, learner entry, method and metric."""
    stored, results = StoredExperiment.of(store), store.results()
    parts = []
    for metric in METRICS:
        scores = measure_scores(stored, results, metric)
        index = pd.MultiIndex.from_product(
            [[table.name for table in scores.tables], scores.learners, scores.methods],
            names=["table", "learner", "method"],
        )
        frame = pd.Series(scores.losses.ravel(), index=index, name="value").dropna().reset_index()
        sizes = {table.name: table.n_train for table in scores.tables}
        frame = frame.assign(metric=metric, n_rows=frame["table"].map(sizes))
        parts.append(frame)
    losses = pd.concat(parts, ignore_index=True)
    several = set(losses.loc[losses["method"] == "matrix_scaling", "table"])
    return losses.assign(n_classes=np.where(losses["table"].isin(several), 3, 2))


def fresh_store(folder: Path) -> Store:
    """Return the results of other splits, which stand beside the folder of the study."""
    return Store(folder.with_name(f"{folder.name}-fresh"))


def halves(losses: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the losses of the half of the tables that chooses, and of the half that scores."""
    order = np.random.default_rng(SEED).permutation(sorted(losses["table"].unique()))
    is_first = losses["table"].isin(order[: len(order) // 2])
    return losses[is_first], losses[~is_first]


def choose(losses: pd.DataFrame, learner: str) -> dict[bool, Chooser]:
    """Return the rule of a learner for two classes (False) and for several (True): rows -> base fit and map."""
    rows = losses[(losses["metric"] == "bounded_log_loss") & (losses["learner"].str.partition("_")[0] == learner)]
    found = {}
    for several, part in rows.groupby(rows["n_classes"] > 2):
        table = part.pivot(index=["table", "n_rows"], columns=["learner", "method"], values="value").dropna(axis=1)
        if several and len(table) < FEWEST:
            base = found[False](LARGE)[0]
            found[True] = lambda n_rows, base=base: (base, "matrix_scaling")  # type: ignore[misc]
            continue
        forms = (_for_all_sizes, _for_each_size)
        left_out = [np.mean([_loss_left_out(form, table, place) for place in range(len(table))]) for form in forms]
        found[bool(several)] = forms[int(np.argmin(left_out))](table)
    return found


def _for_all_sizes(table: pd.DataFrame) -> Chooser:
    choice = table.mean().idxmin()
    return lambda n_rows: choice


def _for_each_size(table: pd.DataFrame) -> Chooser:
    is_large = table.index.get_level_values("n_rows") >= LARGE
    if min(is_large.sum(), (~is_large).sum()) < FEWEST:
        return _for_all_sizes(table)
    small, large = table[~is_large].mean().idxmin(), table[is_large].mean().idxmin()
    return lambda n_rows: large if n_rows >= LARGE else small


def _loss_left_out(form: Callable[[pd.DataFrame], Chooser], table: pd.DataFrame, place: int) -> float:
    chooser = form(table.drop(index=table.index[place]))
    return float(table.iloc[place][chooser(table.index[place][1])])


def chosen_rule(losses: pd.DataFrame, learners: Sequence[str] = LEARNERS) -> dict[tuple[str, int, int], Choice]:
    """Return (learner, training rows, classes) -> the choice of the first half, for a small and a large table."""
    first, _ = halves(losses)
    return {
        (learner, n_rows, 3 if several else 2): chooser(n_rows)
        for learner in learners
        for several, chooser in choose(first, learner).items()
        for n_rows in (LARGE - 1, LARGE)
    }


def page(losses: pd.DataFrame, choices: Mapping[tuple[str, int, int], Choice], fresh: pd.DataFrame) -> str:
    """Return the rule, its score on the second half, and that on fresh splits of these tables, in Markdown."""
    first, second = halves(losses)
    rows = [
        [learner, "several" if n_classes > 2 else "two", f"{'from' if n_rows >= LARGE else 'below'} {LARGE:,}", *choice]
        for (learner, n_rows, n_classes), choice in choices.items()
    ]
    table = tabulate(rows, ["learner", "classes", "training rows", "base fit", "map"], tablefmt="pipe")
    learners = list(dict.fromkeys(learner for learner, _, _ in choices))
    n_first, n_second = first["table"].nunique(), second["table"].nunique()
    fresh_text = f"Five other splits of the {fresh['table'].nunique()} smallest tables that score, for some choices."
    return (
        "# Which base fit and map: a rule, and its score\n\nWritten by `python -m research.arena_rule "
        f"results/arena-ensembles`. {n_first} tables choose, and the other {n_second} score.\n\n{table}\n\n"
        + report(second, learners)
        + f"\n\n# On fresh splits\n\n{fresh_text}\n\n"
        + report(fresh, learners)
    )


def main(words: Sequence[str] | None = None) -> None:
    """Print the rule and its score on tables that did not choose it."""
    parser = argparse.ArgumentParser(
        prog="python -m research.arena_rule", description=(__doc__ or "").partition("\n\n")[0]
    )
    parser.add_argument("folder", type=Path, help="results of probcal run arena-ensembles")
    folder = parser.parse_args(words).folder
    losses = losses_of(Store(folder))
    choices = chosen_rule(losses)
    wrong = {key: choice for key, choice in choices.items() if rule(*key) != choice}
    if wrong:
        print(f"rule() of benchmarks/score_rule.py says otherwise for {', '.join(map(str, wrong))}\n")
    print(page(losses, choices, losses_of(fresh_store(folder))))


if __name__ == "__main__":
    main()
