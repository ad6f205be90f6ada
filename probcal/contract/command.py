"""``probcal test``: every check of every component named, a line each."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Sequence

from probcal.contract.named import component, parameter
from probcal.contract.suite import Outcome, contract_checks


def test_components(
    names: Sequence[str],
    learner: str | None,
    params: Sequence[str],
    print_line: Callable[[str], object],
    tracebacks: bool = False,
) -> bool:
    """Whether all checks passed or do not apply. Raises ProbcalError, before any check, for a name at fault."""
    settings = dict(map(parameter, params))
    passed = True
    for one in [component(name, learner, settings) for name in names]:
        print_line(str(one))
        counts: Counter[str] = Counter()
        for check in contract_checks(one.estimator):
            outcome = check.outcome()
            counts[outcome.status] += 1
            print_line(_line(str(check), outcome))
            if tracebacks and outcome.traceback:
                print_line(textwrap.indent(outcome.traceback.rstrip(), "    "))
        print_line(f"{counts['passed']} passed, {counts['failed']} failed, {counts['does not apply']} do not apply")
        passed = passed and not counts["failed"]
    return passed


def _line(claim: str, outcome: Outcome) -> str:
    reason = f": {' '.join(outcome.reason.split())}" if outcome.reason else ""
    return f"{outcome.status:<14}  {claim}{reason}"
