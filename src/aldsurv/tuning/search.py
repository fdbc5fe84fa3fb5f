"""A search over the settings of a model, by how well it predicts rows that it has not seen."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from aldsurv import __version__
from aldsurv.checks import WholeNumber, check
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError, TrainingError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.rows.training_rows import data_fingerprint
from aldsurv.models.search_space import SearchSpace
from aldsurv.models.training_target import read_target
from aldsurv.notices import muted
from aldsurv.tuning.confirmation import FINALISTS, REPEATS, confirm, none_if_nan
from aldsurv.tuning.paired import paired_gain
from aldsurv.tuning.record import Draw, TrialRecord, scores_from_json, scores_to_json
from aldsurv.tuning.result import Finalist, Trial, Tuning
from aldsurv.tuning.score import Attempt, Folds, IntArray, PartScores, Task, mean_concordance, mean_score

__all__ = ["Finalist", "Progress", "Trial", "Tuning", "search_fingerprint", "tune"]


# A trial is stopped after the first folds if it is so many standard errors worse than the default there.
_HOPELESS = 2.0


@final
@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    done
        How many times settings were scored on all folds, those in the record among them.
    total
        How many times they will be, at most.
    confirming
        Whether the trials are done and the best are tried again.
    """

    done: int
    total: int
    confirming: bool


def tune(
    estimator_class: type[SurvivalEstimator],
    X: object,
    y: object,
    *,
    trials: int = 20,
    settings: Mapping[str, Any] | None = None,
    folds: int = 5,
    random_state: int = 0,
    groups: object = None,
    storage: Any = None,
    on_trial: Callable[[Trial], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Tuning:
    """Search for settings under which a model predicts better than under those it has; if there are none, these stay.

    Trials are drawn by Optuna (tree-structured Parzen estimators) and scored by cross-validation; the first has the
    settings as they are, and every other is compared with it row by row. One that is clearly worse after the first
    folds is stopped. Up to three of the best are then tried again, beside the default, on two fresh divisions of the
    rows with other seeds. Settings replace the default only if they are better there by more than noise, given how
    many were tried, and do not rank worse by Harrell's C, again by more than noise: a default that is as good as all
    others is replaced with a probability of about 5 %. Ensembles have all their members throughout.

    Inside ``with aldsurv.open_engine(...)`` the workers of a cluster score trials side by side, with the same result:
    the first ten are drawn without looking at scores, and those after them five at a time from all before.

    Parameters
    ----------
    estimator_class
        The model; what is searched is its ``SEARCH_SPACE``.
    X, y
        Covariates and times, as for its ``fit``.
    trials
        Number of trials, including those in `storage`. More trials find more, but ask for a greater gain.
    settings
        Arguments of the constructor that are fixed; what is set here is not searched.
    folds
        Parts of the rows, each predicted by a model that learned from the others.
    random_state
        Seed of folds, networks and search: the same seed gives the same result.
    groups
        As for ``fit``: rows of one group are in one fold. With fewer groups than `folds` each is a fold.
    storage
        A file (Optuna's journal) from which a search that was killed goes on, to the result it would have had.
    on_trial
        Called after each trial.
    on_progress
        Called after each trial, and each time that settings were tried again.

    Examples
    --------
    >>> from aldsurv import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(80, 25))
    >>> result = tune(WeibullAFT, x, (rng.weibull(2, 80) * np.exp(x[:, 0] / 2), np.ones(80)), trials=5)
    >>> len(result.trials), result.metric, result.confirmed, sorted(result.best)
    (5, 'bounded_log_likelihood', True, ['ridge'])
    """
    fixed = dict(settings or {})
    for name, value, least in (("trials", trials, 1), ("folds", folds, 2), ("random_state", random_state, 0)):
        check(name, value, WholeNumber(least))
    data = read_target(y, groups=groups)
    _require_rows(data, folds)
    space = _open_space(estimator_class, fixed)
    path = None if storage is None else Path(storage)
    name = search_fingerprint(estimator_class, X, data, settings=fixed, folds=folds, random_state=random_state)
    record = TrialRecord(space, random_state, path, name)
    task = Task(estimator_class, fixed, X, data, space.score, folds, random_state)
    report = on_progress or (lambda progress: None)
    _run_trials(task, space, record, trials, on_trial or (lambda trial: None), report)
    tried = _trials(record, space)
    if all(trial.score is None for trial in tried):
        raise TrainingError(
            f"none of {len(tried)} trials has a finite score", advice="Check the columns for extreme values."
        )
    finalists = confirm(
        task, tried, record, lambda done, total: report(Progress(len(tried) + done, len(tried) + total, True))
    )
    best = finalists[0].settings if finalists and finalists[0].verdict == "better" else {}
    metric = "bounded_log_likelihood" if space.score == "log_likelihood" else space.score
    return Tuning(best, metric, tried, finalists)


def search_fingerprint(
    estimator_class: type[SurvivalEstimator],
    X: object,
    y: object,
    *,
    settings: Mapping[str, Any] | None = None,
    folds: int = 5,
    random_state: int = 0,
) -> str:
    """SHA-256 of what a search depends on, except the number of its trials: rows, model, space, settings, seed."""
    fixed = dict(settings or {})
    with warnings.catch_warnings(), muted():
        # The fits give the same warnings.
        warnings.simplefilter("ignore")
        numbers = Features.learn(X, categorical=fixed.get("categorical")).transform_exactly(X)
    rows = data_fingerprint(numbers, read_target(y))
    space = _open_space(estimator_class, fixed)
    search = [estimator_class.__name__, repr(sorted(space.entries.items())), space.score, repr(sorted(fixed.items()))]
    everything = json.dumps([__version__, rows, *search, folds, random_state])
    return hashlib.sha256(everything.encode()).hexdigest()


def _open_space(kind: type[SurvivalEstimator], fixed: Mapping[str, Any]) -> SearchSpace:
    """What of the model's space is not fixed."""
    # Refuses a parameter that the model does not have.
    kind().set_params(**fixed)
    if kind.SEARCH_SPACE is None:
        raise ParameterError(
            f"{kind.__name__} has nothing to search: it declares no SEARCH_SPACE",
            argument="estimator_class",
            advice="Fit it without a search, or search another model.",
        )
    space = kind.SEARCH_SPACE.without(fixed)
    if not space.entries:
        raise ParameterError(
            f"{kind.__name__} leaves nothing to search: {', '.join(kind.SEARCH_SPACE.entries)} is set",
            argument="settings",
            advice="Search another model, or set less.",
        )
    return space


def _run_trials(
    task: Task,
    space: SearchSpace,
    record: TrialRecord,
    trials: int,
    on_trial: Callable[[Trial], None],
    on_progress: Callable[[Progress], None],
) -> None:
    """Draw, score and record trials until there are as many as asked for."""
    if len(record) >= trials:
        return
    folds = task.draw_folds(0)
    clusters = task.clusters()
    again = REPEATS * (1 + min(FINALISTS, trials - 1)) if trials > 1 else 0
    default = scores_from_json(record.trials[0].facts["scores"]) if len(record) else None
    while len(record) < trials:
        draws = record.next_draws(trials - len(record))
        attempts = [Attempt(number, _settings(draw, space)) for number, draw in enumerate(draws, start=len(record) + 1)]
        scored = current_engine().map(_score_trial, attempts, (task, folds, default, clusters))
        for draw, attempt, scores in zip(draws, attempts, scored, strict=True):
            is_first = attempt.number == 1
            default = scores if is_first else default
            score, facts = _trial_facts(task, scores, None if is_first else default, folds, clusters)
            record.add(draw, score, {**facts, "scores": scores_to_json(scores)} if is_first else facts)
            on_trial(Trial(attempt.number, dict(attempt.settings), score, **facts))
            on_progress(Progress(len(record), trials + again, False))


def _score_trial(
    attempt: Attempt, task: Task, folds: Folds, default: list[PartScores] | None, clusters: IntArray
) -> list[PartScores] | None:
    """Scores on all folds, or on the first ones if the settings are hopeless there."""
    settings = attempt.settings
    if default is None:
        return task.score(settings, folds)
    first = (len(folds.parts) + 1) // 2
    scores = task.score(settings, Folds(folds.parts[:first], folds.seeds[:first]))
    if scores is None:
        return None
    gain = paired_gain(scores, default[:first], folds.parts[:first], task.data.weights, clusters)
    if gain.mean < -_HOPELESS * gain.standard_error:
        return scores
    rest = task.score(settings, Folds(folds.parts[first:], folds.seeds[first:]))
    return None if rest is None else scores + rest


def _trial_facts(
    task: Task,
    scores: list[PartScores] | None,
    default: list[PartScores] | None,
    folds: Folds,
    clusters: IntArray,
) -> tuple[float | None, dict[str, Any]]:
    """The score of a trial, and what else `Trial` has."""
    if scores is None:
        return None, {}
    count, weights = len(scores), task.data.weights
    facts: dict[str, Any] = {"folds": count, "concordance": none_if_nan(mean_concordance(scores))}
    if default is None:
        return mean_score(scores, folds.parts[:count], weights), facts
    gain = paired_gain(scores, default[:count], folds.parts[:count], weights, clusters)
    # Folds differ by more than settings do: of a trial that was stopped, the score on its folds says little.
    score = mean_score(default, folds.parts, weights) + gain.mean
    return score, {**facts, "gain": gain.mean, "standard_error": gain.standard_error}


def _trials(record: TrialRecord, space: SearchSpace) -> tuple[Trial, ...]:
    return tuple(
        Trial(number, _settings(draw, space), score, **{key: facts[key] for key in facts if key != "scores"})
        for number, (draw, score, facts) in enumerate(record.trials, start=1)
    )


def _settings(draw: Draw, space: SearchSpace) -> dict[str, Any]:
    return {key: space.entries[key].value(value) for key, value in draw.items()}


def _require_rows(data: SurvivalData, folds: int) -> None:
    if len(data) < 2 * folds or np.isfinite(data.upper).sum() < folds:
        raise DataError(
            f"{len(data)} rows with {data.n_events} events are too few for {folds} folds: each needs two rows and an "
            "event",
            argument="folds",
            advice="Give more rows, or search with fewer folds.",
        )
