"""A fitted model that is used elsewhere: the smallest change that helps there, chosen by held-out log-likelihood."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aldsurv.checks import Choice, WholeNumber, check
from aldsurv.columns.covariates import take_rows
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import AldsurvError, DataError
from aldsurv.metrics.error.log_likelihood import bounded_rows
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.rows.training_rows import require_same_count
from aldsurv.models.updating.adjustment import RUNGS, fit_adjustment
from aldsurv.models.updating.updated_survival import (
    UpdatedSurvival,
    read_update_rows,
    require_fitted_model,
    settings_of,
)
from aldsurv.models.wrappers.cross_fitting import choose_parts, fit_all
from aldsurv.notices import muted
from aldsurv.tuning.paired import critical_value, paired_gain
from aldsurv.tuning.score import FloatArray, IntArray, PartScores, mean_score, row_clusters

__all__ = ["ModelUpdate", "RungScore", "update_model"]

AUTO = "auto"
# Probability of leaving a rung for a higher one that predicts as well, if learning its parameters cost nothing; as it
# does, the rate is far below.
LEVEL = 0.1
# With fewer events than this it falls in proportion to them: what they suggest by chance costs more.
_MANY_EVENTS = 100
# Of log-likelihood per row: a smaller gain is no reason for a larger change.
_LEAST_GAIN = 1e-4
# With fewer events per parameter a change of predictions is not tried, nor a refit with fewer per column or in all.
_EVENTS_PER_PARAMETER, _EVENTS_PER_COLUMN, _LEAST_REFIT_EVENTS = 20, 10, 100


@final
@dataclass(frozen=True)
class RungScore:
    """How well a rung predicts rows of the new table that its parameters were not learned from.

    Attributes
    ----------
    rung
        One of ``"none"``, ``"intercept"``, ``"slope"``, ``"levels"``, ``"last_layer"`` and ``"refit"``.
    least_events
        Events that the table must have for it to be tried.
    log_likelihood
        Held-out log-likelihood per row, the bounded one; None if the rung was not tried.
    compared_with
        The rung that was the best so far.
    gain, standard_error
        By how much the log-likelihood per row is higher than that rung's, and the standard error of the difference.
    needed
        What the gain must exceed to be more than noise.
    verdict
        ``"start"``, ``"better"``, ``"not better"``, ``"too few events"``, ``"not possible"``, ``"failed"`` or, if the
        rung was named, ``"named"``.
    reason
        Why it was not possible or failed.
    """

    rung: str
    least_events: int = 0
    log_likelihood: float | None = None
    compared_with: str | None = None
    gain: float | None = None
    standard_error: float | None = None
    needed: float | None = None
    verdict: str = "start"
    reason: str | None = None


@final
@dataclass(frozen=True)
class ModelUpdate:
    """An updated model, and why it is this one.

    Attributes
    ----------
    model
        An `UpdatedSurvival`.
    rung
        The rung that was chosen or named.
    rungs
        What was tried, from the smallest change to the largest.
    rows, events
        Of the new table.
    folds, repeats
        How often the rows were parted, and into how many parts; 0 parts if there were too few events.
    """

    model: UpdatedSurvival
    rung: str
    rungs: tuple[RungScore, ...]
    rows: int
    events: int
    folds: int
    repeats: int


def update_model(
    model: SurvivalEstimator,
    X: object,
    y: object,
    sample_weight: object = None,
    groups: object = None,
    *,
    rung: str = AUTO,
    folds: int = 5,
    repeats: int = 2,
    random_state: int = 0,
    source: str | None = None,
) -> ModelUpdate:
    """Update a fitted model on rows of another place, by the smallest step that helps there.

    The rungs are tried from the smallest change to the largest; `UpdatedSurvival` describes them. A rung replaces the
    best so far if its held-out log-likelihood is higher beyond noise: each row is predicted with parameters learned
    from other rows of the table. The fewer events, the clearer the gain must be; with fewer than twenty events per
    parameter a rung is not tried, nor a refit with fewer than ten per column or a hundred. A last layer, which is
    pulled towards what it was, counts as two parameters and half of one per column, and needs no more events than a
    refit. Otherwise the model stays as it is.

    Parameters
    ----------
    model
        A fitted model of aldsurv, of one event.
    X, y, sample_weight, groups
        The rows of the new place, as for ``fit``.
    rung
        ``"auto"``, or the rung to take, whatever its gain.
    folds, repeats
        Into how many parts the rows are divided, and how often.
    random_state
        Seed of the parts, of a refit whose model has no seed, and of one of the last layer.
    source
        Where the model came from, such as the name of its file; kept in the ancestry.

    Examples
    --------
    Times in the new place are half as long:

    >>> from aldsurv import SurvivalData, WeibullAFT, datasets
    >>> here, there = datasets.load("gbsg").split(seed=0)
    >>> model = WeibullAFT().fit(here.x, here.y)
    >>> update = update_model(model, there.x, SurvivalData.right(there.y.time / 2, there.y.event))
    >>> update.rung, [score.verdict for score in update.rungs[:2]]
    ('intercept', ['start', 'better'])
    """
    check("rung", rung, Choice((AUTO, *RUNGS)))
    check("folds", folds, WholeNumber(2))
    check("repeats", repeats, WholeNumber(1))
    check("random_state", random_state, WholeNumber(0))
    require_fitted_model(model)
    X, data = read_update_rows(model, X, y, sample_weight, groups)
    trial = _Trial(model, X, data, folds, repeats, random_state)
    if rung == AUTO:
        chosen, scores = _climb(trial)
    else:
        chosen, scores = rung, _compare(trial, rung)
    updated = UpdatedSurvival(model, rung=chosen, source=source, random_state=random_state).fit(X, data)
    return ModelUpdate(
        updated, chosen, scores, len(data), trial.events, folds if trial.parts else 0, repeats if trial.parts else 0
    )


class _Trial:
    """A model and new rows, parted several times, and what each rung predicts for the parts that it did not see."""

    def __init__(
        self, model: SurvivalEstimator, X: Any, data: SurvivalData, folds: int, repeats: int, seed: int
    ) -> None:
        self.model, self.X, self.data, self.seed = model, X, data, seed
        self.predicted: SurvivalDistribution = model.predict_distribution(X)
        require_same_count(len(self.predicted), data)
        self.events = int(np.count_nonzero(np.isfinite(data.upper) & (data.weights > 0)))
        self.clusters = row_clusters(find_groups(X, data), len(data))
        seeds = np.random.SeedSequence(seed).generate_state(repeats) // 2
        self.parts: list[IntArray] = []
        for each in seeds:
            self.parts += choose_parts(data, folds=folds, validation=None, seed=int(each), X=X)
        self.others = [np.setdiff1d(np.arange(len(data)), part) for part in self.parts]

    def least_events(self, rung: str) -> int:
        """With fewer events than this, what the rung learns would be noise."""
        columns = self.model.n_features_in_
        refit = max(_EVENTS_PER_COLUMN * columns, _LEAST_REFIT_EVENTS)
        if rung == "refit":
            return refit
        if rung == "last_layer":
            return min(math.ceil(_EVENTS_PER_PARAMETER * (2 + columns / 2)), refit)
        # As many knots as the map of levels has bins, beside factor and slope.
        knots = max(round(math.pow(self.events, 1 / 3)) - 1, 1)
        parameters = {"none": 0, "intercept": 1, "slope": 2, "levels": 2 + knots}[rung]
        return _EVENTS_PER_PARAMETER * parameters

    def scores(self, rung: str) -> list[PartScores]:
        """Held-out log-likelihood of the rows of each part."""
        if rung == "refit":
            predictions = self._refitted()
        elif rung == "last_layer":
            predictions = self._with_other_outputs()
        else:
            predictions = [
                fit_adjustment(rung, self.predicted[rest], self.data[rest]).apply(self.predicted[part])
                for rest, part in zip(self.others, self.parts, strict=True)
            ]
        return [
            PartScores(self._rows(each, part, rest), math.nan)
            for each, part, rest in zip(predictions, self.parts, self.others, strict=True)
        ]

    def _rows(self, predicted: SurvivalDistribution, part: IntArray, rest: IntArray) -> FloatArray:
        rows = bounded_rows(predicted, self.data[part], self.data[rest])
        return np.where(self.data.weights[part] > 0, rows, 0.0)

    def _refitted(self) -> list[SurvivalDistribution]:
        models = [settings_of(self.model, self.seed) for _ in self.parts]
        with warnings.catch_warnings(), muted():
            # About parts of the table: the fit to all rows warns of what matters.
            warnings.simplefilter("ignore")
            fit_all(models, [(take_rows(self.X, rest), self.data[rest]) for rest in self.others])
            if any(each.innermost.interrupted_ for each in models):
                # Training ends at Ctrl-C with the weights it has, which is no fair trial.
                raise KeyboardInterrupt
            return [
                each.predict_distribution(take_rows(self.X, part))
                for each, part in zip(models, self.parts, strict=True)
            ]

    def _with_other_outputs(self) -> list[SurvivalDistribution]:
        predictions = []
        with warnings.catch_warnings(), muted():
            warnings.simplefilter("ignore")
            for rest, part in zip(self.others, self.parts, strict=True):
                changed = self.model.refit_outputs(take_rows(self.X, rest), self.data[rest], random_state=self.seed)
                predictions.append(changed.predict_distribution(take_rows(self.X, part)))
        return predictions

    def impossible(self, rung: str) -> str | None:
        """Why the rung cannot be learned from these rows, whatever their number; None if it can."""
        if rung == "last_layer":
            return self.model.last_layer_obstacle_
        known = self.data.exact | self.data.right_censored
        return "a map of levels needs exact or right-censored times" if rung == "levels" and not known.all() else None


def _climb(trial: _Trial) -> tuple[str, tuple[RungScore, ...]]:
    """The smallest rung that no larger one is better than beyond noise, and the scores of all."""
    if not trial.parts:
        # Nothing can be held out.
        untried = [RungScore(each, trial.least_events(each), verdict="too few events") for each in RUNGS[1:]]
        return "none", (RungScore("none"), *untried)
    best, best_scores = "none", trial.scores("none")
    rungs = [RungScore("none", 0, _mean(trial, best_scores))]
    for rung in RUNGS[1:]:
        least, reason = trial.least_events(rung), trial.impossible(rung)
        if reason is not None:
            rungs.append(RungScore(rung, least, verdict="not possible", reason=reason))
            continue
        if trial.events < least:
            rungs.append(RungScore(rung, least, verdict="too few events"))
            continue
        try:
            scores = trial.scores(rung)
        except AldsurvError as error:
            rungs.append(RungScore(rung, least, verdict="failed", reason=str(error)))
            continue
        score = _scored(trial, rung, scores, best, best_scores)
        rungs.append(score)
        if score.verdict == "better":
            best, best_scores = rung, scores
    return best, tuple(rungs)


def _compare(trial: _Trial, rung: str) -> tuple[RungScore, ...]:
    """Scores of the model as it is and of the rung that was named."""
    reason = trial.impossible(rung)
    if reason is not None:
        raise DataError(f"rung {rung!r} is not possible: {reason}", argument="y", advice="Take another rung.")
    if not trial.parts:
        return (RungScore("none"),) if rung == "none" else (
            RungScore("none"), RungScore(rung, trial.least_events(rung), verdict="named")
        )  # fmt: skip
    before = trial.scores("none")
    start = RungScore("none", 0, _mean(trial, before))
    if rung == "none":
        return (start,)
    return start, _scored(trial, rung, trial.scores(rung), "none", before, verdict="named")


def _scored(
    trial: _Trial,
    rung: str,
    scores: Sequence[PartScores],
    best: str,
    best_scores: Sequence[PartScores],
    verdict: str | None = None,
) -> RungScore:
    gain = paired_gain(scores, best_scores, trial.parts, trial.data.weights, trial.clusters)
    level = LEVEL * min(1.0, trial.events / _MANY_EVENTS)
    needed = max(critical_value(level, 1, gain.degrees) * gain.standard_error, _LEAST_GAIN)
    return RungScore(
        rung,
        trial.least_events(rung),
        _mean(trial, scores),
        best,
        gain.mean,
        gain.standard_error,
        needed,
        verdict or ("better" if gain.mean > needed else "not better"),
    )


def _mean(trial: _Trial, scores: Sequence[PartScores]) -> float:
    return mean_score(scores, trial.parts, trial.data.weights)
