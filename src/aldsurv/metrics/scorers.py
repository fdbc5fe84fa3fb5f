"""Metrics as scikit-learn wants them: ``scorer(estimator, X, y)``, greater is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics.concordance import concordance_harrell
from aldsurv.metrics.likelihood import log_likelihood
from aldsurv.metrics.named import NAMED
from aldsurv.metrics.row_matching import number_column
from aldsurv.registry import Registry
from aldsurv.survival_data import SurvivalData

__all__ = ["SCORERS", "Scorer", "get_scorer", "harrell_c_scorer", "ibs_scorer", "log_likelihood_scorer"]


class PredictsDistribution(Protocol):
    """What a scorer needs of an estimator."""

    def predict_distribution(self, X: Any) -> SurvivalDistribution:
        """Distribution of each row of X."""
        ...


@final
@dataclass(frozen=True, repr=False)
class Scorer:
    """A metric that asks an estimator for its prediction; for ``scoring=`` of scikit-learn.

    Parameters
    ----------
    name
        What it is shown as.
    metric
        ``metric(predicted, data)``, greater is better; a function that can be imported, so that it can be pickled.

    Examples
    --------
    >>> get_scorer("harrell_c")
    Scorer('harrell_c')
    """

    name: str
    metric: Callable[[SurvivalDistribution, SurvivalData], float]

    def __call__(self, estimator: PredictsDistribution, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of ``estimator.predict_distribution(X)`` on `y`, which is anything `SurvivalData.of` takes."""
        data = SurvivalData.of(y)
        if sample_weight is not None:
            weight = data.weights * number_column(sample_weight, "sample_weight", len(data))
            data = SurvivalData.interval(data.lower, data.upper, entry=data.entry, weight=weight)
        return self.metric(_predicted(estimator, X), data)

    def __repr__(self) -> str:
        return f"Scorer({self.name!r})"


def _predicted(estimator: Any, X: Any) -> SurvivalDistribution:
    """The prediction of an estimator, or of the one at the end of a pipeline or inside a search."""
    if hasattr(estimator, "steps") and not hasattr(estimator, "predict_distribution"):
        for _, step in estimator.steps[:-1]:
            X = X if step is None or step == "passthrough" else step.transform(X)
        return _predicted(estimator.steps[-1][1], X)
    if hasattr(estimator, "best_estimator_"):
        return _predicted(estimator.best_estimator_, X)
    predicted: SurvivalDistribution = estimator.predict_distribution(X)
    return predicted


@final
@dataclass(frozen=True)
class _Goodness:
    """A metric of `evaluate` as a number that is greater for a better prediction.

    `best` is the value from which any distance counts against a prediction; None: the metric itself.
    """

    metric: str
    best: float | None = None

    def __call__(self, predicted: SurvivalDistribution, data: SurvivalData) -> float:
        # A scorer sees no training rows: the censoring is estimated from the rows that are scored.
        named = NAMED[self.metric]
        value = float(named(predicted, data, **named.options_with(data, {})))
        return value if self.best is None else -abs(self.best - value)


harrell_c_scorer = Scorer("harrell_c", concordance_harrell)
uno_c_scorer = Scorer("uno_c", _Goodness("uno_c"))
ibs_scorer = Scorer("neg_ibs", _Goodness("ibs", best=0.0))
mae_scorer = Scorer("neg_mae", _Goodness("mae", best=0.0))
cens_dcal_scorer = Scorer("neg_cens_dcal", _Goodness("cens_dcal", best=0.0))
cal_s_slope_scorer = Scorer("cal_s_slope", _Goodness("cal_s_slope", best=1.0))
cal_s_intercept_scorer = Scorer("cal_s_intercept", _Goodness("cal_s_intercept", best=0.0))
cal_f_slope_scorer = Scorer("cal_f_slope", _Goodness("cal_f_slope", best=1.0))
cal_f_intercept_scorer = Scorer("cal_f_intercept", _Goodness("cal_f_intercept", best=0.0))
log_likelihood_scorer = Scorer("log_likelihood", log_likelihood)
antolini_c_scorer = Scorer("antolini_c", _Goodness("antolini_c"))
brier_skill_scorer = Scorer("brier_skill", _Goodness("brier_skill"))
survival_crps_scorer = Scorer("neg_survival_crps", _Goodness("survival_crps", best=0.0))
km_calibration_scorer = Scorer("neg_km_calibration", _Goodness("km_calibration", best=0.0))
mae_margin_scorer = Scorer("neg_mae_margin", _Goodness("mae_margin", best=0.0))
mae_pseudo_scorer = Scorer("neg_mae_pseudo", _Goodness("mae_pseudo", best=0.0))
coverage_scorer = Scorer("coverage_80", _Goodness("coverage", best=0.8))

SCORERS = Registry(
    "scorer",
    {
        "harrell_c": "aldsurv.metrics.scorers:harrell_c_scorer",
        "uno_c": "aldsurv.metrics.scorers:uno_c_scorer",
        "neg_ibs": "aldsurv.metrics.scorers:ibs_scorer",
        "neg_mae": "aldsurv.metrics.scorers:mae_scorer",
        "neg_cens_dcal": "aldsurv.metrics.scorers:cens_dcal_scorer",
        "cal_s_slope": "aldsurv.metrics.scorers:cal_s_slope_scorer",
        "cal_s_intercept": "aldsurv.metrics.scorers:cal_s_intercept_scorer",
        "cal_f_slope": "aldsurv.metrics.scorers:cal_f_slope_scorer",
        "cal_f_intercept": "aldsurv.metrics.scorers:cal_f_intercept_scorer",
        "log_likelihood": "aldsurv.metrics.scorers:log_likelihood_scorer",
        "antolini_c": "aldsurv.metrics.scorers:antolini_c_scorer",
        "brier_skill": "aldsurv.metrics.scorers:brier_skill_scorer",
        "neg_survival_crps": "aldsurv.metrics.scorers:survival_crps_scorer",
        "neg_km_calibration": "aldsurv.metrics.scorers:km_calibration_scorer",
        "neg_mae_margin": "aldsurv.metrics.scorers:mae_margin_scorer",
        "neg_mae_pseudo": "aldsurv.metrics.scorers:mae_pseudo_scorer",
        "coverage_80": "aldsurv.metrics.scorers:coverage_scorer",
    },
)


def get_scorer(name: str) -> Scorer:
    """A scorer by name; greater is better in each.

    - ``"harrell_c"``, ``"uno_c"``, ``"antolini_c"``, ``"log_likelihood"``, ``"brier_skill"``: the metric.
    - ``"neg_ibs"``, ``"neg_mae"``, ``"neg_mae_margin"``, ``"neg_mae_pseudo"``, ``"neg_survival_crps"``,
      ``"neg_cens_dcal"``, ``"neg_km_calibration"``: the metric times -1.
    - ``"coverage_80"``: ``-|0.8 - coverage|`` of the central 80 % intervals.
    - ``"cal_s_slope"``, ``"cal_f_slope"``: ``-|1 - slope|``; ``"cal_s_intercept"``, ``"cal_f_intercept"``:
      ``-|intercept|``.

    What a metric takes from training rows, such as the censoring that ``"uno_c"`` and ``"neg_ibs"`` need and the range
    of times, is taken from the rows that are scored, for a scorer sees no others.
    """
    found: Scorer = SCORERS.load(name)
    return found
