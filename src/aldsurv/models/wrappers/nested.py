"""Estimators around another estimator: its parameters are reached by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from aldsurv.checks import Constraint, Number, OrNone, WholeNumber, check_all, declared_constraints
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.neural.ald import ALDSurvival
from aldsurv.models.sklearn_mixin import SklearnEstimatorMixin

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["InnerEstimatorMixin", "NestedEstimatorMixin"]


@dataclass(kw_only=True, eq=False, repr=False)
class InnerEstimatorMixin(SklearnEstimatorMixin):
    """An estimator one of whose parameters is an estimator, whose own parameters are ``estimator__name``.

    Parameters
    ----------
    estimator
        The model, an estimator of aldsurv's; None for ``ALDSurvival()``.

    Attributes
    ----------
    estimator_
        The fitted model within.
    """

    estimator: SurvivalEstimator | None = field(default=None, kw_only=False)

    estimator_: SurvivalEstimator = field(init=False)

    def check_parameters(self) -> None:
        """Raise `ParameterError` for a parameter that `fit` would refuse whatever the rows are."""
        check_all(self.get_params(deep=False), declared_constraints(type(self)))

    def _inner(self) -> SurvivalEstimator:
        return ALDSurvival() if self.estimator is None else self.estimator

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and their values; with `deep` also those of estimators among them, as ``estimator__name``."""
        parameters = {name: getattr(self, name) for name in self.parameter_defaults()}
        if not deep:
            return parameters
        inner = {name: value for name, value in parameters.items() if isinstance(value, SklearnEstimatorMixin)}
        return parameters | {
            f"{name}__{key}": v for name, value in inner.items() for key, v in value.get_params().items()
        }

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``estimator__name`` sets one of the estimator within."""
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        for name, value in params.items():
            owner, _, rest = name.partition("__")
            if not rest:
                continue
            inner = getattr(self, owner, None) if owner in self.parameter_defaults() else None
            if not isinstance(inner, SklearnEstimatorMixin):
                raise ParameterError(f"{type(self).__name__} has no estimator {owner!r} to set {rest!r} of.")
            inner.set_params(**{rest: value})
        return self

    def __repr__(self) -> str:
        defaults, values = self.parameter_defaults(), self.get_params(deep=False)
        changed = {name: value for name, value in values.items() if value is not defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


@dataclass(kw_only=True, eq=False, repr=False)
class NestedEstimatorMixin(InnerEstimatorMixin):
    """An estimator around another one, which learns from rows that the latter did not learn from.

    Parameters
    ----------
    estimator
        The model, an estimator of aldsurv's; None for ``ALDSurvival()``. It is not fitted itself, but ``estimator_``.
    folds
        Cross-fitting: each row is predicted by a model that learned from the other folds; the model that predicts
        later has learned from all rows.
    validation
        In place of `folds` the share of the rows to hold out, as 0.2: the model is fitted once, to the others.
    random_state
        Decides which rows are held out: an integer, a numpy Generator, or None for fresh randomness. It is also the
        seed of an `estimator` that has none.

    Attributes
    ----------
    estimator_
        The fitted model within.
    """

    folds: int = 5
    validation: float | None = None
    random_state: Any = None

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "folds": WholeNumber(2),
        "validation": OrNone(Number(0, 1, above=True, below=True)),
    }
