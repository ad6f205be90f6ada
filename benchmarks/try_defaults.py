"""The defaults of `probcal try` against its earlier ones: python benchmarks/try_defaults.py [-o FOLDER] [--tables N]

Takes tables of the experiment arena, at most 3,000 rows of each, and writes 60 % of the rows to one file and the rest
to another. `try` ranks all maps on the first file with its default learners, by five folds. Each set of maps then has a
winner of its own, which is fitted on the first file and predicts the second one once. Writes the lines of FOLDER
(try.jsonl, one for each table, kept by the next call) and the page try.md. Bagging and Probing of a tree are in both
sets, and are left out. PROBCAL_DATA_DIR names the folder of original files.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import yaml
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from probcal import DirectClassifier, MatrixScalingClassifier, QuadraticClassifier, TunedBoostingClassifier
from probcal.config.experiment import read_experiment
from probcal.data.card import read_card
from probcal.data.encode import ENCODERS
from probcal.data.load import load
from probcal.learners.cat_boost import CatBoost
from probcal.learners.light_gbm import LightGBM
from probcal.learners.xg_boost import XGBoost
from probcal.try_table import trial
from probcal.try_table.experiment_files import table_files
from probcal.try_table.measures import LOSS
from probcal.try_table.preparation import TableRequest, prepare
from probcal.try_table.ranked_methods import RankedMethod, name_of, ranking
from probcal.try_table.traps import Traps
from probcal.try_table.unseen_rows import read_unseen_rows

ROOT = Path(__file__).parents[1]
ROWS, TRAINING_SHARE, FOLDS = 3_000, 0.6, 5
EARLIER = ("direct", "isotonic", "sigmoid", "beta")
SETS = {
    2: {
        "before": EARLIER,
        "now": ("direct", "isotonic", "quadratic", "beta"),
        "now and spline": ("direct", "isotonic", "quadratic", "beta", "spline"),
    },
    3: {
        "before": EARLIER,
        "now": ("direct", "isotonic", "matrix_scaling", "dirichlet"),
        "now and temperature": ("direct", "isotonic", "matrix_scaling", "dirichlet", "temperature"),
    },
}
"""Number of classes (3: three or more) -> set -> its methods."""
BOUND = 0.001
"""The smallest probability that counts, as in `try`."""
LIBRARIES = {
    "boosting": lambda: HistGradientBoostingClassifier(categorical_features="from_dtype"),
    "lightgbm": LightGBM,
    "xgboost": XGBoost,
    "catboost": CatBoost,
}
PAGE = """# The defaults of `try`, and what tuned boosting gains

Written by `python benchmarks/try_defaults.py`, whose docstring has the protocol. The loss is the log loss in bits on
test rows that chose nothing. Intervals are those of the mean over tables, by bootstrap. Below 0 is a gain.

## The maps, on {n} tables

*Before* has isotonic regression, the sigmoid and the beta map. *Now* has isotonic regression, the quadratic and the
beta map with two classes, and isotonic regression, structured matrix scaling and Dirichlet calibration with several.
*Equal* means that both sets have the same winner. Seconds are those of all cells, on a busy machine.

{sets}

## Boosting, on {n_searched} tables

*Map* is the quadratic map, or structured matrix scaling, on three folds. *Tuned* is `TunedBoostingClassifier` with
{settings} settings. CPU seconds are those of a fit and of the predictions, the mean of a table.

{libraries}

Of the four tuned libraries, the one with the smallest refinement error on the training rows, against the winner of
`try` without a search, on the same rows:

{gains}

## Each table

{tables}
"""
MOST_CLASSES = 5
"""Of the tables for the search, which fits a tree for each class."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks/try_defaults.py", description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "results/defaults", help="folder (%(default)s)")
    parser.add_argument("--tables", type=int, default=40, help="how many (%(default)s)")
    parser.add_argument("--searches", type=int, default=20, help="tables for the search (%(default)s)")
    parser.add_argument("--settings", type=int, default=8, help="settings of each search (%(default)s)")
    args = parser.parse_args()
    names = list(table_names())
    compared = collect(args.out / "try.jsonl", names[: args.tables], compare)
    few_classes = [one["table"] for one in compared if one["classes"] <= MOST_CLASSES]
    searched = collect(
        args.out / "search.jsonl", few_classes[: args.searches], partial(search, n_settings=args.settings)
    )
    (args.out / "try.md").write_text(page(compared, searched))


def collect(path: Path, names: Sequence[str], measure: Callable[[str], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the record of each table. Those of the file ``path`` are not measured again, and new ones are added."""
    records = {one["table"]: one for one in map(json.loads, path.read_text().splitlines())} if path.exists() else {}
    for name in names:
        if name not in records:
            records[name] = measure(name)
            path.write_text("".join(f"{json.dumps(one)}\n" for one in records.values()))
    return [records[name] for name in names]


def table_names() -> Iterator[str]:
    """Yield every second table of the experiment arena: three of two classes, then one of several."""
    names = yaml.safe_load((ROOT / "configs/arena.yaml").read_text())["datasets"]
    cards = {name: read_card(ROOT / "datasets" / f"{name}.yaml") for name in names}
    several = [name for name in names if cards[name].task == "multiclass"]
    two = [name for name in names if name not in several][::2]
    for number, name in enumerate(several[::2]):
        yield from (*two[3 * number : 3 * number + 3], name)


def halves(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows to train on and those to test on, the label in the column ``the target``."""
    dataset = load(read_card(ROOT / "datasets" / f"{name}.yaml"))
    frame = pd.DataFrame(dataset.X).assign(**{"the target": [f"class {label}" for label in dataset.y]})
    rows = np.random.default_rng(0).permutation(len(frame))[:ROWS]
    common = frame.iloc[rows].groupby("the target")["the target"].transform("size") >= 14  # 8 must train
    frame = frame.iloc[rows][common.to_numpy()]
    train, test = train_test_split(frame, train_size=TRAINING_SHARE, stratify=frame["the target"], random_state=0)
    return train, test


@dataclass(frozen=True)
class _ResultOfSet(trial.TrialResult):
    """Rank the methods of a set only."""

    allowed: Sequence[str] = ()

    @cached_property
    def methods(self) -> list[RankedMethod]:
        ranked = ranking(self._store, self._stored, self._scale, self.measure, self.prepared.split.test_share)
        return [method for method in ranked if method.method in self.allowed]

    @property
    def seconds(self) -> float:
        """Return the seconds of all cells of the set. The methods that are in every set make the shared fits."""
        cells = self._store.results().values()
        return sum(cell.seconds for cell in cells if cell.method in self.allowed)


def compare(name: str) -> dict[str, Any]:
    """Return the loss of the winner of each set on the test rows, in bits, and the seconds of its cells."""
    train, test = halves(name)
    n_classes = train["the target"].nunique()
    sets = SETS[min(n_classes, 3)]
    used = list(dict.fromkeys(method for methods in sets.values() for method in methods))
    with TemporaryDirectory() as text:
        folder = Path(text)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        request = TableRequest(str(folder / "train.csv"), "the target")
        trial.try_table(
            request, trial.TrialOptions(methods=used, splits=FOLDS, output=folder / "results"), _silent, _silent
        )
        prepared = prepare(request, FOLDS)
        [experiment] = (folder / "results/input").glob("*.yaml")
        unseen = read_unseen_rows(str(folder / "test.csv"), request.source, prepared)
        files = table_files(prepared, experiment.stem)
        results = {
            key: _ResultOfSet(
                prepared, files.dataset, read_experiment(experiment), folder / "results", LOSS, Traps([], []), unseen,
                allowed=methods,
            )
            for key, methods in sets.items()
        }  # fmt: skip
        winners = {key: name_of(result.methods[0]) for key, result in results.items()}
        losses = {winner: test_loss(results[key]) for key, winner in winners.items()}
        seconds = {key: round(result.seconds, 2) for key, result in results.items()}
    return {
        "table": name,
        "classes": n_classes,
        "rows": len(train),
        "winner": winners,
        "loss": {key: losses[winner] for key, winner in winners.items()},
        "seconds": seconds,
    }


def search(name: str, n_settings: int) -> dict[str, Any]:
    """Return for each library the loss on the test rows, in bits: alone, with the map, and tuned."""
    train, test = halves(name)
    y, truth = train.pop("the target"), test.pop("the target")
    # scikit-learn's boosting cannot bin a column that has no value in the rows of a fold
    train = train.loc[:, train.notna().mean() > 0.05]
    test = test[train.columns]
    record: dict[str, Any] = {"table": name, "classes": y.nunique(), "rows": len(train), "settings": n_settings}
    for library, learner in LIBRARIES.items():
        X, X_test = train, test
        if library != "boosting":
            encoder = ENCODERS["numeric"]().fit(train)
            X, X_test = encoder.transform(train), encoder.transform(test)
        map_class = QuadraticClassifier if y.nunique() == 2 else MatrixScalingClassifier
        methods = {
            "alone": DirectClassifier(learner(), random_state=0),
            "map": map_class(learner(), cv=3, random_state=0),
            "tuned": TunedBoostingClassifier(learner(), n_settings=n_settings, random_state=0),
        }
        record[library] = {}
        for key, method in methods.items():
            start = time.process_time()
            with threadpool_limits(1):
                p = method.fit(X, y).predict_proba(X_test).clip(BOUND, 1 - BOUND)
            loss = float(-np.log2(p[np.arange(len(p)), np.searchsorted(method.classes_, truth)]).mean())
            record[library] |= {key: loss, f"{key} seconds": round(time.process_time() - start, 2)}
        record[library]["refinement"] = min(one["refinement"] for one in methods["tuned"].trials_)
    return record


def test_loss(result: trial.TrialResult) -> float:
    """Return the log loss of the winner on the test rows, in bits."""
    assert result.unseen is not None
    [line] = [line for line in result.unseen.lines if line.measure == LOSS]
    return float(line.unseen.value)


def page(compared: Sequence[dict[str, Any]], searched: Sequence[dict[str, Any]]) -> str:
    """Return the page of all tables."""
    groups = {
        "two classes": [one for one in compared if one["classes"] == 2],
        "several classes": [one for one in compared if one["classes"] > 2],
        "all": compared,
    }
    lines = []
    for name, records in groups.items():
        for key in dict.fromkeys(key for one in records for key in one["loss"]) if name != "all" else ("before", "now"):
            if key == "before":
                continue
            differences = [one["loss"][key] - one["loss"]["before"] for one in records]
            seconds = [sum(one["seconds"][which] for one in records) for which in ("before", key)]
            lines.append([name, key, *_differences(differences), f"{seconds[0]:.0f}", f"{seconds[1]:.0f}"])
    heads = ["tables", "maps", "n", "other maps - before, bits", "better", "equal", "worse", "s before", "s"]
    tables = [
        [one["table"], one["classes"], one["rows"], one["winner"]["before"], one["winner"]["now"]]
        + [f"{one['loss'][key]:.4f}" for key in ("before", "now")]
        for one in compared
    ]
    heads_of_tables = ["table", "classes", "rows", "winner before", "winner now", "bits before", "bits now"]
    libraries = [
        [library, *(f"{np.mean([one[library][key] for one in searched]):.4f}" for key in ("alone", "map", "tuned"))]
        + _differences([one[library]["tuned"] - one[library]["map"] for one in searched])
        + [f"{np.mean([one[library][key] for one in searched]):.1f}" for key in ("map seconds", "tuned seconds")]
        for library in LIBRARIES
    ]
    now = {one["table"]: one["loss"]["now"] for one in compared}
    best = {
        one["table"]: min((one[library] for library in LIBRARIES), key=lambda of: of["refinement"])["tuned"]
        for one in searched
    }
    gains = [best[name] - now[name] for name in best if name in now]
    heads_of_libraries = ["library", "alone", "map", "tuned", "n", "tuned - map, bits", "better", "equal", "worse"]
    return PAGE.format(
        n=len(compared),
        sets=tabulate(lines, heads, "github", disable_numparse=True),
        n_searched=len(searched),
        settings=searched[0]["settings"],
        libraries=tabulate(libraries, [*heads_of_libraries, "s map", "s tuned"], "github", disable_numparse=True),
        gains=tabulate(
            [["tuned - winner of try", *_differences(gains)]],
            ["", "n", "bits", "better", "equal", "worse"],
            "github",
            disable_numparse=True,
        ),
        tables=tabulate(tables, heads_of_tables, "github", disable_numparse=True),
    )


def _differences(values: Sequence[float]) -> list[str]:
    """Return the number of values, their mean with its 95 % interval, and how many are below, at and above 0."""
    draws = np.random.default_rng(0).choice(values, (10_000, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    signs = [
        sum(value < 0 for value in values),
        sum(value == 0 for value in values),
        sum(value > 0 for value in values),
    ]
    return [str(len(values)), f"{np.mean(values):+.4f} ({low:+.4f} to {high:+.4f})", *map(str, signs)]


def _silent(line: str) -> None:
    pass


if __name__ == "__main__":
    main()
