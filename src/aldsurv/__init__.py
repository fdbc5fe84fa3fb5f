"""aldsurv: the whole distribution of the time to an event, for every individual.

Nothing heavy is imported here: each public name is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aldsurv import (
        benchmark,
        datasets,
        distributions,
        inspection,
        metrics,
        models,
        monitoring,
        nonparametric,
        planning,
        plots,
        reports,
        tuning,
    )
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import SurvivalDistribution
    from aldsurv.errors import AldsurvError
    from aldsurv.models import (
        CQRNN,
        ALDSurvival,
        BoostedALD,
        CauseSpecificCox,
        ConformalLowerBound,
        CoxRegression,
        DeepHit,
        DeepSurv,
        ElasticNetAFT,
        ElasticNetCox,
        FineGray,
        ICALDCalibrated,
        ICALDSurvival,
        LogNormalAFT,
        LogNormalSurvival,
        RecalibratedSurvival,
        StackedSurvival,
        WeibullAFT,
        load,
    )
    from aldsurv.models.parted.engine import open_engine
    from aldsurv.models.parted.evaluation import evaluate_parts
    from aldsurv.models.parted.scoring import predict_parts
    from aldsurv.models.prediction.frame_prediction import predict_frame
    from aldsurv.models.updating.updated_survival import UpdatedSurvival
    from aldsurv.notices import log_warnings
    from aldsurv.tuning.model_update import update_model

__version__ = "0.1.0"

__all__ = [
    "CQRNN",
    "ALDSurvival",
    "AldsurvError",
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
    "SurvivalData",
    "SurvivalDistribution",
    "UpdatedSurvival",
    "WeibullAFT",
    "benchmark",
    "datasets",
    "distributions",
    "evaluate_parts",
    "inspection",
    "load",
    "log_warnings",
    "metrics",
    "models",
    "monitoring",
    "nonparametric",
    "open_engine",
    "planning",
    "plots",
    "predict_frame",
    "predict_parts",
    "reports",
    "tuning",
    "update_model",
]

# Modules of names that are neither modules themselves nor models of the registry.
_HOMES = {
    "AldsurvError": "aldsurv.errors",
    "ConformalLowerBound": "aldsurv.models.wrappers.conformal",
    "SurvivalData": "aldsurv.data.survival_data",
    "SurvivalDistribution": "aldsurv.distributions",
    "UpdatedSurvival": "aldsurv.models.updating.updated_survival",
    "evaluate_parts": "aldsurv.models.parted.evaluation",
    "load": "aldsurv.models.persistence",
    "log_warnings": "aldsurv.notices",
    "open_engine": "aldsurv.models.parted.engine",
    "predict_frame": "aldsurv.models.prediction.frame_prediction",
    "predict_parts": "aldsurv.models.parted.scoring",
    "update_model": "aldsurv.tuning.model_update",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__ and name.islower():
        value = import_module(f"aldsurv.{name}")
    else:
        value = _registered_model(name)
    globals()[name] = value
    return value


def _registered_model(name: str) -> Any:
    """The class of that name, of a model that has a record."""
    from aldsurv.registry import MODELS

    for record in MODELS.records():
        if record.location.endswith(f":{name}"):
            return record.load()
    raise AttributeError(f"module 'aldsurv' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
