"""Estimators: covariates in, a `SurvivalDistribution` out."""

from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.linear.aft import LogNormalAFT, WeibullAFT
from aldsurv.models.linear.competing.cause_specific_cox import CauseSpecificCox
from aldsurv.models.linear.competing.fine_gray import FineGray
from aldsurv.models.linear.cox import CoxRegression
from aldsurv.models.linear.elastic_net.elastic_net_aft import ElasticNetAFT
from aldsurv.models.linear.elastic_net.elastic_net_cox import ElasticNetCox
from aldsurv.models.neural.ald import ALDSurvival
from aldsurv.models.neural.cqrnn import CQRNN
from aldsurv.models.neural.deephit import DeepHit
from aldsurv.models.neural.deepsurv import DeepSurv
from aldsurv.models.neural.fitting.joint_fit import fit_together
from aldsurv.models.neural.icald import ICALDSurvival
from aldsurv.models.neural.log_normal_survival import LogNormalSurvival
from aldsurv.models.paper_settings import paper_settings
from aldsurv.models.persistence import load
from aldsurv.models.trees.boosted_ald import BoostedALD
from aldsurv.models.wrappers.conformal import ConformalLowerBound
from aldsurv.models.wrappers.icald_calibrated import ICALDCalibrated
from aldsurv.models.wrappers.recalibrated_survival import RecalibratedSurvival
from aldsurv.models.wrappers.stacked import StackedSurvival

__all__ = [
    "CQRNN",
    "ALDSurvival",
    "BoostedALD",
    "CauseSpecificCox",
    "ConformalLowerBound",
    "CoxRegression",
    "DeepHit",
    "DeepSurv",
    "ElasticNetAFT",
    "ElasticNetCox",
    "FineGray",
    "ICALDCalibrated",
    "ICALDSurvival",
    "LogNormalAFT",
    "LogNormalSurvival",
    "RecalibratedSurvival",
    "StackedSurvival",
    "SurvivalEstimator",
    "WeibullAFT",
    "fit_together",
    "load",
    "paper_settings",
]
