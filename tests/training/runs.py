"""Small training runs for the tests: rows, networks, and objectives that say what they are told to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from aldsurv.data.survival_data import SurvivalData
from aldsurv.losses import Objective, likelihood_objective
from aldsurv.networks import Architecture
from aldsurv.training.batches import RowSource
from aldsurv.training.history import History
from aldsurv.training.loop import Training
from aldsurv.training.member_network import MemberNetwork
from aldsurv.training.randomness import Purpose, generator_for
from aldsurv.training.settings import TrainingSettings

CPU = torch.device("cpu")


def rows_of(n: int, seed: int = 0, *, kinds: str = "er", weight: bool = False, columns: int = 4):
    """Covariates, and times that depend on the first of them; kinds as e, r, l, i."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns)).astype(np.float32)
    time = np.exp(0.5 * x[:, 0] + 0.5 * rng.normal(size=n)) + 0.1
    kind = np.array(list(kinds))[rng.integers(0, len(kinds), n)]
    lower = np.where(kind == "l", -np.inf, time)
    upper = np.where(kind == "r", np.inf, np.where(kind == "i", time * 1.5, time))
    return x, SurvivalData.interval(lower, upper, weight=rng.uniform(0.5, 2, n) if weight else None)


def splits(n: int, train: Sequence[int], validation: int):
    """Rows of each member: as many to learn from as it should have, and others to stop by."""
    learned, held = [], []
    for k, own in enumerate(train):
        order = np.random.default_rng([7, k]).permutation(n)
        held.append(np.sort(order[:validation]))
        learned.append(np.sort(order[validation : validation + own]))
    return learned, held


def training_of(
    x: np.ndarray,
    objective: Objective,
    *,
    train: Sequence[np.ndarray],
    validation: Sequence[np.ndarray] | None = None,
    seeds: Sequence[int] = (3,),
    network: dict[str, Any] | None = None,
    weight: np.ndarray | None = None,
    encoders: Sequence[nn.Module] = (),
    inputs: int | None = None,
    callbacks: Sequence[Callable] = (),
    progress: Any = False,
    checkpoint: Any = None,
    fingerprint: str = "",
    **settings: Any,
) -> tuple[Training, MemberNetwork]:
    architecture = Architecture(inputs or x.shape[1], objective.outputs, **(network or {}))
    initial = [architecture.initial(generator_for(seed, Purpose.WEIGHTS)) for seed in seeds]
    members = MemberNetwork(architecture, initial, encoders, CPU)
    tensor = torch.from_numpy(x)
    weights = None if weight is None else torch.from_numpy(weight.astype(np.float32))
    training = Training(
        members,
        objective,
        RowSource(tensor, objective.fields, weights, train),
        None if validation is None else RowSource(tensor, objective.fields, weights, validation),
        TrainingSettings(**settings),
        seeds=seeds,
        callbacks=callbacks,
        progress=progress,
        checkpoint=checkpoint,
        fingerprint=fingerprint,
    )
    return training, members


def fit(
    x: np.ndarray,
    data: SurvivalData,
    *,
    family: str = "asymmetric_laplace",
    links: Sequence[str] = ("exp", "exp", "exp"),
    **options: Any,
) -> tuple[dict[str, np.ndarray], History]:
    """Best weights and history of a run by maximum likelihood."""
    objective = likelihood_objective(family, links, data)
    training, members = training_of(x, objective, weight=data.weight, **options)
    history = training.run()
    return members.best_arrays(), history


class Scripted(Objective):
    """Learns a constant, and has the validation losses (epochs, members) it is given.

    `train` is called with the raw outputs of each batch, before the loss, and may raise.
    """

    outputs = 1

    def __init__(
        self,
        n: int,
        validation: Any = None,
        train: Callable[[Tensor], Tensor | None] = lambda raw: None,
        members: int = 1,
    ) -> None:
        self._rows = n
        self.fields = (torch.arange(n * members, dtype=torch.float32),)
        self._validation = None if validation is None else torch.tensor(np.asarray(validation), dtype=torch.float32)
        self._train = train
        self.validated = 0

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        if torch.is_grad_enabled():
            answer = self._train(raw)
            return (raw[..., 0] - 1).square().mean(1) if answer is None else answer
        self.validated += 1
        # Those that still train: member k has the rows from k times their number on.
        members = (fields[0][:, 0] // self._rows).long()
        return self._validation[self.validated - 1][members]


def scripted(
    validation: Any = None, *, members: int | None = None, train: Callable = lambda raw: None, n: int = 12, **options
) -> tuple[Training, MemberNetwork]:
    """A run whose validation losses are those given, one row an epoch."""
    count = members or (1 if validation is None else np.asarray(validation).shape[1])
    x = np.tile(np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32), (count, 1))
    rows = [np.arange(n) + k * n for k in range(count)]
    options = {"network": {"hidden": (4,), "head_hidden": ()}, "batch_size": 4, **options}
    if validation is not None:
        options.setdefault("max_epochs", len(validation))
    return training_of(
        x,
        Scripted(n, validation, train, count),
        train=rows,
        validation=None if validation is None else rows,
        seeds=list(range(count)),
        **options,
    )


def same_bits(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> bool:
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)
