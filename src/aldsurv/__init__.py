"""aldsurv: the whole distribution of the time to an event, for every individual.

Nothing heavy is imported here: each public name is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aldsurv import benchmark, datasets, distributions, metrics, models, nonparametric, plots, reports
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import SurvivalDistribution
    from aldsurv.errors import AldsurvError
    from aldsurv.models import (
        CQRNN,
        ALDSurvival,
        BoostedALD,
        ConformalLowerBound,
        CoxRegression,
        DeepHit,
        DeepSurv,
        ICALDCalibrated,
        ICALDSurvival,
        LogNormalAFT,
        LogNormalSurvival,
        RecalibratedSurvival,
        WeibullAFT,
        load,
    )

__version__ = "0.1.0"

__all__ = [
    "CQRNN",
    "ALDSurvival",
    "AldsurvError",
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
    "SurvivalData",
    "SurvivalDistribution",
    "WeibullAFT",
    "benchmark",
    "datasets",
    "distributions",
    "load",
    "metrics",
    "models",
    "nonparametric",
    "plots",
    "reports",
]

_HOMES = {
    "ALDSurvival": "aldsurv.models.neural.ald",
    "AldsurvError": "aldsurv.errors",
    "BoostedALD": "aldsurv.models.trees.boosted_ald",
    "CQRNN": "aldsurv.models.neural.cqrnn",
    "ConformalLowerBound": "aldsurv.models.wrappers.conformal",
    "CoxRegression": "aldsurv.models.linear.cox",
    "DeepHit": "aldsurv.models.neural.deephit",
    "DeepSurv": "aldsurv.models.neural.deepsurv",
    "ICALDCalibrated": "aldsurv.models.wrappers.icald_calibrated",
    "ICALDSurvival": "aldsurv.models.neural.icald",
    "LogNormalAFT": "aldsurv.models.linear.aft",
    "LogNormalSurvival": "aldsurv.models.neural.log_normal_survival",
    "RecalibratedSurvival": "aldsurv.models.wrappers.recalibrated_survival",
    "SurvivalData": "aldsurv.data.survival_data",
    "SurvivalDistribution": "aldsurv.distributions",
    "WeibullAFT": "aldsurv.models.linear.aft",
    "load": "aldsurv.models.persistence",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in __all__:
        value = import_module(f"aldsurv.{name}")
    else:
        raise AttributeError(f"module 'aldsurv' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
