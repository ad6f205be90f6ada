"""What the anchors of ``anchors.py`` give, each in its own environment: PYTHON anchors_peers.py ANCHOR FOLDER

It prints JSON: the name and version of the anchor, and the answers to the questions of each point.
"""

from __future__ import annotations

import inspect
import json
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anchors_data as data
import numpy as np
import pandas as pd

Points = dict[str, data.Answers]


def namesake(folder: Path) -> Points:
    import probcal

    p, y = data.read_predictions(folder)
    one = probcal.BetaCalibrator().fit(p, y)
    text = one.to_json()
    (folder / "namesake.json").write_text(text)
    kinds = [getattr(probcal, name) for name in probcal.__all__]
    kinds = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, probcal.BaseCalibrator)]
    maps = [kind().fit(p, y) for kind in kinds if kind is not probcal.BaseCalibrator]
    equal = sum(np.array_equal(type(m).from_json(m.to_json()).predict_proba(p), m.predict_proba(p)) for m in maps)
    try:
        classes = str(probcal.BetaCalibrator().fit(np.column_stack([p, 1 - p, p]), np.arange(len(y)) % 3))
    except ValueError as error:
        classes = data.reason(error)

    def route(source: Path, output: Path) -> None:
        calibrate_file(str(folder / "namesake.json"), str(source), str(output))

    program = f"{inspect.getsource(calibrate_file)}\ncalibrate_file('namesake.json', 'million.csv', 'million-out.csv')"
    n_lines = sum(map(bool, inspect.getsource(calibrate_file).split("\n"))) - 1
    later, y_later = data.read_predictions(folder, "predictions_later")
    return {
        "1": data.map_answers(one, text, probcal.BetaCalibrator.from_json, lambda m: m.predict_proba(p))
        | {
            "maps of two classes that read the same": f"{equal} of {len(maps)}",
            "maps of three classes": classes,
            "maps with an inverse": str(sum(data.has_inverse(m.point_inverse) for m in maps)),
            "maps with an inverse of an interval": str(
                sum(data.has_inverse(lambda q, m=m: m.interval_inverse(q[0], q[0] + 0.2)) for m in maps)
            ),
            "what the file tells beside the map": ", ".join(json.loads(text)["fit_meta"]),
            "log loss on later rows, bits": data.bits(y_later, one.predict_proba(later)),
            "calibrated less observed on later rows": data.errors_of_sites(
                folder, lambda rows: one.predict_proba(rows["p"])
            ),
        },
        "2": {
            "what a person writes": f"{n_lines} lines of Python",
            "CPU s for a million rows": data.cpu_seconds([sys.executable, "-c", program], folder),
        }
        | data.file_answers(folder, route, one.predict_proba),
        "3": dict.fromkeys(("SQL", "Python", "ONNX"), forms_of(one)),
    }


def calibrate_file(map_file: str, source: str, output: str) -> None:
    from pathlib import Path

    import pandas as pd

    from probcal import BetaCalibrator

    table = pd.read_csv(source)
    table["p_beta"] = BetaCalibrator.from_json(Path(map_file)).predict_proba(table["p"])
    table.to_csv(output, index=False)


def forms_of(one: Any) -> str:
    found = [name for name in dir(one) if any(word in name.lower() for word in ("sql", "onnx", "python", "code"))]
    return ", ".join(found) or "none"


def mcgrad(folder: Path) -> Points:
    from mcgrad.methods import MCGrad

    frame, later = (pd.read_csv(folder / f"{name}.csv") for name in ("predictions", "predictions_later"))
    one = MCGrad()
    one.fit(frame, "p", "y", categorical_feature_column_names=["site"])

    def predict(m: Any, rows: pd.DataFrame = frame) -> np.ndarray:
        return np.asarray(m.predict(rows, "p", categorical_feature_column_names=["site"]))

    # its file is damaged at all places of its first level only: the others are texts of LightGBM
    answers = data.map_answers(one, one.serialize(), MCGrad.deserialize, predict)
    answers["log loss on later rows, bits"] = data.bits(later["y"].to_numpy(), predict(one, later))
    answers["calibrated less observed on later rows"] = data.errors_of_sites(folder, lambda rows: predict(one, rows))
    return {"1": answers}


def skl2onnx(folder: Path) -> Points:
    import onnxruntime
    from skl2onnx import to_onnx
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression

    p, y = data.read_predictions(folder)
    later = data.read_predictions(folder, "predictions_later")[0]
    answers = {}
    for method in ("sigmoid", "isotonic", "temperature"):
        model = CalibratedClassifierCV(LogisticRegression(), method=method, ensemble=False).fit(p[:, None], y)
        try:
            graph = to_onnx(model, p[:1, None], options={"zipmap": False}).SerializeToString()
            session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
        except Exception as error:
            answers[f"ONNX, {method}"] = data.reason(error)
            continue
        for_rows = session.run(None, {"X": later[:, None]})[1], model.predict_proba(later[:, None])
        is_apart = np.abs(np.subtract(*for_rows)).max(axis=1) > 1e-6
        answers[f"ONNX, {method}"] = (
            f"{len(graph):,} bytes with the model; {data.difference(*for_rows)} apart on later rows, "
            f"above 1e-6 in {is_apart.sum()} of {len(later):,}"
        )
    return {"3": answers}


def m2cgen(folder: Path) -> Points:
    import m2cgen
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression

    p, y = data.read_predictions(folder)
    model = CalibratedClassifierCV(LogisticRegression(), ensemble=False).fit(p[:, None], y)
    try:
        text = f"{len(m2cgen.export_to_python(model))} letters"
    except Exception as error:
        text = data.reason(error)
    return {"3": {"Python": text, "SQL": "none" if not hasattr(m2cgen, "export_to_sql") else "export_to_sql"}}


def autogluon(folder: Path) -> Points:
    from autogluon.tabular import TabularPredictor

    table, later = (pd.read_csv(folder / f"{name}.csv") for name in ("table", "table_later"))
    path = folder / "autogluon"
    shutil.rmtree(path, ignore_errors=True)
    fitted = TabularPredictor("left", path=str(path), eval_metric="log_loss", verbosity=0)
    fitted.fit(table, hyperparameters={"GBM": {}}, num_cpus=1, calibrate=True)
    board = fitted.leaderboard(later, extra_metrics=["roc_auc"])
    model, rows = TabularPredictor.load(str(path)), later.drop(columns="left")

    def predict(rows: pd.DataFrame) -> np.ndarray:
        return np.asarray(model.predict_proba(rows)["yes"])

    program = (
        "import sys, pandas; from autogluon.tabular import TabularPredictor\n"
        "TabularPredictor.load('autogluon').predict_proba(pandas.read_csv('table_later.csv', nrows=1))"
    )
    return {
        "4": {
            "log loss on later rows, bits": data.bits((later["left"] == "yes").to_numpy(), predict(rows)),
            "columns that it uses": data.used_columns(rows, predict),
            "on disk": data.folder_size(path),
            "ms to load": data.milliseconds(lambda: TabularPredictor.load(str(path))),
            "ms of one row": data.milliseconds(lambda: predict(rows[:1])),
            "ms of 1,000 rows": data.milliseconds(lambda: predict(rows[:1000])),
            "CPU s from the start of Python to one row": data.cpu_seconds([sys.executable, "-c", program], folder),
            "all models on a labelled file": f"{len(board)} models: {', '.join(board['model'])}",
            "measures of a labelled file": ", ".join(fitted.evaluate(later)),
        }
        | data.frame_answers(folder, predict)
    }


def skore(folder: Path) -> Points:
    import skore
    from sklearn.ensemble import HistGradientBoostingClassifier
    from skrub import tabular_pipeline

    def report_of(table: pd.DataFrame) -> Any:
        table = table.assign(joined=pd.to_datetime(table["joined"]))
        model = tabular_pipeline(HistGradientBoostingClassifier(random_state=0))
        return skore.evaluate(model, table.drop(columns="left"), table["left"], splitter=0.2, pos_label="yes")

    def codes_of(table: pd.DataFrame, **options: Any) -> set[str]:
        summary = report_of(table).checks.summarize(**options)
        return {code for section in ("issue", "tip") for code in summary.frame(section=section)["code"]}

    table = pd.read_csv(folder / "table.csv")
    answers = data.trap_answers(folder, codes_of)
    [silenced, *_] = answers["codes of the table"].split(", ")
    left = codes_of(table, ignore=[silenced])
    return {
        "4": {"codes that exist": str(len(report_of(table).checks.available()))}
        | answers
        | {"a code is silenced": f"ignore=[{silenced!r}]: {'gone' if silenced not in left else 'still there'}"}
    }


def mapie(folder: Path) -> Points:
    from mapie.risk_control import BinaryClassificationController

    p, y = data.read_predictions(folder)

    def fitted(rate: Any, level: Any) -> Any:
        control = BinaryClassificationController(
            lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), rate, target_level=level, confidence_level=0.95
        )
        return control.calibrate(p[:, None], y)

    def threshold_of(rate: Any, level: Any) -> float | None:
        return fitted(rate, level).best_predict_param  # type: ignore[no-any-return]

    one = fitted("precision", 0.8)
    return {
        "6": data.promise_answers(threshold_of, *data.read_predictions(folder, "predictions_later"))
        | {
            "precision and recall together": data.tried(
                lambda: f"from {threshold_of(['precision', 'recall'], [0.7, 0.3]):.3f}"
            ),
            "what is stated": f"{len(one.valid_predict_params)} thresholds that hold, p-values of {len(one.p_values)}",
        }
    }


def scikit_learn(folder: Path) -> Points:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV

    p, y = data.read_predictions(folder)
    later, y_later = data.read_predictions(folder, "predictions_later")
    answers = {}
    for costs in data.COSTS:
        scorer = make_scorer(data.mean_cost, greater_is_better=False, costs=costs)
        # it needs a classifier to fit: one of the logit, whose order is that of the probabilities
        model = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer, random_state=0)
        decided = model.fit(data.logits(p), y).predict(data.logits(later))
        answers[data.cost_question(costs)] = f"{data.mean_cost(y_later, decided, costs):.4f}"
    return {"6": answers}


ANCHORS: dict[str, tuple[str, Callable[[Path], Points]]] = {
    "namesake": ("probcal", namesake), "mcgrad": ("MCGrad", mcgrad), "skl2onnx": ("skl2onnx", skl2onnx),
    "m2cgen": ("m2cgen", m2cgen), "autogluon": ("autogluon.tabular", autogluon), "skore": ("skore", skore),
    "mapie": ("MAPIE", mapie), "scikit-learn": ("scikit-learn", scikit_learn),
}  # fmt: skip
"""Short name -> name on the index, and what runs it."""


def main() -> None:
    warnings.simplefilter("ignore")
    name, folder = sys.argv[1], Path(sys.argv[2])
    package, run = ANCHORS[name]
    with redirect_stdout(sys.stderr):
        points = run(folder.resolve())
    print(json.dumps({"anchor": f"{package} {version(package)}", "points": points}))


if __name__ == "__main__":
    main()
