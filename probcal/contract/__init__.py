"""What every learner and method promises, as checks that a user's own can be run through too."""

from __future__ import annotations

from probcal.contract.subject import DoesNotApply, Failed
from probcal.contract.suite import Check, contract_checks

__all__ = ["Check", "DoesNotApply", "Failed", "contract_checks"]
