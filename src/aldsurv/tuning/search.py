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
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError, TrainingError
from aldsurv.models.base import SurvivalEstimator, read_target
from aldsurv.models.training_rows import data_fingerprint
from aldsurv.registry import MODELS
from aldsurv.tuning.record import Record
from aldsurv.tuning.score import cross_validated, even_folds
from aldsurv.tuning.spaces import Space, space_of

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
        What was set beside the fixed settings; the first trial sets nothing.
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
    """What a search found.

    Attributes
    ----------
    best
        Constructor arguments of the best trial; empty if nothing was better than the settings as they are.
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
    X: Any,
    y: Any,
    *,
    trials: int = 20,
    settings: Mapping[str, Any] | None = None,
    folds: int = 4,
    random_state: int = 0,
    storage: Any = None,
    tell: Callable[[Trial], None] | None = None,
) -> Tuning:
    """Search for settings under which a model predicts best, with Optuna (tree-structured Parzen estimators).

    The first trial has the settings as they are, so that what is found is never worse on these folds. Networks have
    one member in the search. The best score of many is better than it will be on new rows: judge the
    result by rows that were not given to the search.

    Parameters
    ----------
    estimator_class
        The model.
    X, y
        Covariates and times, as for its ``fit``.
    trials
        Number of trials, those that `storage` has included.
    settings
        Arguments of the constructor that are fixed; what is set here is not searched.
    folds
        Parts of the rows, each predicted by a model that learned from the others.
    random_state
        Seed of folds, networks and search: the same seed gives the same result.
    storage
        A file (Optuna's journal) from which a search that was killed goes on, to the result it would have had.
    tell
        Called after each trial.

    Examples
    --------
    >>> from aldsurv import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(60, 10))
    >>> found = tune(WeibullAFT, x, (rng.weibull(2, 60) * np.exp(x[:, 0] / 2), np.ones(60)), trials=5)
    >>> len(found.trials), found.metric, found.score > found.trials[0].score
    (5, 'log_likelihood', True)
    """
    fixed = dict(settings or {})
    _require_whole(trials=(trials, 1), folds=(folds, 2), random_state=(random_state, 0))
    data = read_target(y)
    _require_rows(data, folds)
    space = _open_space(estimator_class, fixed)
    path = None if storage is None else Path(storage)
    name = search_fingerprint(estimator_class, X, data, settings=fixed, folds=folds, random_state=random_state)
    record = Record(space, random_state, path, name)
    parts = even_folds(data, folds, random_state, X)
    while len(record) < trials:
        drawn = record.next_draw()
        chosen = {key: space.entries[key].value(value) for key, value in drawn.items()}
        score = cross_validated(estimator_class, {**fixed, **chosen}, X, data, parts, space, random_state)
        record.add(drawn, score)
        if tell is not None:
            tell(Trial(len(record), chosen, score))
    return _result(record, space)


def search_fingerprint(
    estimator_class: type[SurvivalEstimator],
    X: Any,
    y: Any,
    *,
    settings: Mapping[str, Any] | None = None,
    folds: int = 4,
    random_state: int = 0,
) -> str:
    """SHA-256 of what a search depends on but for the number of its trials: rows, model, space, settings, seed."""
    fixed = dict(settings or {})
    with warnings.catch_warnings():
        # The fits will say the same.
        warnings.simplefilter("ignore")
        numbers = Features.learn(X, categorical=fixed.get("categorical")).transform_exactly(X)
    rows = data_fingerprint(numbers, read_target(y))
    space = _open_space(estimator_class, fixed)
    told = [estimator_class.__name__, repr(sorted(space.entries.items())), space.score, repr(sorted(fixed.items()))]
    everything = json.dumps([__version__, rows, *told, folds, random_state])
    return hashlib.sha256(everything.encode()).hexdigest()


def _open_space(kind: type[SurvivalEstimator], fixed: Mapping[str, Any]) -> Space:
    defaults = kind.parameter_defaults()
    # The same complaint as of an estimator about a parameter that it does not have.
    kind().set_params(**fixed)
    space = space_of(MODELS.name_of(kind), defaults)
    entries = {name: entry for name, entry in space.entries.items() if fixed.get(name) is None}
    if not entries:
        known = f"{', '.join(space.entries)} is set" if space.entries else "it has no setting that is known to matter"
        raise ParameterError(f"{kind.__name__} leaves nothing to search: {known}. Search another model, or set less.")
    return Space(entries, space.score)


def _result(record: Record, space: Space) -> Tuning:
    trials = tuple(
        Trial(number, {key: space.entries[key].value(value) for key, value in drawn.items()}, score)
        for number, (drawn, score) in enumerate(record.trials, start=1)
    )
    scored = [(trial.score, -trial.number, trial) for trial in trials if trial.score is not None]
    if not scored:
        raise TrainingError(
            f"none of {len(trials)} trials came to a finite score. Check the columns for values out of all proportion."
        )
    score, _, best = max(scored)
    return Tuning(best.settings, float(score), space.score, trials)


def _require_whole(**given: tuple[Any, int]) -> None:
    for name, (value, least) in given.items():
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise ParameterError(f"{name} must be a whole number from {least} on, but is {value!r}.")


def _require_rows(data: SurvivalData, folds: int) -> None:
    if len(data) < 2 * folds or np.isfinite(data.upper).sum() < folds:
        raise DataError(
            f"{len(data)} rows with {data.n_events} events are too few for {folds} folds: "
            "each needs two rows and an event. Give more rows, or search with fewer folds."
        )
