"""Cross-fitting: rows that a model did not learn from, and what it predicts for them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.covariates import take_rows
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.rows.row_splitting import keep_together
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.neural.fitting.joint_fit import fit_together
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.rows.training_rows import require_events, require_same_count
from aldsurv.models.training_target import read_target
from aldsurv.notices import muted

__all__ = ["HeldOut", "balanced_order", "choose_parts", "fit_all", "predict_held_out", "read_rows", "unfitted"]

IntArray = NDArray[np.int64]


@final
@dataclass(frozen=True)
class HeldOut:
    """A fitted model, and predictions for rows by models that had not learned from them, with these rows.

    Attributes
    ----------
    model
        The fitted model.
    parts
        Predictions and rows of each part that was held out.
    interrupted
        Whether the training of any of the models was ended early by the user.
    """

    model: SurvivalEstimator
    parts: list[tuple[SurvivalDistribution, SurvivalData]]
    interrupted: bool = False


def unfitted(estimator: Any, seed: int | None = None) -> SurvivalEstimator:
    """An estimator of the same parameters; with the seed if it takes one and has none."""
    if not isinstance(estimator, SurvivalEstimator):
        raise ParameterError(
            f"estimator must be one of aldsurv's, such as ALDSurvival(), but is of type {type(estimator).__name__}.",
            argument="estimator",
        )
    parameters = estimator.get_params(deep=False)
    if seed is not None and parameters.get("random_state", seed) is None:
        parameters["random_state"] = seed
    return type(estimator)(**parameters)


def balanced_order(data: SurvivalData, generator: np.random.Generator) -> IntArray:
    """Row numbers in a random order over which events are spread evenly: each stretch of it has its share."""
    place, happened = np.empty(len(data)), np.isfinite(data.upper)
    for stratum in (happened, ~happened):
        rows = generator.permutation(np.flatnonzero(stratum))
        place[rows] = (np.arange(len(rows)) + 0.5) / max(len(rows), 1)
    return np.argsort(place, kind="stable")


def choose_parts(
    data: SurvivalData, *, folds: int, validation: float | None, seed: int, X: object = None
) -> list[IntArray]:
    """Rows of each part, with its share of the events; none if there are too few to hold any out.

    Parameters
    ----------
    data
        The rows.
    folds
        Number of parts, each row in one of them.
    validation
        In place of `folds`: the share of the rows in a single part.
    seed
        Of the random order.
    X
        Covariates, which show exact copies of a row: these are in one part, as are rows of one group. There are no more
        parts than groups.
    """
    # An event within an interval is one, too.
    happened = np.isfinite(data.upper)
    n, events = len(data), int(np.count_nonzero(happened & (data.weights > 0)))
    order = balanced_order(data, np.random.default_rng(seed))
    groups, by_lot = find_groups(X, data), data.group is not None
    if data.group is not None:
        _require_groups(data, groups)
    parts = np.zeros(n, np.int64)
    if validation is not None:
        size = round(float(validation) * n)
        if events < 2 or not 0 < size < n:
            return []
        parts[order[np.floor((np.arange(size) + 0.5) * n / size).astype(np.int64)]] = 1
        held = [np.flatnonzero(keep_together(parts, groups, happened, order, by_lot=by_lot) == 1)]
        return _learnable(held, data)
    count = min(int(folds), events, n // 2, data.n_groups)
    if count < 2:
        return []
    parts[order] = np.arange(n) % count
    parts = keep_together(parts, groups, happened, order, by_lot=by_lot)
    # Groups can be too large for as many parts.
    held = _learnable([np.flatnonzero(parts == k) for k in range(count)], data)
    return held if len(held) > 1 else []


def _learnable(parts: Sequence[IntArray], data: SurvivalData) -> list[IntArray]:
    """The parts that have rows, and leave others with an event to learn from."""
    events = np.isfinite(data.upper) & (data.weights > 0)
    n_events = int(np.count_nonzero(events))
    return [part for part in parts if part.size and np.count_nonzero(events[part]) < n_events]


def _require_groups(data: SurvivalData, groups: IntArray | None) -> None:
    """Raise `DataError` if all rows, or all of several events, belong together: none could be held out."""
    events = data.exact & (data.weights > 0)
    for kind, rows in (("rows", np.ones(len(data), np.bool_)), ("events", events)):
        inside = np.empty(0, np.int64) if groups is None else groups[rows]
        if inside.size > 1 and inside.min() == inside.max() >= 0:
            raise DataError(
                f"all {inside.size} {kind} are of one group, which stays whole: none can be held out",
                argument="groups",
                advice="Give more groups, or none.",
            )


def predict_held_out(estimator: SurvivalEstimator, X: object, data: SurvivalData, parts: Sequence[IntArray]) -> HeldOut:
    """Fit a model, and predict rows by models that did not learn from them.

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
    all_rows = np.arange(len(data))
    if len(parts) == 1:
        require_same_count(_count_rows(X), data)
        rest = np.setdiff1d(all_rows, parts[0])
        model = unfitted(estimator).fit(take_rows(X, rest), data[rest])
        held = [(_predict_quietly(model, X, parts[0]), data[parts[0]])]
        return HeldOut(model, held, model.innermost.interrupted_)
    # All rows first: an error is about the rows as given, not about a part of them.
    model = unfitted(estimator).fit(X, data)
    models = [unfitted(estimator) for _ in parts]
    others = [np.setdiff1d(all_rows, part) for part in parts]
    with warnings.catch_warnings(), muted():
        # Warnings about all rows were given above.
        warnings.simplefilter("ignore")
        fit_all(models, [(take_rows(X, rest), data[rest]) for rest in others])
    predicted = [_predict_quietly(fitted, X, part) for fitted, part in zip(models, parts, strict=True)]
    interrupted = any(fitted.innermost.interrupted_ for fitted in (model, *models))
    return HeldOut(model, [(each, data[part]) for each, part in zip(predicted, parts, strict=True)], interrupted)


def fit_all(models: Sequence[SurvivalEstimator], rows: Sequence[tuple[Any, SurvivalData]]) -> None:
    """Fit models of one class, each to its X and y; networks in one training loop, which is faster."""
    networks = [model for model in models if isinstance(model, NeuralSurvival)]
    if networks:
        fit_together(networks, rows)
        return
    for model, (X, y) in zip(models, rows, strict=True):
        model.fit(X, y)


def read_rows(
    X: object, y: object, sample_weight: object, groups: object = None, *, bounds: bool = False
) -> SurvivalData:
    """The target of exact and right-censored rows, with events among them; with `bounds` of any rows."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        # Before the target, which may be complex, too: the error names the first argument.
        raise DataError("Complex data not supported: X must hold real numbers. Give its parts as columns.")
    data = read_target(y, sample_weight, groups)
    if not bounds:
        _ = data.time  # Raises an error for rows of other kinds.
    require_events(data)
    return data


def _predict_quietly(model: SurvivalEstimator, X: object, rows: IntArray) -> SurvivalDistribution:
    with warnings.catch_warnings(), muted():
        # About levels and gaps that the model's part did not have.
        warnings.simplefilter("ignore")
        return model.predict_distribution(take_rows(X, rows))


def _count_rows(X: Any) -> int:
    return len(next(iter(X.values()))) if isinstance(X, Mapping) and X else len(X)
