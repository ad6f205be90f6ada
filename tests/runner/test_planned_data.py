"""Test that each result belongs to the data set of its plan, even if files or the cache change."""

import gzip
import json
import os
import shutil

import pandas as pd
import pytest

from probcal._io import shipped
from probcal.config.experiment import read_experiment
from probcal.data.card import find_card, read_card
from probcal.data.load import find, load, obtain, obtain_once
from probcal.errors import DataError
from probcal.runner.data_step import current_data
from probcal.runner.execute import execute
from probcal.runner.plan import make_plan
from probcal.store.folder import Store, find_stores
from tests.data.weather import CARD as WEATHER


@pytest.fixture
def coins(bench):
    """Plan two cells of a tree on a table of the user, which lies beside its card."""
    bench.config(datasets=[bench.coins()], learners={"tree": {"params": {"max_depth": 2}}}, methods=["direct"])
    return bench


def rows(step=1):
    """Return the lines of a table. Another ``step`` gives other lines with the same number of bytes."""
    return "".join(f"{i},{'abc'[i % 3]},{'yes' if i * i % 7 > 2 else 'no '}\n" for i in range(0, 60 * step, step))


def table(bench):
    return bench.folder / "coins" / "coins.csv"


def flip(path):
    """Swap all labels and keep the number of bytes and the time of change."""
    before, text = path.stat(), path.read_text()
    path.write_text(text.replace(",yes\n", ",~\n").replace(",no\n", ",yes\n").replace(",~\n", ",no\n"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def planned(folder):
    experiment = read_experiment(folder / "small.yaml")
    cards = experiment.used_cards()
    data = current_data(cards, None)
    data.obtain(data.unfetched_cards(cards), None, lambda line: None)
    return make_plan(experiment, Store(folder / "none"), data)


def numbers(plan):
    outcomes = [execute(one.cell, one.key, "run").result for one in plan]
    return [one.metrics or one.message for one in outcomes]


def labels(card):
    return load(card).y.sum()


def answers(bench, *words):
    """Return the counts (done, stale) of ``status``, ``run --dry-run``, ``table`` and then ``run``."""
    status, dry = bench.probcal("status", "results/small", *words).said, bench.run("--dry-run", *words).said
    csv = bench.probcal("table", "results/small", "-f", "csv", *words).said.splitlines()
    [stale] = {int(line.split(",")[10]) for line in csv if line.startswith("small,")}
    before = len(bench.ran())
    assert bench.run(*words).code == 0
    ran = sum(bench.ran()[before:])
    return [counts(status), counts(dry), (2 - stale, stale), (2 - ran, ran)]


def counts(said):
    """Return (done, stale) of the line that counts two cells."""
    [line] = [line for line in said.splitlines() if line.startswith("2 cells: ")]
    told = {word: int(n) for n, word in (part.split(" ", 1) for part in line.removeprefix("2 cells: ").split(", "))}
    return told.get("done", 0), told.get("stale", 0)


class TestWhatAWorkerReads:
    def test_run_ignores_other_data_with_the_same_card(self, coins, tmp_path):
        plan, expected = planned(coins.folder), numbers(planned(coins.folder))
        other = tmp_path / "B"
        shutil.copytree(coins.folder / "coins", other / "coins")
        shutil.copy(coins.folder / "coins.yaml", other)
        flip(other / "coins" / "coins.csv")
        obtain(read_card(other / "coins.yaml"))  # as "probcal fetch" does in that folder
        load_anew()
        assert numbers(plan) == expected

    def test_file_edited_and_restored_during_a_run_changes_nothing(self, coins):
        plan, expected = planned(coins.folder), numbers(planned(coins.folder))
        flip(table(coins))
        obtain(read_card(coins.folder / "coins.yaml"))
        flip(table(coins))
        load_anew()
        assert numbers(plan) == expected

    @pytest.mark.parametrize("change", ["removed", "replaced", "broken"])
    def test_cell_fails_if_its_cached_data_change(self, coins, change):
        plan = planned(coins.folder)
        [kept] = (coins.folder / "cache" / "data").iterdir()
        if change == "replaced":
            flip(table(coins))
            other = find(read_card(coins.folder / "coins.yaml")).fingerprint
            shutil.rmtree(kept)
            shutil.copytree(kept.with_name(other), kept)
        elif change == "removed":
            shutil.rmtree(kept)
        else:
            (kept / "y.npy").write_bytes(b"broken")
        load_anew()
        [message, _] = numbers(plan)
        assert "the data of coins changed while the run was going on" in message
        assert "run again with --retry-failed" in message

    def test_process_does_not_mix_up_two_data_sets(self, coins):
        first = planned(coins.folder)
        numbers(first)
        flip(table(coins))
        second = planned(coins.folder)
        assert first[0].cell.card != second[0].cell.card
        assert labels(first[0].cell.card) == 60 - labels(second[0].cell.card)
        assert numbers(first) != numbers(second)

    def test_pickled_card_holds_the_full_fingerprint(self, coins):
        import pickle

        card = pickle.loads(pickle.dumps(planned(coins.folder)[0])).cell.card
        assert card.values == load(card).fingerprint() and len(card.values) == 64

    def test_bundled_data_with_another_fingerprint_are_rejected(self):
        card = read_card(find_card("wine-first"))
        assert load(card.bind(card.expect.fingerprint)).fingerprint() == card.expect.fingerprint
        with pytest.raises(DataError, match="scikit-learn here does not have the values that it was planned with"):
            load(card.bind("0" * 64))


class TestAWorkerOnAnotherMachine:
    def test_worker_reads_the_planned_data_from_its_own_files(self, coins, monkeypatch, tmp_path):
        card = planned(coins.folder)[0].cell.card
        here = elsewhere(coins, monkeypatch, tmp_path)
        obtain_once(card.bind(card.values))
        assert load(card).fingerprint() == card.values
        assert [one.name for one in (here / "cache" / "data").iterdir()] == [card.values]

    def test_worker_rejects_files_with_other_content(self, coins, monkeypatch, tmp_path):
        card = planned(coins.folder)[0].cell.card
        here = elsewhere(coins, monkeypatch, tmp_path)
        flip(here / "data" / "coins" / "coins.csv")
        with pytest.raises(DataError, match="are not those that the run was planned with"):
            obtain_once(card)

    def test_worker_rejects_a_new_openml_upload(self, monkeypatch, tmp_path):
        card = reuploaded(monkeypatch, tmp_path, first=1.0)
        obtain(card)
        bound = card.bind(load(card).fingerprint())
        reuploaded(monkeypatch, tmp_path / "another machine", first=2.0)
        with pytest.raises(DataError, match="are not those that the run was planned with"):
            obtain_once(bound)


def change_card(old, new):
    def change(bench):
        card = bench.folder / "coins.yaml"
        assert old in card.read_text()
        card.write_text(card.read_text().replace(old, new))

    return change


def change_text(bench):
    table(bench).write_text(table(bench).read_text().replace("\n1,b,", "\n1.0, b,"))


def compress(bench):
    table(bench).with_name("coins.csv.gz").write_bytes(gzip.compress(table(bench).read_bytes()))
    table(bench).unlink()


def ignore_a_column(bench):
    change_card("kind: nominal", "kind: ignore")(bench)
    change_card("columns: 2", "columns: 1")(bench)


def fetch_other_data_and_restore(bench):
    flip(table(bench))
    assert bench.probcal("fetch", "small.yaml").code == 0
    flip(table(bench))


CHANGES = {
    "nothing": (lambda bench: None, False),
    "same values in other text": (change_text, False),
    "the same file, compressed": (compress, False),
    "edited and restored": (fetch_other_data_and_restore, False),
    "other content of same size and time": (lambda bench: flip(table(bench)), True),
    "another positive label": (change_card('positive: "yes"', 'positive: "no"'), True),
    "a newly ignored column": (ignore_a_column, True),
}


class TestWhatRunWouldDo:
    """Check that ``status``, ``run --dry-run`` and ``table`` predict what ``run`` does."""

    @pytest.fixture
    def done(self, coins):
        assert coins.run().code == 0
        return coins

    @pytest.mark.slow
    @pytest.mark.parametrize("what", CHANGES)
    def test_commands_agree_on_what_is_stale(self, done, what):
        change, is_stale = CHANGES[what]
        change(done)
        assert answers(done) == [(0, 2) if is_stale else (2, 0)] * 4

    def test_table_names_changed_data_and_counts_stale_cells(self, done):
        flip(table(done))
        said = done.probcal("table", "results/small").said
        assert "warning: coins: 2 cells were made of other data (the data changed); probcal run runs them again" in said
        assert "stale: 2 of 2 cells have other settings, data or code than the last run, or" in said

    @pytest.mark.slow
    def test_an_edited_card_or_an_unknown_one_is_not_called_changed_data(self, done):
        change_card('positive: "yes"', 'positive: "no"')(done)
        told = done.probcal("table", "results/small").said, done.run("--dry-run").said
        assert all("the data or the card changed" in one for one in told)
        change_card('positive: "no"', 'positive: "yes"')(done)
        assert answers(done) == [(2, 0)] * 4
        runs = [json.loads(line) for line in (done.results / "runs.jsonl").read_text().splitlines()]
        for one in runs:
            one["data"]["coins"].pop("card")
        (done.results / "runs.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in runs))
        flip(table(done))
        told = done.probcal("table", "results/small").said, done.run("--dry-run").said
        assert all("the data or the card changed" in one for one in told)

    @pytest.mark.slow
    def test_reading_commands_warn_about_changed_data_at_their_place(self, done):
        commands = ("table", "check", "compare", "report", "plot")
        warning = "warning: coins: 2 cells were made of other data (the data changed); probcal run runs them again"
        shutil.copytree(done.folder / "coins", done.folder / "other" / "coins")
        for words, folder in (((), "."), (("--data-dir", "other"), "other")):
            if words:
                table(done).unlink()  # the file beside the card comes first
            for command in commands:
                assert "warning" not in done.probcal(command, "results/small", *words).said
            flip(done.folder / folder / "coins" / "coins.csv")
            for command in commands:
                assert done.probcal(command, "results/small", *words).said.splitlines().count(warning) == 1
            flip(done.folder / folder / "coins" / "coins.csv")

    @pytest.mark.slow
    def test_changed_card_without_data_gives_no_data(self, done):
        shutil.rmtree(done.folder / "cache")
        table(done).unlink()
        assert answers(done) == [(2, 0)] * 4
        assert "  done: 2 cells: not checked: the data are not at hand" in done.probcal("status", "results/small").said
        change_card('positive: "yes"', 'positive: "no"')(done)
        for said in (done.run("--dry-run"), done.probcal("status", "results/small"), done.run()):
            assert "2 cells: 2 no data" in said.said
        assert "made of other data (the card changed" in done.probcal("table", "results/small").said

    @pytest.mark.slow
    def test_data_against_the_card_fingerprint_are_rejected(self, done):
        fingerprint = find(read_card(done.folder / "coins.yaml")).fingerprint
        change_card("columns: 2}", f"columns: 2, fingerprint: {fingerprint}}}")(done)
        assert answers(done) == [(2, 0)] * 4
        flip(table(done))
        for told in (done.run("--dry-run"), done.probcal("status", "results/small"), done.run()):
            assert told.code == 2 and "the values are not those the card expects" in told.said
        assert "the values are not those the card expects" in done.probcal("table", "results/small").said

    @pytest.mark.slow
    def test_dry_run_names_missing_files_and_fetch_rebuilds_a_damaged_cache(self, done):
        for file in (done.folder / "cache").rglob("*"):
            if file.name != "written.json" and file.is_file():
                file.write_bytes(b"damaged")
        said = [done.probcal("fetch", "small.yaml").said.splitlines()[0] for _ in range(2)]
        assert said == ["coins: original files", "coins: cache"]
        shutil.rmtree(done.folder / "cache")
        table(done).unlink()
        shown = done.run("--dry-run", "-o", "results/another").said
        assert "no data  coins/0/tree/direct\n" in shown
        assert "coins: has no data files here. Put these files in place:" in shown
        assert not (done.folder / "results" / "another").exists()


MEDDLES = """
    import pathlib

    from sklearn.tree import DecisionTreeClassifier


    class Slow(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            path = pathlib.Path({path!r})
            text = path.read_text()
            path.write_text(text.replace({before!r}, {after!r}))
            return super().fit(X, y, sample_weight)
"""
"""A tree whose fit edits a file, as somebody may do while it goes on."""


class TestAFileThatIsEditedDuringARunAndLeftSo:
    def run_while(self, coins, monkeypatch, before, after, *words):
        coins.module("slow", MEDDLES.format(path=str(table(coins)), before=before, after=after))
        coins.config(datasets=["coins.yaml"], learners={"slow": {"type": "slow.Slow"}}, methods=["direct"])
        monkeypatch.setattr("sys.argv", ["/usr/bin/probcal", "run", "small.yaml", *words])
        return coins.run(*words)

    @pytest.mark.slow
    def test_warning_names_the_edited_file_and_rerun_command(self, coins, monkeypatch):
        done = self.run_while(coins, monkeypatch, "b,yes\n", "b,no\n", "-o", "my results")
        assert done.code == 0
        assert done.said.splitlines()[-1] == (
            "warning: coins: coins/coins.csv changed during the run, so these results are those of the earlier "
            "content; to run the present content, type: probcal run small.yaml -o 'my results'"
        )
        assert "4 stale" not in done.said and "2 cells: 2 stale" in coins.run("--dry-run", "-o", "my results").said

    def test_warning_names_the_fault_of_an_unreadable_file(self, coins, monkeypatch):
        done = self.run_while(coins, monkeypatch, "weight,", "height,")
        assert done.code == 0
        last = done.said.splitlines()[-1]
        assert last.startswith("warning: coins: its files changed during the run, so these results are")
        assert "coins.csv: has no column 'weight'" in last and last.endswith("type: probcal run small.yaml")

    @pytest.mark.parametrize(("before", "after"), [("weight", "weight"), ("\n1,b,", "\n1.0, b,")])
    def test_same_values_give_no_warning(self, coins, monkeypatch, before, after):
        assert "warning" not in self.run_while(coins, monkeypatch, before, after).said


class TestSeveralPlaces:
    @pytest.fixture
    def both(self, coins):
        """Fetch two data directories, A and B, which have different files for one card."""
        shutil.move(coins.folder / "coins", coins.folder / "A" / "coins")
        shutil.copytree(coins.folder / "A", coins.folder / "B")
        flip(coins.folder / "B" / "coins" / "coins.csv")
        for folder in "AB":
            assert coins.probcal("fetch", "small.yaml", "--data-dir", folder).code == 0
        return coins

    @pytest.mark.slow
    def test_each_data_directory_has_its_own_data_set(self, both):
        assert both.run("--data-dir", "A").code == 0
        of_a = both.numbers()
        assert both.run("--data-dir", "B").code == 0
        assert both.numbers() != of_a
        assert both.run("--data-dir", "A").code == 0
        assert both.numbers() == of_a

    def test_ambiguous_data_directory_is_rejected(self, both):
        said = both.run("--dry-run")
        assert said.code == 2
        assert "the cache has several data sets of this card, from " in said.said
        assert "name the right folder with --data-dir" in said.said

    def test_changed_data_is_unknown_without_the_data_directory(self, both):
        assert both.run("--data-dir", "A").code == 0
        for folder in "AB":
            shutil.rmtree(both.folder / folder)
        said = both.probcal("table", "results/small").said
        [warning] = [line for line in said.splitlines() if line.startswith("warning")]
        assert warning.startswith("warning: coins: the cache has several data sets of this card, from ")
        assert warning.endswith(" so whether its data changed is unknown; give --data-dir")
        assert "stale" not in said


@pytest.mark.slow
def test_two_cards_of_one_name_are_two_data_sets(coins):
    shutil.copytree(coins.folder / "coins", coins.folder / "other" / "coins")
    shutil.copy(coins.folder / "coins.yaml", coins.folder / "other")
    flip(coins.folder / "other" / "coins" / "coins.csv")
    exception = {"dataset": "coins", "learner": "dummy", "card": "other/coins.yaml", "why": "to see which is read"}
    coins.config(datasets=["coins.yaml"], methods=["direct"], exceptions=[exception])
    assert coins.run().code == 0
    store = Store(coins.results)
    positive = {one.learner: store.predictions(one)[0].sum() for one in store.results().values()}
    assert positive["tree"] != positive["dummy"]
    keys = {one.learner: one.key["data"] for one in store.results().values()}
    ours, theirs = (find(read_card(coins.folder / f / "coins.yaml")).fingerprint[:12] for f in (".", "other"))
    assert keys == {"tree": ours, "dummy": theirs} and ours != theirs
    assert "4 cells: 4 done" in coins.probcal("status", "results/small").said


@pytest.mark.slow
def test_committed_results_have_the_card_fingerprints():
    stores = [*find_stores(shipped("configs").parent / "results")]
    assert len(stores) > 10
    for store in stores:
        results = {result.dataset: result for result in store.results().values()}
        assert results, store.folder
        for dataset, result in results.items():
            card = read_card(find_card(dataset))
            assert result.key["data"] == (card.digest if card.generator else str(card.expect.fingerprint))[:12]


def test_old_cache_folder_is_neither_read_nor_changed(coins):
    card = read_card(coins.folder / "coins.yaml")
    old = coins.folder / "cache" / f"coins-{card.digest}"
    old.mkdir(parents=True)
    (old / "written.json").write_text('{"fingerprint": "x", "files": []}')
    assert obtain(card) == "original files"
    assert [one.name for one in old.iterdir()] == ["written.json"]


def load_anew():
    """Clear the caches, as if this were another process."""
    from probcal.data import load as loading
    from probcal.runner import cell_rows

    loading._load.cache_clear()
    cell_rows._rows.cache_clear()


def elsewhere(bench, monkeypatch, folder):
    """Return a machine with a cache of its own and with the files in a data directory."""
    here = folder / "elsewhere"
    shutil.move(bench.folder / "coins", here / "data" / "coins")
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(here / "cache"))
    monkeypatch.setenv("PROBCAL_DATA_DIR", str(here / "data"))
    load_anew()
    return here


def reuploaded(monkeypatch, cache, first):
    """Return a card whose OpenML data begin with ``first``, on a machine with an empty cache."""
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(cache))
    columns = {name: "numeric" if kind == "numeric" else kind for name, kind in WEATHER.columns.items()}
    numeric = next(name for name, kind in columns.items() if kind == "numeric")
    frame = pd.DataFrame({name: ["a", "b"] * (WEATHER.expect.rows // 2) for name in columns})
    for name, kind in columns.items():
        if kind == "numeric":
            frame[name] = range(len(frame))
    frame[WEATHER.target] = [WEATHER.positive[0], "another"] * (len(frame) // 2)
    frame.loc[0, numeric] = first
    monkeypatch.setattr("probcal.data.sources.openml.fetch_openml_rows", lambda card: frame)
    expect = WEATHER.expect.model_copy(update={"classes": None, "fingerprint": None})
    return WEATHER.model_copy(update={"expect": expect, "drop_unlabelled": False})
