"""Models whose network gives the parameters of a family, and estimators that can show these parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.log_time import LogTime
from aldsurv.distributions.links import linked_columns
from aldsurv.errors import ParameterError
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.network_model import NetworkModel, Output
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.networks import Architecture
from aldsurv.registry import FAMILIES

if TYPE_CHECKING:
    from aldsurv.losses.objective import Device, Objective
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = ["LARGEST_LOG", "ParametricNetwork", "ParametricSurvival"]

FloatArray = NDArray[np.float64]
# Beyond e^80 nothing is known any more, and squares must stay finite.
LARGEST_LOG = 80.0


@dataclass(frozen=True, kw_only=True)
class ParametricNetwork(NetworkModel):
    """A network for the parameters of a family, trained by maximum likelihood under any kind of censoring."""

    @property
    @abstractmethod
    def family(self) -> str:
        """Registered name of the family."""

    @property
    def links(self) -> tuple[str, ...]:
        """For each of its parameters the link from the network's output; those that the family declares."""
        links: tuple[str, ...] = FAMILIES.load(self.family).links()
        return links

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(FAMILIES.load(self.family).parameters())

    def prepare_target(self, data: SurvivalData) -> SurvivalData:
        """Rows that have a likelihood under the family."""
        rows: SurvivalData = FAMILIES.load(self.family).training_rows(data)
        return rows

    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """The censored likelihood of the family."""
        from aldsurv.losses import likelihood_objective

        return likelihood_objective(self.family, self.links, data, unit=units, device=device)

    def member_distribution(self, raw: FloatArray, extras: Extras, member: int, X: object) -> SurvivalDistribution:
        """The family with the parameters that the outputs stand for."""
        kind = FAMILIES.load(self.family)
        numbers = raw.copy()
        for k, link in enumerate(self.links):
            if link != "identity":
                np.clip(numbers[:, k], -LARGEST_LOG, LARGEST_LOG, out=numbers[:, k])
        distribution: SurvivalDistribution = kind(**linked_columns(numbers, list(kind.parameters()), self.links))
        return distribution

    def describe_outputs(self) -> tuple[Output, ...]:
        """The parameters of the family."""
        return tuple(map(Output, self.parameter_names, self.links))

    def parameter_columns(self, parts: list[SurvivalDistribution]) -> FloatArray:
        """Parameters (parameters, n) of each row, the mean over the members' distributions."""
        columns = [[np.asarray(getattr(part, name))[:, 0] for part in parts] for name in self.parameter_names]
        return np.asarray(np.mean(columns, axis=1))

    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """One output per parameter, and nothing beside the network."""
        if network.outputs != len(self.links):
            raise ParameterError(
                f"the network has {network.outputs} outputs, {self.family} has {len(self.links)} parameters."
            )
        if extras != Extras():
            raise ParameterError(f"{self.family} has nothing to know beside its network.")

    def describe(self, extras: Extras) -> str:
        """Name of the family."""
        return self.family.replace("_", " ")

    def format_loss(self, loss: float) -> tuple[str, str]:
        """The log-likelihood per row."""
        return "log-likelihood", f"{-loss:.4f} per row"


class ParametricSurvival(NeuralSurvival):
    """An estimator whose network gives the parameters of a family."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters of the family, such as ``theta``, ``sigma`` and ``kappa``."""
        self._require_fitted()
        names: tuple[str, ...] = self.settings_.parameter_names
        return names

    @property
    def of_log_time(self) -> bool:
        """Whether the parameters are those of the distribution of log time."""
        self._require_fitted()
        return issubclass(FAMILIES.load(self.settings_.family), LogTime)

    def predict_parameters(self, X: object) -> dict[str, FloatArray]:
        """Parameters (n,) of each row by name, in the unit of the training times; of a family of log time, of its log.

        With several members it is the mean of theirs: the mixture has no such parameters of its own, but they show
        what moves it. Of several components, ``theta_1`` belongs to the one that began earliest.
        """
        columns = self.settings_.parameter_columns(self.predict_members(X))
        return dict(zip(self.parameter_names, columns, strict=True))
