"""Lower bounds of the time to the event that hold with a stated probability, however good the model within is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.level_map import softplus
from aldsurv.errors import DataError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.rows.member_rows import member_seeds
from aldsurv.models.training_target import first_event, with_joined_episodes
from aldsurv.models.wrappers.cross_fitting import HeldOut, choose_parts, predict_held_out, read_rows, unfitted
from aldsurv.models.wrappers.nested import NestedEstimatorMixin
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.nonparametric.observed_levels import level_curve, observed_odds

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ConformalLowerBound"]

FloatArray = NDArray[np.float64]

# Levels of step functions differ by more than this share, and rounding must not take a bound one step later.
_ROUNDING = 1e-9


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ConformalLowerBound(NestedEstimatorMixin):
    """A lower bound L(x) of the time to the event: ``P(T ≥ L(x)) ≥ level``, on average over all rows.

    ``L(x)`` is a quantile of the predicted distribution, at one level for all rows: the highest for which no more than
    ``1 - level`` of the held-out rows would have had the event before their bound. For rows censored before it that
    is not known; they are accounted for in one of two ways, each with its own assumption:

    - ``"ipcw"``: each event counts ``1/P(C ≥ y|x)``, for rows like it that were censored before. Holds if the
      censoring distribution is right, whatever the model: by default the Kaplan-Meier estimate of all held-out rows
      (censoring independent of the columns), or a model of it (`censoring`).
    - ``"levels"``: the Kaplan-Meier estimate of the levels ``F(y|x)``. Holds if the model's errors are independent of
      censoring: certainly if the model is right, whatever the censoring given the columns.
    - ``"both"``: the lower of the two bounds, which holds if either does.

    Without censoring all are split conformal prediction, and the coverage holds in finite samples for any model if rows
    are exchangeable. With censoring it holds up to the error of those estimates, and needs times of event and censoring
    to be independent given the columns, as every method does. It is coverage on average over rows, not for
    every kind of row. Exact and right-censored rows without delayed entry.

    Parameters
    ----------
    estimator, random_state
        As in `NestedEstimatorMixin`: the model within, and the seed.
    level
        Wanted probability that the event comes at the bound or later.
    method
        ``"both"``, ``"ipcw"`` or ``"levels"``, as above.
    censoring
        An estimator for the time to censoring given the columns, such as ``CoxRegression()``; None: the Kaplan-Meier
        estimate, the same for all rows.
    validation
        Share of the rows to calibrate by; the model learns from the others.
    folds
        In place of `validation` (then None) cross-fitting: the model learns from all rows, and coverage in finite
        samples holds approximately, no longer exactly.

    Attributes
    ----------
    estimator_
        The fitted model.
    quantile_level_
        The level of its quantiles that are the bounds.
    n_features_in_
        Number of columns of X.

    Examples
    --------
    >>> from aldsurv import WeibullAFT, datasets
    >>> train, test = datasets.load("norm_heavy", seed=0).split(seed=0)
    >>> bound = ConformalLowerBound(WeibullAFT(), level=0.9, random_state=0).fit(train.x, train.y)
    >>> bool((test.event_time >= bound.predict_lower(test.x)).mean() > 0.88)
    True
    """

    level: float = field(default=0.9, kw_only=False)
    method: str = "both"
    censoring: SurvivalEstimator | None = None
    validation: float | None = 0.25

    quantile_level_: float = field(init=False)
    n_features_in_: int = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "level": Number(0, 1, above=True, below=True),
        "method": Choice(("both", "ipcw", "levels")),
    }

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, which are as for the model within."""
        self.check_parameters()
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        data = first_event(read_rows(X, y, sample_weight, groups), type(self).__name__, stacklevel=3)
        if data.entry is not None and np.isfinite(data.entry).any():
            raise DataError(
                "rows with delayed entry cannot calibrate a bound",
                argument="y",
                advice="Leave out entry, or those rows.",
            )
        seeds = member_seeds(self.random_state, 3)
        parts = choose_parts(data, folds=self.folds, validation=self.validation, seed=seeds[0], X=X)
        if not parts:
            raise DataError(
                f"{len(data)} rows with {data.n_events} events are too few to hold some out", advice="Give more rows."
            )
        held_out = predict_held_out(unfitted(self._inner(), seeds[1]), X, data, parts)
        count, odds = _row_count(held_out.parts), []
        if self.method != "levels":
            uncensored = self._uncensored(held_out, X, data, parts, seeds[2])
            odds.append(self._highest(*_weighted_levels(held_out, uncensored), count))
        if self.method != "ipcw":
            curve = level_curve(held_out.parts)
            odds.append(self._highest(curve.odds, curve.cdf, count))
        self.estimator_ = held_out.model
        self.quantile_level_ = (1 - _ROUNDING) * float(np.exp(-softplus(-np.min(odds))))
        self.n_features_in_ = held_out.model.n_features_in_
        return self

    def predict_lower(self, X: object) -> FloatArray:
        """The bound of each row (n,), in the unit of the training times: from 0 to the last time seen in training."""
        self._require_fitted()
        predicted = self.estimator_.predict_distribution(X)
        bound = np.asarray(predicted.quantile(self.quantile_level_), np.float64)
        # After the last time nothing was observed.
        return np.clip(bound, 0.0, self.estimator_.unique_times_[-1])

    def _uncensored(
        self, held_out: HeldOut, X: object, data: SurvivalData, parts: list[NDArray[np.int64]], seed: int
    ) -> list[FloatArray]:
        """Probability of each held-out row not to be censored before its time."""
        # A row censored at the time of an event was still at risk of it: just before counts.
        before = [np.nextafter(rows.time, -np.inf) for _, rows in held_out.parts]
        if data.event.all():
            return [np.ones(len(times)) for times in before]
        if self.censoring is None:
            curve = censoring_distribution(SurvivalData.concatenate([rows for _, rows in held_out.parts]))
            return [curve.survival_at(times) for times in before]
        reversed_events = SurvivalData.right(data.time, ~data.event, weight=data.weight, group=data.group)
        censoring = predict_held_out(unfitted(self.censoring, seed), X, reversed_events, parts)
        return [
            np.asarray(predicted.survival(times[:, None]), np.float64)[:, 0]
            for (predicted, _), times in zip(censoring.parts, before, strict=True)
        ]

    def _highest(self, odds: FloatArray, share: FloatArray, rows: float) -> float:
        """The highest level, as log odds, below which no more than ``1 - level`` of the rows have their event."""
        # The new row is one more, and might be below all: k of n rows are a share of k/(n + 1).
        allowed = (1 - float(self.level)) * (rows + 1) / rows
        within = np.flatnonzero(share <= allowed)
        return float(odds[within[-1]]) if within.size else -np.inf


def _weighted_levels(held_out: HeldOut, uncensored: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Levels of events as log odds, ascending, and the share of all rows at or below each, events weighted."""
    odds = np.concatenate([observed_odds(predicted, rows.time) for predicted, rows in held_out.parts])
    rows = SurvivalData.concatenate([rows for _, rows in held_out.parts])
    weight = rows.weights / rows.total_weight
    with np.errstate(divide="ignore"):
        counted = np.where(rows.event, weight / np.concatenate(uncensored), 0.0)
    order = np.argsort(odds, kind="stable")
    order = order[rows.event[order]]
    share = np.cumsum(counted[order])
    # Of equal levels all count, or none.
    last = np.searchsorted(odds[order], odds[order], side="right") - 1
    return odds[order], share[last]


def _row_count(parts: list[tuple[SurvivalDistribution, SurvivalData]]) -> float:
    """Number of rows; of weighted ones the effective sample size, ``(Σw)²/Σw²``."""
    weight = np.concatenate([rows.weights for _, rows in parts])
    return float(weight.sum() ** 2 / (weight**2).sum())
