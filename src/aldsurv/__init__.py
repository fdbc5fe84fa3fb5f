"""aldsurv: the whole distribution of the time to an event, for every individual.

Nothing heavy is imported here: each public name is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aldsurv import benchmark, datasets, distributions, metrics, models, nonparametric, plots, reports
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
    from aldsurv.survival_data import SurvivalData

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
    "ALDSurvival": "aldsurv.models.ald",
    "AldsurvError": "aldsurv.errors",
    "BoostedALD": "aldsurv.models.boosted",
    "CQRNN": "aldsurv.models.cqrnn",
    "ConformalLowerBound": "aldsurv.models.conformal",
    "CoxRegression": "aldsurv.models.cox",
    "DeepHit": "aldsurv.models.deephit",
    "DeepSurv": "aldsurv.models.deepsurv",
    "ICALDCalibrated": "aldsurv.models.icald_calibrated",
    "ICALDSurvival": "aldsurv.models.icald",
    "LogNormalAFT": "aldsurv.models.aft",
    "LogNormalSurvival": "aldsurv.models.log_normal",
    "RecalibratedSurvival": "aldsurv.models.recalibrated",
    "SurvivalData": "aldsurv.survival_data",
    "SurvivalDistribution": "aldsurv.distributions",
    "WeibullAFT": "aldsurv.models.aft",
    "load": "aldsurv.models.saving",
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
