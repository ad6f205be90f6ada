"""Test that SQL, plain Python and ONNX give what the map gives, at ties, between them, at the ends and next to them."""

import ast
import math
import sqlite3

import duckdb
import numpy as np
import onnxruntime
import pytest

import probcal
from probcal.deploy import map_to_onnx, map_to_python, map_to_sql

MAPS = [name for name in probcal.__all__ if name.endswith("Calibrator")]
RNG = np.random.default_rng(1)
P = np.round(RNG.beta(0.4, 0.6, 300), 2)
Y = np.where(RNG.random(300) < P**1.4, "yes", "no")
BESIDE = np.concatenate([np.nextafter(P, 2), np.nextafter(P, -1)]).clip(0, 1)
NEW = np.unique(np.concatenate([P, BESIDE, RNG.random(50), [0, 1, 5e-324, 1e-300, 1 - 1e-16]]))
BAD = {"probability": [None, math.nan, -0.1, 1.1, math.inf], "score": [None, math.nan, math.inf, -math.inf]}


def fitted(name, kind, n_columns, p=P, y=Y):
    calibrator = getattr(probcal, name)(input=kind, **({"base_rate": 0.1} if name == "PriorCalibrator" else {}))
    return calibrator.fit(scores_of(p, kind, n_columns), y)


def scores_of(p, kind, n_columns):
    if kind == "probability":
        return np.column_stack([1 - p, p]) if n_columns == 2 else p[:, None]
    score = 8 * p - 4
    return np.column_stack([-score / 2, score / 2]) if n_columns == 2 else score[:, None]


def in_python(calibrator):
    functions = {}
    exec(map_to_python(calibrator), functions)
    return lambda rows: np.array([functions["calibrate"](*row) for row in rows.tolist()])


def in_sqlite(calibrator):
    return in_database(sqlite3.connect(":memory:"), calibrator)


def in_duckdb(calibrator):
    return in_database(duckdb.connect(), calibrator)


def in_database(database, calibrator):
    names = ["p", 'se"cond'][: calibrator.n_features_in_]
    columns = ", ".join('"' + name.replace('"', '""') + '" DOUBLE' for name in names)
    database.execute(f"CREATE TABLE t (row INTEGER, {columns})")

    def run(rows):
        rows = rows.tolist() if isinstance(rows, np.ndarray) else rows
        database.execute("DELETE FROM t")
        marks = ", ".join("?" * (1 + len(names)))
        database.executemany(f"INSERT INTO t VALUES ({marks})", [(n, *row) for n, row in enumerate(rows)])
        found = database.execute(f"SELECT {map_to_sql(calibrator, names)} FROM t ORDER BY row").fetchall()
        return np.array([math.nan if p is None else p for (p,) in found])

    return run


def in_onnx(calibrator):
    session = onnxruntime.InferenceSession(map_to_onnx(calibrator), providers=["CPUExecutionProvider"])

    def run(rows):
        (both,) = session.run(None, {"scores": np.array(rows, dtype=np.float64)})
        np.testing.assert_allclose(both.sum(axis=1)[~np.isnan(both[:, 1])], 1)
        return both[:, 1]

    return run


@pytest.mark.parametrize("kind", ["probability", "score"])
@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("name", MAPS)
def test_each_form_predicts_what_the_map_predicts(name, n_columns, kind):
    calibrator = fitted(name, kind, n_columns)
    rows = scores_of(NEW, kind, n_columns)
    expected = calibrator.predict_proba(rows)[:, 1]
    forms = [in_python, in_sqlite, in_duckdb] + ([in_onnx] if name != "VennAbersCalibrator" else [])
    for form in forms:
        np.testing.assert_allclose(form(calibrator)(rows), expected, rtol=0, atol=1e-9, err_msg=form.__name__)


@pytest.mark.parametrize("kind", ["probability", "score"])
@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("name", ["SigmoidCalibrator", "IsotonicCalibrator", "HistogramBinningCalibrator"])
def test_what_is_no_score_gets_no_probability(name, n_columns, kind):
    calibrator = fitted(name, kind, n_columns)
    good = scores_of(np.array([0.3]), kind, n_columns)[0].tolist()
    rows = [[*good[:-1], bad] for bad in BAD[kind]]
    if n_columns == 2 and kind == "probability":
        rows.append([0.5, 0.502])
    for form in (in_sqlite, in_duckdb):
        assert np.isnan(form(calibrator)(rows)).all()
    numbers = [row for row in rows if None not in row]
    assert np.isnan(in_onnx(calibrator)(numbers)).all()
    functions = {}
    exec(map_to_python(calibrator), functions)
    for row in numbers:
        with pytest.raises(ValueError, match="the map takes no such score"):
            functions["calibrate"](*row)


@pytest.mark.parametrize("kind", ["probability", "score"])
@pytest.mark.parametrize("name", MAPS)
def test_python_code_holds_nothing_that_the_map_does_not_use(name, kind):
    code = map_to_python(fitted(name, kind, 1))
    tree = ast.parse(code)
    bound = {one.asname or one.name for line in ast.walk(tree) if isinstance(line, ast.Import | ast.ImportFrom)
             for one in line.names}  # fmt: skip
    bound |= {line.name for line in tree.body if isinstance(line, ast.FunctionDef)} - {"calibrate"}
    assert bound <= {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("name", ["SigmoidCalibrator", "TemperatureCalibrator", "IsotonicCalibrator"])
def test_huge_and_tiny_scores_are_no_overflow(name, scale):
    score = scale * (P - 0.5)
    calibrator = getattr(probcal, name)("score").fit(score, Y)
    rows = np.append(score, [1e5 * scale, -1e5 * scale])[:, None]
    expected = calibrator.predict_proba(rows)[:, 1]
    for form in (in_python, in_sqlite, in_duckdb, in_onnx):
        np.testing.assert_allclose(form(calibrator)(rows), expected, rtol=0, atol=1e-9, err_msg=form.__name__)


@pytest.mark.parametrize("kind", ["probability", "score"])
def test_scores_that_differ_in_the_last_digit_are_told_apart(kind):
    p = np.repeat([0.1, np.nextafter(0.1, 1), 0.3, 0.1 + 0.2, 0.7, 0.7 + 3e-12], 60)
    y = np.concatenate([np.arange(60) % step == 0 for step in (10, 5, 4, 3, 2, 1)])
    calibrator = probcal.IsotonicCalibrator(kind).fit(p, y)
    rows = np.unique(np.append(p, [0, 0.05, 0.2, 0.5, 0.7 + 1e-12, 1]))[:, None]
    expected = calibrator.predict_proba(rows)[:, 1]
    for form in (in_python, in_sqlite, in_duckdb, in_onnx):
        np.testing.assert_allclose(form(calibrator)(rows), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("scores", "labels"),
    [([0.3, np.nextafter(0.3, 1), 0.5, 0.9], [0, 1, 1, 1]), ([0, 5e-324, 1, 2], [0, 1, 0, 1])],
)
def test_slopes_between_neighbouring_floats_are_no_infinities(scores, labels):
    calibrator = probcal.IsotonicCalibrator("score").fit(scores, labels)
    rows = np.array(scores)[:, None]
    expected = calibrator.predict_proba(rows)[:, 1]
    for form in (in_python, in_sqlite, in_duckdb, in_onnx):
        np.testing.assert_allclose(form(calibrator)(rows), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("width", [1e-4, 1e-6])
def test_spline_with_narrow_knots_is_right_at_the_ends(width):
    p = np.append(0.3 + width * RNG.random(95), [0.01, 0.05, 0.9, 0.95, 0.99])
    calibrator = probcal.SplineCalibrator().fit(p, np.arange(100) % 3 == 0)
    rows = np.append(p, [0, 0.5, 1])[:, None]
    expected = calibrator.predict_proba(rows)[:, 1]
    for form in (in_python, in_sqlite, in_duckdb, in_onnx):
        # the sum of cubes, which the map computes, has itself only so many digits beyond such knots
        np.testing.assert_allclose(form(calibrator)(rows), expected, rtol=0, atol=1e-7 if width > 1e-5 else 1e-3)


def test_class_name_of_a_stranger_is_no_code():
    hostile = 'yes"\nraise SystemExit  # """'
    calibrator = probcal.SigmoidCalibrator().fit(P, np.where(Y == "yes", hostile, "a"))
    assert in_python(calibrator)(np.array([[0.3]])) == pytest.approx(calibrator.predict_proba([0.3])[0, 1])


def test_map_of_a_thousand_knots_runs_in_databases():
    p = np.sort(RNG.random(1500))
    y = np.arange(1500) % 5 < 5 * p  # many steps
    calibrator = probcal.VennAbersCalibrator().fit(p, y)
    rows = np.concatenate([p, RNG.random(500)])[:, None]
    expected = calibrator.predict_proba(rows)[:, 1]
    for form in (in_python, in_sqlite, in_duckdb):
        np.testing.assert_allclose(form(calibrator)(rows), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", [map_to_python, map_to_sql, map_to_onnx])
def test_form_of_several_classes_names_another_way(form):
    calibrator = probcal.TemperatureCalibrator().fit(np.full((6, 3), 1 / 3), [0, 1, 2] * 2)
    with pytest.raises(ValueError, match=r"3 classes, and formulas are for two; use to_json and `probcal apply`"):
        form(calibrator)


def test_venn_abers_says_that_it_has_no_graph():
    with pytest.raises(ValueError, match="no ONNX graph"):
        map_to_onnx(fitted("VennAbersCalibrator", "probability", 1))


def test_other_objects_have_no_formula():
    with pytest.raises(TypeError, match="dict is no map of probcal"):
        map_to_python({})
    with pytest.raises(ValueError, match=r"fitted on 1 column\(s\) of scores, not 2"):
        map_to_sql(fitted("BetaCalibrator", "probability", 1), ["a", "b"])
