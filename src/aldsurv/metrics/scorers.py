"""Metrics as scikit-learn wants them: ``scorer(estimator, X, y)``, greater is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Protocol, final

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.catalogue import NAMED
from aldsurv.metrics.row_matching import number_column
from aldsurv.registry import Record, Registry

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
        ``metric(predicted, data, **options)``, greater is better; a function that can be imported, so that it can be
        pickled.
    options
        Names and values of the options of the metric.

    Examples
    --------
    >>> get_scorer("auc", times=[180, 365])
    Scorer('auc', times=[180, 365])
    """

    name: str
    metric: Callable[..., float]
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, estimator: PredictsDistribution, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of ``estimator.predict_distribution(X)`` on `y`, which is anything `SurvivalData.of` takes."""
        data = SurvivalData.of(y)
        if sample_weight is not None:
            weight = data.weights * number_column(sample_weight, "sample_weight", len(data))
            data = SurvivalData.interval(data.lower, data.upper, entry=data.entry, weight=weight)
        return self.metric(_predicted(estimator, X), data, **dict(self.options))

    def __repr__(self) -> str:
        return f"Scorer({', '.join([repr(self.name), *(f'{name}={value!r}' for name, value in self.options)])})"


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

    `best` is the value from which any distance counts against a prediction; None: the metric itself. `fixed` is an
    option that cannot be given.
    """

    metric: str
    best: float | None = None
    fixed: str = ""

    def __call__(
        self, predicted: SurvivalDistribution, data: SurvivalData, *, train: Any = None, **options: Any
    ) -> float:
        # A scorer sees no training rows: unless it was given some, the censoring is estimated from those it scores.
        named = NAMED[self.metric]
        given = named.options_with(data if train is None else train, options, data)
        value = float(named(predicted, data, **given))
        return value if self.best is None else -abs(self.best - value)

    @property
    def option_names(self) -> list[str]:
        """Options of the metric, but for the one that is part of its name."""
        asked = list(signature(NAMED[self.metric].function).parameters)[2:]
        return [name for name in asked if name != self.fixed]


harrell_c_scorer = Scorer("harrell_c", _Goodness("harrell_c"))
uno_c_scorer = Scorer("uno_c", _Goodness("uno_c"))
ibs_scorer = Scorer("neg_ibs", _Goodness("ibs", best=0.0))
mae_scorer = Scorer("neg_mae", _Goodness("mae", best=0.0, fixed="truth"))
cens_dcal_scorer = Scorer("neg_cens_dcal", _Goodness("cens_dcal", best=0.0))
cal_s_slope_scorer = Scorer("cal_s_slope", _Goodness("cal_s_slope", best=1.0))
cal_s_intercept_scorer = Scorer("cal_s_intercept", _Goodness("cal_s_intercept", best=0.0))
cal_f_slope_scorer = Scorer("cal_f_slope", _Goodness("cal_f_slope", best=1.0))
cal_f_intercept_scorer = Scorer("cal_f_intercept", _Goodness("cal_f_intercept", best=0.0))
log_likelihood_scorer = Scorer("log_likelihood", _Goodness("log_likelihood"))
bounded_log_likelihood_scorer = Scorer("bounded_log_likelihood", _Goodness("bounded_log_likelihood"))
antolini_c_scorer = Scorer("antolini_c", _Goodness("antolini_c"))
brier_skill_scorer = Scorer("brier_skill", _Goodness("brier_skill"))
survival_crps_scorer = Scorer("neg_survival_crps", _Goodness("survival_crps", best=0.0))
km_calibration_scorer = Scorer("neg_km_calibration", _Goodness("km_calibration", best=0.0))
average_calibration_scorer = Scorer("neg_average_calibration", _Goodness("average_calibration", best=0.0))
mae_margin_scorer = Scorer("neg_mae_margin", _Goodness("mae_margin", best=0.0))
mae_pseudo_scorer = Scorer("neg_mae_pseudo", _Goodness("mae_pseudo", best=0.0))
coverage_scorer = Scorer("coverage_80", _Goodness("coverage", best=0.8, fixed="level"))
crps_scorer = Scorer("neg_crps", _Goodness("crps", best=0.0, fixed="truth"))
d_calibration_scorer = Scorer("d_calibration", _Goodness("d_calibration"))
auc_scorer = Scorer("auc", _Goodness("auc"))
brier_scorer = Scorer("neg_brier", _Goodness("brier", best=0.0))
ici_scorer = Scorer("neg_ici", _Goodness("ici", best=0.0))
e50_scorer = Scorer("neg_e50", _Goodness("e50", best=0.0))
e90_scorer = Scorer("neg_e90", _Goodness("e90", best=0.0))
one_calibration_scorer = Scorer("one_calibration", _Goodness("one_calibration"))

SCORERS = Registry(
    "scorer",
    *(
        Record(scorer.name, f"{__name__}:{variable}", scorer.name, "a metric as scikit-learn wants it")
        for variable, scorer in list(globals().items())
        if isinstance(scorer, Scorer)
    ),
)


def get_scorer(name: str, **options: Any) -> Scorer:
    """A scorer by name; greater is better in each.

    - ``"harrell_c"``, ``"uno_c"``, ``"antolini_c"``, ``"auc"``, ``"log_likelihood"``,
      ``"bounded_log_likelihood"``, ``"brier_skill"``: the metric; of the AUC the mean over its times.
    - ``"neg_ibs"``, ``"neg_brier"``, ``"neg_mae"``, ``"neg_mae_margin"``, ``"neg_mae_pseudo"``, ``"neg_crps"``,
      ``"neg_survival_crps"``, ``"neg_cens_dcal"``, ``"neg_km_calibration"``, ``"neg_average_calibration"``,
      ``"neg_ici"``, ``"neg_e50"``, ``"neg_e90"``: the metric times -1; of the Brier score the mean over its times.
    - ``"coverage_80"``: ``-|0.8 - coverage|`` of the central 80 % intervals.
    - ``"cal_s_slope"``, ``"cal_f_slope"``: ``-|1 - slope|``; ``"cal_s_intercept"``, ``"cal_f_intercept"``:
      ``-|intercept|``.
    - ``"d_calibration"``, ``"one_calibration"``: the p-value. It tells a prediction that may be right from one that
      is not, but not which of two is better: ``"neg_cens_dcal"`` and ``"neg_ici"`` do.

    What a metric takes from training rows, such as the censoring that ``"uno_c"`` and ``"neg_ibs"`` need and the range
    of times, is taken from the rows that are scored, for a scorer sees no others, or from `train`.

    Parameters
    ----------
    name
        One of the above.
    **options
        Options of the metric, such as ``point="mean"``, ``tau=730`` or ``train=rows``. ``"auc"`` and ``"neg_brier"``
        look at `times`, by default the quartiles of the event times; ``"neg_ici"``, ``"neg_e50"``, ``"neg_e90"`` and
        ``"one_calibration"`` at one `time`, by default the median.

    Examples
    --------
    >>> get_scorer("neg_ici", time=365)
    Scorer('neg_ici', time=365)
    """
    found: Scorer = SCORERS.load(name)
    if not options:
        return found
    allowed = found.metric.option_names if isinstance(found.metric, _Goodness) else []
    unknown = [option for option in options if option not in allowed]
    if unknown:
        known = f"its options are {', '.join(allowed)}" if allowed else "it has none"
        raise ParameterError(f"scorer {name!r} has no option {unknown[0]!r}; {known}.")
    return replace(found, options=tuple(options.items()))
