"""Losses: pure functions of network outputs (members, rows, k) and what is known of each row."""

from aldsurv.losses.cox import cox_losses, cox_objective
from aldsurv.losses.likelihood import likelihood_objective
from aldsurv.losses.objective import Objective

__all__ = ["Objective", "cox_losses", "cox_objective", "likelihood_objective"]
