"""What ``probcal check`` does not see in stored results: other versions of packages, and the user's own code.

Only names and versions of the folder are read. No file of the user is imported.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from probcal.runner.failure_advice import run_command
from probcal.runner.package_versions import other_installed_versions
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment

_MOST_NAMES = 5


def unchecked_notes(store: Store) -> Iterator[str]:
    """Yield what the check of ``store`` left out, each with the command that makes up for it."""
    stored, runs = StoredExperiment.of(store), store.runs()
    results = [result for result in store.results().values() if result.status == "done" and stored.plans(result)]

    @cache
    def changes(run: str) -> str:
        versions = runs.get(run, {}).get("versions", {})
        return other_installed_versions({name: text for name, text in versions.items() if isinstance(text, str)})

    for text, count in Counter(changes(result.run) for result in results).items():
        if text:
            command = shlex.join([*run_command(store, stored), "--strict"])
            yield f"{count} of {len(results)} results are of runs {text}; {command} runs again what uses these packages"
    own_code = (
        _mapping(runs.get(run, {}).get("user_code")) for run in {r.run for r in results if "user_code" in r.key}
    )
    if modules := sorted({name for code in own_code for name in code}):
        yield _code_note(store, stored, modules)


def _code_note(store: Store, stored: StoredExperiment, modules: list[str]) -> str:
    packages = dict.fromkeys(name.partition(".")[0] for name in modules)
    # A module that only another one imports needs no trust.
    trusted = [name for name in packages if f"{name}." in stored.config] or [*packages]
    words = ["probcal", "status", str(store.folder), *(word for name in trusted for word in ("--trust", name))]
    n_more = len(modules) - _MOST_NAMES
    names = ", ".join(modules[:_MOST_NAMES]) + (f" and {n_more} more" if n_more > 0 else "")
    return f"whether the code of {names} changed was not checked; {shlex.join(words)} says it"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
