"""A network gives every individual a log-normal distribution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from aldsurv.models.neural.network_model import NETWORK_ENTRIES, PEARCE_TRAINING, NetworkModel
from aldsurv.models.neural.parametric import ParametricNetwork, ParametricSurvival
from aldsurv.models.search_space import SearchSpace

__all__ = ["LogNormalNetwork", "LogNormalSurvival"]


@final
@dataclass(frozen=True, kw_only=True)
class LogNormalNetwork(ParametricNetwork):
    """The network's outputs are μ and, through softplus, η."""

    @property
    def family(self) -> str:
        """The log-normal."""
        return "log_normal"


_DEFAULT = LogNormalNetwork(hidden=(32,), head_hidden=(32,), residual=True)
_PAPER = LogNormalNetwork(**PEARCE_TRAINING, point="mean")


@final
@dataclass(kw_only=True, eq=False, repr=False)
class LogNormalSurvival(ParametricSurvival):
    """Individual survival distributions by a log-normal whose parameters a network gives.

    The logarithm of the time is normal with mean μ and standard deviation η; the network's two outputs are μ and,
    through softplus, η. Training maximises the likelihood under every kind of censoring. An event at time 0 is taken
    as one at or before the first later time.

    The parameters and attributes are those of `NeuralSurvival`. The recipe ``"paper"`` is the network and training of
    the baseline LogNorm in Sheng & Henao (2025), whose epochs and dropout differ by dataset: see
    `aldsurv.models.paper_settings`.

    Examples
    --------
    >>> from aldsurv import datasets
    >>> train, _ = datasets.load("norm_linear").split(seed=0)
    >>> model = LogNormalSurvival(random_state=0).fit(train.x, train.y)
    >>> d = model.predict_distribution([[0.2], [1.8]])
    >>> bool(d.median()[0] < d.median()[1]), d.survival([10.0, 12.0, 14.0]).shape
    (True, (2, 3))
    """

    RECIPES: ClassVar[Mapping[str, NetworkModel]] = {"default": _DEFAULT, "paper": _PAPER}
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(NETWORK_ENTRIES, "log_likelihood")
