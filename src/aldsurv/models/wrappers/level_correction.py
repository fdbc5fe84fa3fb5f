"""A small network that multiplies the parameters of given distributions at a level: how it is trained and applied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.row_copies import find_groups
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.support import SUPPORTS
from aldsurv.distributions.wrappers.corrected import corrected
from aldsurv.models.rows.member_rows import split_for_members
from aldsurv.networks import Architecture, forward
from aldsurv.networks.level_grid import level_nodes
from aldsurv.training.settings import TrainingSettings

if TYPE_CHECKING:
    from aldsurv.training.history import History

__all__ = ["apply_correction", "correction_network", "neutral_weights", "train_correction"]

Weights = dict[str, NDArray[np.float32]]

# No factor beyond e^20: such rows are unlike any training rows.
_LARGEST_LOG = 20.0


def correction_network(inputs: int, hidden: Any) -> Architecture:
    """A network for the logarithms of three factors, with the level as the last of its inputs."""
    return Architecture(inputs=inputs + 1, outputs=3, hidden=hidden, head_hidden=(), residual=False)


def neutral_weights(network: Architecture, seeds: Sequence[int]) -> list[Weights]:
    """Random weights of each member, except 0 at the outputs: every factor is 1."""
    from aldsurv.training.randomness import Purpose, generator_for

    initial = []
    for seed in seeds:
        arrays = network.initial(generator_for(seed, Purpose.WEIGHTS))
        initial.append({k: np.zeros_like(a) if k.startswith("output.") else a for k, a in arrays.items()})
    return initial


def train_correction(
    network: Architecture,
    x: NDArray[np.float32],
    base: MixedAsymmetricLaplace,
    data: SurvivalData,
    *,
    share: float,
    target: str,
    stopping: float,
    settings: TrainingSettings,
    seeds: Sequence[int],
    unit: float,
) -> tuple[Weights, History]:
    """Train the factors of `base` on rows that it was not learned from.

    Parameters
    ----------
    network
        What `correction_network` gives.
    x, base, data
        Inputs, distributions and what was observed of each row, in the user's unit.
    share, target
        The loss.
    stopping
        Share of the rows that decides when to stop.
    settings
        Of the training loop.
    seeds
        One per member.
    unit
        How much of the user's time is one unit of the loss.
    """
    import torch

    from aldsurv.losses.level_objective import correction_objective
    from aldsurv.training.batches import RowSource
    from aldsurv.training.loop import Training
    from aldsurv.training.member_network import MemberNetwork
    from aldsurv.training.randomness import Purpose, generator_for

    folds = generator_for(seeds[0], Purpose.VALIDATION)
    rows = split_for_members(data, stopping, len(seeds), folds, find_groups(x, data))
    weight = None
    if data.weight is not None:
        weight = torch.from_numpy((data.weight * (len(data) / data.total_weight)).astype(np.float32))
    objective = correction_objective(
        base.scaled(1 / unit), data.scaled(1 / unit), share=share, target=target, unit=unit, device="cpu"
    )
    inputs = torch.from_numpy(x)
    members = MemberNetwork(network, neutral_weights(network, seeds), [], torch.device("cpu"))
    history = Training(
        members,
        objective,
        RowSource(inputs, objective.fields, weight, rows.train),
        None if rows.validation is None else RowSource(inputs, objective.fields, weight, rows.validation),
        settings,
        seeds=seeds,
        progress=False,
    ).run()
    return members.best_arrays(), history


def apply_correction(
    network: Architecture,
    weights: Mapping[str, NDArray[np.float32]],
    x: NDArray[np.float32],
    base: MixedAsymmetricLaplace,
    nodes: int,
) -> MixedAsymmetricLaplace:
    """The mixture of the corrected distributions over levels and members."""
    levels, shares = np.array(level_nodes(nodes)).T
    raw = np.clip(forward(network, weights, x, levels), -_LARGEST_LOG, _LARGEST_LOG)
    n, components = base.theta.shape
    parts = []
    for outputs in raw:
        columns = corrected(
            base.theta[:, None, :],
            base.sigma[:, None, :],
            base.kappa[:, None, :],
            outputs,
            support=SUPPORTS[base.support],
        )
        theta, sigma, kappa = (column.reshape(n, nodes * components) for column in columns)
        weight = (base.weights[:, None, :] * shares[:, None]).reshape(n, nodes * components)
        parts.append(MixedAsymmetricLaplace(theta, sigma, kappa, weight, support=base.support))
    return parts[0] if len(parts) == 1 else MixedAsymmetricLaplace.joined(parts)
