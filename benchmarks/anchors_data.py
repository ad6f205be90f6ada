"""The files of ``anchors.py`` and the questions that are asked of both sides. Needs NumPy and pandas only."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

N_FIT, N_LATER = 2000, 8000
INPUTS = ["joined", "amount", "region", "score", *(f"x{number}" for number in range(4, 10))]
PROMISES = {"precision": 0.8, "recall": 0.9}
OTHER_RATES = {"accuracy": 0.7, "fpr": 0.1}
COSTS = ((1, 20), (5, 1))
"""Of a false positive and of a false negative."""
Answers = dict[str, str]
"""Question -> answer."""


def write_files(folder: Path) -> None:
    """Write predictions and a table of the same 2,000 rows, and both for later rows."""
    from sklearn.datasets import make_classification
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classification(
        2 * N_FIT + N_LATER,
        10,
        n_informative=6,
        n_redundant=4,
        weights=[0.7],
        flip_y=0.1,
        shuffle=False,
        random_state=0,
    )
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    p = GaussianNB().fit(X[:N_FIT], y[:N_FIT]).predict_proba(X)[:, 1]
    predictions = pd.DataFrame({"id": [f"{number:06d}" for number in range(len(y))], "p": p, "y": y})
    predictions["site"] = np.where(X[:, 0] > 0, "north", "south")
    table = pd.DataFrame(X[:, 4:].round(4), columns=INPUTS[4:])
    days = pd.Timestamp("2022-01-01") + pd.to_timedelta((200 * X[:, 0]).round(), "D")
    table.insert(0, "joined", days.strftime("%Y-%m-%d"))
    table.insert(1, "amount", [f"${value:,.2f}" for value in 1000 * np.exp(X[:, 1])])
    table.insert(2, "region", np.array(["east", "north", "west"])[np.digitize(X[:, 2], [-1, 1])])
    table.insert(3, "score", np.where(np.arange(len(y)) % 20, X[:, 3].round(3).astype(str), "?"))
    table["left"] = np.where(y == 1, "yes", "no")
    for name, frame in {"predictions": predictions, "table": table}.items():
        frame[N_FIT : 2 * N_FIT].to_csv(folder / f"{name}.csv", index=False)
        frame[2 * N_FIT :].to_csv(folder / f"{name}_later.csv", index=False)
    many = pd.DataFrame({"id": np.arange(1_000_000), "p": np.resize(p, 1_000_000)})
    many.to_csv(folder / "million.csv", index=False)


def read_predictions(folder: Path, name: str = "predictions") -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_csv(folder / f"{name}.csv")
    return frame["p"].to_numpy(), frame["y"].to_numpy()


def bits(y: np.ndarray, p: np.ndarray) -> str:
    p = np.clip(p, 1e-15, 1 - 1e-15)
    return f"{-np.mean(np.where(y == 1, np.log2(p), np.log2(1 - p))):.4f}"


def errors_of_sites(folder: Path, calibrate: Callable[[pd.DataFrame], np.ndarray]) -> str:
    """Mean calibrated probability less the observed frequency of later rows, for each site."""
    later = pd.read_csv(folder / "predictions_later.csv")
    apart = (calibrate(later) - later["y"]).groupby(later["site"]).mean()
    return ", ".join(f"{site} {value:+.3f}" for site, value in apart.items())


def difference(one: Any, other: Any) -> str:
    return f"{np.abs(np.subtract(one, other)).max():.0e}"


def milliseconds(call: Callable[[], Any], runs: int = 7) -> str:
    """The median CPU time of a call."""
    times = [-time.process_time() + (call(), time.process_time())[1] for _ in range(runs)]
    return f"{1000 * statistics.median(times):.3g}"


def cpu_seconds(command: Sequence[Any], folder: Path) -> str:
    """CPU seconds of a command in ``folder`` with all that it starts. It must end well."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*map(str, command)], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f}"


def tried(call: Callable[[], Any]) -> str:
    try:
        return str(call())
    except Exception as error:  # what a package refuses is an answer
        return reason(error)


def reason(error: Exception, is_right: bool = True) -> str:
    text = " ".join(str(error).replace("|", "/").split())
    refused = "refused" if is_right else "REFUSED, the values are clear"
    return f"{refused}: {type(error).__name__}: {text[:90]}{'…' if len(text) > 90 else ''}"


def folder_size(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return f"{sum(path.stat().st_size for path in files) / 1000:.0f} KB in {len(files)} files"


def damaged(text: str) -> Iterator[str]:
    """Yield texts of a map that is cut, lacks a part, or has a word or a null in the place of a number."""
    yield text[: len(text) // 2]
    places = [[key] for key in json.loads(text)]
    while places:
        place = places.pop()
        for change in ("delete", "word", "null"):
            content = json.loads(text)
            holder = content
            for key in place[:-1]:
                holder = holder[key]
            value = holder[place[-1]]
            if change == "delete":
                if isinstance(value, dict):
                    places += [[*place, key] for key in value]
                del holder[place[-1]]
            elif isinstance(value, int | float) and not isinstance(value, bool):
                holder[place[-1]] = "word" if change == "word" else None
            else:
                continue
            yield json.dumps(content)


def map_answers(one: Any, text: str, read: Callable[[str], Any], predict: Callable[[Any], np.ndarray]) -> Answers:
    """How large the ``text`` of a fitted map is, and what comes of it when it is read, whole or damaged."""
    expected, outcomes = predict(one), []
    for other in damaged(text):
        try:
            p = predict(read(other))
        except Exception:  # whatever a package raises is a refusal
            outcomes.append("refused")
        else:
            outcomes.append("read, the same" if np.array_equal(p, expected) else "read, OTHER probabilities")
    return {
        "bytes": f"{len(text):,}",
        "largest difference after reading": difference(predict(read(text)), expected),
        "damaged files": ", ".join(f"{number} {outcome}" for outcome, number in sorted(Counter(outcomes).items())),
    }


def odd_files(folder: Path, calibrate: Callable[[np.ndarray], np.ndarray]) -> Iterator[tuple[str, Path, list[Any]]]:
    """Yield a name, a file of new predictions, and what its last column must be (none of a row: None; refused: [])."""
    rows = pd.read_csv(folder / "predictions_later.csv", dtype={"id": str})[["id", "p"]].head(50)
    rows["p"] = rows["p"].clip(0.001, 0.999).round(6)
    right: list[Any] = calibrate(rows["p"].to_numpy()).tolist()
    rows["p"] = rows["p"].astype(str)
    per_cent, comma, missing, large, word = (rows.copy() for _ in range(5))
    per_cent["p"] = [f"{100 * float(value):.4f}%" for value in rows["p"]]
    comma["p"] = [value.replace(".", ",") for value in rows["p"]]
    missing.loc[7, "p"], large.loc[7, "p"], word.loc[7, "p"] = "", "1.2", "high"
    without = [None if place == 7 else value for place, value in enumerate(right)]
    cases = {
        "as it was": (rows, right), "per-cent signs": (per_cent, right), "decimal commas": (comma, right),
        "a missing value": (missing, without), "a probability of 1.2": (large, []), "a word": (word, []),
        "no column p": (rows.rename(columns={"p": "q"}), []),
    }  # fmt: skip
    for name, (frame, expected) in cases.items():
        path = folder / f"odd-{name.replace(' ', '-')}.csv"
        frame.to_csv(path, index=False, sep=";" if name == "decimal commas" else ",")
        yield name, path, expected


def file_answers(
    folder: Path, route: Callable[[Path, Path], None], calibrate: Callable[[np.ndarray], np.ndarray]
) -> Answers:
    """What comes of files of new predictions that are written in another way than those of the fit."""
    answers = {}
    for name, path, expected in odd_files(folder, calibrate):
        output = path.with_suffix(".out.csv")
        output.unlink(missing_ok=True)
        try:
            route(path, output)
        except Exception as error:
            answers[f"file: {name}"] = reason(error, is_right=not expected)
            continue
        frame = pd.read_csv(output, dtype=str, sep=None, engine="python", keep_default_na=False)
        found = [None if text in ("", "nan") else float(text.replace(",", ".")) for text in frame.iloc[:, -1]]
        is_right = len(found) == len(expected) and np.allclose(
            np.array(found, float), np.array(expected, float), rtol=0, atol=1e-9, equal_nan=True
        )
        ids = "" if frame["id"][0].startswith("0") else ", the ids lost their zeros"
        answers[f"file: {name}"] = ("right" if is_right else "WRONG numbers, exit as if right") + ids
    return answers


def odd_frames(folder: Path) -> Iterator[tuple[str, pd.DataFrame, bool]]:
    """Yield a name, a frame of later rows, and whether the model should predict the same as for the frame as read."""
    rows = pd.read_csv(folder / "table_later.csv").drop(columns="left").head(200)
    amounts = rows["amount"].str.replace("[$,]", "", regex=True).astype(float)
    yield "columns in another order", rows[rows.columns[::-1]], True
    yield "a column more", rows.assign(note="x"), True
    yield "dates as datetime64", rows.assign(joined=pd.to_datetime(rows["joined"])), True
    yield "amounts as numbers", rows.assign(amount=amounts), True
    yield "all values as texts", pd.read_csv(folder / "table_later.csv", dtype=str, nrows=200), True
    yield "amounts without $", rows.assign(amount=[f"{value:,.2f}" for value in amounts]), False
    yield "a column less", rows.drop(columns="x5"), False
    yield "a word in a column of numbers", rows.assign(x5="high"), False
    yield "dates as 31/12/2022", rows.assign(joined=pd.to_datetime(rows["joined"]).dt.strftime("%d/%m/%Y")), False


def frame_answers(folder: Path, predict: Callable[[pd.DataFrame], np.ndarray]) -> Answers:
    """What a loaded model makes of frames that differ from the training rows in form only, or cannot be right."""
    expected = predict(pd.read_csv(folder / "table_later.csv").drop(columns="left").head(200))
    answers = {}
    for name, frame, is_same in odd_frames(folder):
        try:
            p = predict(frame)
        except Exception as error:
            answers[f"frame: {name}"] = reason(error, is_right=not is_same)
        else:
            apart = np.abs(p - expected).max()
            answers[f"frame: {name}"] = "the same" if apart < 1e-9 else f"OTHER probabilities, up to {apart:.2f} apart"
    return answers


def has_inverse(inverse: Callable[[np.ndarray], Any]) -> bool:
    try:
        inverse(np.array([0.4]))
    except (NotImplementedError, ValueError):
        return False
    return True


def used_columns(rows: pd.DataFrame, predict: Callable[[pd.DataFrame], np.ndarray]) -> str:
    """How many columns the model uses: the predictions change with their values."""
    rows = rows.head(1000)
    expected = predict(rows)
    used = [name for name in rows if (predict(rows.assign(**{name: rows[name].to_numpy()[::-1]})) != expected).any()]
    return f"{len(used)} of {len(rows.columns)}"


def trapped_tables(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the table as it is, and with one trap each."""
    table = pd.read_csv(folder / "table.csv")
    numbers = np.arange(len(table))
    yield "none", table
    yield "a column tells the label", table.assign(code=np.where(table["left"] == "yes", 7.5, 3.5))
    yield "missing tells the label", table.assign(call=np.where(table["left"] == "yes", numbers % 9, np.nan))
    yield "a tenth of the rows twice", pd.concat([table, table.head(len(table) // 10)])
    yield "an identifier", table.assign(customer_id=100_000 + 7 * numbers)
    yield "ten rows of each customer", table.assign(customer=[f"C{number // 10:04d}" for number in numbers])


def trap_answers(folder: Path, codes_of: Callable[[pd.DataFrame], set[str]]) -> Answers:
    """Which codes a trap adds to those of the table without it."""
    answers, without = {}, set[str]()
    for name, table in trapped_tables(folder):
        codes = codes_of(table)
        without = codes if name == "none" else without
        added = sorted(codes if name == "none" else codes - without)
        answers["codes of the table" if name == "none" else f"trap: {name}"] = ", ".join(added) or "no code"
    return answers


def promise_answers(threshold_of: Callable[[str, float], float | None], p: np.ndarray, y: np.ndarray) -> Answers:
    """The threshold of a promised rate, and what it gives on later rows."""
    answers = {}
    for rate, level in PROMISES.items():
        threshold = threshold_of(rate, level)
        if threshold is None or not np.isfinite(threshold):
            answers[f"{rate} of at least {level}"] = "no threshold"
            continue
        is_decided = p >= threshold
        precision, recall = y[is_decided].mean(), y[is_decided].sum() / y.sum()
        answers[f"{rate} of at least {level}"] = (
            f"from {threshold:.3f}; later rows: precision {precision:.3f}, recall {recall:.3f}"
        )
    return answers | {
        f"rate {rate!r} of {level}": tried(lambda rate=rate, level=level: f"from {threshold_of(rate, level):.3f}")
        for rate, level in OTHER_RATES.items()
    }


def mean_cost(y: np.ndarray, decided: np.ndarray, costs: tuple[float, float]) -> float:
    return float(np.mean(costs[0] * (decided > y) + costs[1] * (decided < y)))


def cost_question(costs: tuple[float, float]) -> str:
    return f"mean cost of later rows at {costs[0]}:{costs[1]}"


def logits(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.log(p / (1 - p))[:, None]
