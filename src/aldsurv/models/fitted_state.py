"""How an estimator becomes fitted: all attributes at once, after everything that can fail."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from aldsurv.columns.features import Features

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["FittedState", "fitted_state", "set_columns", "set_fitted_state"]


@dataclass(frozen=True)
class FittedState:
    """What a model learned: each field is an attribute of the fitted model, whose name has an underscore at the end."""


StateT = TypeVar("StateT", bound=FittedState)


def set_fitted_state(model: SurvivalEstimator, state: FittedState) -> None:
    """Set all of its attributes."""
    for entry in fields(state):
        setattr(model, f"{entry.name}_", getattr(state, entry.name))


def fitted_state(model: SurvivalEstimator, kind: type[StateT]) -> StateT:
    """The inverse of `set_fitted_state`."""
    return kind(**{entry.name: getattr(model, f"{entry.name}_") for entry in fields(kind)})


def set_columns(model: SurvivalEstimator, features: Features) -> None:
    """Set number and names of the columns of X, as scikit-learn calls them."""
    model.n_features_in_ = features.n_features_in
    if features.names_in is not None:
        model.feature_names_in_ = np.array(features.names_in, dtype=object)
    elif "feature_names_in_" in vars(model):
        del model.feature_names_in_
