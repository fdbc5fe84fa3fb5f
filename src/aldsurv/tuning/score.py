"""How well a model with certain settings predicts rows that it has not seen: cross-validation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.covariates import take_rows
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.persons import episode_order
from aldsurv.data.rows.row_splitting import keep_together
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.errors import CensoringError, DataError, NoSkillWarning, TrainingError, UndefinedMetricWarning
from aldsurv.metrics import concordance_harrell
from aldsurv.metrics.error.brier import integrated_brier_rows
from aldsurv.metrics.error.log_likelihood import bounded_rows
from aldsurv.metrics.point_estimates import RankingPoint
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.search_space import Score
from aldsurv.models.wrappers.cross_fitting import balanced_order, fit_all

__all__ = [
    "Attempt",
    "FloatArray",
    "Folds",
    "IntArray",
    "PartScores",
    "Task",
    "even_folds",
    "held_out_rows",
    "mean_concordance",
    "mean_score",
    "row_clusters",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Folds(NamedTuple):
    """Parts of the rows, each predicted by models of the others, and the seed of the model of each part."""

    parts: list[IntArray]
    seeds: list[int]


class Attempt(NamedTuple):
    """Settings that are scored, beside those that are fixed, and the number of their trial, which messages name."""

    number: int
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        return f"trial {self.number}"


class PartScores(NamedTuple):
    """Scores of the rows of one part, greater is better, and Harrell's C among them, NaN where it has none."""

    rows: FloatArray
    concordance: float


@final
@dataclass(frozen=True)
class Task:
    """What is the same for all settings that are compared.

    Attributes
    ----------
    kind, fixed
        The model, and arguments of its constructor that all settings share.
    X, data
        Covariates and times.
    metric
        The score.
    folds
        Number of parts.
    random_state
        Seed of folds and models.
    """

    kind: type[SurvivalEstimator]
    fixed: Mapping[str, Any]
    X: object
    data: SurvivalData
    metric: Score
    folds: int
    random_state: int

    def draw_folds(self, repeat: int) -> Folds:
        """A random division of the rows; 0 is that of the search, and every other number another one."""
        seeds = np.random.SeedSequence([self.random_state, repeat]).generate_state(1 + self.folds) // 2
        parts = even_folds(self.data, self.folds, int(seeds[0]), self.X)
        if self.data.group is not None:
            _require_other_events(self.data, parts)
        # Few groups make fewer parts.
        return Folds(parts, [int(seed) for seed in seeds[1 : 1 + len(parts)]])

    def clusters(self) -> IntArray:
        """A number for each row (n,), the same for rows that are always in one part: they are one observation."""
        return row_clusters(find_groups(self.X, self.data), len(self.data))

    def score(self, settings: Mapping[str, Any], folds: Folds) -> list[PartScores] | None:
        """Scores of the rows of each part; None if a training failed or a row has no finite score.

        Parameters
        ----------
        settings
            Arguments of the constructor beside the fixed ones.
        folds
            Parts to predict, each by a model of all other rows.
        """
        all_rows = np.arange(len(self.data))
        others = [np.setdiff1d(all_rows, part) for part in folds.parts]
        models = [self._model(settings, seed) for seed in folds.seeds]
        try:
            with warnings.catch_warnings():
                # The score shows it.
                warnings.simplefilter("ignore", NoSkillWarning)
                fit_all(models, [(take_rows(self.X, rest), self.data[rest]) for rest in others])
        except TrainingError:
            return None
        # Training ends at Ctrl-C with the weights it has, which is no fair trial.
        if any(isinstance(model, NeuralSurvival) and model.history_.stopped_by == "interrupt" for model in models):
            raise KeyboardInterrupt
        scores = []
        for model, rest, part in zip(models, others, folds.parts, strict=True):
            given = self.data[part]
            predicted, data = along_paths(model.predict_distribution(take_rows(self.X, part)), given)
            rows = np.where(data.weights > 0, held_out_rows(predicted, data, self.data[rest], self.metric), 0.0)
            if not np.isfinite(rows).all():
                return None
            scores.append(PartScores(_on_rows(rows, given), _concordance(predicted, data, self.data[rest], model)))
        return scores

    def _model(self, settings: Mapping[str, Any], seed: int) -> SurvivalEstimator:
        defaults = self.kind.parameter_defaults()
        own = {"random_state": seed, "progress": False}
        return self.kind(**{**self.fixed, **settings, **{key: own[key] for key in own if key in defaults}})


def even_folds(data: SurvivalData, folds: int, seed: int, X: object = None) -> list[IntArray]:
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


def row_clusters(groups: IntArray | None, n: int) -> IntArray:
    """A number for each row (n,), the same for rows of one group; those with -1 have none and are by themselves."""
    alone = np.arange(n)
    return alone if groups is None else np.where(groups >= 0, n + groups, alone)


def held_out_rows(
    predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData, metric: Score
) -> FloatArray:
    """Score of each row that the model did not learn from; greater is better.

    The log-likelihood is the bounded one: a single event far out in a tail would else decide between settings, and make
    their difference so noisy that nothing is ever better beyond noise.
    """
    if metric == "log_likelihood":
        return bounded_rows(predicted, data, train)
    return -integrated_brier_rows(predicted, data, train=train)


def _on_rows(scores: FloatArray, data: SurvivalData) -> FloatArray:
    """Scores of persons (persons,) as those of their rows (n,): on the last episode, with the same weighted mean."""
    if data.person is None:
        return scores
    order = episode_order(data)
    last, rows = order.rows[order.last], np.zeros(len(data))
    rows[last] = scores * data.total_weight / max(float(data.weights[last].sum()), 1e-300)
    return rows


def mean_score(scores: Sequence[PartScores], parts: Sequence[IntArray], weights: FloatArray) -> float:
    """Weighted mean over the rows of all parts."""
    total = sum(float(weights[part] @ one.rows) for one, part in zip(scores, parts, strict=True))
    return total / sum(float(weights[part].sum()) for part in parts)


def mean_concordance(scores: Sequence[PartScores]) -> float:
    """Mean of Harrell's C within the parts that have one; NaN if none has."""
    defined = [one.concordance for one in scores if math.isfinite(one.concordance)]
    return sum(defined) / len(defined) if defined else math.nan


def _concordance(
    predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData, model: SurvivalEstimator
) -> float:
    """Harrell's C by the time that the model ranks rows by; NaN for rows of which it has no definition."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            point = cast("RankingPoint", model.ranking_point_)
            return float(concordance_harrell(predicted, data, point=point, train=train))
    except CensoringError:
        return math.nan


def _require_other_events(data: SurvivalData, parts: Sequence[IntArray]) -> None:
    """Raise `DataError` unless there are two folds, and events outside of each."""
    events = np.isfinite(data.upper)
    if len(parts) < 2 or any(events[part].sum() == events.sum() for part in parts):
        raise DataError(
            f"{data.n_groups} groups cannot be parted for cross-validation: groups stay whole, and one has all rows or "
            "all events",
            argument="groups",
            advice="Give more groups, or none.",
        )
