"""Metrics as scikit-learn wants them: ``scorer(estimator, X, y)``, greater is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics.brier import integrated_brier_score
from aldsurv.metrics.concordance import concordance_harrell
from aldsurv.metrics.likelihood import log_likelihood
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


def _negative_ibs(predicted: SurvivalDistribution, data: SurvivalData) -> float:
    # A scorer sees no training rows: the censoring is estimated from the rows that are scored.
    return -integrated_brier_score(predicted, data, train=data)


harrell_c_scorer = Scorer("harrell_c", concordance_harrell)
ibs_scorer = Scorer("neg_ibs", _negative_ibs)
log_likelihood_scorer = Scorer("log_likelihood", log_likelihood)

SCORERS = Registry(
    "scorer",
    {
        "harrell_c": "aldsurv.metrics.scorers:harrell_c_scorer",
        "neg_ibs": "aldsurv.metrics.scorers:ibs_scorer",
        "log_likelihood": "aldsurv.metrics.scorers:log_likelihood_scorer",
    },
)


def get_scorer(name: str) -> Scorer:
    """A scorer by name: ``"harrell_c"``, ``"neg_ibs"`` or ``"log_likelihood"``.

    ``"neg_ibs"`` is the integrated Brier score times -1, with the censoring and the range of times taken from the
    rows that are scored, for a scorer sees no others.
    """
    found: Scorer = SCORERS.load(name)
    return found
