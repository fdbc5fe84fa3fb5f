"""Several fits in one training loop: the members of an ensemble, the seeds of a comparison."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from aldsurv.errors import ParameterError
from aldsurv.models.neural.fitting.candidates import Candidate, choose, prepare_candidates, train_candidates
from aldsurv.models.neural.fitting.encoding import require_torch
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.neural.fitting.held_out import held_out_gain, held_out_persons
from aldsurv.models.neural.fitting.point_choice import chosen_points
from aldsurv.models.neural.fitting.prepare import Prepared
from aldsurv.models.neural.fitting.skill_check import warn_without_skill
from aldsurv.models.rows.time_units import even_weights

if TYPE_CHECKING:
    from aldsurv.models.neural.neural_survival import NeuralSurvival

__all__ = ["fit_together", "with_points"]

Estimator = TypeVar("Estimator", bound="NeuralSurvival")


def fit_together(estimators: Sequence[Estimator], data: Sequence[tuple[Any, ...]]) -> list[Estimator]:
    """Fit several estimators of one kind at once, each on data of its own.

    Each becomes what ``fit`` alone would have made of it. Estimators with the same settings and numbers of rows and
    inputs share one loop, which for small networks costs little more than one of them; those with an encoder,
    callbacks or a checkpoint have one for themselves.

    Parameters
    ----------
    estimators
        Neural estimators, equal in all but ``random_state`` to share a loop.
    data
        For each a tuple ``(X, y)``, or one that goes on with the further arguments of ``fit``.

    Returns
    -------
    list
        The estimators, fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import ALDSurvival
    >>> x, time = np.random.default_rng(0).random((2, 40, 3))
    >>> models = [ALDSurvival(members=1, max_epochs=2, random_state=seed) for seed in range(3)]
    >>> models = fit_together(models, [(x, (time[:, 0], np.ones(40)))] * 3)
    >>> len(models[2].predict(x))
    40
    """
    if len(estimators) != len(data) or not estimators:
        raise ParameterError(
            f"there are {len(estimators)} estimators, but {len(data)} datasets.", advice="Give one for each."
        )
    require_torch(type(estimators[0]).__name__)
    tasks = [estimator.prepare(*given) for estimator, given in zip(estimators, data, strict=True)]
    plans = [prepare_candidates(estimator, task) for estimator, task in zip(estimators, tasks, strict=True)]
    loops: dict[str, list[Candidate]] = {}
    for number, candidate in enumerate(candidate for plan in plans for candidate in plan):
        loops.setdefault(_loop_key(candidate.task, number), []).append(candidate)
    for candidates in loops.values():
        train_candidates([candidate for candidate in candidates if not candidate.is_settled])
    for estimator, plan in zip(estimators, plans, strict=True):
        fitted, task = choose(plan)
        estimator.adopt(with_points(fitted, task))
        warn_without_skill(held_out_gain(fitted, task), type(estimator).__name__)
    return list(estimators)


def _loop_key(task: Prepared, number: int) -> str:
    """What fits have in common that share a loop."""
    options = task.options
    alone = options.encoder is not None or options.checkpoint is not None or bool(options.callbacks)
    # As many rows, for batches and sums must be those of a fit alone; rows that need the same formulas.
    even = even_weights(task.data) is None
    simple = bool((task.data.exact | task.data.right_censored).all())
    shapes = [(name, array.shape) for name, array in sorted(task.extras.to_arrays().items())]
    kind = [options.owner, str(options.device), str(options.progress), task.x.shape, simple, even, shapes]
    kind.append(repr(task.data.causes))
    return json.dumps([task.model.to_dict(), kind, alone and number])


def with_points(fitted: FittedNetwork, task: Prepared) -> FittedNetwork:
    """Settle ``point="auto"``; without validation rows it is ``"follow_up"``."""
    if fitted.model.point != "auto" or task.rows.validation is None:
        return fitted
    points = chosen_points(held_out_persons(fitted, task), task.observed, float(fitted.times[-1]))
    return replace(fitted, points=points)
