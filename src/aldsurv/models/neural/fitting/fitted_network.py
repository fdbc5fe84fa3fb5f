"""What comes out of training, as values: the networks of all members, and the model that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.errors import DataError
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.fitting.encoding import encode_rows
from aldsurv.models.neural.fitting.point_choice import PointChoice
from aldsurv.models.neural.network_model import NetworkModel
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.networks import Architecture, PreparedNetwork, forward
from aldsurv.training.history import History

__all__ = ["FittedNetwork", "TrainedNetwork", "Weights", "finite_outputs"]

Weights = dict[str, NDArray[np.float32]]
FloatArray = NDArray[np.float64]
# Beyond it nothing is known any more.
_LARGEST_OUTPUT = 1e30


@final
@dataclass(frozen=True)
class TrainedNetwork:
    """The outcome of the training loop for one prepared fit.

    Attributes
    ----------
    model
        With the settings that were used; a smaller learning rate may have been needed.
    network, weights, encoders
        Architecture, arrays with a leading axis of members, and perhaps a module for each member.
    history
        Losses of each epoch and member.
    fingerprint
        Of the rows.
    """

    model: NetworkModel
    network: Architecture
    weights: Weights
    encoders: list[Any]
    history: History
    fingerprint: str

    def outputs(self, x: NDArray[Any]) -> FloatArray:
        """Outputs (members, rows, k) of all members."""
        return network_outputs(self.network, self.weights, self.encoders, x, self.model.levels)


@final
@dataclass(frozen=True)
class FittedNetwork:
    """All that an estimator has learned.

    Attributes
    ----------
    model
        The settings, and what depends on them.
    features, n_features_in
        How columns become numbers (None with an encoder), and how many columns there are.
    network, weights, encoders, history
        As in `TrainedNetwork`.
    extras
        What the model knows beside its networks.
    time_scale
        How much of the user's time is one unit inside.
    times, trained_on
        Times seen in training, at most 512 of them, and facts about the rows.
    points
        Summaries of a distribution that stand for it, and the scores by which they were chosen.
    support_scores
        Held-out log-likelihood by support, if the support was chosen.
    """

    model: NetworkModel
    features: Features | None
    n_features_in: int
    network: Architecture
    weights: Weights
    encoders: list[Any]
    history: History
    extras: Extras
    time_scale: float
    times: FloatArray
    trained_on: TrainedOn
    points: PointChoice
    support_scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def n_members(self) -> int:
        """Networks of the ensemble."""
        return int(self.weights["output.bias"].shape[0])

    @property
    def n_weights(self) -> int:
        """Learned numbers of each member, without those of an encoder."""
        return sum(array[0].size for array in self.weights.values())

    def outputs(self, x: NDArray[Any], member: int | None = None) -> FloatArray:
        """Outputs (members, rows, k) of all members, or of one."""
        if member is None:
            return network_outputs(self.network, self.weights, self.encoders, x, self.model.levels)
        weights = {name: array[member : member + 1] for name, array in self.weights.items()}
        return network_outputs(self.network, weights, self.encoders[member : member + 1], x, self.model.levels)

    def joint_distribution(self, x: NDArray[Any]) -> SurvivalDistribution | None:
        """What all members predict together for inputs, in the user's unit, in blocks of rows; None: one by one."""
        if not self.model.joins_members(self.extras):
            return None
        inputs = encode_rows(self.encoders, x) if self.encoders else x
        prepared = PreparedNetwork(self.network, self.weights)
        blocks = (
            finite_outputs(prepared.moving_outputs(inputs[..., rows, :])[:, :, 0])
            for rows in prepared.row_blocks(inputs)
        )
        return self.model.joint_distribution(blocks, prepared.constants, self, inputs.shape[-2])

    def member_distribution(self, raw: FloatArray, member: int, X: object) -> SurvivalDistribution:
        """What a member predicts for the rows of `X`, in the user's unit; `raw` are the outputs of its network."""
        return self.model.member_distribution(raw, self.extras, member, X).scaled(self.time_scale)

    def member_incidence(self, raw: FloatArray) -> CompetingDistribution | None:
        """The same cause by cause, of a model with causes or a cure; None of others."""
        incidence = self.model.member_incidence(raw, self.extras)
        return None if incidence is None else incidence.scaled(self.time_scale)


def finite_outputs(raw: FloatArray) -> FloatArray:
    """Outputs of networks, infinite ones replaced by very large ones; those that are no numbers are refused."""
    if np.isfinite(raw).all():
        return raw
    raw = np.clip(raw, -_LARGEST_OUTPUT, _LARGEST_OUTPUT)
    if np.isnan(raw).any():
        raise DataError(
            "the outputs of the network are not numbers",
            argument="X",
            advice="Look for extreme values in X; the model may be damaged.",
        )
    return raw


def network_outputs(
    network: Architecture, weights: Weights, encoders: list[Any], x: NDArray[Any], levels: FloatArray | None
) -> FloatArray:
    """Outputs of the networks whose weights are given, behind their encoders if there are any."""
    return forward(network, weights, encode_rows(encoders, x) if encoders else x, levels)
