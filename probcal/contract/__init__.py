"""What every learner and method promises, as checks that a user's own can be run through too."""

from __future__ import annotations

from probcal.contract.suite import Check, contract_checks
from probcal.contract.verdict import DoesNotApply, Failed

__all__ = ["Check", "DoesNotApply", "Failed", "contract_checks"]
