"""Losses: pure functions of network outputs (members, rows, k) and what is known of each row.

Nothing is imported here: slopes in closed form are of use without torch, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aldsurv.losses.cox_loss import cox_losses, cox_objective
    from aldsurv.losses.likelihood.family_likelihood import likelihood_objective
    from aldsurv.losses.objective import Objective

__all__ = ["Objective", "cox_losses", "cox_objective", "likelihood_objective"]

_HOMES = {
    "Objective": "aldsurv.losses.objective",
    "cox_losses": "aldsurv.losses.cox_loss",
    "cox_objective": "aldsurv.losses.cox_loss",
    "likelihood_objective": "aldsurv.losses.likelihood.family_likelihood",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'aldsurv.losses' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
