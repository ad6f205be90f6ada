"""Test ``probcal try --test``: the winner predicts a file once, with the numbers of pandas and scikit-learn."""

import re

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from probcal import PriorCalibrator, load
from probcal.cli.main import main
from probcal.metrics.bootstrap import NO_INTERVAL, Interval
from probcal.reading.table_plan import load_table_plan, read_inputs
from probcal.try_table.measures import LOSS
from probcal.try_table.ranked_methods import RankedMethod
from probcal.try_table.trial import TrialResult
from probcal.try_table.unseen_result import UnseenLine, UnseenResult
from tests.commands import contents, probcal, refused
from tests.try_table.own_tables import customers, written

FEW = ("-t", "left", "-l", "logistic", "-m", "direct", "--splits", 3, "--drop", "since")
INPUTS = ["age", "plan", "spend"]
BOUND = 0.001


def tried(*words):
    result = probcal("try", *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_part(text):
    """Return the lines about the test file as one text."""
    lines = text.splitlines()
    [start] = [number for number, line in enumerate(lines) if re.match(r"test: .*: ", line)]
    end = next(number for number, line in enumerate(lines) if line.startswith("report: "))
    return "\n".join(lines[start:end])


test_part.__test__ = False


def sentences(text):
    """Return the text without its line breaks."""
    return " ".join(text.split())


def measured(text):
    """Return measure -> (value, low, high, cross-validated, low, high, base rate) of the printed table."""
    rows = re.findall(r"^(log loss|Brier|RMS|AUC|c_emp|ECE|cost|net benefit) +(.*)$", test_part(text), re.MULTILINE)
    return {name: [float(number) for number in re.findall(r"[\d.]+", cells)] for name, cells in rows}


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """Return (folder, training frame, test frame, printed text): the test file is European, with two odd rows."""
    folder = tmp_path_factory.mktemp("trial")
    train, later = customers(400), customers(150, seed=7)
    later.loc[5, "left"] = "NA"
    later.loc[9, "plan"] = "gold"
    written(train, folder / "train.csv")
    written(later, folder / "later.csv", sep=";", decimal=",")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        text = tried("train.csv", *FEW, "--test", "later.csv", "--export", "model")
    return folder, train, later[later["left"] != "NA"].reset_index(drop=True), text


@pytest.fixture(scope="module")
def oracle(trial):
    """Return labels and probabilities of the test rows, by pandas and scikit-learn alone."""
    folder, train, _, _ = trial
    later = pd.read_csv(folder / "later.csv", sep=";", decimal=",").dropna(subset="left")
    columns = make_column_transformer(
        (MinMaxScaler(), ["age", "spend"]), (OneHotEncoder(handle_unknown="ignore"), ["plan"])
    )
    chosen = joblib.load(folder / "model" / "model.joblib")[-1].best_params_["C"]
    model = make_pipeline(columns, LogisticRegression(C=chosen, max_iter=2000))
    model.fit(train[INPUTS], train["left"] == "yes")
    return (later["left"] == "yes").to_numpy(), model.predict_proba(later[INPUTS])[:, 1]


def log_losses(y, p):
    bounded = np.clip(p, BOUND, 1 - BOUND)
    return -np.log2(np.where(y, bounded, 1 - bounded))


def normal_interval(values):
    half = 1.959964 * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean() - half, values.mean() + half


def test_losses_and_their_intervals_are_those_of_scikit_learn(trial, oracle):
    lines, (y, p) = measured(trial[3]), oracle
    losses = log_losses(y, p)
    assert lines["log loss"][0] == pytest.approx(losses.mean(), abs=2e-4)
    assert lines["log loss"][1:3] == pytest.approx(normal_interval(losses), abs=2e-3)
    assert lines["Brier"][0] == pytest.approx(brier_score_loss(y, p), abs=2e-4)
    assert lines["Brier"][1:3] == pytest.approx(normal_interval((y - p) ** 2), abs=2e-3)
    assert lines["RMS"][0] == pytest.approx(brier_score_loss(y, p) ** 0.5, abs=2e-4)
    assert lines["RMS"][1:3] == pytest.approx(np.sqrt(normal_interval((y - p) ** 2)), abs=2e-3)


def test_auc_and_its_interval_are_those_of_all_pairs(trial, oracle):
    line, (y, p) = measured(trial[3])["AUC"], oracle
    assert line[0] == pytest.approx(roc_auc_score(y, p), abs=2e-4)
    won = (p[y][:, None] > p[~y]) + 0.5 * (p[y][:, None] == p[~y])
    half = 1.959964 * np.sqrt(won.mean(axis=1).var(ddof=1) / y.sum() + won.mean(axis=0).var(ddof=1) / (~y).sum())
    assert line[1:3] == pytest.approx([won.mean() - half, min(1, won.mean() + half)], abs=2e-3)


def test_calibration_errors_are_those_of_pandas_and_lie_in_their_intervals(trial, oracle):
    lines, (y, p) = measured(trial[3]), oracle
    rows = pd.DataFrame({"p": p, "y": y.astype(float)})
    bins = rows.groupby(pd.cut(rows["p"], np.arange(16) / 15), observed=True).sum()
    assert lines["ECE"][0] == pytest.approx((bins["y"] - bins["p"]).abs().sum() / len(rows), abs=1e-3)
    sums = (rows.sort_values("p")["y"] - rows.sort_values("p")["p"]).cumsum()
    assert lines["c_emp"][0] == pytest.approx((max(0, sums.max()) - min(0, sums.min())) / len(rows), abs=1e-3)
    for name in ("ECE", "c_emp"):
        value, low, high = lines[name][:3]
        assert low <= value + 1e-3 and value <= high + 1e-3 and low < high


def test_base_rate_predicts_the_shares_of_the_training_rows(trial, oracle):
    _, train, _, text = trial
    y, share = oracle[0], (train["left"] == "yes").mean()
    assert measured(text)["log loss"][-1] == pytest.approx(log_losses(y, np.full(len(y), share)).mean(), abs=1e-4)
    assert measured(text)["AUC"][-1] == 0.5


def test_cross_validated_values_are_those_of_the_model_card(trial):
    folder, _, _, text = trial
    card = (folder / "model" / "model-card.md").read_text()
    for name, about in (("log loss", "log loss in bits (1 bit is 0.693 nats)"), ("ECE", "expected calibration error")):
        [cells] = re.findall(rf"^\| {re.escape(about)}[^|]*\| ([\d.]+) \| ([\d.]+) to ([\d.]+) \|", card, re.MULTILINE)[
            :1
        ]
        assert measured(text)[name][3:6] == pytest.approx([float(cell) for cell in cells], abs=6e-4)


def test_first_sentence_counts_the_rows_and_names_the_winner(trial):
    _, train, later, text = trial
    yes = (later["left"] == "yes").sum()
    said = sentences(test_part(text))
    assert said.startswith(
        "test: later.csv: 149 rows with a label, predicted once by logistic alone, which was fitted "
    )
    assert "on all 400 labelled rows." in said
    assert f'{yes} are "yes" ({100 * yes / 149:.3g} %, 95 % interval ' in said
    assert f"; {100 * (train['left'] == 'yes').mean():.3g} % of the training rows)." in said


def test_odd_rows_are_told(trial):
    said = sentences(test_part(trial[3]))
    assert "warning: column \"plan\": 'gold' in 1 row did not occur when the model was fitted [test-level]." in said
    assert "warning: 1 of 150 rows has no left and is left out [test-unlabelled]." in said
    assert "as a training row" not in said


def test_model_card_and_page_show_the_same_table(trial):
    folder, _, _, text = trial
    card = (folder / "model" / "model-card.md").read_text()
    page = (folder / "results" / "try-train-left" / "report.html").read_text()
    value, low, high, *_ = measured(text)["AUC"]
    assert f"| AUC | {value:.4f} | {low:.3f} to {high:.3f} |" in card.partition("## The test file")[2]
    assert re.search(rf'<th scope="row">AUC</th><td class="number">{value:.4f}</td>', page)
    assert '<a href="#trial-test">The test file</a>' in page


def test_ranking_does_not_change(trial, monkeypatch):
    folder, _, _, text = trial
    monkeypatch.chdir(folder)
    plain = tried("train.csv", *FEW, "-o", "plain")
    with_test = tried("train.csv", *FEW, "-o", "plain", "--test", "later.csv")
    lines = [line for line in plain.splitlines() if not line.startswith("report: ")]
    assert [line for line in lines if line] == [
        line for line in with_test.replace(test_part(with_test), "").splitlines()
        if line and not line.startswith(("report: ", "test: ", "  ranking"))
    ]  # fmt: skip
    assert test_part(with_test) == test_part(text)


def test_export_is_the_same_model_as_without_a_test_file(trial, monkeypatch):
    folder, _, _, _ = trial
    monkeypatch.chdir(folder)
    tried("train.csv", *FEW, "--export", "alone")
    for name in ("model.joblib", "columns.json", "train.py", "predict.py", "predictions.csv"):
        assert (folder / "alone" / name).read_bytes() == (folder / "model" / name).read_bytes()
    assert "test file" not in (folder / "alone" / "model-card.md").read_text()


def test_native_categories_and_maps_give_what_the_exported_model_gives(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, later = customers(300), customers(120, seed=3)
    later.loc[4, "plan"] = "gold"
    written(train, tmp_path / "train.csv")
    written(later, tmp_path / "later.csv")
    options = ("-t", "left", "-l", "boosting", "-m", "sigmoid", "--splits", 2, "--export", "model")
    text = tried("train.csv", *options, "--test", "later.csv")
    assert "by sigmoid on boosting" in sentences(text)
    plan = load_table_plan(tmp_path / "model" / "columns.json")
    assert plan.native
    p = joblib.load(tmp_path / "model" / "model.joblib").predict_proba(read_inputs("later.csv", plan).X)[:, 1]
    assert measured(text)["log loss"][0] == pytest.approx(log_losses(later["left"] == "yes", p).mean(), abs=1e-4)


@pytest.mark.parametrize("form", ["parquet", "gzip", "shuffled columns"])
def test_other_formats_give_the_same_numbers(trial, tmp_path, monkeypatch, form):
    folder, _, _, text = trial
    later = pd.read_csv(folder / "later.csv", sep=";", decimal=",", keep_default_na=False, na_values=["NA"])
    path = tmp_path / "later"
    if form == "parquet":
        later.to_parquet(path)
    elif form == "gzip":
        path = written(later, tmp_path / "later.csv.gz")
    else:
        written(later[["left", *later.columns[:0:-1][1:], "id"]].assign(more=1), path)
    monkeypatch.chdir(folder)
    assert measured(tried("train.csv", *FEW, "--test", path)) == measured(text)


def test_costs_are_measured_too(trial, monkeypatch):
    folder, _, later, _ = trial
    monkeypatch.chdir(folder)
    text = tried("train.csv", *FEW, "--test", "later.csv", "--cost", "1:5", "--export", "costs")
    plan = load_table_plan(folder / "costs" / "columns.json")
    p = joblib.load(folder / "costs" / "model.joblib").predict_proba(read_inputs("later.csv", plan).X)[:, 1]
    p = np.delete(p, 5)
    positive, y = p >= 1 / 6, (later["left"] == "yes").to_numpy()
    cost, low, high, *_ = measured(text)["cost"]
    assert cost == pytest.approx((1 * (positive & ~y) + 5 * (~positive & y)).mean(), abs=1e-4)
    assert low < cost < high
    benefit, low, high, *_ = measured(text)["net benefit"]
    assert benefit == pytest.approx((positive & y).mean() - (positive & ~y).mean() / 5, abs=1e-4)
    assert low < benefit < high


def test_log_loss_keeps_probabilities_within_the_bound(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, wrong in (("train", 0), ("later", 10)):
        frame = customers(100, seed=wrong)
        answer = frame["left"].where(frame.index >= wrong, frame["left"].map({"yes": "no", "no": "yes"}))
        written(frame.assign(answer=answer), tmp_path / f"{name}.csv")
    text = tried("train.csv", "-t", "left", "-l", "tree", "-m", "direct", "--splits", 2, "--test", "later.csv")
    assert measured(text)["log loss"][0] == pytest.approx(-0.1 * np.log2(BOUND) - 0.9 * np.log2(1 - BOUND), abs=1e-4)
    assert measured(text)["Brier"][0] == 0.1


def test_sampled_training_file_has_the_base_rate_of_all_its_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, later = customers(1000).assign(left="no"), customers(200, seed=1)
    train.loc[:29, "left"] = "yes"
    written(train, tmp_path / "train.csv")
    written(later, tmp_path / "later.csv")
    text = tried("train.csv", *FEW, "--rows", 200, "--test", "later.csv")
    assert "it keeps all 30 rows" in sentences(text)
    assert "fitted on all 1,000 labelled rows" in sentences(text)
    assert "; 3 % of the training rows)" in sentences(text)
    losses = log_losses((later["left"] == "yes").to_numpy(), np.full(200, 0.03))
    assert measured(text)["log loss"][-1] == pytest.approx(losses.mean(), abs=1e-4)


@pytest.mark.parametrize(("option", "column"), [("--group", "who"), ("--time", "since")])
def test_groups_and_time_of_the_training_file_are_not_needed_in_the_test_file(tmp_path, monkeypatch, option, column):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train", 0), ("later", 1)):
        frame = customers(200, seed)
        written(frame.assign(who=frame.index // 2), tmp_path / f"{name}.csv")
    written(pd.read_csv(tmp_path / "later.csv").drop(columns=column), tmp_path / "later.csv")
    options = ("-t", "left", "-l", "logistic", "-m", "sigmoid", "--splits", 3, "--drop", "id", option, column)
    text = tried("train.csv", *options, "--test", "later.csv", "--export", "model")
    assert "by sigmoid on logistic" in sentences(text)
    plan = load_table_plan(tmp_path / "model" / "columns.json")
    p = joblib.load(tmp_path / "model" / "model.joblib").predict_proba(read_inputs("later.csv", plan).X)[:, 1]
    y = pd.read_csv(tmp_path / "later.csv")["left"] == "yes"
    assert measured(text)["log loss"][0] == pytest.approx(log_losses(y, p).mean(), abs=1e-4)


def test_positive_label_is_one_against_all_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train", 0), ("later", 1)):
        frame = customers(240, seed)
        written(frame.drop(columns="plan").assign(left=frame["plan"]), tmp_path / f"{name}.csv")
    text = tried("train.csv", *FEW, "--positive", "pro", "--test", "later.csv")
    n_positive = (pd.read_csv(tmp_path / "later.csv")["left"] == "pro").sum()
    assert f'labelled rows. {n_positive} are "pro" (' in sentences(text)


def test_several_classes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train", 0), ("later", 1)):
        frame = customers(240, seed)
        written(frame.drop(columns="plan").assign(left=frame["plan"]), tmp_path / f"{name}.csv")
    text = tried("train.csv", *FEW, "--test", "later.csv")
    lines, said = measured(text), sentences(test_part(text))
    assert '"basic" (' in said and '"plus" (' in said and '"pro" (' in said
    assert len(lines["AUC"]) == 7 and len(lines["log loss"]) == 7
    later = pd.read_csv(tmp_path / "later.csv")
    shares = pd.read_csv(tmp_path / "train.csv")["left"].value_counts(normalize=True)
    assert lines["log loss"][-1] == pytest.approx(-np.log2(later["left"].map(shares)).mean(), abs=1e-4)


def test_one_class_leaves_out_what_needs_two(trial, tmp_path, monkeypatch):
    folder, _, later, _ = trial
    path = written(later[later["left"] == "no"], tmp_path / "no.csv")
    monkeypatch.chdir(folder)
    text = tried("train.csv", *FEW, "--test", path)
    warning = 'no test row is "yes", so measures that need every class are left out [test-classes].'
    assert f"warning: {warning}" in sentences(text)
    # neither a value nor an interval of the test rows, nor a value of the base rate
    assert len(measured(text)["AUC"]) == 3
    assert measured(text)["log loss"][0] > 0


def test_few_rows_have_no_intervals(trial, tmp_path, monkeypatch):
    folder, _, later, _ = trial
    path = written(later.head(12), tmp_path / "few.csv")
    monkeypatch.chdir(folder)
    text = tried("train.csv", *FEW, "--test", path)
    assert "warning: 12 rows are too few for some of the intervals [test-classes]." in sentences(text)
    assert len(measured(text)["log loss"]) == 5


def test_copies_of_training_rows_are_counted(trial, tmp_path, monkeypatch):
    folder, train, later, _ = trial
    path = written(pd.concat([later, train.iloc[[3, 30, 300]]]), tmp_path / "copies.csv")
    monkeypatch.chdir(folder)
    said = sentences(tried("train.csv", *FEW, "--test", path, "--dry-run"))
    assert "warning: 3 of 152 rows (1.97 %) have the same inputs and label as a training row." in said


def test_equal_training_rows_are_told_beside_copies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train", 0), ("later", 1)):
        written(customers(100, seed)[["plan", "left"]], tmp_path / f"{name}.csv")
    said = sentences(tried("train.csv", *FEW[:-2], "--test", "later.csv", "--dry-run"))
    assert "100 of 100 rows (100 %) have the same inputs" in said
    assert "(of the training rows, 100 % are equal to another one) [test-copies]." in said


def test_dry_run_says_what_will_be_done_and_writes_nothing(trial, tmp_path, monkeypatch):
    folder, _, _, _ = trial
    monkeypatch.chdir(tmp_path)
    said = sentences(tried(folder / "train.csv", *FEW, "--test", folder / "later.csv", "--dry-run"))
    assert "test: later.csv, 149 rows with a label; the winner predicts them once, after the ranking" in said
    assert "warning: 1 of 150 rows has no left and is left out [test-unlabelled]." in said
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda frame: frame.drop(columns="left"), 'new.csv: has no target "left"'),
        (lambda frame: frame.drop(columns="age"), 'new.csv: the model needs the column "age"'),
        (lambda frame: frame.assign(left=""), 'new.csv: column "left" is empty: no row has a label'),
        (
            lambda frame: frame.assign(left=["no"] * 6 + ["maybe"] * 143),
            'new.csv:8: column "left" holds the label "maybe", and no training row does (they have: no, yes)',
        ),
        (
            lambda frame: frame.assign(left=["no"] * 6 + ["yess"] * 143),
            'new.csv:8: column "left" holds the label "yess", and no training row does; did you mean "yes"?',
        ),
        (
            lambda frame: frame.assign(age=["30"] * 2 + ["thirty"] * 147),
            "new.csv:4: column \"age\" holds 'thirty' in 147 rows, and the model reads numbers written like",
        ),
        (
            lambda frame: frame.assign(plan=["pro"] + ["Basic"] * 148),
            "new.csv:3: column \"plan\" holds 'Basic' in 148 rows, and the training rows have 'basic'",
        ),
        (lambda frame: frame.head(0), "new.csv: has 0 rows"),
    ],
    ids=["target", "input", "labels", "label", "typing error", "number", "level", "rows"],
)
def test_unusable_test_file_is_refused_and_nothing_is_written(trial, tmp_path, monkeypatch, change, fault):
    folder, _, later, _ = trial
    path = written(change(later), tmp_path / "new.csv")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    message = refused("try", folder / "train.csv", *FEW, "--test", path, "--save", "my.yaml", "--export", "model")
    assert fault in message
    assert contents(tmp_path / "here") == {}


def test_training_file_is_no_test_file(trial, tmp_path, monkeypatch):
    folder, _, _, _ = trial
    same = tmp_path / "another name.csv"
    same.write_bytes((folder / "train.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    for path in (folder / "train.csv", same):
        message = refused("try", folder / "train.csv", *FEW, "--test", path)
        assert message == (
            f"--test {path}: has the same content as the training file; give rows that did not choose the winner"
        )
    result = CliRunner().invoke(main, ["try", "-", "-t", "left", "--test", "-"], input=same.read_bytes())
    assert result.exit_code == 2
    assert result.stderr == "error: --test -: standard input holds the training rows; give a file\n"


NOT_LIKE = ": the test rows are not like the training rows. Compare the shares of the classes, and the AUC."


@pytest.mark.parametrize(
    ("unseen", "end"),
    [
        (Interval(0.5, 0.4, 0.6), None),
        (Interval(0.8, 0.5, 1.1), "; the two intervals overlap, so this may be chance."),
        (Interval(0.8, *NO_INTERVAL), "; so few rows may differ by chance."),
        (Interval(0.8, 0.75, 0.85), NOT_LIKE),
        (Interval(0.2, 0.15, 0.25), NOT_LIKE),
    ],
)
def test_log_loss_outside_the_cross_validated_interval_is_told(unseen, end):
    line = UnseenLine(LOSS, unseen, [0.49, 0.5, 0.51, 0.5], 0.2, 0.9)
    low, high = line.cross_interval
    assert 0.4 < low < 0.5 < high < 0.6
    said = UnseenResult(None, "tree alone", 100, "", [line]).difference
    if end is None:
        assert said == ""
    else:
        side = "above" if unseen.value > 0.5 else "below"
        assert said.startswith(f"The log loss of the test rows, {unseen.value:.4f}, lies {side} the interval of the ")
        assert said.endswith(end)


def test_a_share_that_has_moved_is_told_with_a_map_that_corrects_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(customers(2000), tmp_path / "train.csv")
    later = customers(2000, seed=7)
    no = later.index[later["left"] == "no"]
    later = later.drop(no[: int(0.9 * len(no))])
    written(later, tmp_path / "later.csv")
    text = sentences(tried("train.csv", *FEW, "--metric", "auc", "--test", "later.csv", "--export", "model"))
    words = re.search(r"of the positive class has moved, and the AUC has not\. probcal measure (.*), for ", text)[1]
    y = (later["left"] == load("model").classes_[1]).to_numpy()
    assert float(words.split()[-1]) == pytest.approx(y.mean(), abs=1e-3)
    predictions = pd.read_csv("model/predictions.csv").columns[-1]
    made = probcal("measure", "model/predictions.csv", "-p", predictions, "-t", "left", *words.split(), "--draws", 0,
                   "--export", "map.json")  # fmt: skip
    assert made.exit_code == 0, made.output
    p = load("model").predict_proba(pd.read_csv("later.csv"))[:, 1]
    mapped = PriorCalibrator.from_json((tmp_path / "map.json").read_text()).predict_proba(p)[:, 1]
    assert log_losses(y, mapped).mean() < log_losses(y, p).mean() - 0.1


def test_rounding_is_no_difference():
    line = UnseenLine(LOSS, Interval(0.5 + 1e-15, 0.4, 0.6), [0.5, 0.5, 0.5], 0.2, 0.9)
    assert UnseenResult(None, "shares alone", 100, "", [line]).difference == ""


def test_nothing_is_tested_where_every_method_failed(tmp_path):
    result = TrialResult(None, None, None, tmp_path, LOSS, None, unseen_rows=object())
    # computed from the store, which is not needed here
    result.__dict__["methods"] = [RankedMethod("tree", "direct", (), {}, n_failed=2, splits=2, seconds=0.1)]
    assert list(result.unseen_lines) == ["not tested: tree alone and all others failed on some split", ""]
