"""A model with a network as a contributor would add it: a family by name, a recipe, and one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from aldsurv.models.neural.network_model import NetworkModel
from aldsurv.models.neural.parametric import ParametricNetwork, ParametricSurvival
from aldsurv.registry import ModelRecord

RECORD = ModelRecord(
    "log_logistic",
    "contracts.log_logistic_model:LogLogisticSurvival",
    "Log-logistic",
    "a network gives each individual a log-logistic distribution",
)


@final
@dataclass(frozen=True, kw_only=True)
class LogLogisticNetwork(ParametricNetwork):
    """The outputs are scale and shape, by the links that the family declares."""

    @property
    def family(self) -> str:
        """The log-logistic."""
        return "log_logistic"


@final
@dataclass(kw_only=True, eq=False, repr=False)
class LogLogisticSurvival(ParametricSurvival):
    """Individual survival distributions by a log-logistic; the parameters are those of `NeuralSurvival`."""

    RECIPES: ClassVar[Mapping[str, NetworkModel]] = {"default": LogLogisticNetwork(hidden=(32,), residual=True)}
