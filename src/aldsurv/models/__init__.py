"""Estimators: covariates in, a `SurvivalDistribution` out."""

from aldsurv.models.aft import LogNormalAFT, WeibullAFT
from aldsurv.models.ald import ALDSurvival
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.boosted import BoostedALD
from aldsurv.models.conformal import ConformalLowerBound
from aldsurv.models.cox import CoxRegression
from aldsurv.models.cqrnn import CQRNN
from aldsurv.models.deephit import DeepHit
from aldsurv.models.deepsurv import DeepSurv
from aldsurv.models.icald import ICALDSurvival
from aldsurv.models.icald_calibrated import ICALDCalibrated
from aldsurv.models.log_normal import LogNormalSurvival
from aldsurv.models.paper_settings import paper_settings
from aldsurv.models.recalibrated import RecalibratedSurvival
from aldsurv.models.saving import load
from aldsurv.models.together import fit_together

__all__ = [
    "CQRNN",
    "ALDSurvival",
    "BoostedALD",
    "ConformalLowerBound",
    "CoxRegression",
    "DeepHit",
    "DeepSurv",
    "ICALDCalibrated",
    "ICALDSurvival",
    "LogNormalAFT",
    "LogNormalSurvival",
    "RecalibratedSurvival",
    "SurvivalEstimator",
    "WeibullAFT",
    "fit_together",
    "load",
    "paper_settings",
]
