"""Test ``probcal measure --export`` and ``probcal apply``: a map as a file, used on new rows."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from probcal import BetaCalibrator, DirichletCalibrator, IsotonicCalibrator, SigmoidCalibrator
from probcal.cli.main import main
from probcal.deploy import map_to_onnx, map_to_python, map_to_sql
from tests.commands import contents, probcal, refused
from tests.measure.prediction_files import three_classes, two_classes, written


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes(), tmp_path / "a.csv")
    return tmp_path


def export(*words, draws=0):
    done = probcal("measure", *words, "--draws", draws, "--export", "map.json")
    assert done.exit_code == 0, done.output


def test_the_map_of_all_rows_is_exported_with_its_audit(here):
    export("a.csv", "-p", "p", "-t", "y", "-c", "beta", draws=20)
    text = (here / "map.json").read_text()
    frame = two_classes()
    by_hand = BetaCalibrator().fit(frame.p, frame.y)
    assert (BetaCalibrator.from_json(text).predict_proba(frame.p) == by_hand.predict_proba(frame.p)).all()
    audit = json.loads(text)["audit"]
    assert (audit["data"], audit["rows"], audit["target"], audit["probability"]) == ("a.csv", 200, "y", ["p"])
    assert audit["shares"]["1"] == pytest.approx(frame.y.mean())
    printed = probcal("measure", "a.csv", "-p", "p", "-t", "y", "-c", "beta", "--draws", 20, "-f", "csv").stdout
    low = next(line for line in printed.splitlines() if ",beta,log_loss_bits," in line).split(",")[5:]
    after = audit["metrics"]["log_loss_bits"]["after"]
    assert [after["value"], after["low"], after["high"]] == [float(number) for number in low]


def test_the_record_has_the_costs_the_clusters_and_the_command(here, monkeypatch):
    frame = two_classes().assign(patient=lambda table: np.arange(len(table)) // 4)
    written(frame, here / "a b.csv")
    words = [
        "measure",
        "a b.csv",
        "-p",
        "p",
        "-t",
        "y",
        "-c",
        "beta",
        "--cost",
        "1:200",
        "--cluster",
        "patient",
        "-w",
        "w",
    ]
    words += ["--draws", "20", "--export", "map.json"]
    monkeypatch.setattr("sys.argv", ["/usr/bin/probcal", *words])
    assert probcal(*words).exit_code == 0
    audit = json.loads((here / "map.json").read_text())["audit"]
    assert audit["cost"] == {"false_positive": 1, "false_negative": 200, "threshold": 1 / 201}
    assert audit["weight"] == "w"
    assert audit["cluster"] == {"column": "patient", "clusters": 50}
    assert audit["command"].startswith("probcal measure 'a b.csv' -p p -t y -c beta --cost 1:200 --cluster patient")


def test_a_record_with_unknown_keys_is_read(here):
    export("a.csv", "-p", "p", "-t", "y", "-c", "beta")
    content = json.loads((here / "map.json").read_text())
    assert (content["audit"]["cost"], content["audit"]["cluster"]) == (None, None)
    content["audit"] |= {"of a later version": [1, {"a": None}]}
    (here / "map.json").write_text("\ufeff" + json.dumps(content))  # with the mark of some editors
    assert probcal("apply", "map.json", "a.csv").exit_code == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("note", ["plain", 'a "b"', "l1\nl2", "NA"])
def test_texts_of_other_columns_stay_as_they_are(here, ending, note):
    export("a.csv", "-p", "p", "-t", "y", "-c", "beta")
    new = pd.DataFrame({"p": [0.2, 0.3, 0.4], "n": ["A  1", note, "B 2"]})
    getattr(new, f"to_{ending}")(here / f"new.{ending}", index=False)
    done = probcal("apply", "map.json", f"new.{ending}", "-o", "c.csv")
    assert done.exit_code == 0, done.output
    assert pd.read_csv(here / "c.csv", keep_default_na=False).n.tolist() == new.n.tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_new_rows_keep_their_columns_and_get_one_more(here, ending):
    export("a.csv", "-p", "p", "-t", "y", "-c", "beta")
    new = two_classes(50, 1).assign(note='a "b", c', when="2026-01-01").drop(columns="y")
    written(new, here / "new.csv")
    assert probcal("apply", "map.json", "new.csv", "-o", f"out.{ending}").exit_code == 0
    found = pd.read_csv("out.csv") if ending == "csv" else pd.read_parquet("out.parquet")
    expected = BetaCalibrator.from_json((here / "map.json").read_text()).predict_proba(new.p)[:, 1]
    assert found.p_beta.to_numpy().tolist() == expected.tolist()
    for name in new:
        assert found[name].astype(str).tolist() == new[name].astype(str).tolist()


def test_plain_texts_have_no_quotes_and_a_decimal_comma_stays(here):
    export("a.csv", "-p", "p", "-t", "y", "-c", "sigmoid")
    (here / "new.csv").write_text("id;p\nx;0,25\ny;0,5\n")
    lines = probcal("apply", "map.json", "new.csv").stdout.splitlines()
    expected = float(SigmoidCalibrator.from_json((here / "map.json").read_text()).predict_proba([0.25])[0, 1])
    assert lines[:2] == ["id;p;p_sigmoid", f"x;0,25;{expected!r}".replace(".", ",")]


def test_standard_input_and_output(here):
    export("a.csv", "-p", "p", "-t", "y", "-c", "isotonic")
    done = CliRunner().invoke(main, ["apply", "map.json", "-"], input="p\n.5\n")
    assert done.exit_code == 0 and done.stdout.startswith("p,p_isotonic\n.5,")


def test_several_classes_have_a_column_each(here):
    written(three_classes(), here / "c.csv")
    export("c.csv", "-p", "p_*", "-t", "y", "-c", "dirichlet")
    frame = three_classes()[["p_dog", "p_cat", "p_cow"]]
    frame.to_parquet(here / "new.parquet")
    assert probcal("apply", "map.json", "new.parquet", "-o", "out.parquet").exit_code == 0
    found = pd.read_parquet("out.parquet")
    p = frame[["p_cat", "p_cow", "p_dog"]].to_numpy()
    p = p / p.sum(axis=1, keepdims=True)
    expected = DirichletCalibrator.from_json((here / "map.json").read_text()).predict_proba(p)
    np.testing.assert_array_equal(found[["p_cat_dirichlet", "p_cow_dirichlet", "p_dog_dirichlet"]], expected)


def test_columns_that_name_their_classes_may_be_in_any_order(here):
    written(three_classes(), here / "c.csv")
    export("c.csv", "-p", "p_*", "-t", "y", "-c", "dirichlet")
    expected = probcal("apply", "map.json", "c.csv").stdout
    frame = three_classes()
    frame[["p_dog", "p_cow", "y", "p_cat"]].to_csv("other.csv", index=False)
    for words in (("-p", "p_*"), ("-p", "p_dog", "-p", "p_cat", "-p", "p_cow"), ()):
        assert probcal("apply", "map.json", "other.csv", *words, "-o", "o.csv", "--force").exit_code == 0
        found, wanted = pd.read_csv("o.csv"), pd.read_csv(StringIO(expected))
        pd.testing.assert_frame_equal(found[wanted.columns], wanted)
    frame.rename(columns={"p_cat": "s1", "p_cow": "s2", "p_dog": "s3"}).to_csv("plain.csv", index=False)
    assert "the columns s3, s1, s2 do not name the classes of the map, cat, cow, dog; repeat --probability" in refused(
        "apply", "map.json", "plain.csv", "-p", "s*"
    )
    in_order = probcal("apply", "map.json", "plain.csv", "-p", "s1", "-p", "s2", "-p", "s3").stdout
    assert in_order.splitlines()[1:] == expected.splitlines()[1:]


def test_the_probability_of_the_other_class_is_refused(here):
    frame = two_classes().rename(columns={"p": "p(yes)"}).assign(y=lambda table: table.y.map({0: "no", 1: "yes"}))
    frame["p(no)"] = 1 - frame["p(yes)"]
    frame.to_csv("b.csv", index=False)
    export("b.csv", "-p", "p(yes)", "-t", "y", "-c", "beta")
    assert probcal("apply", "map.json", "b.csv", "-p", "p(yes)").exit_code == 0
    message = 'column "p(no)" is of "no", and the map takes the probability of "yes"'
    assert message in refused("apply", "map.json", "b.csv", "-p", "p(no)")
    assert message in refused("apply", "map.json", "--as", "sql", "-p", "p(no)")
    export("b.csv", "-p", "p(no)", "-p", "p(yes)", "-t", "y", "-c", "temperature", "--force")
    one, other = (
        probcal("apply", "map.json", "--as", "sql", "-p", f"p({a})", "-p", f"p({b})").stdout
        for a, b in (("no", "yes"), ("yes", "no"))
    )
    assert one == other


def test_a_map_of_scores_takes_scores(here):
    (here / "map.json").write_text(SigmoidCalibrator(input="score").fit([-2.0, 1, -1, 3], [0, 0, 1, 1]).to_json())
    (here / "new.csv").write_text("s\n-7.5\n12\n")
    assert "name them with --probability" in refused("apply", "map.json", "new.csv")
    assert len(probcal("apply", "map.json", "new.csv", "-p", "s").stdout.splitlines()) == 3


def test_a_map_that_was_fitted_on_a_frame_names_its_column(here):
    frame = two_classes()
    calibrator = BetaCalibrator().fit(frame[["p"]], frame.y)
    (here / "map.json").write_text(calibrator.to_json())
    done = probcal("apply", "map.json", "a.csv", "-o", "out.csv")
    assert (done.exit_code, done.output) == (0, "")
    expected = calibrator.predict_proba(frame[["p"]])[:, 1]
    assert pd.read_csv("out.csv").p_beta.tolist() == expected.tolist()
    assert '"p" >= 0' in probcal("apply", "map.json", "--as", "sql").stdout
    frame.rename(columns={"p": "q"}).to_csv("b.csv", index=False)
    assert probcal("apply", "map.json", "b.csv", "-p", "q", "-o", "named.csv").exit_code == 0
    assert pd.read_csv("named.csv").q_beta.tolist() == expected.tolist()


@pytest.mark.parametrize("word", ["", "NA", "-99"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_row_without_a_probability_gets_none_and_is_counted(here, ending, word):
    export("a.csv", "-p", "p", "-t", "y", "-c", "beta")
    frame = two_classes()
    whole = probcal("apply", "map.json", "a.csv", "-o", "whole.csv")
    assert (whole.exit_code, whole.output) == (0, "")
    lacks = np.isin(np.arange(len(frame)), [0, 3, 50, 51, 52, 199])
    new = frame.assign(p=frame.p.astype(str).mask(lacks, word))
    getattr(new, f"to_{ending}")(f"new.{ending}", index=False)
    done = probcal("apply", "map.json", f"new.{ending}", "--missing", "-99", "-o", f"out.{ending}")
    assert done.exit_code == 0
    places = "lines 2, 5, 52, 53, 54, …" if ending == "csv" else "rows 1, 4, 51, 52, 53, …"
    assert f'note: 6 of 200 rows have no value in "p", so "p_beta" is empty there ({places})\n' in done.stderr
    found = getattr(pd, f"read_{ending}")(f"out.{ending}", **({"dtype": {"p": str}} if ending == "csv" else {}))
    expected = pd.read_csv("whole.csv").p_beta.mask(lacks)
    pd.testing.assert_series_equal(found.p_beta, expected)
    assert found.p[~lacks].tolist() == new.p[~lacks].tolist()


def test_a_decimal_comma_and_several_classes_keep_empty_rows_empty(here):
    written(three_classes(), here / "c.csv")
    export("c.csv", "-p", "p_*", "-t", "y", "-c", "dirichlet")
    (here / "new.csv").write_text("p_cat;p_cow;p_dog\n0,2;0,3;0,5\n0,2;;0,8\n")
    done = probcal("apply", "map.json", "new.csv")
    assert done.stdout.splitlines()[2] == "0,2;;0,8;;;"
    named = (
        'no value in "p_cat", "p_cow", "p_dog", so "p_cat_dirichlet", "p_cow_dirichlet", "p_dog_dirichlet" are empty'
    )
    assert f"note: 1 of 2 rows has {named} there (line 3)\n" in done.stderr
    (here / "new.csv").write_text("p_cat;p_cow;p_dog\n;0,5;0,5\n0,2;;0,8\n")
    assert "no row has a value in each column of the map (p_cat, p_cow, p_dog)" in refused(
        "apply", "map.json", "new.csv"
    )


def test_what_is_doubtful_in_new_rows_is_said(here):
    written(three_classes(), here / "c.csv")
    export("c.csv", "-p", "p_*", "-t", "y", "-c", "temperature")
    (here / "new.csv").write_text("p_cat,p_cow,p_dog\n.2,.3,.5\n.333,.333,.333\n")
    assert probcal("apply", "map.json", "new.csv").stderr == (
        "note: each row was divided by its sum, which is up to 0.001 away from 1\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.json", "a.csv"), "nothing.json: No such file"),
        (("a.csv", "a.csv"), "a.csv: the text is no JSON"),
        (("a.csv", "a.csv"), "the first file must be a map, as --export and to_json write it"),
        (("a.csv", "map.json"), "the first file must be the map: probcal apply map.json a.csv"),
        (("map.json", "nothing.csv"), "nothing.csv"),
        (("map.json", "a.csv", "-p", "id"), 'a.csv:2: column "id" holds "r0"'),
        (
            ("map.json", "c.csv", "-p", "mixed"),
            'c.csv:3: column "mixed" holds "30%", no number; give a number from 0 to 1; write',
        ),
        (
            ("map.json", "c.csv", "-p", "comma", "--decimal", "."),
            '"0,3", no number; give a number from 0 to 1; for a dec',
        ),
        (("map.json", "a.csv", "-p", "p", "-p", "w"), 'column "w" holds 2'),
        (("map.json", "a.csv", "-o", "a.csv"), "a.csv already exists"),
        (
            ("map.json", "a.csv", "-o", "new.xlsx"),
            "-o writes delimited text or Parquet, but new.xlsx has another suffix",
        ),
        (("map.json", "a.csv", "-o", "new.csv.gz"), "has another suffix; name a .csv or .parquet file"),
        (("map.json", "b.csv"), 'already has a column "p_beta"'),
    ],
)
def test_mistakes_write_nothing(here, words, said):
    export("a.csv", "-p", "p", "-t", "y", "-c", "beta")
    (here / "b.csv").write_text("p,p_beta\n.5,.5\n")
    (here / "c.csv").write_text("mixed;comma\n.5;.2\n30%;0,3\n.1;.1\n")
    before = contents(here)
    assert said in refused("apply", *words)
    assert contents(here) == before


def test_export_needs_a_map_and_a_file_of_its_own(here):
    call = ("measure", "a.csv", "-p", "p", "-t", "y")
    assert "--export writes a map" in refused(*call, "--export", "m.json")
    assert "both name x.csv" in refused(*call, "-c", "beta", "--export", "x.csv", "-o", "x.csv")


def test_only_fields_that_need_quotes_have_them_and_dates_stay_short(here):
    frame = two_classes().assign(note='a "b", c', plain="x", when=pd.Timestamp("2026-01-01 10:00"), flag=True, size=2.5)
    frame.to_parquet(here / "b.parquet")
    export("b.parquet", "-p", "p", "-t", "y", "-c", "beta", "-o", "measured.csv")
    applied = probcal("apply", "map.json", "b.parquet").stdout.splitlines()
    own = f'r0,{frame.p[0]},{frame.y[0]},{frame.sex[0]},{frame.w[0]},"a ""b"", c",x,2026-01-01 10:00:00,true,2.5,'
    assert applied[1].startswith(own)
    assert applied == (here / "measured.csv").read_text().splitlines()


def test_the_map_is_written_for_other_programs(here):
    export("a.csv", "-p", "p", "-t", "y", "-c", "isotonic")
    calibrator = IsotonicCalibrator.from_json((here / "map.json").read_text())
    assert probcal("apply", "map.json", "--as", "sql").stdout == map_to_sql(calibrator, ["p"]) + "\n"
    assert probcal("apply", "map.json", "--as", "sql", "-p", "score").stdout == map_to_sql(calibrator, ["score"]) + "\n"
    assert probcal("apply", "map.json", "--as", "python", "-o", "map.py").exit_code == 0
    assert (here / "map.py").read_text() == map_to_python(calibrator)
    assert probcal("apply", "map.json", "--as", "onnx", "-o", "map.onnx").exit_code == 0
    assert (here / "map.onnx").read_bytes() == map_to_onnx(calibrator)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["map.json"], "give the TABLE to calibrate, or --as with the form of the map"),
        (["map.json", "a.csv", "--as", "sql"], "or --as with the form of the map, not both"),
        (["map.json", "--as", "onnx"], "an ONNX graph is no text; name its file with -o, such as -o map.onnx"),
        (["map.json", "--as", "python", "-o", "a.csv"], "a.csv already exists and is not overwritten"),
        (["map.json", "--as", "sql", "-p", "a", "-p", "b"], "the map was fitted on 1 column(s) of scores, not 2"),
        (["map.json", "--as", "python", "-p", "p"], "names the columns of --as sql, and --as python has none"),
        (["map.json", "--as", "sql", "--missing", "-99"], "--as reads no TABLE; leave out --decimal, --missing"),
        (["map.json", "--as", "sql", "--decimal", ","], "--as reads no TABLE; leave out --decimal, --missing"),
        (["three.json", "--as", "sql"], "three.json: the map has 3 classes, and formulas are for two"),
    ],
)
def test_a_form_that_is_not_to_be_had_writes_nothing(here, words, message):
    written(three_classes(), here / "c.csv")
    export("c.csv", "-p", "p_*", "-t", "y", "-c", "temperature")
    (here / "map.json").rename(here / "three.json")
    export("a.csv", "-p", "p", "-t", "y", "-c", "beta")
    before = contents(here)
    done = probcal("apply", *words)
    assert done.exit_code == 2 and message in " ".join(done.output.split())
    assert contents(here) == before
