"""scikit-survival's random survival forest and gradient boosting.

scikit-survival's licence is the GPL: it is no dependency of aldsurv, and imported only if somebody fits one of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.families.step import Step
from aldsurv.models.adapters.adapter import PeerSurvival, library_options

__all__ = ["ForestPeer", "GradientBoostingPeer"]

FloatArray = NDArray[np.float64]


class _ScikitSurvival(PeerSurvival):
    """An ensemble of scikit-survival's, which gives survival at the times of its training rows."""

    _LIBRARY: ClassVar[str] = "scikit-survival"
    _CLASS: ClassVar[str]

    fitted_: Any

    def _library_settings(self) -> dict[str, Any]:
        """The arguments of the library's class."""
        chosen = {**self.get_params(), **library_options(self.options, self.get_params())}
        return {name: chosen[name] for name in chosen if name not in ("categorical", "point", "options")}

    def _learn(self, x: NDArray[np.float32], data: SurvivalData) -> dict[str, Any]:
        try:
            from sksurv import ensemble
        except ImportError:
            raise self._missing() from None
        model = getattr(ensemble, self._CLASS)(**self._library_settings())
        return {"fitted_": model.fit(x, data.to_structured(), sample_weight=data.weight)}

    def predict(self, X: Any) -> FloatArray:
        """The library's risk score of each row: the higher, the earlier the event."""
        x = self._numbers(X)
        return np.asarray(self.fitted_.predict(x), np.float64)

    def predict_distribution(self, X: Any) -> Step:
        """Survival of each row at the times of the training rows, as a step function; the last value is held."""
        x = self._numbers(X)
        survival = self.fitted_.predict_survival_function(x, return_array=True)
        return Step(self.fitted_.unique_times_, np.clip(survival, 0.0, 1.0))


@final
class ForestPeer(_ScikitSurvival):
    """scikit-survival's ``RandomSurvivalForest``; defaults are the library's.

    Parameters
    ----------
    n_estimators, max_depth, min_samples_split, min_samples_leaf, max_features
        As in the library.
    n_jobs
        Threads; one by default.
    random_state
        Seed.
    options
        Further arguments of the library's class, as a dict.
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        What `predict_time` answers with: ``"median"``, ``"mean"``, ``"mode"`` or ``"restricted_mean"``.

    Attributes
    ----------
    fitted_
        The library's object.
    """

    _CLASS: ClassVar[str] = "RandomSurvivalForest"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = None,
        min_samples_split: int | float = 6,
        min_samples_leaf: int | float = 3,
        max_features: str | int | float | None = "sqrt",
        n_jobs: int | None = 1,
        random_state: Any = None,
        options: Mapping[str, Any] | None = None,
        categorical: Sequence[str | int] | None = None,
        point: str = "median",
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.options = options
        self.categorical = categorical
        self.point = point


@final
class GradientBoostingPeer(_ScikitSurvival):
    """scikit-survival's ``GradientBoostingSurvivalAnalysis`` with Cox's loss; defaults are the library's.

    Parameters
    ----------
    n_estimators, learning_rate, max_depth, subsample, min_samples_split, min_samples_leaf, max_features
        As in the library.
    random_state
        Seed.
    options
        Further arguments of the library's class, as a dict.
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        What `predict_time` answers with: ``"median"``, ``"mean"``, ``"mode"`` or ``"restricted_mean"``.

    Attributes
    ----------
    fitted_
        The library's object.
    """

    _CLASS: ClassVar[str] = "GradientBoostingSurvivalAnalysis"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        max_depth: int | None = 3,
        subsample: float = 1.0,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: str | int | float | None = None,
        random_state: Any = None,
        options: Mapping[str, Any] | None = None,
        categorical: Sequence[str | int] | None = None,
        point: str = "median",
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.subsample = subsample
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.options = options
        self.categorical = categorical
        self.point = point
