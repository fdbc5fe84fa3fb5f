"""How well a model with certain settings predicts rows that it has not seen: cross-validation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.covariates import take_rows
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.row_splitting import keep_together
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import NoSkillWarning, TrainingError
from aldsurv.metrics import integrated_brier_score, log_likelihood
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.search_space import Score
from aldsurv.models.wrappers.cross_fitting import balanced_order, fit_all

__all__ = ["cross_validated", "even_folds", "held_out_score"]


def even_folds(data: SurvivalData, folds: int, seed: int, X: object = None) -> list[NDArray[np.int64]]:
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
        Covariates, which show exact copies of a row: these are in one part, even if it is then larger, as are rows of
        one group. With groups every row is in a part, and there are no more parts than groups.
    """
    order = balanced_order(data, np.random.default_rng([seed, folds]))
    parts = np.empty(len(data), np.int64)
    if data.group is None:
        parts[order] = np.arange(len(data)) // max(len(data) // folds, 1)
    else:
        folds = min(folds, data.n_groups)
        parts[order] = np.arange(len(data)) % folds
    parts = keep_together(parts, find_groups(X, data), data.exact, order, by_lot=data.group is not None)
    chosen = [np.flatnonzero(parts == k) for k in range(folds)]
    return chosen if data.group is None else [part for part in chosen if part.size]


def cross_validated(
    kind: type[SurvivalEstimator],
    settings: Mapping[str, Any],
    X: object,
    data: SurvivalData,
    parts: Sequence[NDArray[np.int64]],
    score: Score,
    seed: int,
) -> float | None:
    """Mean score of the rows of all parts; None if a training failed.

    Parameters
    ----------
    kind, settings
        The model and arguments of its constructor; a network has one member and the seed, whatever they say.
    X, data
        Covariates and times.
    parts
        Rows of each part, predicted by a model that learned from all other rows.
    score
        Which score; greater is better.
    seed
        Of the networks.
    """
    defaults = kind.parameter_defaults()
    quick: dict[str, Any] = {"members": 1, "random_state": seed, "progress": False}
    models = [kind(**{**settings, **{key: quick[key] for key in quick if key in defaults}}) for _ in parts]
    all_rows = np.arange(len(data))
    others = [np.setdiff1d(all_rows, part) for part in parts]
    try:
        with warnings.catch_warnings():
            # The score of the trial shows it.
            warnings.simplefilter("ignore", NoSkillWarning)
            fit_all(models, [(take_rows(X, rest), data[rest]) for rest in others])
    except TrainingError:
        return None
    # Training ends at Ctrl-C with the weights it has, which is no fair trial.
    if any(isinstance(model, NeuralSurvival) and model.history_.stopped_by == "interrupt" for model in models):
        raise KeyboardInterrupt
    total = 0.0
    for model, rest, part in zip(models, others, parts, strict=True):
        weight = data[part].total_weight
        if weight > 0:
            predicted = model.predict_distribution(take_rows(X, part))
            total += weight * held_out_score(predicted, data[part], data[rest], score)
    mean = total / sum(data[part].total_weight for part in parts)
    return mean if math.isfinite(mean) else None


def held_out_score(predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData, score: Score) -> float:
    """Mean score of predictions for rows that the model did not learn from; greater is better."""
    if score == "log_likelihood":
        return float(log_likelihood(predicted, data))
    return -float(integrated_brier_score(predicted, data, train=train))
