"""The second step of a fit: prepared rows in, trained networks out. Several fits of one model share one loop."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.rows.row_selection import spread_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError, TrainingError
from aldsurv.models.neural.fitting.encoding import encoded, require_torch
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork, TrainedNetwork, Weights
from aldsurv.models.neural.fitting.point_choice import given_points
from aldsurv.models.neural.fitting.prepare import Prepared
from aldsurv.models.neural.fitting.wide_scores import with_scores_inside
from aldsurv.models.rows.member_rows import Rows
from aldsurv.models.rows.time_units import even_weights
from aldsurv.models.rows.training_rows import TrainedOn, data_fingerprint, thinned
from aldsurv.networks import Architecture
from aldsurv.quoting import quoted
from aldsurv.training.history import History
from aldsurv.training.randomness import Purpose, generator_for

if TYPE_CHECKING:
    import torch

    from aldsurv.losses.objective import Objective

__all__ = ["OUTPUT_ARRAYS", "OutputStart", "run_loop", "train"]

# Rows up to which training is in float64. The default takes as long as in float32 up to 2,000 rows and a third longer
# here, ten networks of the paper's recipe two thirds.
_MOST_PRECISE = 10_000
# Held-out rows that decide which epoch is best: of more, the mean loss would be known better than it matters.
_MOST_VALIDATION_ROWS = 50_000
# Arrays of the output layer.
OUTPUT_ARRAYS = ("output.weight", "output.bias")
# How often training starts again with a smaller learning rate before it is given up.
_RESTARTS = 3


def train(tasks: Sequence[Prepared]) -> list[FittedNetwork]:
    """Train fits that share a loop, and make each into a whole model.

    One whose loss does not stay finite starts again with a tenth of the learning rate, unless that was given.
    """
    return [_finish(task, trained) for task, trained in zip(tasks, _train_with_restarts(tasks), strict=True)]


def _train_with_restarts(tasks: Sequence[Prepared]) -> list[TrainedNetwork]:
    try:
        return _run(tasks)
    except TrainingError as error:
        failure = error
    if len(tasks) > 1:
        # Each becomes what it would have become alone.
        return [trained for task in tasks for trained in _train_with_restarts([task])]
    task = tasks[0]
    if not task.options.restart:
        raise failure
    for _ in range(_RESTARTS):
        task = replace(task, model=replace(task.model, learning_rate=float(task.model.learning_rate) / 10))
        try:
            return _run([task])
        except TrainingError as error:
            failure = error
    raise failure


def _run(tasks: Sequence[Prepared]) -> list[TrainedNetwork]:
    """Train by the strategy of the model; members of a wide table have inputs of their own, so that each is a task."""
    run = tasks[0].model.strategy or run_loop
    if all(task.scores is None for task in tasks):
        return run(tasks)
    parts = [_members_apart(task) for task in tasks]
    trained = iter(run([part for members in parts for part in members]))
    return [_members_joined(task, [next(trained) for _ in members]) for task, members in zip(tasks, parts, strict=True)]


def _members_apart(task: Prepared) -> list[Prepared]:
    """A fit for each member, whose inputs are its scores."""
    parts = []
    for k, scores in enumerate(task.scores or ()):
        held = None if task.rows.validation is None else [task.rows.validation[k]]
        rows = Rows([task.rows.train[k]], held)
        x = scores.values.astype(np.float32)
        parts.append(replace(task, x=x, rows=rows, seeds=[task.seeds[k]], scores=None))
    return parts


def _members_joined(task: Prepared, parts: Sequence[TrainedNetwork]) -> TrainedNetwork:
    """One network of all members, of scores as theirs are."""
    first = parts[0]
    return replace(
        first,
        weights={name: np.concatenate([part.weights[name] for part in parts]) for name in first.weights},
        history=History.joined([part.history for part in parts]),
        fingerprint=data_fingerprint(task.x, task.data),
    )


def _finish(task: Prepared, trained: TrainedNetwork) -> FittedNetwork:
    model, times = trained.model, thinned(task.times)
    network, weights = trained.network, trained.weights
    if task.scores is not None:
        network, weights = with_scores_inside(network, weights, task.scores)
    torch = {"torch": str(require_torch("training").__version__)}
    return FittedNetwork(
        model=model,
        features=task.features,
        n_features_in=int(task.x.shape[1]) if task.features is None else task.features.n_features_in,
        network=network,
        weights=weights,
        encoders=trained.encoders,
        history=trained.history,
        extras=model.complete_extras(task, lambda: trained.outputs(task.inputs)),
        time_scale=task.unit,
        times=times,
        trained_on=TrainedOn.describe(task.observed, times=times, fingerprint=trained.fingerprint, packages=torch),
        points=given_points(model.point),
    )


@final
@dataclass(frozen=True)
class OutputStart:
    """Trained networks whose output layer alone is learned on.

    Attributes
    ----------
    network, weights
        The networks, with a leading axis of members.
    pull
        Penalty on the difference from these weights.
    """

    network: Architecture
    weights: Weights
    pull: float


def run_loop(tasks: Sequence[Prepared], start: OutputStart | None = None) -> list[TrainedNetwork]:
    """Train the networks of all tasks in one loop; their models have the same settings.

    Parameters
    ----------
    tasks
        The prepared fits; one whose rows are in a file is alone.
    start
        Networks of a single task to begin with; None: new ones.
    """
    import torch

    from aldsurv.training.batches import RowSource
    from aldsurv.training.loop import Training
    from aldsurv.training.member_network import MemberNetwork

    model, options = tasks[0].model, tasks[0].options
    device = _device(options.device)
    joined = _joined(tasks)
    units = np.concatenate([np.full(len(task.data), task.unit) for task in tasks])
    objective = model.objective(tasks, joined, units, device)
    x = torch.from_numpy(np.concatenate([task.x for task in tasks]) if len(tasks) > 1 else tasks[0].x).to(device)
    dtype = _precision(tasks[0], device)
    weight = None if joined.weight is None else torch.from_numpy(np.array(joined.weight, np.float32)).to(device)
    starts = np.cumsum([0, *(len(task.data) for task in tasks)])[:-1]
    training, validation = _member_rows(tasks, starts)
    seeds = [seed for task in tasks for seed in task.seeds]

    encoders = _encoders(options.encoder, seeds)
    inputs = _encoded_width(encoders[0], x) if encoders else x.shape[1]
    if start is None:
        network = model.architecture(inputs, objective.outputs, tasks[0].extras, encoded=bool(encoders))
        initial, learned = _initial(network, tasks, objective, weight, starts)
        members = MemberNetwork(network, initial, encoders, device, dtype, learned)
    else:
        network = start.network
        initial, learned = _outputs_only(start, tasks[0])
        towards = [{name: arrays[name] for name in OUTPUT_ARRAYS} for arrays in initial]
        members = MemberNetwork(network, initial, (), device, dtype, learned, pull=start.pull, towards=towards)
    # In the precision of the training: no batch has to be converted.
    known = _in_precision(x, dtype), tuple(_in_precision(field, dtype) for field in objective.fields), weight
    fingerprints = [
        data_fingerprint(task.x, task.data) if task.stream is None else task.stream.fingerprint for task in tasks
    ]
    stream = tasks[0].stream
    history = Training(
        members,
        objective,
        RowSource(*known, training, dtype) if stream is None else stream.rows(device, dtype),
        None if validation is None else RowSource(*known, validation, dtype),
        model.training_settings(),
        seeds=seeds,
        callbacks=list(options.callbacks),
        progress=options.progress,
        checkpoint=options.checkpoint,
        fingerprint=_run_fingerprint(network, model.to_dict(), seeds, [*fingerprints, str(dtype)]),
        keep_start=start is not None,
    ).run()

    arrays, modules = members.best_arrays(), members.restore_encoders()
    trained, stop = [], 0
    for task, fingerprint in zip(tasks, fingerprints, strict=True):
        chosen = slice(stop, stop + len(task.seeds))
        stop = chosen.stop
        weights = {name: np.ascontiguousarray(array[chosen]) for name, array in arrays.items()}
        trained.append(
            TrainedNetwork(task.model, network, weights, modules[chosen], history.members(chosen), fingerprint)
        )
    return trained


def _precision(task: Prepared, device: torch.device) -> torch.dtype:
    """float64 where it costs little.

    Every epoch multiplies what rounding has changed: after thirty of them another processor, or another order of the
    same sums, would be as good as another seed. In float64 gradients have digits to spare, which
    `WeightBlock.round_gradients` leaves out.
    """
    import torch

    if task.options.encoder is not None or device.type != "cpu" or len(task.x) > _MOST_PRECISE:
        return torch.float32
    return torch.float64


def _in_precision(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Floating numbers in a precision; whole numbers and bools stay so."""
    return values.to(dtype) if values.is_floating_point() else values


def _joined(tasks: Sequence[Prepared]) -> SurvivalData:
    """All rows one after the other, the weights of each task's rows with mean 1."""
    parts = [task.data.with_weight(even_weights(task.data)) for task in tasks]
    return parts[0] if len(parts) == 1 else SurvivalData.concatenate(parts)


def _member_rows(
    tasks: Sequence[Prepared], starts: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]] | None]:
    training = [rows + start for task, start in zip(tasks, starts, strict=True) for rows in task.rows.train]
    if any(task.rows.validation is None for task in tasks):
        return training, None
    pairs = zip(tasks, starts, strict=True)
    held = [rows + start for task, start in pairs for rows in task.rows.validation or ()]
    return training, [spread_rows(rows, _MOST_VALIDATION_ROWS) for rows in held]


def _initial(
    network: Architecture,
    tasks: Sequence[Prepared],
    objective: Objective,
    weight: torch.Tensor | None,
    starts: NDArray[np.int64],
) -> tuple[list[dict[str, NDArray[np.float32]]], list[dict[str, NDArray[np.bool_]]]]:
    """Arrays with which each member begins, and which of their weights it learns."""
    from aldsurv.training.marginal_start import best_constants

    members = [
        (task, member, seed, rows + start)
        for task, start in zip(tasks, starts, strict=True)
        for member, (seed, rows) in enumerate(zip(task.seeds, task.rows.train, strict=True))
    ]
    given = [task.model.fixed_outputs(member, task.extras) for task, member, _, _ in members]
    constants: list[NDArray[np.float32]] = []
    if tasks[0].model.start == "marginal":
        constants = best_constants(objective, [rows for *_, rows in members], weight, given)
    initial, learned = [], []
    for number, ((task, member, seed, _), fixed) in enumerate(zip(members, given, strict=True)):
        arrays = network.initial(generator_for(seed, Purpose.WEIGHTS))
        if constants:
            # No covariate counts yet: every row begins at the best constant.
            arrays["output.bias"] = constants[number]
            arrays["output.weight"] = np.zeros_like(arrays["output.weight"])
        unused = None if task.features is None else task.model.unused_inputs(task.features, member)
        own = _learned_weights(network, fixed, unused)
        for name, mask in own.items():
            # What is not learned has no part in the outputs, except for the outputs that are given.
            arrays[name] = np.where(mask, arrays[name], np.float32(0))
        if fixed is not None:
            arrays["output.bias"] = np.where(np.isnan(fixed), arrays["output.bias"], fixed).astype(np.float32)
        initial.append(arrays)
        learned.append(own)
    return initial, learned


def _outputs_only(
    start: OutputStart, task: Prepared
) -> tuple[list[dict[str, NDArray[np.float32]]], list[dict[str, NDArray[np.bool_]]]]:
    """Arrays of each member as they are, and that only those of the output layer are learned."""
    network, initial, learned = start.network, [], []
    frozen = {slot.name: np.zeros(slot.shape, np.bool_) for slot in network.slots() if slot.name not in OUTPUT_ARRAYS}
    for member in range(len(task.seeds)):
        unused = None if task.features is None else task.model.unused_inputs(task.features, member)
        own = _learned_weights(network, task.model.fixed_outputs(member, task.extras), unused)
        initial.append({name: array[member] for name, array in start.weights.items()})
        learned.append({**own, **frozen})
    return initial, learned


def _learned_weights(
    network: Architecture, fixed: NDArray[np.float64] | None, unused: NDArray[np.bool_] | None
) -> dict[str, NDArray[np.bool_]]:
    """By name of an array which of its weights a member learns that has fixed outputs and does without some inputs."""
    shapes = {slot.name: slot.shape for slot in network.slots()}
    learned: dict[str, NDArray[np.bool_]] = {}
    if fixed is not None:
        free = np.isnan(fixed)
        heads = free[: network.heads]
        by_head = heads[:, None] if network.head_hidden else heads
        learned["output.bias"] = free
        learned["output.weight"] = np.broadcast_to(by_head, shapes["output.weight"])
    if unused is not None:
        name = network.input_slot
        before = learned.get(name, np.ones(shapes[name], np.bool_))
        learned[name] = before & ~unused[:, None]
    return learned


def _encoders(given: Any, seeds: Sequence[int]) -> list[Any]:
    """A module for each member: a copy of the one given, or one that the function given makes under its seed."""
    import torch

    if given is None:
        return []
    if isinstance(given, torch.nn.Module):
        return [copy.deepcopy(given) for _ in seeds]
    if not callable(given):
        raise ParameterError(
            f"encoder must be a torch module or a function that makes one, but is {quoted(given, 60)}.",
            argument="encoder",
        )
    made = []
    with torch.random.fork_rng():
        for seed in seeds:
            torch.manual_seed(seed)
            made.append(given())
    if not all(isinstance(module, torch.nn.Module) for module in made):
        raise ParameterError(
            f"encoder must make a torch module, but made {type(made[0]).__name__}.", argument="encoder"
        )
    return made


def _encoded_width(encoder: Any, x: torch.Tensor) -> int:
    import torch

    with torch.no_grad():
        sample = encoded(encoder.to(x.device).eval(), x[:2])
    if not isinstance(sample, torch.Tensor):
        raise ParameterError(
            f"encoder must give one tensor (rows, numbers), but gives a {type(sample).__name__}.", argument="encoder"
        )
    if sample.dim() != 2 or len(sample) != len(x[:2]):
        raise ParameterError(
            f"encoder must give (rows, numbers), but gives shape {tuple(sample.shape)}.", argument="encoder"
        )
    return int(sample.shape[1])


def _device(name: str) -> torch.device:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0][:120]
        raise ParameterError(
            f"device must be 'auto', 'cpu' or a device at hand, but is {name!r} ({reason}).", argument="device"
        ) from None
    return device


def _run_fingerprint(network: Architecture, settings: Any, seeds: Sequence[int], data: Sequence[str]) -> str:
    text = json.dumps([network.to_plain(), settings, list(seeds), list(data)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
