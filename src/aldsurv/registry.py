"""Names for things that are imported on first use, so that starting up stays light."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from aldsurv.errors import UnknownNameError
from aldsurv.quoting import quoted

__all__ = ["FAMILIES", "MODELS", "PEERS", "Registry"]


class Registry:
    """A map from a name to ``"module:attribute"``, imported when asked for.

    Parameters
    ----------
    kind
        What the names stand for, in the singular; used in error messages.
    entries
        Name to location.

    Examples
    --------
    >>> FAMILIES.load("weibull").__name__
    'Weibull'
    >>> FAMILIES.load("weibul")
    Traceback (most recent call last):
      ...
    aldsurv.errors.UnknownNameError: unknown family 'weibul'. Did you mean 'weibull'?
    """

    def __init__(self, kind: str, entries: dict[str, str]) -> None:
        self._kind = kind
        self._entries = dict(entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def load(self, name: str) -> Any:
        """Import and return what ``name`` stands for."""
        try:
            module, attribute = self._entries[name].split(":")
        except KeyError:
            raise UnknownNameError(self._unknown(name)) from None
        return getattr(import_module(module), attribute)

    def _unknown(self, name: str) -> str:
        near = get_close_matches(str(name), self._entries, n=3)
        hint = f"Did you mean {' or '.join(map(quoted, near))}?" if near else f"Known: {', '.join(self._entries)}."
        return f"unknown {self._kind} {quoted(name)}. {hint}"


FAMILIES = Registry(
    "family",
    {
        "asymmetric_laplace": "aldsurv.distributions.families.asymmetric_laplace:AsymmetricLaplace",
        "positive_asymmetric_laplace": "aldsurv.distributions.wrappers.truncated:PositiveAsymmetricLaplace",
        "log_asymmetric_laplace": "aldsurv.distributions.families.log_asymmetric_laplace:LogAsymmetricLaplace",
        "normal": "aldsurv.distributions.families.normal:Normal",
        "log_normal": "aldsurv.distributions.families.log_normal:LogNormal",
        "weibull": "aldsurv.distributions.families.weibull:Weibull",
        "exponential": "aldsurv.distributions.families.exponential:Exponential",
        "step": "aldsurv.distributions.families.step:Step",
        "proportional_hazards": "aldsurv.distributions.wrappers.proportional_hazards:ProportionalHazards",
        "quantile_knots": "aldsurv.distributions.families.quantile_knots:QuantileKnots",
        "mixture": "aldsurv.distributions.wrappers.mixture:Mixture",
        "mixed_asymmetric_laplace": "aldsurv.distributions.families.mixed_asymmetric_laplace:MixedAsymmetricLaplace",
        "left_truncated": "aldsurv.distributions.wrappers.truncated:LeftTruncated",
        "shifted": "aldsurv.distributions.wrappers.shifted:Shifted",
        "recalibrated": "aldsurv.distributions.wrappers.recalibrated:Recalibrated",
    },
)

MODELS = Registry(
    "model",
    {
        "ald": "aldsurv.models.neural.ald:ALDSurvival",
        "boosted_ald": "aldsurv.models.trees.boosted_ald:BoostedALD",
        "lognormal": "aldsurv.models.neural.log_normal_survival:LogNormalSurvival",
        "cqrnn": "aldsurv.models.neural.cqrnn:CQRNN",
        "deepsurv": "aldsurv.models.neural.deepsurv:DeepSurv",
        "deephit": "aldsurv.models.neural.deephit:DeepHit",
        "cox": "aldsurv.models.linear.cox:CoxRegression",
        "weibull_aft": "aldsurv.models.linear.aft:WeibullAFT",
        "lognormal_aft": "aldsurv.models.linear.aft:LogNormalAFT",
        "recalibrated": "aldsurv.models.wrappers.recalibrated_survival:RecalibratedSurvival",
        "icald": "aldsurv.models.neural.icald:ICALDSurvival",
        "icald_calibrated": "aldsurv.models.wrappers.icald_calibrated:ICALDCalibrated",
    },
)

PEERS = Registry(
    "peer",
    {
        "rsf": "aldsurv.models.adapters.scikit_survival:ForestPeer",
        "gbsa": "aldsurv.models.adapters.scikit_survival:GradientBoostingPeer",
        "xgb_cox": "aldsurv.models.adapters.xgboost_trees:XGBoostCox",
        "xgb_aft": "aldsurv.models.adapters.xgboost_trees:XGBoostAFT",
    },
)
