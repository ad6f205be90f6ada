"""Test that a result that would be different today is stale, and that the plan states why."""

import pytest

from tests.stored_rows import write_rows

LEARNERS = {"dummy": {"type": "sklearn.dummy.DummyClassifier"}, "tree": {"params": {"max_depth": 2}}}
METHODS = {"direct": {}, "probing": {"params": {"n_probes": 3}}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "stale", "why"),
    [
        ({"learners": LEARNERS | {"tree": {"params": {"max_depth": 3}}}}, "tree", "the settings of tree changed"),
        ({"methods": METHODS | {"probing": {"params": {"n_probes": 4}}}}, "probing", "the settings of probing changed"),
        ({"learners": LEARNERS | {"tree": {"params": {"max_depth": 2}, "encoding": "native"}}}, "tree", "settings"),
        ({"seed": 2}, "", "the split or the seed changed"),
    ],
)
def test_changed_settings_are_named_and_only_their_cells_run(bench, change, stale, why):
    bench.run()
    before = len(bench.rows())
    bench.config(**change)
    plan = bench.run("--dry-run").said.splitlines()
    for line in plan[:8]:
        assert line.startswith("stale" if stale in line else "done"), line
    assert all(why in line for line in plan if line.startswith("stale"))
    said = bench.run().said
    expected = 4 if stale else 8
    assert f"  stale: {expected} cells: " in said and why in said
    assert bench.ran() == [8, expected] and len(bench.rows()) == before
    assert "8 cells: 8 done" in bench.run("--dry-run").said


@pytest.mark.slow
def test_changes_without_effect_make_nothing_stale(bench):
    bench.run()
    tree = {"params": {"max_depth": 2}, "label": "My tree"}
    bench.config(
        title="Another title",
        metrics=["rms"],
        learners={"tree": tree, "dummy": LEARNERS["dummy"]},
        methods=dict(reversed(METHODS.items())),
    )
    config = bench.folder / "small.yaml"
    config.write_text("# A remark.\n" + config.read_text().replace("\n", "  # another\n", 1))
    assert "8 cells: 8 done" in bench.run().said


@pytest.mark.slow
def test_seed_option_makes_results_stale(bench):
    bench.run()
    assert "8 stale" in bench.run("--seed", "7", "--dry-run").said
    bench.run("--seed", "7")
    assert bench.runs()[-1]["seed"] == 7
    assert "8 cells: 8 done" in bench.probcal("status", "results/small").said


@pytest.mark.slow
def test_changed_card_is_stale_unless_only_its_title_changed(bench):
    bench.config(datasets=[bench.coins(), "wine-first"])
    first = bench.run("--data-dir", ".")
    assert first.code == 0, first.said
    card = bench.folder / "coins.yaml"
    card.write_text(card.read_text().replace("title: Coins", "title: All my coins"))
    assert "16 cells: 16 done" in bench.run("--data-dir", ".").said
    card.write_text(card.read_text().replace('positive: "yes"', 'positive: "no"'))
    said = bench.run("--data-dir", ".").said
    assert "8 done, 8 stale" in said and "stale: 8 cells: the data or the card changed" in said


BUNDLED = """
name: wine
title: Wine
columns: {{"*": numeric, class: target}}
positive: "{}"
split: {{kind: holdout, train_fraction: {}}}
expect: {{rows: 178, columns: 13}}
bundled: {{loader: load_wine}}
"""


@pytest.mark.slow
def test_bundled_data_become_stale_by_values_or_split(bench):
    card = bench.folder / "wine.yaml"
    card.write_text(BUNDLED.format("class_0", 0.66))
    bench.config(datasets=["./wine.yaml"], methods=["direct"])
    assert bench.run().code == 0
    card.write_text(BUNDLED.format("class_1", 0.66))
    assert "stale: 4 cells: the data or the card changed" in bench.run().said
    card.write_text(BUNDLED.format("class_1", 0.5))
    assert bench.run("--dry-run").said.count("(the split or the seed changed)") == 4


@pytest.mark.slow
def test_status_uses_the_last_run_and_notes_config_changes(bench):
    bench.run()
    assert "has changed" not in bench.probcal("status", "results/small").said
    bench.config(seed=7)
    said = bench.probcal("status", "results/small").said
    assert "8 cells: 8 done" in said
    assert "small.yaml has changed since it was run: probcal run small.yaml --dry-run shows what" in said


@pytest.mark.slow
def test_changed_code_is_named_by_its_module(bench):
    bench.module("steps", "DEPTH = 2\n")
    bench.module(
        "own",
        """
        from steps import DEPTH
        from sklearn.tree import DecisionTreeClassifier

        class Own(DecisionTreeClassifier):
            def fit(self, X, y, sample_weight=None):
                self.max_depth = DEPTH
                return super().fit(X, y, sample_weight)
        """,
    )
    bench.config(learners={"own": {"type": "own.Own"}, "tree": {}}, methods=["direct"])
    bench.run()
    shallow = bench.numbers()
    bench.module("steps", "DEPTH = 2  # levels\n")
    assert "4 cells: 4 done" in bench.run().said
    bench.module("steps", "DEPTH = 2 - 1\n")
    assert "  stale: 2 cells: your code changed: steps" in bench.run().said
    own = [cell for cell, metrics in bench.numbers().items() if metrics != shallow[cell]]
    assert own and all("/own/" in cell for cell in own)


@pytest.mark.slow
def test_other_package_version_is_told_and_makes_results_stale_if_strict(bench, monkeypatch):
    installed = bench.folder / "site-packages"
    installed.mkdir()
    (installed / "toolbox.py").write_text("def nothing(): pass\n")
    monkeypatch.syspath_prepend(str(installed))
    version_of_toolbox(installed, "1.0")
    bench.module("own", "import toolbox\nfrom sklearn.dummy import DummyClassifier as Base\nclass Own(Base): pass\n")
    bench.config(learners={"own": {"type": "own.Own"}, "tree": {}}, methods=["direct"])
    bench.run()
    assert bench.runs()[0]["versions"]["toolbox"] == "1.0"
    version_of_toolbox(installed, "1.1")
    assert "done: 2 cells: made with toolbox 1.0, here is 1.1" in bench.run().said
    assert "4 cells: 2 done, 2 stale" in bench.run("--strict").said


def version_of_toolbox(folder, version):
    for old in folder.glob("*.dist-info/*"):
        old.unlink()
        old.parent.rmdir() if not any(old.parent.iterdir()) else None
    info = folder / f"toolbox-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toolbox\nVersion: {version}\n")
    (info / "RECORD").write_text("toolbox.py,,\n")


@pytest.mark.slow
def test_tables_count_stale_results(bench):
    bench.run("-m", "direct")
    assert "stale" not in bench.probcal("table", "results/small").said
    bench.config(learners={"tree": {"params": {"max_depth": 3}}}, methods={"direct": {}, "isotonic": {}})
    bench.run("-m", "isotonic")
    assert "stale: 2 of 4 cells have other settings" in bench.probcal("table", "results/small").said
    lines = bench.probcal("table", "results/small", "-f", "csv").said.splitlines()
    assert {line.split(",")[3]: line.split(",")[10] for line in lines[1:]} == {"direct": "2", "isotonic": "0"}
    bench.run()
    assert "stale" not in bench.probcal("table", "results/small").said


class TestMetricsThatChanged:
    """Check that stored predictions allow new or changed metrics without a fit."""

    @pytest.fixture
    def measured(self, bench):
        """Return done cells as an earlier version measured them. Their learner cannot fit any more."""
        once = """
            import pathlib
            from sklearn.tree import DecisionTreeClassifier

            class Once(DecisionTreeClassifier):
                def fit(self, X, y, sample_weight=None):
                    if pathlib.Path("no more").exists():
                        raise RuntimeError("fitted again")
                    return super().fit(X, y, sample_weight)
        """
        bench.module("once", once)
        bench.config(learners={"once": {"type": "once.Once"}}, methods=["direct"])
        bench.run()
        self.now = bench.numbers()
        rows = bench.rows()
        for row in rows:
            row["key"]["metrics"], row["metrics"] = "0", {"rms": 0.5}
        write_rows(bench.results, rows)
        (bench.folder / "no more").touch()
        return bench

    @pytest.mark.slow
    def test_cells_are_measured_again_without_a_fit(self, measured):
        assert "2 cells need no fit: the stored predictions are measured again" in measured.run("--dry-run").said
        done = measured.run()
        assert done.code == 0
        assert "stale: 2 cells: metrics changed or were added; no fit is needed" in done.said
        assert measured.numbers() == self.now
        assert "2 cells: 2 done" in measured.run().said

    @pytest.mark.slow
    def test_cells_without_stored_predictions_stay_unchanged(self, measured):
        (measured.results / "predictions.bin").unlink()
        before = measured.numbers()
        done = measured.run()
        assert done.code == 0
        assert (
            "done: 2 cells: measured by an earlier version of the metrics; its predictions are not stored" in done.said
        )
        assert measured.numbers() == before
        assert "stale" not in measured.probcal("table", str(measured.results)).said

    @pytest.mark.slow
    def test_new_metric_without_stored_predictions_needs_a_fit(self, measured):
        (measured.results / "predictions.bin").unlink()
        measured.config(learners={"once": {"type": "once.Once"}}, methods=["direct"], metrics=["rms", "errors"])
        said = measured.run().said
        assert "lacks errors, and its predictions are not stored" in said
        assert "fitted again" in said

    def test_cells_with_wrong_predictions_are_fitted_again(self, measured):
        path = measured.results / "predictions.bin"
        path.write_bytes(bytes(reversed(path.read_bytes())))
        assert "fitted again" in measured.run().said
