"""Proofs: which numeric code computed all witnesses as stored, in a file of one line for each proof.

The line names the code by a digest over the syntax trees of its modules, without docstrings and comments. Only this
repository asks for it, about its own results. No experiment of a user computes it. A digest of the bytes of the files
stands beside it, because it is known at once: syntax trees are only needed where comments changed since the proof.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import probcal
from probcal._io import csv_text, write_atomic
from probcal.runner.instruction_set import LEVEL, processor_name
from probcal.runner.user_code import Source

if TYPE_CHECKING:
    from probcal.runner.witness.record import State

PACKAGE = Path(probcal.__file__).parent
PROOFS = PACKAGE.parent / "tests" / "witnesses" / "proofs.csv"
_NUMERIC = (
    *("_classes.py", "_learner_output.py", "_validation.py"),
    *("data", "fast_paths", "learners", "methods", "metrics", "protection"),
    *("runner/cell_rows.py", "runner/execute.py", "runner/fit_predict.py"),
)
"""Folders and files of the package whose code can change a stored number, besides the code of single papers."""


@dataclass(frozen=True)
class Proof:
    """Hold one line of the file."""

    code: str
    date: str
    equal: int
    rounding: int
    processor: str
    level: str
    versions: str
    files: str
    """Digest of the bytes of the files. Empty in old lines."""


def numeric_files() -> list[Path]:
    """Return the files of the package whose code can change a stored number."""
    papers = [path for path in (PACKAGE / "papers").iterdir() if path.is_dir() and path.name != "check"]
    roots = [*(PACKAGE / name for name in _NUMERIC), *papers]
    return sorted(path for root in roots for path in ([root] if root.suffix else root.rglob("*.py")))


@cache
def code_digest() -> str:
    """Return a digest of the numeric code of this package."""
    files = numeric_files()
    lines = [f"{path.relative_to(PACKAGE).as_posix()} {Source(path, '').digest}" for path in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def _files_digest() -> str:
    contents = (path.read_bytes() for path in numeric_files())
    return hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents)).hexdigest()[:16]


def add_proof(counts: Mapping[State, int], path: Path = PROOFS) -> bool:
    """Add a line for the present code. Return False where the code has one already."""
    from probcal.runner.witness.record import package_versions  # imports pandas, which most commands do not need

    if is_proven(path):
        return False
    versions = " ".join(f"{name} {text}" for name, text in package_versions().items())
    date = datetime.now(UTC).date().isoformat()
    counted = Counter(counts)
    proof = Proof(
        code_digest(), date, counted["equal"], counted["rounding"], processor_name(), LEVEL, versions, _files_digest()
    )
    old = path.read_text(encoding="utf-8") if path.exists() else csv_text([[field.name for field in fields(Proof)]])
    write_atomic(path, old + csv_text([asdict(proof).values()]))
    return True


def is_proven(path: Path = PROOFS) -> bool:
    """Return whether the present numeric code has a proof."""
    if not path.exists():
        return False
    rows = [*csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))]
    return _files_digest() in {row.get("files") for row in rows} or code_digest() in {row.get("code") for row in rows}


def doubt_about(folder: Path, proofs: Path = PROOFS) -> str | None:
    """Return that the results in ``folder`` are unproven, if they are this repository's own. Otherwise return None."""
    is_own = proofs.exists() and folder.resolve().is_relative_to(PACKAGE.parent / "results")
    if not is_own or is_proven(proofs):
        return None
    return "unproven: no witnesses were computed with this numeric code (make witnesses computes them)"
