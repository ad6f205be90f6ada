"""Check that docs/watch.md prints what its log and its command give."""

import re
from pathlib import Path

from tests.commands import probcal

PAGE = (Path(__file__).parents[2] / "docs" / "watch.md").read_text(encoding="utf-8")


def test_the_log_of_the_page_gives_the_printed_tables_and_alarm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(# make_log.*?)```", PAGE, re.DOTALL)[1], {})
    words = re.search(r"\$ probcal (watch .*)", PAGE)[1].split()
    done = probcal(*words)
    assert done.exit_code == 3
    printed = [re.sub(" +", " ", line) for line in done.stdout.splitlines()]
    blocks = re.findall(r"```text\n((?:period|ALARM).*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    for line in "".join(blocks).splitlines():
        assert re.sub(" +", " ", line) in printed
