"""scikit-survival's random survival forest and gradient boosting.

scikit-survival's licence is the GPL: it is not a dependency of aldsurv, and imported only when one of these is fitted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.families.step import Step
from aldsurv.models.adapters.adapter import PeerSurvival, library_options
from aldsurv.models.fitted_state import FittedState

__all__ = ["ForestPeer", "GradientBoostingPeer"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True)
class FittedEnsemble(FittedState):
    """The library's fitted object."""

    fitted: Any


@dataclass(kw_only=True, eq=False, repr=False)
class ScikitSurvivalEnsemble(PeerSurvival):
    """An ensemble of scikit-survival's, which gives survival at the times of its training rows.

    Parameters
    ----------
    n_estimators
        As in the library, like all parameters of the ensembles.
    random_state, options, categorical, point
        As in `PeerSurvival`.

    Attributes
    ----------
    fitted_
        The library's object.
    """

    n_estimators: int = field(default=100, kw_only=False)

    fitted_: Any = field(init=False)

    LIBRARY: ClassVar[str] = "scikit-survival"
    # Name of the library's class.
    LIBRARY_CLASS: ClassVar[str]

    def _library_settings(self) -> dict[str, Any]:
        """The arguments of the library's class."""
        chosen = {**self.get_params(), **library_options(self.options, self.get_params())}
        return {name: chosen[name] for name in chosen if name not in ("categorical", "point", "options")}

    def _learn(self, x: NDArray[np.float32], data: SurvivalData) -> FittedEnsemble:
        try:
            from sksurv import ensemble
        except ImportError:
            raise self._missing() from None
        model = getattr(ensemble, self.LIBRARY_CLASS)(**self._library_settings())
        return FittedEnsemble(model.fit(x, data.to_structured(), sample_weight=data.weight))

    def predict(self, X: object) -> FloatArray:
        """The library's risk score of each row: the higher, the earlier the event."""
        x = self._numbers(X)
        return np.asarray(self.fitted_.predict(x), np.float64)

    def predict_distribution(self, X: object) -> Step:
        """Survival of each row at the times of the training rows, as a step function; the last value is held."""
        x = self._numbers(X)
        survival = self.fitted_.predict_survival_function(x, return_array=True)
        return Step(self.fitted_.unique_times_, np.clip(survival, 0.0, 1.0))


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ForestPeer(ScikitSurvivalEnsemble):
    """scikit-survival's ``RandomSurvivalForest``; defaults are the library's.

    Parameters
    ----------
    max_depth, min_samples_split, min_samples_leaf, max_features
        As in the library.
    n_jobs
        Threads; one by default.
    n_estimators, random_state, options, categorical, point
        As in `ScikitSurvivalEnsemble`.
    """

    max_depth: int | None = None
    min_samples_split: int | float = 6
    min_samples_leaf: int | float = 3
    max_features: str | int | float | None = "sqrt"
    n_jobs: int | None = 1

    LIBRARY_CLASS: ClassVar[str] = "RandomSurvivalForest"


@final
@dataclass(kw_only=True, eq=False, repr=False)
class GradientBoostingPeer(ScikitSurvivalEnsemble):
    """scikit-survival's ``GradientBoostingSurvivalAnalysis`` with Cox's loss; defaults are the library's.

    Parameters
    ----------
    learning_rate, max_depth, subsample, min_samples_split, min_samples_leaf, max_features
        As in the library.
    n_estimators, random_state, options, categorical, point
        As in `ScikitSurvivalEnsemble`.
    """

    learning_rate: float = 0.1
    max_depth: int | None = 3
    subsample: float = 1.0
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    max_features: str | int | float | None = None

    LIBRARY_CLASS: ClassVar[str] = "GradientBoostingSurvivalAnalysis"
