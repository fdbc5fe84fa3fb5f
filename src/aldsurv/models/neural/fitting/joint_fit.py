"""Several fits in one training loop: the members of an ensemble, the seeds of a comparison."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError, TrainingError
from aldsurv.models.neural.fitting.candidates import Fit, Plan, run_all
from aldsurv.models.neural.fitting.encoding import encoded, require_torch
from aldsurv.models.neural.fitting.preparation import even_weights
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.models.training_rows import data_fingerprint
from aldsurv.networks import Architecture

__all__ = ["fit_together"]

# Rows up to which training is in float64. The default takes as long as in float32 up to 2,000 rows and a third longer
# here, ten networks of the paper's recipe two thirds.
_MOST_PRECISE = 10_000
# How often training starts anew with a smaller learning rate before it is given up.
_RESTARTS = 3

Estimator = TypeVar("Estimator", bound=NeuralSurvival)


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
        For each a tuple ``(X, y)`` or ``(X, y, sample_weight)``.

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
        raise ParameterError(f"there are {len(estimators)} estimators, but {len(data)} datasets. Give one for each.")
    require_torch(type(estimators[0]).__name__)
    plans = [Plan.of(estimator, given) for estimator, given in zip(estimators, data, strict=True)]
    fits = [fit for plan in plans for fit in plan.fits]
    runs: dict[str, list[Fit]] = {}
    for k, fit in enumerate(fits):
        runs.setdefault(_shared_by(fit, k), []).append(fit)
    for chosen in runs.values():
        run_all([fit for fit in chosen if not fit.needless], _run_with_restarts)
    for plan in plans:
        plan.settle()
    return list(estimators)


def _shared_by(fit: Fit, number: int) -> str:
    """What estimators have in common that share a loop."""
    estimator, own = fit.estimator, fit.prepared
    alone = any(given is not None for given in (estimator.encoder, estimator.checkpoint, estimator.callbacks))
    # As many rows, for batches and sums must be those of a fit alone; rows that need the same formulas.
    even = even_weights(own.data) is None
    simple = bool((own.data.exact | own.data.right_censored).all())
    known = [(name, array.shape) for name, array in sorted(own.learned.items())]
    kind = [type(estimator).__name__, str(estimator.device), str(estimator.progress), own.x.shape, simple, even, known]
    kind.append(repr(own.data.causes))
    return json.dumps([own.settings, kind, alone and number])


def _run_with_restarts(estimators: Sequence[NeuralSurvival], prepared: Sequence[Prepared]) -> None:
    """Train; whose loss does not stay finite starts anew with a tenth of the learning rate, unless it was given."""
    try:
        _run(estimators, prepared)
        return
    except TrainingError as error:
        failed = error
    if len(estimators) > 1:
        # Each becomes what it would have become alone.
        for estimator, own in zip(estimators, prepared, strict=True):
            _run_with_restarts([estimator], [own])
        return
    estimator, own = estimators[0], prepared[0]
    if estimator.learning_rate is not None or estimator.checkpoint is not None:
        raise failed
    for _ in range(_RESTARTS):
        own.settings["learning_rate"] = float(own.settings["learning_rate"]) / 10
        try:
            _run(estimators, prepared)
            return
        except TrainingError as error:
            failed = error
    raise failed


def _run(estimators: Sequence[NeuralSurvival], prepared: Sequence[Prepared]) -> None:
    import torch

    from aldsurv.training.batches import RowSource
    from aldsurv.training.loop import Training
    from aldsurv.training.member_network import MemberNetwork

    first, settings = estimators[0], prepared[0].settings
    device = _device(first.device)
    joined = _joined(prepared)
    units = np.concatenate([np.full(len(own.data), own.unit) for own in prepared])
    objective = first._objective(prepared, joined, units, device)
    x = torch.from_numpy(np.concatenate([own.x for own in prepared]) if len(prepared) > 1 else prepared[0].x).to(device)
    dtype = _precision(prepared[0], first.encoder is not None, device)
    weight = None if joined.weight is None else torch.from_numpy(np.array(joined.weight, np.float32)).to(device)
    starts = np.cumsum([0, *(len(own.data) for own in prepared)])[:-1]
    train, validation = _member_rows(prepared, starts)
    seeds = [seed for own in prepared for seed in own.seeds]

    encoders = _encoders(first, seeds)
    inputs = _encoded_width(encoders[0], x) if encoders else x.shape[1]
    network = first._architecture(settings, inputs, objective.outputs)
    members = MemberNetwork(network, _initial(network, prepared, objective, weight, starts), encoders, device, dtype)
    fingerprints = [data_fingerprint(own.x, own.data) for own in prepared]
    history = Training(
        members,
        objective,
        RowSource(x, objective.fields, weight, train, dtype),
        None if validation is None else RowSource(x, objective.fields, weight, validation, dtype),
        _training_settings(settings),
        seeds=seeds,
        callbacks=list(first.callbacks or ()),
        progress=first.progress,
        checkpoint=None if first.checkpoint is None else Path(first.checkpoint),
        fingerprint=_run_fingerprint(network, settings, seeds, [*fingerprints, str(dtype)]),
    ).run()

    arrays, modules = members.best_arrays(), members.restore_encoders()
    stop = 0
    for estimator, own, fingerprint in zip(estimators, prepared, fingerprints, strict=True):
        chosen = slice(stop, stop + len(own.seeds))
        stop = chosen.stop
        weights = {name: np.ascontiguousarray(array[chosen]) for name, array in arrays.items()}
        estimator._remember(own, network, weights, modules[chosen], history.members(chosen), fingerprint)


def _precision(prepared: Prepared, encoded: bool, device: Any) -> Any:
    """float64 where it costs little.

    Every epoch multiplies what rounding has changed: after thirty of them another processor, or another order of the
    same sums, would be as good as another seed. In float64 gradients have digits to spare, which
    `WeightBlock.round_gradients` leaves out.
    """
    import torch

    if encoded or device.type != "cpu" or len(prepared.x) > _MOST_PRECISE:
        return torch.float32
    return torch.float64


def _training_settings(settings: dict[str, Any]) -> Any:
    from dataclasses import fields

    from aldsurv.training.settings import TrainingSettings

    names = {field.name for field in fields(TrainingSettings)}
    return TrainingSettings(**{name: value for name, value in settings.items() if name in names})


def _joined(prepared: Sequence[Prepared]) -> SurvivalData:
    """All rows one after the other, the weights of each estimator's rows with mean 1."""
    parts = [own.data.with_weight(even_weights(own.data)) for own in prepared]
    return parts[0] if len(parts) == 1 else SurvivalData.concatenate(parts)


def _member_rows(
    prepared: Sequence[Prepared], starts: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]] | None]:
    train = [rows + start for own, start in zip(prepared, starts, strict=True) for rows in own.rows.train]
    if any(own.rows.validation is None for own in prepared):
        return train, None
    pairs = zip(prepared, starts, strict=True)
    return train, [rows + start for own, start in pairs for rows in own.rows.validation or ()]


def _initial(
    network: Architecture, prepared: Sequence[Prepared], objective: Any, weight: Any, starts: NDArray[np.int64]
) -> list[dict[str, NDArray[np.float32]]]:
    from aldsurv.training.marginal_start import best_constant
    from aldsurv.training.randomness import Purpose, generator_for

    initial = []
    for own, start in zip(prepared, starts, strict=True):
        for seed, rows in zip(own.seeds, own.rows.train, strict=True):
            arrays = network.initial(generator_for(seed, Purpose.WEIGHTS))
            if own.settings["start"] == "marginal":
                # No covariate counts yet: every row begins at the best constant.
                arrays["output.bias"] = best_constant(objective, rows + start, weight)
                arrays["output.weight"] = np.zeros_like(arrays["output.weight"])
            initial.append(arrays)
    return initial


def _encoders(estimator: NeuralSurvival, seeds: Sequence[int]) -> list[Any]:
    """A module for each member: a copy of the one given, or one that the function given makes under its seed."""
    import torch

    given = estimator.encoder
    if given is None:
        return []
    if isinstance(given, torch.nn.Module):
        return [copy.deepcopy(given) for _ in seeds]
    if not callable(given):
        raise ParameterError(f"encoder must be a torch module or a function that makes one, but is {given!r:.60}.")
    made = []
    with torch.random.fork_rng():
        for seed in seeds:
            torch.manual_seed(seed)
            made.append(given())
    if not all(isinstance(module, torch.nn.Module) for module in made):
        raise ParameterError(f"encoder must make a torch module, but made {type(made[0]).__name__}.")
    return made


def _encoded_width(encoder: Any, x: Any) -> int:
    import torch

    with torch.no_grad():
        sample = encoded(encoder.to(x.device).eval(), x[:2])
    if not isinstance(sample, torch.Tensor):
        raise ParameterError(f"encoder must give one tensor (rows, numbers), but gives a {type(sample).__name__}.")
    if sample.dim() != 2 or len(sample) != len(x[:2]):
        raise ParameterError(f"encoder must give (rows, numbers), but gives shape {tuple(sample.shape)}.")
    return int(sample.shape[1])


def _device(name: Any) -> Any:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0][:120]
        raise ParameterError(f"device must be 'auto', 'cpu' or a device at hand, but is {name!r} ({reason}).") from None
    return device


def _run_fingerprint(network: Architecture, settings: Any, seeds: Sequence[int], data: Sequence[str]) -> str:
    told = json.dumps([network.to_plain(), settings, list(seeds), list(data)], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()
