"""Any model, with its levels put right on rows that it did not learn from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.distributions.wrappers.recalibrated import recalibrated
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import portable, require, text
from aldsurv.models.linear.linear_survival import finite_floats
from aldsurv.models.neural.fitting.preparation import member_seeds
from aldsurv.models.training_rows import TrainedOn
from aldsurv.models.wrappers.nested import NestedHabits, check_parts, choose_parts, held_out, read_rows, unfitted
from aldsurv.nonparametric.observed_levels import level_map
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RecalibratedSurvival"]

_INNER = "inner."
_PARAMETERS = ("folds", "validation", "bins", "random_state")
_ARRAYS = ("level_map.knots", "level_map.values")


@final
class RecalibratedSurvival(NestedHabits, SurvivalEstimator):
    """A model whose predicted probabilities come true as often as they say, on average over all rows.

    Of rows that the model has not seen it looks up how probable it had called the event by the time at which it came,
    ``u = F(y|x)``. Were the model calibrated, these levels would be uniform; their Kaplan-Meier estimate G (a censored
    row is censored at its own level), made smooth, gives the recalibrated prediction ``G(F(t|x))``. There is one
    G for all rows: at any one time their order stays, and what is wrong in one group and right in another stays so.

    Exact and right-censored rows, with delayed entry and weights.

    Parameters
    ----------
    estimator
        The model, an estimator of aldsurv's; None for ``ALDSurvival()``. It is not fitted itself, but ``estimator_``.
    folds
        Cross-fitting: each row is predicted by a model that learned from the other folds; the model that predicts
        later has learned from all rows.
    validation
        In place of `folds` the share of the rows to hold out, as 0.2: the model is fitted once, to the others.
    bins
        Levels at which the estimate is taken; None for the cube root of the number of events.
    random_state
        Who is in which fold: an integer, a numpy Generator, or None for fresh randomness. It is the seed of an
        `estimator` that has none, too.

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

    estimator_: SurvivalEstimator
    level_map_: LevelMap
    trained_on_: TrainedOn | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        folds: int = 5,
        validation: float | None = None,
        bins: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.folds = folds
        self.validation = validation
        self.bins = bins
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
        seeds = member_seeds(self.random_state, 2)
        parts = choose_parts(data, folds=self.folds, validation=self.validation, seed=seeds[0], X=X)
        found = held_out(unfitted(self._inner(), seeds[1]), X, data, parts)
        learned = level_map(found.parts, bins=self.bins) if found.parts else LevelMap(np.empty(0), np.empty(0))
        if not learned.knots.size:
            warnings.warn(
                f"{data.n_events} events are too few to recalibrate by: predictions stay as they are.", stacklevel=2
            )
        self._remember(found.model, learned)
        return self

    def predict_distribution(self, X: Any) -> SurvivalDistribution:
        """The recalibrated distribution of the time to the event for each row of `X`."""
        self._require_fitted()
        return recalibrated(self.estimator_.predict_distribution(X), self.level_map_)

    def summary(self) -> str:
        """How far levels were moved, after what the model within has to say."""
        self._require_fitted()
        levels = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
        moved = ", ".join(f"{a:g} → {b:.3f}" for a, b in zip(levels, self.level_map_(levels), strict=True))
        return f"Recalibrated {type(self.estimator_).__name__}\n  levels          {moved}"

    def _inner(self) -> SurvivalEstimator:
        if self.estimator is None:
            from aldsurv.models.neural.ald import ALDSurvival

            return ALDSurvival()
        inner: SurvivalEstimator = self.estimator
        return inner

    def set_outcome_columns(self, columns: Mapping[str, str]) -> None:
        """Keep with the model within which columns of a table held the outcome."""
        self.estimator_.set_outcome_columns(columns)
        self.trained_on_ = self.estimator_.trained_on_

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        self._require_fitted()
        return self.estimator_.error_point_

    @property
    def ranking_point_(self) -> str:
        """The summary by which rows are ranked."""
        self._require_fitted()
        return self.estimator_.ranking_point_

    def predict_members(self, X: Any) -> list[SurvivalDistribution]:
        """What each member of the model within predicts, its levels put right as those of all together are.

        The recalibrated prediction lies between them, but is not their mixture.
        """
        self._require_fitted()
        return [recalibrated(one, self.level_map_) for one in self.estimator_.predict_members(X)]

    @property
    def n_members(self) -> int:
        """Networks or other members of an ensemble; 1 without one."""
        return self.estimator_.n_members

    def band_stretch(self) -> float:
        return self.estimator_.band_stretch()

    def check_parameters(self) -> None:
        check_parts(self.folds, self.validation)
        bins = self.bins
        if bins is not None and (not isinstance(bins, (int, np.integer)) or isinstance(bins, bool) or bins < 2):
            raise ParameterError(f"bins must be None or a whole number from 2 on, but is {bins!r}.")

    def _remember(self, model: SurvivalEstimator, learned: LevelMap) -> None:
        self.estimator_, self.level_map_ = model, learned
        self.trained_on_ = model.trained_on_
        self.unique_times_, self.n_features_in_ = model.unique_times_, model.n_features_in_
        if "feature_names_in_" in vars(model):
            self.feature_names_in_ = model.feature_names_in_
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        document, arrays = self.estimator_._to_file()
        parameters = {name: portable(getattr(self, name)) for name in _PARAMETERS}
        inner = {"model": MODELS.name_of(type(self.estimator_)), "entries": document}
        entries = {"parameters": parameters, "inner": inner}
        own = dict(zip(_ARRAYS, (self.level_map_.knots, self.level_map_.values), strict=True))
        return entries, {**own, **{f"{_INNER}{name}": array for name, array in arrays.items()}}

    @classmethod
    def _from_file(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None
    ) -> RecalibratedSurvival:
        require(set(document) == {"parameters", "inner"}, "its entries are not those of a recalibrated model")
        parameters, inner = document["parameters"], document["inner"]
        require(isinstance(parameters, dict) and set(parameters) == set(_PARAMETERS), "its parameters are unclear")
        require(isinstance(inner, dict) and set(inner) == {"model", "entries"}, "the model within is unclear")
        require(isinstance(inner["entries"], dict), "the model within is unclear")
        own = {name for name in arrays if not name.startswith(_INNER)}
        require(own == set(_ARRAYS), "it holds arrays that are not of this model")
        kind = MODELS.load(text(inner["model"], "model"))
        within = {name.removeprefix(_INNER): array for name, array in arrays.items() if name.startswith(_INNER)}
        fitted = kind._from_file(inner["entries"], within, encoder)
        model = cls(unfitted(fitted), **parameters)
        model.check_parameters()
        model._remember(fitted, LevelMap(*(finite_floats(arrays, name) for name in _ARRAYS)))
        return model
