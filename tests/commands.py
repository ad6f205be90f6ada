"""The command line, called as a user calls it, and what it must never do."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from probcal.cli.main import main


def probcal(*words: object) -> Result:
    """``probcal`` with these words, in this process. An exception that a user would see fails the test."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"a traceback for: probcal {' '.join(map(str, words))}") from result.exception
    return result


def refused(*words: object) -> str:
    """What ``probcal`` says on stderr when it refuses these words: exit code 2, nothing on stdout."""
    result = probcal(*words)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("error: ").rstrip("\n")


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, every folder with None: equal only when nothing has changed."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
