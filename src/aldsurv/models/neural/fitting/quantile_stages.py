"""Quantile regression level by level: each quantile has a network of its own, trained after those of lower levels.

A stage is an ordinary training run of networks with one output; together they are one network whose outputs share no
layer, and which is saved and used as any other.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.neural.fitting.preparation import Rows
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.networks import Architecture, forward

if TYPE_CHECKING:
    from aldsurv.training.history import History

__all__ = ["later_stages", "own_layers", "stage_of"]

Weights = dict[str, NDArray[np.float32]]


def own_layers(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a network in which each quantile has all layers for itself."""
    sizes: list[int] = []
    for name in ("hidden", "head_hidden"):
        sizes += settings[name] if isinstance(settings[name], tuple) else (settings[name],)
    return {**settings, "hidden": (), "head_hidden": tuple(sizes), "residual": False, "crossing": "sorted"}


def stage_of(prepared: Sequence[Prepared]) -> tuple[Sequence[float], NDArray[np.float64] | None]:
    """Levels that a run is about, and the levels of all rows' censoring times if they are known beforehand."""
    settings = prepared[0].settings
    levels: Sequence[float] = settings["quantiles"]
    if settings["algorithm"] == "grid":
        return levels, None
    number = int(prepared[0].per_row["stage"][0]) if prepared[0].per_row else 0
    # Before any quantile is known, none has passed any censoring time.
    known = [own.per_row["at"] if own.per_row else np.ones(len(own.data)) for own in prepared]
    return levels[number : number + 1], np.concatenate(known)


def later_stages(
    estimator: NeuralSurvival, prepared: Prepared, network: Architecture, weights: Weights, history: History
) -> tuple[Architecture, Weights, History]:
    """Train the quantiles after the first, and put the networks of all beside each other.

    Parameters
    ----------
    estimator, prepared
        Whose settings and rows they are.
    network, weights, history
        What has come out of the run of the first quantile.
    """
    if prepared.per_row:
        # This is itself the run of a later quantile, of one member: no more is to follow.
        return network, weights, history
    stages, histories = [weights], [history]
    for number in range(1, len(prepared.settings["quantiles"])):
        if histories[-1].stopped_by == "interrupt":
            # Without the quantiles that are to come there is no model.
            raise KeyboardInterrupt
        runs = _runs(estimator, prepared, _joined(network, stages), number)
        parts = [run.weights_ for run in runs]
        stages.append({name: np.concatenate([part[name] for part in parts]) for name in weights})
        histories.append(_of_members([run.history_ for run in runs]))
    return *_joined(network, stages), _one_after_the_other(histories)


def _runs(
    estimator: NeuralSurvival, prepared: Prepared, fitted: tuple[Architecture, Weights], number: int
) -> list[NeuralSurvival]:
    """A fitted estimator of one quantile for each member, all from one loop.

    Members differ in what they know of the censored rows, as several estimators on data of their own do.
    """
    from aldsurv.models.neural.fitting.joint_fit import _run

    known = _levels_of_censoring(prepared, forward(*fitted, prepared.x))
    parts = []
    for k, seed in enumerate(prepared.seeds):
        held = None if prepared.rows.validation is None else [prepared.rows.validation[k]]
        per_row = {"at": known[k], "stage": np.full(len(prepared.data), number)}
        rows = Rows([prepared.rows.train[k]], held)
        parts.append(replace(prepared, seeds=[seed], rows=rows, per_row=per_row))
    runs = [copy.copy(estimator) for _ in parts]
    _run(runs, parts)
    return runs


def _levels_of_censoring(prepared: Prepared, quantiles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each member and row (members, n): by the quantiles so far, 1 where none of them lies beyond the row's time."""
    from aldsurv.losses.censored_quantile import censored_levels

    settings, time = prepared.settings, prepared.data.lower
    log = settings["support"] == "log"
    if log:
        time = np.log(time) / prepared.learned["log_spread"][0]
    time = np.broadcast_to(time, quantiles.shape[:-1])
    levels = np.array(settings["quantiles"][: quantiles.shape[-1]])
    found = censored_levels(quantiles, time, levels, rule=settings["censored_level"], log=log)
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


def _of_members(histories: Sequence[History]) -> History:
    """One history of runs of one member each, all as long as the longest."""
    longest = max(histories, key=lambda history: history.epochs)

    def together(losses: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.hstack([np.pad(loss, ((0, longest.epochs - len(loss)), (0, 0)), mode="edge") for loss in losses])

    held = [history.validation_loss for history in histories if history.validation_loss is not None]
    return replace(
        longest,
        train_loss=together([history.train_loss for history in histories]),
        validation_loss=together(held) if held else None,
        best_epoch=np.concatenate([history.best_epoch for history in histories]),
        trained_epochs=np.concatenate([history.trained_epochs for history in histories]),
    )


def _one_after_the_other(histories: Sequence[History]) -> History:
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
