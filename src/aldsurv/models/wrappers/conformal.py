"""Times before which the event comes with at most a stated probability, whatever the model within is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.level_map import softplus
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.neural.fitting.preparation import member_seeds
from aldsurv.models.wrappers.nested import (
    HeldOut,
    NestedHabits,
    check_parts,
    choose_parts,
    held_out,
    read_rows,
    unfitted,
)
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.nonparametric.observed_levels import level_curve, observed_odds

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ConformalLowerBound"]

FloatArray = NDArray[np.float64]

_METHODS = ("both", "ipcw", "levels")
# Levels of step functions are told apart by more than this share, and rounding must not take a bound one step later.
_ROUNDING = 1e-9


@final
class ConformalLowerBound(NestedHabits):
    """A lower bound L(x) of the time to the event: ``P(T ≥ L(x)) ≥ level``, on average over all rows.

    ``L(x)`` is a quantile of the predicted distribution, at one level for all rows: the highest for which no more than
    ``1 - level`` of the held-out rows would have had the event before their bound. Rows censored before it do
    not tell; they are made up for in one of two ways, of which each has its own assumption:

    - ``"ipcw"``: each event counts ``1/P(C ≥ y|x)``, for those like it who were censored before. Holds if the
      censoring distribution is right, whatever the model: by default the Kaplan-Meier estimate of all held-out rows
      (censoring that has nothing to do with the columns), or a model of it (`censoring`).
    - ``"levels"``: the Kaplan-Meier estimate of the levels ``F(y|x)``. Holds if the model's errors have nothing to do
      with who is censored: surely so if the model is right, whatever the censoring given the columns.
    - ``"both"``: the lower of the two bounds, which holds if either does.

    Without censoring all are split conformal prediction, and the coverage holds in finite samples for any model if rows
    are exchangeable. With censoring it holds up to the error of those estimates, and needs times of event and censoring
    to be independent given the columns; no method can do without that. It is coverage on average over rows, not for
    every kind of row. Exact and right-censored rows without delayed entry.

    Parameters
    ----------
    estimator
        The model, an estimator of aldsurv's; None for ``ALDSurvival()``.
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
        In place of `validation` (then None) cross-fitting: the model learns from all rows, and what is said above of
        finite samples holds nearly, no longer exactly.
    random_state
        Who is held out; the seed of an `estimator` that has none, too.

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

    estimator_: SurvivalEstimator
    quantile_level_: float
    n_features_in_: int

    def __init__(
        self,
        estimator: Any = None,
        level: float = 0.9,
        *,
        method: str = "both",
        censoring: Any = None,
        validation: float | None = 0.25,
        folds: int = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.level = level
        self.method = method
        self.censoring = censoring
        self.validation = validation
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from covariates and times.

        Parameters
        ----------
        X, y
            As for the model within.
        sample_weight
            A weight for each row; multiplies those of `y`.
        """
        self.check_parameters()
        data = read_rows(X, y, sample_weight)
        if data.entry is not None and np.isfinite(data.entry).any():
            raise DataError("rows with delayed entry cannot calibrate a bound: leave out entry, or those rows.")
        seeds = member_seeds(self.random_state, 3)
        parts = choose_parts(data, folds=self.folds, validation=self.validation, seed=seeds[0], X=X)
        if not parts:
            raise DataError(f"{len(data)} rows with {data.n_events} events are too few to hold some out. Give more.")
        found = held_out(unfitted(self._inner(), seeds[1]), X, data, parts)
        count, odds = _row_count(found.parts), []
        if self.method != "levels":
            odds.append(self._highest(*_by_weights(found, self._chances(found, X, data, parts, seeds[2])), count))
        if self.method != "ipcw":
            curve = level_curve(found.parts)
            odds.append(self._highest(curve.odds, curve.cdf, count))
        self.estimator_ = found.model
        self.quantile_level_ = (1 - _ROUNDING) * float(np.exp(-softplus(-np.min(odds))))
        self.n_features_in_ = found.model.n_features_in_
        return self

    def predict_lower(self, X: Any) -> FloatArray:
        """The bound of each row (n,), in the unit of the training times: from 0 to the last time seen in training."""
        self._require_fitted()
        predicted = self.estimator_.predict_distribution(X)
        bound = np.asarray(predicted.quantile(self.quantile_level_), np.float64)
        # Of what comes after the last time no row could tell.
        return np.clip(bound, 0.0, self.estimator_.unique_times_[-1])

    def _inner(self) -> SurvivalEstimator:
        if self.estimator is None:
            from aldsurv.models.neural.ald import ALDSurvival

            return ALDSurvival()
        inner: SurvivalEstimator = self.estimator
        return inner

    def _chances(
        self, found: HeldOut, X: Any, data: SurvivalData, parts: list[NDArray[np.int64]], seed: int
    ) -> list[FloatArray]:
        """Chance of each held-out row not to be censored before its time."""
        # Who is censored at the time of an event was still there to have it: just before counts.
        before = [np.nextafter(rows.time, -np.inf) for _, rows in found.parts]
        if data.event.all():
            return [np.ones(len(times)) for times in before]
        if self.censoring is None:
            curve = censoring_distribution(SurvivalData.concatenate([rows for _, rows in found.parts]))
            return [curve.survival_at(times) for times in before]
        turned = SurvivalData.right(data.time, ~data.event, weight=data.weight)
        lost = held_out(unfitted(self.censoring, seed), X, turned, parts)
        return [
            np.asarray(predicted.survival(times[:, None]), np.float64)[:, 0]
            for (predicted, _), times in zip(lost.parts, before, strict=True)
        ]

    def _highest(self, odds: FloatArray, share: FloatArray, rows: float) -> float:
        """The highest level, as log odds, below which no more than ``1 - level`` of the rows have their event."""
        # The new row is one more, and might be below all: k of n rows make k/(n + 1).
        allowed = (1 - float(self.level)) * (rows + 1) / rows
        within = np.flatnonzero(share <= allowed)
        return float(odds[within[-1]]) if within.size else -np.inf

    def check_parameters(self) -> None:
        check_parts(self.folds, self.validation)
        if (
            not isinstance(self.level, (int, float, np.number))
            or isinstance(self.level, bool)
            or not 0 < self.level < 1
        ):
            raise ParameterError(f"level must lie between 0 and 1, such as 0.9, but is {self.level!r}.")
        if self.method not in _METHODS:
            raise ParameterError(f"method must be one of {', '.join(_METHODS)}, but is {self.method!r}.")


def _by_weights(found: HeldOut, chances: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Levels of events as log odds, ascending, and the share of all rows at or below each, events weighted."""
    odds = np.concatenate([observed_odds(predicted, rows.time) for predicted, rows in found.parts])
    rows = SurvivalData.concatenate([rows for _, rows in found.parts])
    weight = rows.weights / rows.total_weight
    with np.errstate(divide="ignore"):
        counted = np.where(rows.event, weight / np.concatenate(chances), 0.0)
    order = np.argsort(odds, kind="stable")
    order = order[rows.event[order]]
    share = np.cumsum(counted[order])
    # Of equal levels all count, or none.
    last = np.searchsorted(odds[order], odds[order], side="right") - 1
    return odds[order], share[last]


def _row_count(parts: list[tuple[SurvivalDistribution, SurvivalData]]) -> float:
    """Number of rows; of weighted ones the number of equal weights that would know as much."""
    weight = np.concatenate([rows.weights for _, rows in parts])
    return float(weight.sum() ** 2 / (weight**2).sum())
