"""Quantile regression level by level: each quantile has a network of its own, trained after those of lower levels.

A stage is an ordinary training run of networks with one output; together they are one network whose outputs share no
layer, and which is saved and used as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.neural.fitting.fitted_network import TrainedNetwork, Weights
from aldsurv.models.neural.fitting.prepare import Prepared
from aldsurv.models.neural.fitting.train import run_loop
from aldsurv.models.rows.member_rows import Rows
from aldsurv.networks import Architecture, forward
from aldsurv.training.history import History

if TYPE_CHECKING:
    from aldsurv.models.neural.cqrnn import QuantileExtras, QuantileNetwork

__all__ = ["CENSORED_LEVEL", "train_level_by_level"]

# Column of a task: the level of each row's censoring time, by the quantiles trained so far.
CENSORED_LEVEL = "censored_level"


def train_level_by_level(tasks: Sequence[Prepared]) -> list[TrainedNetwork]:
    """Train the lowest quantile of all tasks in one loop, then the others of each task one after the other."""
    # Before any quantile is known, none has passed any censoring time.
    first = run_loop([_stage(task, 0, np.ones(len(task.data))) for task in tasks])
    return [_train_other_levels(task, trained) for task, trained in zip(tasks, first, strict=True)]


def _stage(task: Prepared, number: int, censored_level: NDArray[np.float64]) -> Prepared:
    """The task with the quantile of one level alone."""
    model = cast("QuantileNetwork", task.model)
    model = replace(model, quantiles=model.quantiles[number : number + 1])
    return replace(task, model=model, row_columns={CENSORED_LEVEL: censored_level})


def _train_other_levels(task: Prepared, first: TrainedNetwork) -> TrainedNetwork:
    model = cast("QuantileNetwork", task.model)
    stages, histories = [first.weights], [first.history]
    for number in range(1, len(model.quantiles)):
        if histories[-1].stopped_by == "interrupt":
            # Without the other quantiles there is no model.
            raise KeyboardInterrupt
        runs = _train_members(task, _joined(first.network, stages), number)
        stages.append({name: np.concatenate([run.weights[name] for run in runs]) for name in first.weights})
        histories.append(History.joined([run.history for run in runs]))
    network, weights = _joined(first.network, stages)
    # Another start may have had a smaller learning rate.
    model = replace(model, learning_rate=first.model.learning_rate)
    return replace(first, model=model, network=network, weights=weights, history=_in_sequence(histories))


def _train_members(task: Prepared, trained: tuple[Architecture, Weights], number: int) -> list[TrainedNetwork]:
    """The networks of one quantile, a run for each member, all in one loop.

    Members differ in what they know of the censored rows, as several estimators on data of their own do.
    """
    levels = _levels_of_censoring(task, forward(*trained, task.x))
    parts = []
    for k, seed in enumerate(task.seeds):
        held = None if task.rows.validation is None else [task.rows.validation[k]]
        part = replace(task, seeds=[seed], rows=Rows([task.rows.train[k]], held))
        parts.append(_stage(part, number, levels[k]))
    return run_loop(parts)


def _levels_of_censoring(task: Prepared, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each member and row (members, n): by the quantiles so far, 1 where none of them lies beyond the row's time."""
    from aldsurv.losses.censored_quantile import censored_levels

    model = cast("QuantileNetwork", task.model)
    time = task.data.lower
    log = model.support == "log"
    if log:
        time = np.log(time) / cast("QuantileExtras", task.extras).log_spread
    time = np.broadcast_to(time, quantiles.shape[:-1])
    levels = np.array(model.quantiles[: quantiles.shape[-1]])
    found = censored_levels(quantiles, time, levels, rule=model.censored_level, log=log)
    return np.where((quantiles > time[..., None]).any(axis=-1), found, 1.0)


def _joined(network: Architecture, stages: Sequence[Weights]) -> tuple[Architecture, Weights]:
    """One network with the outputs of all stages: heads that share nothing."""
    wide = replace(network, outputs=len(stages))
    # Arrays with an axis of heads have it in front, after the members; the others have the heads' units side by side.
    one, two = ({slot.name: slot.shape for slot in replace(network, outputs=k).slots()} for k in (1, 2))
    joined = {}
    for name, array in stages[0].items():
        shape = one.get(name, array.shape[1:])
        axes = [i for i, size in enumerate(shape) if two.get(name, ())[i : i + 1] not in ((), (size,))]
        axis = 1 + axes[0] if axes else -1
        joined[name] = np.ascontiguousarray(np.concatenate([stage[name] for stage in stages], axis=axis))
    return wide, joined


def _in_sequence(histories: Sequence[History]) -> History:
    """One history of all stages; the epoch that was kept is that of the last."""
    last = histories[-1]
    before = sum(history.epochs for history in histories[:-1])
    held = [history.validation_loss for history in histories if history.validation_loss is not None]
    return replace(
        last,
        train_loss=np.concatenate([history.train_loss for history in histories]),
        validation_loss=np.concatenate(held) if held else None,
        learning_rate=np.concatenate([history.learning_rate for history in histories]),
        seconds=np.concatenate([history.seconds for history in histories]),
        best_epoch=last.best_epoch + before,
        trained_epochs=last.trained_epochs + before,
    )
