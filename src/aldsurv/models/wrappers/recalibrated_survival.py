"""Any model, with its levels recalibrated on rows that it did not learn from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np

from aldsurv.checks import Constraint, OrNone, WholeNumber
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.level_map import LevelMap, describe_levels
from aldsurv.distributions.wrappers.recalibrated import recalibrated
from aldsurv.errors import FitWarning
from aldsurv.models.file_entries import Arrays, Document, FileContent, finite_floats, require
from aldsurv.models.rows.member_rows import member_seeds
from aldsurv.models.training_target import with_joined_episodes
from aldsurv.models.wrappers.cross_fitting import choose_parts, predict_held_out, read_rows, unfitted
from aldsurv.models.wrappers.nested import NestedEstimatorMixin
from aldsurv.models.wrappers.wrapped_survival import WrappedSurvival
from aldsurv.nonparametric.observed_levels import level_map

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RecalibratedSurvival"]

_ARRAYS = ("level_map.knots", "level_map.values")


@final
@dataclass(kw_only=True, eq=False, repr=False)
class RecalibratedSurvival(NestedEstimatorMixin, WrappedSurvival):
    """A model whose predicted probabilities are calibrated on average over all rows.

    For rows that the model has not seen it takes the predicted probability of the event by the time at which it came,
    ``u = F(y|x)``. If the model is calibrated, these levels are uniform; their smoothed Kaplan-Meier estimate G (a
    censored row is censored at its level) gives the recalibrated prediction ``G(F(t|x))``. There is one
    G for all rows: at any one time their order stays, and errors that differ between groups remain.

    Exact and right-censored rows, with delayed entry and weights.

    Parameters
    ----------
    estimator, folds, validation, random_state
        As in `NestedEstimatorMixin`: the model within, and which rows it does not learn from.
    bins
        Levels at which the estimate is taken; None for the cube root of the number of events.

    Attributes
    ----------
    estimator_
        The fitted model as it was before.
    level_map_
        What its levels become, a `LevelMap`.
    trained_on_
        What `estimator_` was fitted to.

    Examples
    --------
    >>> from aldsurv import WeibullAFT, datasets, metrics
    >>> train, test = datasets.load("gbsg").split(seed=0)
    >>> model = RecalibratedSurvival(WeibullAFT(), random_state=0).fit(train.x, train.y)
    >>> before, after = (each.predict_distribution(test.x) for each in (model.estimator_, model))
    >>> [round(metrics.censored_d_calibration(each, test.y), 2) for each in (before, after)]
    [0.62, 0.48]
    """

    bins: int | None = None

    level_map_: LevelMap = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"bins": OrNone(WholeNumber(2))}

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, which are as for the model within."""
        self.check_parameters()
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        data = self._read_training_target(read_rows(X, y, sample_weight, groups), None)
        seeds = member_seeds(self.random_state, 2)
        parts = choose_parts(data, folds=self.folds, validation=self.validation, seed=seeds[0], X=X)
        held_out = predict_held_out(unfitted(self._inner(), seeds[1]), X, data, parts)
        levels = level_map(held_out.parts, bins=self.bins) if held_out.parts else LevelMap(np.empty(0), np.empty(0))
        if not levels.knots.size:
            warnings.warn(
                f"{data.n_events} events are too few to recalibrate by: predictions stay as they are.",
                FitWarning,
                stacklevel=2,
            )
        self._set_estimator(held_out.model)
        self.level_map_ = levels
        return self

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The recalibrated distribution of the time to the event for each row of `X`."""
        self._require_fitted()
        return recalibrated(self.estimator_.predict_distribution(X), self.level_map_)

    def _changes(self) -> tuple[tuple[str, str], ...]:
        return (("Levels of the distribution", describe_levels(self.level_map_)),)

    def summary(self) -> str:
        """The model within, and how far its levels are moved."""
        self._require_fitted()
        moved = describe_levels(self.level_map_)
        return f"Recalibrated {type(self.estimator_).__name__}\n  levels          {moved}"

    def predict_members(self, X: object) -> list[SurvivalDistribution]:
        """What each member of the model within predicts, recalibrated as the prediction of all is.

        The recalibrated prediction lies between them, but is not their mixture.
        """
        self._require_fitted()
        return [recalibrated(one, self.level_map_) for one in self.estimator_.predict_members(X)]

    def _to_file(self) -> FileContent:
        entries, arrays = self._inner_to_file()
        levels = dict(zip(_ARRAYS, (self.level_map_.knots, self.level_map_.values), strict=True))
        return entries, {**levels, **arrays}

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> RecalibratedSurvival:
        require(set(document) == {"parameters", "inner"}, "its entries are not those of a recalibrated model")
        model, fitted, others = cls._inner_from_file(document, arrays, encoder)
        require(set(others) == set(_ARRAYS), "it holds arrays that are not of this model")
        levels = LevelMap(*(finite_floats(others, name) for name in _ARRAYS))
        model._set_estimator(fitted)
        model.level_map_ = levels
        return model
