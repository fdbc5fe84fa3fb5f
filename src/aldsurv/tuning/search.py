"""A search over the settings of a model, by how well it predicts rows that it has not seen."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv import __version__
from aldsurv.checks import WholeNumber, check
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError, TrainingError
from aldsurv.models.base import SurvivalEstimator, read_target
from aldsurv.models.rows.training_rows import data_fingerprint
from aldsurv.models.search_space import SearchSpace
from aldsurv.tuning.record import TrialRecord
from aldsurv.tuning.score import cross_validated, even_folds

__all__ = ["Trial", "Tuning", "search_fingerprint", "tune"]


@final
@dataclass(frozen=True)
class Trial:
    """One trial of a search.

    Attributes
    ----------
    number
        Counted from 1.
    settings
        Settings of this trial beside the fixed ones; the first trial has none.
    score
        Mean over all rows, each predicted by a model that had not seen it: the log-likelihood, or minus the
        integrated Brier score. None: the training failed.
    """

    number: int
    settings: dict[str, Any]
    score: float | None


@final
@dataclass(frozen=True)
class Tuning:
    """The result of a search.

    Attributes
    ----------
    best
        Constructor arguments of the best trial; empty if none was better than the settings as they are.
    score
        Its score; ``trials[0].score`` is that of the settings as they are.
    metric
        What the score is: ``"log_likelihood"``, or ``"ibs"`` with its sign turned.
    trials
        All trials in order.
    """

    best: dict[str, Any]
    score: float
    metric: str
    trials: tuple[Trial, ...]


def tune(
    estimator_class: type[SurvivalEstimator],
    X: object,
    y: object,
    *,
    trials: int = 20,
    settings: Mapping[str, Any] | None = None,
    folds: int = 4,
    random_state: int = 0,
    groups: object = None,
    storage: Any = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Tuning:
    """Search for settings under which a model predicts best, with Optuna (tree-structured Parzen estimators).

    The first trial has the settings as they are, so that the result is never worse on these folds. Networks have
    one member in the search. The best score of many is better than it will be on new rows: judge the
    result by rows that were not given to the search.

    Parameters
    ----------
    estimator_class
        The model; what is searched is its ``SEARCH_SPACE``.
    X, y
        Covariates and times, as for its ``fit``.
    trials
        Number of trials, including those in `storage`.
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

    Examples
    --------
    >>> from aldsurv import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(60, 10))
    >>> result = tune(WeibullAFT, x, (rng.weibull(2, 60) * np.exp(x[:, 0] / 2), np.ones(60)), trials=5)
    >>> len(result.trials), result.metric, result.score > result.trials[0].score
    (5, 'log_likelihood', True)
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
    parts = even_folds(data, folds, random_state, X)
    if data.group is not None:
        _require_other_events(data, parts)
    while len(record) < trials:
        draw = record.next_draw()
        chosen = {key: space.entries[key].value(value) for key, value in draw.items()}
        score = cross_validated(estimator_class, {**fixed, **chosen}, X, data, parts, space.score, random_state)
        record.add(draw, score)
        if on_trial is not None:
            on_trial(Trial(len(record), chosen, score))
    return _result(record, space)


def search_fingerprint(
    estimator_class: type[SurvivalEstimator],
    X: object,
    y: object,
    *,
    settings: Mapping[str, Any] | None = None,
    folds: int = 4,
    random_state: int = 0,
) -> str:
    """SHA-256 of what a search depends on, except the number of its trials: rows, model, space, settings, seed."""
    fixed = dict(settings or {})
    with warnings.catch_warnings():
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


def _result(record: TrialRecord, space: SearchSpace) -> Tuning:
    trials = tuple(
        Trial(number, {key: space.entries[key].value(value) for key, value in draw.items()}, score)
        for number, (draw, score) in enumerate(record.trials, start=1)
    )
    scored = [(trial.score, -trial.number, trial) for trial in trials if trial.score is not None]
    if not scored:
        raise TrainingError(
            f"none of {len(trials)} trials has a finite score", advice="Check the columns for extreme values."
        )
    score, _, best = max(scored)
    return Tuning(best.settings, float(score), space.score, trials)


def _require_rows(data: SurvivalData, folds: int) -> None:
    if len(data) < 2 * folds or np.isfinite(data.upper).sum() < folds:
        raise DataError(
            f"{len(data)} rows with {data.n_events} events are too few for {folds} folds: each needs two rows and an "
            "event",
            argument="folds",
            advice="Give more rows, or search with fewer folds.",
        )


def _require_other_events(data: SurvivalData, parts: Sequence[NDArray[np.int64]]) -> None:
    """Raise `DataError` unless there are two folds, and events outside of each."""
    events = np.isfinite(data.upper)
    if len(parts) < 2 or any(events[part].sum() == events.sum() for part in parts):
        raise DataError(
            f"{data.n_groups} groups cannot be parted for cross-validation: groups stay whole, and one has all rows or "
            "all events",
            argument="groups",
            advice="Give more groups, or none.",
        )
