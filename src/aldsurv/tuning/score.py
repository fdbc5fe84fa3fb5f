"""How well a model with certain settings predicts rows that it has not seen: cross-validation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.covariates import take_rows
from aldsurv.columns.row_copies import find_copies
from aldsurv.data.row_splitting import keep_together
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import NoSkillWarning, TrainingError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.tuning.spaces import Space

__all__ = ["cross_validated", "even_folds"]


def even_folds(data: SurvivalData, folds: int, seed: int, X: Any = None) -> list[NDArray[np.int64]]:
    """Rows of each part, with their share of the events; all parts have as many rows, so that some are in none.

    Models that learn from as many rows are trained together, which is faster than one after the other.

    Parameters
    ----------
    data
        The rows.
    folds
        Number of parts.
    seed
        Of the random order.
    X
        Covariates, by which exact copies of a row are known: these are in one part, even if it is then larger.
    """
    generator = np.random.default_rng([seed, folds])
    place = np.empty(len(data))
    for stratum in (data.exact, ~data.exact):
        rows = generator.permutation(np.flatnonzero(stratum))
        place[rows] = (np.arange(len(rows)) + 0.5) / max(len(rows), 1)
    order = np.argsort(place, kind="stable")
    # Events are spread evenly over the order, so that each stretch of it has its share.
    size = len(data) // folds
    parts = np.empty(len(data), np.int64)
    parts[order] = np.arange(len(data)) // max(size, 1)
    parts = keep_together(parts, None if X is None else find_copies(X, data), data.exact, order)
    return [np.flatnonzero(parts == k) for k in range(folds)]


def cross_validated(
    kind: type[SurvivalEstimator],
    settings: Mapping[str, Any],
    X: Any,
    data: SurvivalData,
    parts: Sequence[NDArray[np.int64]],
    space: Space,
    seed: int,
) -> float | None:
    """Mean score of the rows of all parts; None if a training came to nothing.

    Parameters
    ----------
    kind, settings
        The model and arguments of its constructor; a network has one member and the seed, whatever they say.
    X, data
        Covariates and times.
    parts
        Rows of each part, predicted by a model that learned from all other rows.
    space
        Says which score.
    seed
        Of the networks.
    """
    known = kind.parameter_defaults()
    quiet: dict[str, Any] = {"members": 1, "random_state": seed, "progress": False}
    models = [kind(**{**settings, **{key: quiet[key] for key in quiet if key in known}}) for _ in parts]
    everything = np.arange(len(data))
    others = [np.setdiff1d(everything, part) for part in parts]
    try:
        with warnings.catch_warnings():
            # The score of the trial says it.
            warnings.simplefilter("ignore", NoSkillWarning)
            _fit_all(models, [(take_rows(X, own), data[own]) for own in others])
    except TrainingError:
        return None
    total = 0.0
    for model, own, part in zip(models, others, parts, strict=True):
        weight = data[part].total_weight
        if weight > 0:
            total += weight * _held_out(model.predict_distribution(take_rows(X, part)), data[part], data[own], space)
    mean = total / sum(data[part].total_weight for part in parts)
    return mean if math.isfinite(mean) else None


def _fit_all(models: Sequence[SurvivalEstimator], given: Sequence[tuple[Any, SurvivalData]]) -> None:
    networks = [model for model in models if isinstance(model, NeuralSurvival)]
    if not networks:
        for model, (X, y) in zip(models, given, strict=True):
            model.fit(X, y)
        return
    from aldsurv.models.neural.fitting.joint_fit import fit_together

    fit_together(networks, given)
    # Training ends at Ctrl-C with the weights it has, which is no fair trial.
    if any(model.history_.stopped_by == "interrupt" for model in networks):
        raise KeyboardInterrupt


def _held_out(predicted: Any, data: SurvivalData, train: SurvivalData, space: Space) -> float:
    from aldsurv import metrics

    if space.score == "log_likelihood":
        return float(metrics.log_likelihood(predicted, data))
    return -float(metrics.integrated_brier_score(predicted, data, train=train))
