"""Test the accepted numbers of a results folder, ``accepted.csv``, and the drift from them."""

import csv
import json
import shutil
from dataclasses import replace

import pytest

from probcal.errors import FileProblems
from probcal.papers.check.accepted import _distance, read_accepted_numbers
from tests.commands import probcal, refused
from tests.papers.check.changed import change, summary
from tests.stored_rows import stored_rows, write_rows


def test_accepted_numbers_are_stored_and_show_no_drift(accepted):
    result = probcal("check", accepted.folder)
    assert (result.exit_code, summary(result)) == (0, "drift: 0 of 4 numbers")
    lines = list(csv.DictReader((accepted.folder / "accepted.csv").open(encoding="utf-8")))
    assert [(line["method"], line["metric"]) for line in lines] == [
        ("direct", "cxe"), ("direct", "rms"), ("probing", "cxe"), ("probing", "rms"),
    ]  # fmt: skip
    assert (lines[1]["dataset"], lines[1]["values"]) == ("breast", "0.3 0.3 0.3 0.3 0.3")
    assert lines[0]["values"].split()[2] == "inf"


def test_folder_without_paper_and_accepted_numbers_compares_nothing(accepted):
    for name in ("accepted.csv", "runs.jsonl"):
        (accepted.folder / name).unlink()
    result = probcal("check", accepted.folder)
    assert result.exit_code == 1
    assert (
        "nothing was compared: the experiment follows no paper and none of its numbers was accepted yet; "
        f"probcal check {accepted.folder} --accept accepts the present ones\n"
    ) in result.stdout
    [told] = json.loads(probcal("check", accepted.folder, "-f", "json").stdout)
    assert not told["ok"] and told["nothing_compared"].startswith("nothing was compared")


@pytest.mark.parametrize("paper", [None, "langford-zadrozny-2005"])
def test_lost_accepted_numbers_are_named(accepted, paper):
    rewritten(accepted, "paper", paper)
    (accepted.folder / "accepted.csv").unlink()
    path = accepted.folder / "accepted.csv"
    assert refused("check", accepted.folder) == (
        f"{path} is missing, and 4 numbers were accepted there; get the file back, or accept the present numbers: "
        f"probcal check {accepted.folder} --accept"
    )
    assert "accepted 4 numbers" in probcal("check", accepted.folder, "--accept").stderr
    assert "drift: 0 of 4 numbers" in probcal("check", accepted.folder).stdout


def test_deleted_line_of_accepted_numbers_is_refused_as_a_deleted_file_is(accepted):
    path = accepted.folder / "accepted.csv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]), encoding="utf-8")
    assert refused("check", accepted.folder) == (
        f"{path} has 3 numbers, and 4 numbers were accepted there; get the file back, or accept the present numbers: "
        f"probcal check {accepted.folder} --accept"
    )


@pytest.mark.parametrize("line", ['{"accepted": Infinity}', '{"accepted": []}', '{"accepted": "x"}', "[]", "7"])
def test_broken_line_about_accepted_numbers_says_nothing(accepted, line):
    (accepted.folder / "accepted.csv").unlink()
    (accepted.folder / "runs.jsonl").write_text(f"{line}\n", encoding="utf-8")
    assert "none of its numbers was accepted yet" in probcal("check", accepted.folder).stdout


def test_accepted_numbers_of_other_data_sets_compare_nothing(accepted):
    path = accepted.folder / "accepted.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("breast,", "heart,"), encoding="utf-8")
    result = probcal("check", accepted.folder)
    assert result.exit_code == 1
    assert "nothing was compared: the experiment follows no paper and none of its numbers was accepted" in result.stdout


@pytest.mark.parametrize(("rms", "code"), [(0.3 + 0.0099, 0), (0.3 + 0.0101, 1)])  # a mean of five: .00198, .00202
def test_a_mean_may_drift_by_two_thousandths(accepted, rms, code):
    change(accepted, "breast", "j48.probing", rms=rms)
    assert probcal("check", accepted.folder).exit_code == code


def test_infinity_that_became_finite_is_drift(accepted):
    change(accepted, "breast", "j48.direct", 2, cxe=0.7)
    result = probcal("check", accepted.folder)
    assert result.exit_code == 1
    assert "∞ 1/5" in result.stdout


def test_fewer_splits_are_compared_with_the_same_accepted_splits(accepted, small):
    folder = accepted.folder
    kept = (folder / "accepted.csv").read_text(encoding="utf-8")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "accepted.csv").write_text(kept, encoding="utf-8")
    fewer = small(datasets={"breast": 2}, columns=("j48.direct", "j48.probing"), metrics=("cxe", "rms")).write({
        ("breast", f"j48.{method}"): [{"cxe": first + s / 7, "rms": 0.3} for s in range(2)]
        for method, first in (("direct", 0.5), ("probing", 0.4))
    })  # fmt: skip
    result = probcal("check", fewer.folder)
    assert (result.exit_code, summary(result)) == (0, "drift: 0 of 4 numbers")


def test_accept_without_finished_cells_is_rejected(small):
    assert "no done cell" in refused("check", small().write({}).folder, "--accept")


def rewritten(store, name, value):
    path = store.folder / "experiment.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {name: value}), encoding="utf-8")


def without_cells(store, method):
    write_rows(store.folder, [row for row in stored_rows(store.folder) if row["method"] != method])


def test_accepted_number_without_any_split_is_drift(accepted):
    without_cells(accepted, "probing")
    result = probcal("check", accepted.folder)
    assert result.exit_code == 1
    assert "DRIFT, 2 accepted numbers are missing now:\n  breast j48.probing cxe: no split" in result.stdout
    assert summary(result) == "drift: 0 of 2 numbers, 2 accepted ones missing now"


def test_accepted_numbers_no_longer_planned_fail_the_check_until_accepted_anew(accepted):
    rewritten(accepted, "metrics", ["cxe"])
    result = probcal("check", accepted.folder)
    assert result.exit_code == 1
    assert (
        "DRIFT, 2 accepted numbers that the experiment no longer has; run the experiment file that has them, or accept "
        f"the present numbers: probcal check {accepted.folder} --accept\n"
        "  breast j48.direct rms\n  breast j48.probing rms\n"
    ) in result.stdout
    assert summary(result) == "drift: 0 of 2 numbers, 2 accepted ones that the experiment no longer has"
    [report] = json.loads(probcal("check", accepted.folder, "-f", "json").stdout)
    assert not report["ok"] and report["drift"]["unplanned"] == ["breast j48.direct rms", "breast j48.probing rms"]
    assert probcal("check", accepted.folder, "--accept").exit_code == 0


def test_missing_value_of_an_accepted_number_is_drift(accepted):
    row = accepted.results()["breast/0/j48/probing"]
    with accepted.writing("small"):
        accepted.add(replace(row, metrics={"cxe": row.metrics["cxe"]}))
    result = probcal("check", accepted.folder)
    assert result.exit_code == 1
    assert "  breast j48.probing rms: no number in 1 done cells" in result.stdout
    assert "1 done without rms" in summary(result)


@pytest.mark.parametrize(
    "line", ["breast,j48", "breast,j48,direct,auc,", "breast,j48,direct,auc,nan", "breast,j48,direct,auc,0.5,0.3"]
)
def test_message_names_an_invalid_line_of_accepted_numbers(accepted, line):
    with (accepted.folder / "accepted.csv").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert "accepted.csv:6: is not a line of accepted numbers" in refused("check", accepted.folder)


def test_message_names_a_repeated_line_of_accepted_numbers(accepted):
    with (accepted.folder / "accepted.csv").open("a", encoding="utf-8") as file:
        file.write("breast,j48,direct,rms,0.3 0.3\n")
    assert "accepted.csv:6: breast j48 direct rms is in line 3 already" in refused("check", accepted.folder)


def test_binary_file_of_accepted_numbers_is_rejected(accepted):
    (accepted.folder / "accepted.csv").write_bytes(bytes(range(128, 256)))
    said = refused("check", accepted.folder)
    assert said.endswith("accepted.csv: is not UTF-8 text; probcal check --accept writes it again")


@pytest.mark.parametrize(
    ("metric", "now", "drifts"),
    [("errors", 4830, False), ("errors", 4880, True), ("log10_loss", 4830, False), ("log_loss", 4830, False)],
)
def test_count_may_drift_by_one_percent(metric, now, drifts):
    assert (_distance(metric, [4814.0], [float(now)]) > 1) == drifts


def test_accepted_numbers_cut_anywhere_in_the_last_lines_are_refused(accepted):
    path = accepted.folder / "accepted.csv"
    content = path.read_bytes()
    start = content.rstrip().rfind(b"\n", 0, content.rstrip().rfind(b"\n")) + 1  # the last two lines
    for end in (end for end in range(start + 1, len(content)) if content[end - 1 : end] != b"\n"):
        path.write_bytes(content[:end])
        with pytest.raises(FileProblems, match=r"accepted\.csv:[45]: .*is cut off.*--accept"):
            read_accepted_numbers(path)
    path.write_bytes(content.replace(b"\n", b"\r\n"))
    assert len(read_accepted_numbers(path)) == 4
    path.write_bytes(content[:-3])
    assert "is cut off" in refused("check", accepted.folder)


def test_missing_repetitions_fail_the_check_and_are_named(accepted):
    write_rows(accepted.folder, stored_rows(accepted.folder)[:-2])
    result = probcal("check", accepted.folder)
    assert (result.exit_code, summary(result)) == (1, "drift: 0 of 4 numbers")
    assert "INCOMPLETE" in result.stdout and "Breast: 2 missing, the first is breast/3/j48/probing" in result.stdout
    [report] = json.loads(probcal("check", accepted.folder, "-f", "json").stdout)
    assert not report["ok"] and report["incomplete"]["Breast"] == ["breast/3/j48/probing", "breast/4/j48/probing"]


def test_accepted_numbers_of_other_data_sets_fail_a_check_against_a_paper(small, cxe):
    columns = ("nb.direct",)
    folder = small(paper="langford-zadrozny-2005", columns=columns).write({("adult", "nb.direct"): cxe(0.949)}).folder
    (folder / "accepted.csv").write_text("dataset,learner,method,metric,values\nheart,nb,direct,cxe,0.9\n", "utf-8")
    result = probcal("check", folder)
    assert result.exit_code == 1
    assert "accepted.csv has none of the present numbers" in result.stdout
