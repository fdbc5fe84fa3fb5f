"""Metrics as scikit-learn wants them: ``scorer(estimator, X, y)``, greater is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol, final

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.checked_arguments import number_column
from aldsurv.registry import METRICS, Registry

__all__ = ["Scorer", "get_scorer", "harrell_c_scorer", "ibs_scorer", "log_likelihood_scorer", "scorer_names"]


class PredictsDistribution(Protocol):
    """What a scorer needs of an estimator."""

    def predict_distribution(self, X: Any, /) -> SurvivalDistribution:
        """Distribution of each row of X."""
        ...


@final
@dataclass(frozen=True, repr=False)
class Scorer:
    """The metric of an estimator's prediction; for ``scoring=`` of scikit-learn.

    Parameters
    ----------
    name
        Shown in its repr, and in tables.
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
    options: tuple[tuple[str, object], ...] = ()

    def __call__(self, estimator: PredictsDistribution, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of ``estimator.predict_distribution(X)`` on `y`, which is anything `SurvivalData.of` takes."""
        data = SurvivalData.of(y)
        if sample_weight is not None:
            data = data.with_weight(data.weights * number_column(sample_weight, "sample_weight", len(data)))
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
class _Score:
    """A metric by name as a number that is greater for a better prediction; by name, so that it can be pickled."""

    metric: str

    def __call__(
        self,
        predicted: SurvivalDistribution,
        data: SurvivalData,
        *,
        train: SurvivalData | None = None,
        **options: object,
    ) -> float:
        # A scorer sees no training rows: unless it was given some, the censoring is estimated from those it scores.
        metric = find_metric(self.metric)
        all_options = metric.options_with(data if train is None else train, options, data)
        return METRICS[self.metric].score(float(metric(predicted, data, **all_options)))

    @property
    def option_names(self) -> list[str]:
        """Options of the metric, except those that a scorer does not take."""
        record = METRICS[self.metric]
        left_out = ("truth" if record.uses_truth else "", record.fixed_option)
        return [name for name in find_metric(self.metric).option_names if name not in left_out]


@cache
def _scorer_of(metric: str) -> Scorer:
    return Scorer(METRICS[metric].scorer, _Score(metric))


harrell_c_scorer = _scorer_of("harrell_c")
ibs_scorer = _scorer_of("ibs")
log_likelihood_scorer = _scorer_of("log_likelihood")


def scorer_names() -> list[str]:
    """Names that `get_scorer` knows: one per metric."""
    return [record.scorer for record in METRICS.records()]


def get_scorer(name: str, **options: object) -> Scorer:
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
    scorers = Registry("scorer", *(replace(record, name=record.scorer) for record in METRICS.records()))
    metric = next(record.name for record in METRICS.records() if record.scorer == scorers[name].name)
    scorer = _scorer_of(metric)
    if not options:
        return scorer
    allowed = _Score(metric).option_names
    unknown = [option for option in options if option not in allowed]
    if unknown:
        known = f"its options are {', '.join(allowed)}" if allowed else "it has none"
        raise ParameterError(f"scorer {name!r} has no option {unknown[0]!r}; {known}.", argument=unknown[0])
    return replace(scorer, options=tuple(options.items()))
