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
        "asymmetric_laplace": "aldsurv.distributions.asymmetric_laplace:AsymmetricLaplace",
        "positive_asymmetric_laplace": "aldsurv.distributions.truncated:PositiveAsymmetricLaplace",
        "log_asymmetric_laplace": "aldsurv.distributions.log_asymmetric_laplace:LogAsymmetricLaplace",
        "normal": "aldsurv.distributions.normal:Normal",
        "log_normal": "aldsurv.distributions.log_normal:LogNormal",
        "weibull": "aldsurv.distributions.weibull:Weibull",
        "exponential": "aldsurv.distributions.exponential:Exponential",
        "step": "aldsurv.distributions.step:Step",
        "proportional_hazards": "aldsurv.distributions.proportional_hazards:ProportionalHazards",
        "quantile_knots": "aldsurv.distributions.quantile_knots:QuantileKnots",
        "mixture": "aldsurv.distributions.mixture:Mixture",
        "mixed_asymmetric_laplace": "aldsurv.distributions.mixed_asymmetric_laplace:MixedAsymmetricLaplace",
        "left_truncated": "aldsurv.distributions.truncated:LeftTruncated",
        "shifted": "aldsurv.distributions.shifted:Shifted",
        "recalibrated": "aldsurv.distributions.recalibrated:Recalibrated",
    },
)

MODELS = Registry(
    "model",
    {
        "ald": "aldsurv.models.ald:ALDSurvival",
        "boosted_ald": "aldsurv.models.boosted:BoostedALD",
        "lognormal": "aldsurv.models.log_normal:LogNormalSurvival",
        "cqrnn": "aldsurv.models.cqrnn:CQRNN",
        "deepsurv": "aldsurv.models.deepsurv:DeepSurv",
        "deephit": "aldsurv.models.deephit:DeepHit",
        "cox": "aldsurv.models.cox:CoxRegression",
        "weibull_aft": "aldsurv.models.aft:WeibullAFT",
        "lognormal_aft": "aldsurv.models.aft:LogNormalAFT",
        "recalibrated": "aldsurv.models.recalibrated:RecalibratedSurvival",
        "icald": "aldsurv.models.icald:ICALDSurvival",
        "icald_calibrated": "aldsurv.models.icald_calibrated:ICALDCalibrated",
    },
)

PEERS = Registry(
    "peer",
    {
        "rsf": "aldsurv.models.peers.scikit_survival:ForestPeer",
        "gbsa": "aldsurv.models.peers.scikit_survival:GradientBoostingPeer",
        "xgb_cox": "aldsurv.models.peers.xgboost_trees:XGBoostCox",
        "xgb_aft": "aldsurv.models.peers.xgboost_trees:XGBoostAFT",
    },
)
