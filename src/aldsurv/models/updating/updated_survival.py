"""A fitted model with its predictions changed for other people than those it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from aldsurv.checks import Choice, Constraint, OrNone, Text, WholeNumber
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.level_map import describe_levels
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import Arrays, Document, FileContent, require
from aldsurv.models.persistence import model_digest
from aldsurv.models.rows.training_rows import require_events, require_same_count
from aldsurv.models.training_target import first_event, read_target, with_joined_episodes
from aldsurv.models.updating.adjustment import RUNGS, Adjustment, fit_adjustment
from aldsurv.models.updating.ancestry import UpdateStep, ancestry_from_file
from aldsurv.models.wrappers.cross_fitting import unfitted
from aldsurv.models.wrappers.wrapped_survival import WrappedSurvival
from aldsurv.registry import saved_model_name

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["UpdatedSurvival", "read_update_rows", "require_fitted_model", "settings_of"]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class UpdatedSurvival(WrappedSurvival):
    """A fitted model, updated on the rows of another place or time.

    ``fit`` learns the change that `rung` names, from rows that the model was not fitted to; `aldsurv.update_model`
    chooses the rung. Right-, left- and interval-censored rows, delayed entry and weights; a map of levels needs exact
    and right-censored rows. Models with competing causes are refused.

    Parameters
    ----------
    estimator
        The fitted model.
    rung
        ``"none"``: as it is. ``"intercept"``: all hazards times one factor. ``"slope"``: also stretches or shrinks the
        differences between the rows, ``S(t|x)**exp(a + (b - 1)·(lp(x) - mean lp))`` with ``lp = log(-log S(t0|x))`` at
        the median time t0 of the events. ``"levels"``: after that a map of levels, as in `RecalibratedSurvival`.
        ``"last_layer"``: the output layer of a network or the linear predictor of a linear model is learned from the
        new rows, pulled towards what it was, as `refit_outputs` does; what is before it stays. ``"refit"``: the same
        model and settings, fitted to the new rows alone.
    source
        Where the model came from, such as the name of its file; kept in the ancestry.
    random_state
        Seed of a refit whose model has none, and of one of the last layer.

    Attributes
    ----------
    estimator_
        The model whose predictions are changed: the one given, the one with another last layer, or the one fitted
        again.
    adjustment_
        The change: ``intercept``, ``slope``, ``time``, ``center`` and ``level_map``.
    ancestry_
        A record per update, the oldest first.

    Examples
    --------
    >>> from aldsurv import WeibullAFT, datasets
    >>> here, there = datasets.load("gbsg").split(seed=0)
    >>> model = WeibullAFT().fit(here.x, here.y)
    >>> updated = UpdatedSurvival(model, rung="intercept").fit(there.x, there.y)
    >>> round(updated.adjustment_.intercept, 2), updated.ancestry_[0].rung
    (-0.25, 'intercept')
    """

    rung: str = "slope"
    source: str | None = None
    random_state: int | None = None

    adjustment_: Adjustment = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "rung": Choice(RUNGS),
        "source": OrNone(Text()),
        "random_state": OrNone(WholeNumber(0)),
    }

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn the change from rows of the new place."""
        self.check_parameters()
        model = require_fitted_model(self.estimator)
        X, data = read_update_rows(model, X, y, sample_weight, groups)
        if self.rung == "refit":
            changed, adjustment = settings_of(model, self.random_state).fit(X, data), Adjustment()
        elif self.rung == "last_layer":
            changed, adjustment = model.refit_outputs(X, data, random_state=self.random_state), Adjustment()
        else:
            predicted = model.predict_distribution(X)
            require_same_count(len(predicted), data)
            changed, adjustment = model, fit_adjustment(self.rung, predicted, data)
        events = int(np.count_nonzero(np.isfinite(data.upper)))
        step = UpdateStep(saved_model_name(type(model)), model_digest(model), self.rung, len(data), events, self.source)
        self._set_estimator(changed)
        self.adjustment_, self._steps = adjustment, (*model.ancestry_, step)
        return self

    @property
    def ancestry_(self) -> tuple[UpdateStep, ...]:
        """A record per update, the oldest first."""
        self._require_fitted()
        return self._steps

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The changed distribution of the time to the event for each row of `X`."""
        self._require_fitted()
        return self.adjustment_.apply(self.estimator_.predict_distribution(X))

    def predict_members(self, X: object) -> list[SurvivalDistribution]:
        """What each member of the model within predicts, changed as the prediction of all is."""
        self._require_fitted()
        factors = self.adjustment_.log_factors(self.estimator_.predict_distribution(X))
        return [self.adjustment_.apply(one, factors) for one in self.estimator_.predict_members(X)]

    @property
    def last_layer_obstacle_(self) -> str | None:
        """Why the last layer of the model within cannot be fitted alone; None if it can."""
        return self.estimator_.last_layer_obstacle_

    def _with_outputs_of(self, X: object, data: SurvivalData, *, pull: float, seed: int | None) -> SurvivalEstimator:
        # A change of hazards or levels is left out: the last layer learns it.
        return self.estimator_.refit_outputs(X, data, pull=pull, random_state=seed)

    def _changes(self) -> tuple[tuple[str, str], ...]:
        change = self.adjustment_
        formula = "S(t)^exp(a + (b − 1)·(lp − m)), where lp = log(−log S(t0)) by the model within"
        facts = [("Change of the predictions", formula)]
        facts += [("a", f"{change.intercept:.6g}"), ("b", f"{change.slope:.6g}")]
        if change.slope != 1.0:
            facts += [("t0", f"{change.time:.6g}"), ("m", f"{change.center:.6g}")]
        if change.level_map.knots.size:
            facts.append(("Levels of the distribution", describe_levels(change.level_map)))
        return tuple(facts)

    def summary(self) -> str:
        """The model within, how it was changed, and the updates."""
        self._require_fitted()
        change, lines = self.adjustment_, [f"Updated {type(self.innermost).__name__}", f"  rung            {self.rung}"]
        if self.rung in ("intercept", "slope", "levels"):
            lines.append(f"  hazards times   {np.exp(change.intercept):.4g}")
        if self.rung in ("slope", "levels"):
            lines.append(f"  slope           {change.slope:.4g}")
        if self.rung == "levels":
            lines.append(f"  levels          {describe_levels(change.level_map)}")
        titles = ["  updates         ", *(" " * 18 for _ in self.ancestry_[1:])]
        return "\n".join([*lines, *(f"{title}{step}" for title, step in zip(titles, self.ancestry_, strict=True))])

    def _to_file(self) -> FileContent:
        entries, arrays = self._inner_to_file()
        change, levels = self.adjustment_.to_file()
        return {**entries, "adjustment": change, "ancestry": [step.to_dict() for step in self._steps]}, {
            **levels,
            **arrays,
        }

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> UpdatedSurvival:
        names = {"parameters", "inner", "adjustment", "ancestry"}
        require(set(document) == names, "its entries are not those of an updated model")
        model, fitted, others = cls._inner_from_file(document, arrays, encoder)
        adjustment, steps = (
            Adjustment.from_file(document["adjustment"], others),
            ancestry_from_file(document["ancestry"]),
        )
        model._set_estimator(fitted)
        model.adjustment_, model._steps = adjustment, steps
        return model


def require_fitted_model(model: Any) -> SurvivalEstimator:
    """The model, if it is a fitted one of aldsurv that can be updated; else `ParameterError`."""
    if not isinstance(model, SurvivalEstimator) or not model.__sklearn_is_fitted__():
        kind = "is not fitted" if isinstance(model, SurvivalEstimator) else f"is of type {type(model).__name__}"
        raise ParameterError(
            f"only a fitted model of aldsurv can be updated, but this one {kind}. Call fit(X, y) first, or load it.",
            argument="estimator",
        )
    if model.causes_ is not None:
        raise ParameterError(
            f"this {type(model).__name__} tells the causes {', '.join(model.causes_)} apart: only models of one event "
            "can be updated. Fit it again, or update a model of one of the causes."
        )
    return model


def read_update_rows(
    model: SurvivalEstimator, X: object, y: object, sample_weight: object, groups: object
) -> tuple[Any, SurvivalData]:
    """Covariates and outcome of the rows that a model is updated on: the first event of any cause."""
    X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
    data = first_event(read_target(y, sample_weight, groups), type(model).__name__, stacklevel=4)
    require_events(data)
    return X, data


def settings_of(model: SurvivalEstimator, seed: int | None = None) -> SurvivalEstimator:
    """An estimator with the settings of the model before all updates, not fitted."""
    while isinstance(model, UpdatedSurvival):
        model = model.estimator_
    return unfitted(model, seed)
