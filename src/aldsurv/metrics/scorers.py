"""Metrics as scikit-learn wants them: ``scorer(estimator, X, y)``, greater is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol, final

from aldsurv.columns.joined_episodes import join_episodes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.errors import ParameterError
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.checked_arguments import PredictedDistribution, number_column
from aldsurv.registry import METRICS, Registry

__all__ = ["Scorer", "get_scorer", "harrell_c_scorer", "ibs_scorer", "log_likelihood_scorer", "scorer_names"]


class PredictsDistribution(Protocol):
    """The method that a scorer calls."""

    def predict_distribution(self, X: object, /) -> SurvivalDistribution:
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

    def __call__(self, estimator: PredictsDistribution, X: object, y: object, sample_weight: object = None) -> float:
        """Score of ``estimator.predict_distribution(X)`` on `y`, which is anything `SurvivalData.of` takes.

        With an option `cause` it is that of ``estimator.predict_incidence(X)``. Of episodes it is that of persons, by
        the prediction along their paths.
        """
        data = SurvivalData.of(y)
        if sample_weight is not None:
            data = data.with_weight(data.weights * number_column(sample_weight, "sample_weight", len(data)))
        X, data = join_episodes(X, data)
        by_cause = dict(self.options).get("cause") is not None
        predicted = _predicted(estimator, X, by_cause)
        if isinstance(predicted, CompetingDistribution):
            return self.metric(predicted, data, **dict(self.options))
        predicted, persons = along_paths(predicted, data)
        return self.metric(predicted, persons, **dict(self.options))

    def __repr__(self) -> str:
        return f"Scorer({', '.join([repr(self.name), *(f'{name}={value!r}' for name, value in self.options)])})"


def _predicted(estimator: Any, X: object, by_cause: bool) -> PredictedDistribution:
    """The prediction of an estimator, or of the one at the end of a pipeline or inside a search."""
    if hasattr(estimator, "steps") and not hasattr(estimator, "predict_distribution"):
        for _, step in estimator.steps[:-1]:
            X = X if step is None or step == "passthrough" else step.transform(X)
        return _predicted(estimator.steps[-1][1], X, by_cause)
    if hasattr(estimator, "best_estimator_"):
        return _predicted(estimator.best_estimator_, X, by_cause)
    if by_cause:
        incidence: CompetingDistribution = estimator.predict_incidence(X)
        return incidence
    predicted: SurvivalDistribution = estimator.predict_distribution(X)
    return predicted


@final
@dataclass(frozen=True)
class _Score:
    """A metric by name as a number that is greater for a better prediction; by name, so that it can be pickled."""

    metric: str

    def __call__(
        self,
        predicted: PredictedDistribution,
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
    """Names of all scorers: one per metric."""
    return [record.scorer for record in METRICS.records()]


def get_scorer(name: str, **options: object) -> Scorer:
    """A scorer by name; greater is better in each.

    There is one for each metric of `aldsurv.registry.METRICS`. Where higher is better it has the name of the metric and
    is its value, such as ``"harrell_c"``; where lower is better it is the negative, such as ``"neg_ibs"``; of a slope,
    an intercept or a coverage it is minus the distance from the ideal, ``-|1 - slope|`` or with ``"coverage_80"``
    ``-|0.8 - coverage|``. The p-values ``"d_calibration"`` and ``"one_calibration"`` separate predictions that may be
    right from those that are not, but do not rank them: ``"neg_cens_dcal"`` and ``"neg_ici"`` do.

    A scorer sees no training rows: the censoring that ``"uno_c"`` and ``"neg_ibs"`` need, and times, are estimated from
    the rows that are scored, unless others are given as `train`.

    Parameters
    ----------
    name
        Name of the scorer.
    **options
        Options of the metric, such as ``point="mean"``, ``tau=730`` or ``train=rows``. ``"auc"`` and ``"neg_brier"``
        look at `times`, by default the quartiles of the event times; ``"neg_ici"``, ``"neg_e50"``, ``"neg_e90"``,
        ``"one_calibration"`` and names that end with ``_at`` at one `time`, by default the median. With
        ``cause="relapse"``, of metrics that have it, the prediction is that of ``predict_incidence``.

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
        choices = f"its options are {', '.join(allowed)}" if allowed else "it has none"
        raise ParameterError(f"scorer {name!r} has no option {unknown[0]!r}; {choices}.", argument=unknown[0])
    return replace(scorer, options=tuple(options.items()))
