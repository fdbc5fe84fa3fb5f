"""Estimators: covariates in, a `SurvivalDistribution` out."""

from aldsurv.models.ald import ALDSurvival
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.saving import load
from aldsurv.models.together import fit_together

__all__ = ["ALDSurvival", "SurvivalEstimator", "fit_together", "load"]
