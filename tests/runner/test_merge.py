"""Test that results folders of one experiment are merged, and that conflicts are rejected with file and line."""

import errno
import json
import os
import shutil

import pytest

from probcal.store.folder import Store, by_run
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import contents
from tests.stored_rows import stored_rows, unpack, write_rows


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return a folder for what the first test makes and the others copy."""
    return tmp_path_factory.mktemp("parts")


@pytest.fixture
def parts(bench, kept):
    """Make two folders of one experiment: the cells of the dummy, and those of the tree."""
    bench.config(methods={"direct": {}})
    if not (kept / "b").exists():
        for learner, folder in (("dummy", "a"), ("tree", "b")):
            bench.run("-l", learner, "-o", folder)
            shutil.copytree(folder, kept / folder)
    for folder in ("a", "b"):
        shutil.copytree(kept / folder, folder, dirs_exist_ok=True)
    return bench


def edit(path, *changes):
    """Replace text in a file of results, each occurrence."""
    text = path.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text)


def edit_run(folder, part, name, value):
    """Change one value in every line of runs.jsonl."""
    lines = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for line in lines:
        line[part][name] = value
    (folder / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def mark_stale(folder):
    """Mark all results as stale, as a run does that plans other settings."""
    store = Store(folder)
    with store.writing("small"):
        store.write_experiment(store.experiment() | {"stale": by_run(store.results().values())})


def refusal(bench, *folders):
    """Return the message of a rejected merge, which changes no file."""
    before = contents(bench.folder)
    done = bench.probcal("merge", "out", *folders)
    assert done.code == 2, done.said
    assert contents(bench.folder) == before
    return done.said


def test_merged_folder_holds_all_results_and_is_current(parts):
    done = parts.probcal("merge", "out", "a", "b")
    assert done.code == 0 and "4 results for 4 planned cells" in done.said
    assert parts.numbers(parts.folder / "out") == {
        **parts.numbers(parts.folder / "a"),
        **parts.numbers(parts.folder / "b"),
    }
    assert "4 cells: 4 done" in parts.probcal("status", "out").said
    assert parts.probcal("verify", "out").code == 0
    assert parts.probcal("table", "out").code == 0
    assert len(Store(parts.folder / "out").runs()) == 2
    assert "4 cells: 4 done" in parts.run("-o", "out").said
    (parts.folder / "other").mkdir()
    parts.probcal("merge", "other", "b", "a")
    joined, same = contents(parts.folder / "other"), contents(parts.folder / "out")
    for name in ("cells.parquet", "predictions.bin", "runs.jsonl"):
        assert joined[name] == same[name], "whatever the order of the folders"
    for words, said in ((("b", "a"), "b exists and is not an empty folder"), (("new", "a", "a"), "give two or more")):
        assert said in parts.probcal("merge", *words).said


def test_run_resumes_in_the_merged_folder(bench):
    bench.config(methods={"direct": {}}, repeats=1)
    bench.run("-l", "dummy", "-o", "a")
    shutil.copytree("a", "b")
    assert "1 cells were in several folders, with the same result" in bench.probcal("merge", "out", "a", "b").said
    assert "2 cells: 1 done, 1 to run" in bench.run("-o", "out").said
    assert "2 cells: 2 done" in bench.probcal("status", "out").said


def test_merge_prefers_finished_results_to_failed_ones(parts):
    shutil.copytree("a", "c")
    edit(unpack(parts.folder / "c"), ('"status": "done"', '"status": "failed"'))
    parts.probcal("merge", "out", "c", "a", "b")
    assert all(one.status == "done" for one in Store(parts.folder / "out").results().values())


def test_results_without_predictions_are_merged_and_counted(parts):
    shutil.copytree("a", "c")
    (parts.folder / "a" / "predictions.bin").unlink()
    assert "2 cells have no stored predictions" in parts.probcal("merge", "out", "a", "b").said
    results = Store(parts.folder / "out").results()
    assert results["wine-first/0/dummy/direct"].predictions == Store("a").results()[
        "wine-first/0/dummy/direct"
    ].predictions  # fmt: skip
    parts.probcal("merge", "found", "a", "b", "c")
    assert parts.probcal("verify", "found").code == 0, "one folder has them"


def test_different_results_of_one_identity_are_rejected(parts):
    shutil.copytree("a", "c")
    first, second = stored_rows(parts.folder / "c")
    second["metrics"]["rms"] += 1e-9
    write_rows(parts.folder / "c", [first, second])
    said = refusal(parts, "a", "b", "c")
    assert said.startswith("error: c: wine-first/1/dummy/direct has another result than in a for the same identity")
    assert "for the same identity: metrics" in said


def test_field_missing_in_an_older_version_is_no_conflict(parts):
    shutil.copytree("a", "c")
    rows = stored_rows(parts.folder / "c")
    write_rows(parts.folder / "c", [{name: value for name, value in row.items() if name != "n_test"} for row in rows])
    parts.probcal("merge", "out", "a", "b", "c")
    assert parts.probcal("verify", "out").code == 0


def test_different_identities_of_one_cell_are_rejected(parts):
    shutil.copytree("a", "c")
    row = stored_rows(parts.folder / "c")[0]
    edit(unpack(parts.folder / "c"), (row["key"]["data"], "0" * 12))
    assert "with another identity (data)" in refusal(parts, "a", "c")


def test_merge_prefers_current_results_to_stale_ones(parts):
    shutil.copytree("a", "c")
    rows = stored_rows(parts.folder / "c")
    edit(unpack(parts.folder / "c"), (rows[0]["key"]["data"], "0" * 12), ('"rms": 0.', '"rms": 0.9'))
    mark_stale(parts.folder / "c")
    parts.probcal("merge", "out", "a", "c")
    assert parts.numbers(parts.folder / "out") == parts.numbers(parts.folder / "a")
    assert Store(parts.folder / "out").experiment()["stale"] == {}


def test_merge_keeps_the_marks_of_stale_results(parts):
    mark_stale(parts.folder / "b")
    parts.probcal("merge", "out", "a", "b")
    stored = StoredExperiment.of(out := Store(parts.folder / "out"))
    assert {result.learner for result in out.results().values() if stored.is_stale(result)} == {"tree"}
    assert "stale: 2 of 4 cells" in parts.probcal("table", "out").said


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seed": 2}, "b/experiment.json:12: the seed is 2, and in a/experiment.json:12 it is 1"),
        ({"name": "other"}, 'b/experiment.json:2: the experiment is "other"'),
        ({"repeats": 3}, 'line 3 is "repeats: 3", and line 3 there is "repeats: 2"'),
    ],
)  # fmt: skip
def test_other_experiment_or_seed_is_rejected(bench, changed, said):
    bench.config(methods={"direct": {}})
    bench.run("-l", "dummy", "-o", "a")
    bench.config(**{"methods": {"direct": {}}, **changed})
    bench.run("-l", "tree", "-o", "b")
    assert said in refusal(bench, "a", "b")


def test_differences_that_change_no_number_of_both_are_merged(parts):
    experiment = json.loads((parts.folder / "b" / "experiment.json").read_text())
    experiment["config"] += "# a comment\n"
    (parts.folder / "b" / "experiment.json").write_text(json.dumps(experiment, indent=1))
    edit_run(parts.folder / "b", "versions", "numpy", "1.0")
    edit_run(parts.folder / "b", "numerics", "cell", 99)
    assert parts.probcal("merge", "out", "a", "b").code == 0
    assert "done: 2 cells: made with numpy 1.0, here is" in parts.probcal("status", "out").said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("data", "wine-first", {"fingerprint": "0" * 64}), "other data or another card of wine-first"),
        (("numerics", "cell", 99), "numerics version cell 99, not "),
    ],
)
def test_other_data_or_numerics_of_a_shared_learner_are_rejected(parts, change, said):
    shutil.copytree("a", "c")
    edit_run(parts.folder / "c", *change)
    assert f"c: its cells have another identity than in a: {said}" in refusal(parts, "a", "c")


def test_other_code_of_a_shared_learner_is_rejected(bench):
    bench.module("own", "from sklearn.tree import DecisionTreeClassifier\nclass Tree(DecisionTreeClassifier): pass\n")
    bench.config(methods={"direct": {}}, learners={"own": {"type": "own.Tree"}}, repeats=1)
    bench.run("--trust", "own", "-o", "a")
    shutil.copytree("a", "c")
    bench.module("own", "from sklearn.tree import DecisionTreeClassifier\nclass Tree(DecisionTreeClassifier): n = 1\n")
    bench.run("--trust", "own", "-o", "c")
    said = refusal(bench, "a", "c")
    assert said.startswith("error: c: its cells have another identity than in a: other code in own; run the parts")


def test_full_disk_leaves_no_half_merged_folder(parts, monkeypatch):
    def fails(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("probcal.store.folder.open_log", fails)
    said = refusal(parts, "a", "b")
    assert "No space left on device; nothing was joined, and the given folders are unchanged" in said
    assert "is kept" not in said
