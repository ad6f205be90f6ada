"""Provide functions that call the command line as a user does, and that check its exit."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from probcal.cli.main import main


def probcal(*words: object) -> Result:
    """Run ``probcal`` with these words, in this process. An exception that a user would see fails the test."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"a traceback for: probcal {' '.join(map(str, words))}") from result.exception
    return result


def refused(*words: object) -> str:
    """Return what ``probcal`` prints on stderr when it rejects these words: exit code 2, nothing on stdout."""
    result = probcal(*words)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("error: ").rstrip("\n")


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return each file below a folder with its bytes, and each folder with None. Equality means no change."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
