"""Estimators whose network gives the parameters of a family."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.log_time import LogTime
from aldsurv.distributions.links import linked_columns
from aldsurv.errors import ParameterError
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.networks import Architecture
from aldsurv.registry import FAMILIES

if TYPE_CHECKING:
    from aldsurv.losses.objective import Objective

__all__ = ["ParametricSurvival"]

# Beyond e^80 nothing is known any more, and squares must stay finite.
_LARGEST_LOG = 80.0


class ParametricSurvival(NeuralSurvival):
    """A network for the parameters of a family, trained by maximum likelihood under any kind of censoring."""

    @abstractmethod
    def _family(self, settings: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
        """Name of the family and the links of its parameters."""

    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Objective:
        from aldsurv.losses import likelihood_objective

        family, links = self._family(prepared[0].settings)
        return likelihood_objective(family, links, data, unit=units, device=device)

    def _member_distribution(self, raw: NDArray[np.float64], member: int, X: Any) -> SurvivalDistribution:
        family, links = self._family(self.settings_)
        kind = FAMILIES.load(family)
        numbers = raw.copy()
        for k, link in enumerate(links):
            if link != "identity":
                np.clip(numbers[:, k], -_LARGEST_LOG, _LARGEST_LOG, out=numbers[:, k])
        distribution: SurvivalDistribution = kind(**linked_columns(numbers, list(kind.parameters()), links))
        return distribution

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters of the family, such as ``theta``, ``sigma`` and ``kappa``."""
        self._require_fitted()
        return tuple(FAMILIES.load(self._family(self.settings_)[0]).parameters())

    @property
    def of_log_time(self) -> bool:
        """Whether the parameters are those of the distribution of log time."""
        self._require_fitted()
        return issubclass(FAMILIES.load(self._family(self.settings_)[0]), LogTime)

    def predict_parameters(self, X: Any) -> dict[str, NDArray[np.float64]]:
        """Parameters (n,) of each row by name, in the unit of the training times; of a family of log time, of its log.

        With several members it is the mean of theirs: the mixture has no such parameters of its own, but this tells
        what moves them.
        """
        raw = self._raw(X)
        parts = [self._member_distribution(own, k, X).scaled(self.time_scale_) for k, own in enumerate(raw)]
        return {
            name: np.mean([np.asarray(getattr(part, name))[:, 0] for part in parts], axis=0)
            for name in self.parameter_names
        }

    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        family, links = self._family(settings)
        if network.outputs != len(links):
            raise ParameterError(f"the network has {network.outputs} outputs, {family} has {len(links)} parameters.")
        if learned:
            raise ParameterError(f"{family} has nothing to know beside its network, but there is {sorted(learned)[0]}.")

    def _kind(self) -> str:
        return self._family(self.settings_)[0].replace("_", " ")

    def _told_loss(self, loss: float) -> tuple[str, str]:
        return "log-likelihood", f"{-loss:.4f} a row"
