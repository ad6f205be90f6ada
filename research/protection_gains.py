"""What protection gains and loses on simulated streams: python -m research.protection_gains, after the run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from probcal.config.experiment import Experiment, read_experiment
from probcal.data.card import Card, find_card, read_card
from probcal.data.dataset import generated
from probcal.data.splits import stream_seed
from probcal.errors import StoreError
from probcal.protection import CompositeJumper, Quadratic, SimpleJumper, regret_bound
from probcal.runner.cell import list_cells
from probcal.store.folder import Store, cell_id

FOLDER = Path("results/protection-simulated")
CONFIG = Path("configs/protection-simulated.yaml")
_CLIP = (0.01, 0.99)
_METHODS = ("jumper", "composite", "retrained")
_PERIODS = (5, 20, 50, 100, 250, 500, 1000, 2500)
_DRAWS = 20
_JUMPERS = (SimpleJumper, CompositeJumper)
"""As they are unless told otherwise, which is as the experiment has them."""


def main(words: Sequence[str] | None = None) -> None:
    """Writes gains.md beside the cells: gains are in log10 loss per 1,000 rows, against the base."""
    experiment, store = read_experiment(CONFIG), Store(arguments(words).folder)
    refuse_no_estimates(experiment, store)
    row_parts = {
        "all test rows": slice(None),
        "test rows 2,501 to 3,500": slice(2500, 3500),
        "test rows 9,001 to 10,000": slice(9000, None),
    }
    learners = {column.learner.name: column.learner for column in experiment.columns}.values()
    parts = [
        *((f"{learner.label}, {rows}", gains(experiment, store, learner.name, part))
          for rows, part in row_parts.items() for learner in learners),
        ("How fast a recurring change may be", periods()),
        ("What 10,000 labels can cost, in all and not per 1,000", premiums()),
    ]  # fmt: skip
    text = "\n".join(f"**{title}**\n\n{table}" for title, table in parts)
    (store.folder / "gains.md").write_text(text, encoding="utf-8")


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m research.protection_gains", description=__doc__)
    parser.add_argument("folder", nargs="?", default=FOLDER, type=Path, help=f"the results; {FOLDER} unless given")
    return parser.parse_args(words)


def refuse_no_estimates(experiment: Experiment, store: Store) -> None:
    """Ends the process where an estimate that ``gains`` reads is not there."""
    try:
        results = store.results()
        for cell in list_cells(experiment):
            if cell.id not in results:
                raise StoreError(f"{store.folder} holds no result of {cell.id}")
            store.predictions(results[cell.id])
    except StoreError as error:
        # where cells are done and their estimates were deleted, as in a fresh clone, a run would not make them again
        sys.exit(
            f"error: {error}; run the experiment first, into a folder of its own:\n"
            "probcal run protection-simulated -j 2 -o DIR && python -m research.protection_gains DIR"
        )


def gains(experiment: Experiment, store: Store, learner: str, part: slice) -> str:
    """Mean ± sd over the repetitions, for each kind of change; last what the true probabilities gain."""
    results, rows = store.results(), []
    for card in experiment.cards:
        values = []
        for repetition in range(experiment.repeats):
            data = generated(card, stream_seed(experiment.seed, "draw", card.name, repetition))
            y, truth = data.y[card.split.train :], data.truth[card.split.train :]
            ids = [cell_id(card.name, repetition, learner, method) for method in ("base", *_METHODS)]
            base, *losses = (_loss(*store.predictions(results[name]), part) for name in ids)
            values.append([base - loss for loss in (*losses, _loss(y, truth, part))])
        rows.append([card.title.removeprefix("Stream: "), *map(_spread_text, zip(*values, strict=True))])
    return _table(["", "Protected", "Composite", "Retrained", "truth"], rows)


def periods() -> str:
    """The recurring change of stream-recurring at other speeds, against the best of the five calibrators throughout."""
    card = read_card(find_card("stream-recurring"))
    rows = []
    for period in _PERIODS:
        change = card.generator.change.model_copy(update={"at": period, "every": period})
        source = card.generator.model_copy(update={"change": change})
        variant = card.model_copy(update={"generator": source})
        values = [list(_gains_of(variant, draw)) for draw in range(_DRAWS)]
        rows.append([f"{period}", *map(_spread_text, zip(*values, strict=True))])
    return _table(["rows between changes", "Protected", "Composite", "best fixed calibrator", "truth"], rows)


def _gains_of(card: Card, seed: int) -> Iterator[float]:
    data, n_train = generated(card, seed), card.split.train
    learner = LogisticRegression().fit(data.X[:n_train], data.y[:n_train])
    y, p = data.y[n_train:], learner.predict_proba(data.X[n_train:])[:, 1].clip(*_CLIP)
    for jumper in _JUMPERS:
        yield _final_capital(jumper(), p, y) / len(y) * 1000
    yield _loss(y, p) - min(_loss(y, calibrated) for calibrated in Quadratic().apply(p).T)
    yield _loss(y, p) - _loss(y, data.truth[n_train:])


def premiums() -> str:
    """The base is the law of stream-none itself; an adversary sees the protected estimate before choosing the label."""
    card = read_card(find_card("stream-none"))
    streams, test = [generated(card, draw) for draw in range(_DRAWS)], slice(card.split.train, None)
    honest_gains = [
        [_final_capital(jumper(), stream.truth[test].clip(*_CLIP), stream.y[test]) for stream in streams]
        for jumper in _JUMPERS
    ]
    p = streams[0].truth[test].clip(*_CLIP)
    choices: dict[str, Callable[[float, float], int]] = {
        "the less likely one under the protected prediction": lambda p, protected: int(protected <= 0.5),
        "the one with a lower protected than base probability": lambda p, protected: int(protected < p),
    }
    rows = [["drawn with the probability that the base states", *map(_spread_text, honest_gains)]]
    for name, choose in choices.items():
        rows.append([name, *(f"{_play(jumper(), p, choose):+.2f}" for jumper in _JUMPERS)])
    bounds = [-regret_bound(len(p), len(Quadratic().eps), SimpleJumper().jump_rate), -np.log10(2)]
    rows.append(["bound for any labels", *(f"{bound:+.2f}" for bound in bounds)])
    return _table(["every label is one", "Protected", "Composite"], rows)


def _final_capital(jumper: SimpleJumper | CompositeJumper, p: np.ndarray, y: np.ndarray) -> float:
    jumper.protect(p, y)
    return jumper.log10_martingale


def _play(jumper: SimpleJumper | CompositeJumper, p: np.ndarray, choose: Callable[[float, float], int]) -> float:
    for base in p.tolist():
        jumper.learn_one(base, choose(base, jumper.predict_one(base)))
    return jumper.log10_martingale


def _loss(y: np.ndarray, p: np.ndarray, part: slice = slice(None)) -> float:
    """log10 loss per 1,000 rows."""
    return float(-np.log10(np.where(y == 1, p, 1 - p)[part]).mean() * 1000)


def _spread_text(values: list[float]) -> str:
    return f"{np.mean(values):+.1f} ± {np.std(values, ddof=1):.1f}"


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    main()
