"""The models, and other libraries' models behind the same interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aldsurv.registry.records import Record, Registry

__all__ = ["MODELS", "PEERS", "ModelRecord", "saved_model_class", "saved_model_name"]


@dataclass(frozen=True)
class ModelRecord(Record):
    """A model.

    Parameters
    ----------
    paper
        Whether the paper compares it.
    """

    paper: bool = False


MODELS = Registry(
    "model",
    ModelRecord(
        "ald",
        "aldsurv.models.neural.ald:ALDSurvival",
        "ALD",
        "a network gives each individual a mixture of asymmetric Laplace distributions; the default",
        paper=True,
    ),
    ModelRecord(
        "boosted_ald",
        "aldsurv.models.trees.boosted_ald:BoostedALD",
        "Boosted ALD",
        "the same distributions from boosted trees (needs xgboost to fit)",
    ),
    ModelRecord(
        "cqrnn",
        "aldsurv.models.neural.cqrnn:CQRNN",
        "CQRNN",
        "a network gives quantiles, by censored quantile regression",
        paper=True,
    ),
    ModelRecord(
        "lognormal",
        "aldsurv.models.neural.log_normal_survival:LogNormalSurvival",
        "LogNorm",
        "a network gives each individual a log-normal distribution",
        paper=True,
    ),
    ModelRecord(
        "deepsurv",
        "aldsurv.models.neural.deepsurv:DeepSurv",
        "DeepSurv",
        "proportional hazards with a network for the log risk",
        paper=True,
    ),
    ModelRecord(
        "deephit",
        "aldsurv.models.neural.deephit:DeepHit",
        "DeepHit",
        "a network gives a probability for each bin of time and each competing cause",
        paper=True,
    ),
    ModelRecord(
        "cox", "aldsurv.models.linear.cox:CoxRegression", "Cox", "proportional hazards regression with hazard ratios"
    ),
    ModelRecord(
        "cause_specific_cox",
        "aldsurv.models.linear.competing.cause_specific_cox:CauseSpecificCox",
        "Cause-specific Cox",
        "proportional hazards of each of several competing causes",
    ),
    ModelRecord(
        "fine_gray",
        "aldsurv.models.linear.competing.fine_gray:FineGray",
        "Fine-Gray",
        "regression of the incidence of each of several competing causes",
    ),
    ModelRecord(
        "weibull_aft",
        "aldsurv.models.linear.aft:WeibullAFT",
        "Weibull AFT",
        "accelerated failure times with Weibull errors",
    ),
    ModelRecord(
        "lognormal_aft",
        "aldsurv.models.linear.aft:LogNormalAFT",
        "Log-normal AFT",
        "accelerated failure times with normal errors of log time",
    ),
    ModelRecord(
        "coxnet",
        "aldsurv.models.linear.elastic_net.elastic_net_cox:ElasticNetCox",
        "Elastic-net Cox",
        "proportional hazards for many columns: an elastic net leaves few of them",
    ),
    ModelRecord(
        "aftnet",
        "aldsurv.models.linear.elastic_net.elastic_net_aft:ElasticNetAFT",
        "Elastic-net AFT",
        "accelerated failure times for many columns: an elastic net leaves few of them",
    ),
    ModelRecord(
        "stack",
        "aldsurv.models.wrappers.stacked:StackedSurvival",
        "Stack",
        "several models at once, each weighted by how well it predicts new rows",
    ),
    ModelRecord(
        "recalibrated",
        "aldsurv.models.wrappers.recalibrated_survival:RecalibratedSurvival",
        "ALD recalibrated",
        "a model whose levels are corrected on rows it was not trained on",
    ),
    ModelRecord(
        "icald",
        "aldsurv.models.neural.icald:ICALDSurvival",
        "ICALD",
        "asymmetric Laplace distributions calibrated for each individual while training",
    ),
    ModelRecord(
        "icald_calibrated",
        "aldsurv.models.wrappers.icald_calibrated:ICALDCalibrated",
        "ICALD calibrated",
        "a model made individually calibrated after its training",
    ),
)

PEERS = Registry(
    "peer",
    ModelRecord(
        "rsf",
        "aldsurv.models.adapters.scikit_survival:ForestPeer",
        "Random forest",
        "scikit-survival's random survival forest",
    ),
    ModelRecord(
        "gbsa",
        "aldsurv.models.adapters.scikit_survival:GradientBoostingPeer",
        "Gradient boosting",
        "scikit-survival's gradient boosting",
    ),
    ModelRecord(
        "xgb_cox", "aldsurv.models.adapters.xgboost_trees:XGBoostCox", "XGBoost Cox", "XGBoost with the loss of Cox"
    ),
    ModelRecord(
        "xgb_aft", "aldsurv.models.adapters.xgboost_trees:XGBoostAFT", "XGBoost AFT", "XGBoost with failure times"
    ),
)

# Models that are made of a fitted one: files hold them, but there is nothing to fit to a table alone.
_MADE_OF_MODELS = Registry(
    "model",
    ModelRecord(
        "updated",
        "aldsurv.models.updating.updated_survival:UpdatedSurvival",
        "Updated",
        "a fitted model updated on the rows of another place",
    ),
)


def saved_model_name(kind: type) -> str:
    """The name of a class of models in files."""
    names = {record.location: record.name for record in _MADE_OF_MODELS.records()}
    return names.get(f"{kind.__module__}:{kind.__qualname__}") or MODELS.name_of(kind)


def saved_model_class(name: str) -> Any:
    """The class of models that a name in a file stands for."""
    return (_MADE_OF_MODELS if name in _MADE_OF_MODELS else MODELS).load(name)
