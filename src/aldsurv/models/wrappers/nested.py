"""Estimators around another estimator: its parameters by name, and rows it did not learn from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.row_copies import find_copies
from aldsurv.data.row_splitting import keep_together
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.base import SurvivalEstimator, read_target
from aldsurv.models.neural.fitting.preparation import rows_of
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.sklearn_mixin import SklearnEstimatorMixin

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["HeldOut", "NestedHabits", "check_parts", "choose_parts", "held_out", "read_rows", "unfitted"]

IntArray = NDArray[np.int64]


class NestedHabits(SklearnEstimatorMixin):
    """scikit-learn's habits where a parameter is an estimator: its own are reached as ``estimator__name``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and their values; with `deep` also those of estimators among them, as ``estimator__name``."""
        own = {name: getattr(self, name) for name in self.parameter_defaults()}
        if not deep:
            return own
        inner = {name: value for name, value in own.items() if isinstance(value, SklearnEstimatorMixin)}
        return own | {f"{name}__{key}": v for name, value in inner.items() for key, v in value.get_params().items()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``estimator__name`` sets one of the estimator's own."""
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
        defaults, given = self.parameter_defaults(), self.get_params(deep=False)
        changed = {name: value for name, value in given.items() if value is not defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


class HeldOut(NamedTuple):
    """A fitted model, and what models told of rows that they had not learned from, with these rows."""

    model: SurvivalEstimator
    parts: list[tuple[SurvivalDistribution, SurvivalData]]


def unfitted(estimator: Any, seed: int | None = None) -> SurvivalEstimator:
    """An estimator of the same parameters; with a seed if it wants one and has none."""
    if not isinstance(estimator, SurvivalEstimator):
        raise ParameterError(
            f"estimator must be one of aldsurv's, such as ALDSurvival(), but is of type {type(estimator).__name__}."
        )
    given = estimator.get_params(deep=False)
    if seed is not None and given.get("random_state", seed) is None:
        given["random_state"] = seed
    return type(estimator)(**given)


def check_parts(folds: Any, validation: Any) -> None:
    """Raise `ParameterError` unless they say which rows are held out."""
    if validation is not None:
        if (
            not isinstance(validation, (int, float, np.number))
            or isinstance(validation, bool)
            or not 0 < validation < 1
        ):
            raise ParameterError(f"validation must be None or a share between 0 and 1, but is {validation!r}.")
    elif not isinstance(folds, (int, np.integer)) or isinstance(folds, bool) or folds < 2:
        raise ParameterError(f"folds must be a whole number from 2 on, but is {folds!r}.")


def choose_parts(
    data: SurvivalData, *, folds: int, validation: float | None, seed: int, X: Any = None
) -> list[IntArray]:
    """Rows of each part, with its share of the events; none if there are too few to hold any out.

    Parameters
    ----------
    data
        The rows.
    folds
        How many parts, which have each row once.
    validation
        In place of `folds`: the share of the rows in a single part.
    seed
        Decides who is in which.
    X
        Covariates, by which exact copies of a row are known: these are in one part.
    """
    n, events = len(data), int(np.count_nonzero(data.exact & (data.weights > 0)))
    generator = np.random.default_rng(seed)
    place = np.empty(n)
    for stratum in (data.exact, ~data.exact):
        rows = generator.permutation(np.flatnonzero(stratum))
        place[rows] = (np.arange(len(rows)) + 0.5) / max(len(rows), 1)
    order = np.argsort(place, kind="stable")
    copies = None if X is None else find_copies(X, data)
    parts = np.zeros(n, np.int64)
    if validation is not None:
        size = round(float(validation) * n)
        if events < 2 or not 0 < size < n:
            return []
        # Evenly over an order in which events are spread evenly.
        parts[order[np.floor((np.arange(size) + 0.5) * n / size).astype(np.int64)]] = 1
        held = [np.flatnonzero(keep_together(parts, copies, data.exact, order) == 1)]
        return held if 0 < len(held[0]) < n else []
    count = min(int(folds), events, n // 2)
    if count < 2:
        return []
    parts[order] = np.arange(n) % count
    parts = keep_together(parts, copies, data.exact, order)
    # Groups of copies can be too large for as many parts.
    held = [rows for rows in (np.flatnonzero(parts == k) for k in range(count)) if rows.size]
    return held if len(held) > 1 else []


def held_out(estimator: SurvivalEstimator, X: Any, data: SurvivalData, parts: Sequence[IntArray]) -> HeldOut:
    """Fit a model, and have rows predicted that were not learned from.

    Parameters
    ----------
    estimator
        What to fit; it is left as it is.
    X, data
        The rows.
    parts
        Rows that are held out. One part: the model returned has learned from all others. Several: each is predicted
        by a model of the others, and the one returned has learned from all rows.
    """
    everybody = np.arange(len(data))
    if len(parts) == 1:
        _require_rows(X, data)
        others = np.setdiff1d(everybody, parts[0])
        model = unfitted(estimator).fit(rows_of(X, others), data[others])
        return HeldOut(model, [(_predicted(model, X, parts[0]), data[parts[0]])])
    # All rows first: whatever is wrong with them is said of them, not of a part.
    model = unfitted(estimator).fit(X, data)
    models = [unfitted(estimator) for _ in parts]
    given = [np.setdiff1d(everybody, part) for part in parts]
    with warnings.catch_warnings():
        # Of a part no more is to be said than of all.
        warnings.simplefilter("ignore")
        _fit_all(models, [(rows_of(X, own), data[own]) for own in given])
    return HeldOut(model, [(_predicted(own, X, part), data[part]) for own, part in zip(models, parts, strict=True)])


def read_rows(X: Any, y: Any, sample_weight: Any) -> SurvivalData:
    """The target, of rows of which a level can be known: exact or right-censored, with events among them."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        # Before the target, which will be as odd: the complaint is to be about what came first.
        raise DataError("Complex data not supported: X must hold real numbers. Give its parts as columns.")
    data = read_target(y, sample_weight)
    _ = data.time  # refuses other rows
    if not data.exact.any():
        raise DataError(
            "no event was observed in any row: there is nothing to learn. "
            "Check which value of the event column means an event."
        )
    return data


def _predicted(model: SurvivalEstimator, X: Any, rows: IntArray) -> SurvivalDistribution:
    with warnings.catch_warnings():
        # Levels and gaps that its part did not have: the rows are the user's own.
        warnings.simplefilter("ignore")
        return model.predict_distribution(rows_of(X, rows))


def _fit_all(models: Sequence[SurvivalEstimator], given: Sequence[tuple[Any, SurvivalData]]) -> None:
    networks = [model for model in models if isinstance(model, NeuralSurvival)]
    if networks:
        from aldsurv.models.neural.fitting.joint_fit import fit_together

        fit_together(networks, given)
        return
    for model, (X, y) in zip(models, given, strict=True):
        model.fit(X, y)


def _require_rows(X: Any, data: SurvivalData) -> None:
    count = len(next(iter(X.values()))) if isinstance(X, Mapping) and X else len(X)
    if count != len(data):
        raise DataError(f"X has {count} rows, but y has {len(data)}. Give one row of X for each time.")
