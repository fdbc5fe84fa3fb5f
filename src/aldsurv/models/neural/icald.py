"""The individually calibrated model: a randomised forecaster, and as its prediction the mixture over the randomness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Sizes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import ParameterError
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.network_model import NETWORK_ENTRIES, PAPER_TRAINING, NetworkModel, Output
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.neural.parametric import LARGEST_LOG
from aldsurv.models.parameter_constraints import LEVEL_CONSTRAINTS
from aldsurv.models.search_space import OneOf, SearchSpace
from aldsurv.networks import Architecture
from aldsurv.networks.level_grid import level_nodes

if TYPE_CHECKING:
    from aldsurv.losses.objective import Device, Objective
    from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = ["ICALDNetwork", "ICALDSurvival"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, kw_only=True)
class ICALDNetwork(NetworkModel):
    """Settings and formulas of `ICALDSurvival`: outputs are θ, σ and κ at a level."""

    # With a tenth, distributions are far too wide: docs/icald.md.
    likelihood_share: float = 0.5
    target: str = "cdf"
    nodes: int = 32
    level_units: tuple[int, ...] = (8, 4)
    support: str = "log"
    theta_link: str = "auto"

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        **LEVEL_CONSTRAINTS,
        "level_units": Sizes(),
        "support": Choice(tuple(SUPPORTS)),
        "theta_link": Choice(("exp", "identity", "auto")),
    }

    def check(self) -> None:
        """The level is embedded by at least one layer."""
        super().check()
        if self.level_units == ():
            raise ParameterError(
                "level_units must be sizes of at least one layer, such as (8, 4), but are none.", argument="level_units"
            )

    def completed(self) -> ICALDNetwork:
        """With the link of θ: exp with support positive, where θ would otherwise run below 0, else identity."""
        if self.theta_link != "auto":
            return self
        return replace(self, theta_link=SUPPORTS[self.support].theta_link)

    def prepare_target(self, data: SurvivalData) -> SurvivalData:
        """With support log, rows whose times have a logarithm."""
        return SUPPORTS[self.support].training_rows(data)

    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """The likelihood and the distance of levels, in their shares."""
        from aldsurv.losses.level_objective import level_objective

        return level_objective(
            SUPPORTS[self.support],
            (self.theta_link, "exp", "exp"),
            data,
            share=self.likelihood_share,
            target=self.target,
            unit=units,
            device=device,
        )

    def architecture(self, inputs: int, outputs: int, extras: Extras | None = None, *, encoded: bool) -> Architecture:
        """A network that takes a level."""
        return replace(super().architecture(inputs, outputs, extras, encoded=encoded), level_units=self.level_units)

    def describe_outputs(self) -> tuple[Output, ...]:
        """θ, σ and κ at a level."""
        return Output("theta", self.theta_link), Output("sigma", "exp"), Output("kappa", "exp")

    @property
    def levels(self) -> FloatArray:
        """Nodes of the quadrature over levels."""
        return np.array([level for level, _ in level_nodes(self.nodes)])

    def member_distribution(self, raw: FloatArray, extras: Extras, member: int, X: object) -> SurvivalDistribution:
        """The mixture over the levels."""
        shares = [share for _, share in level_nodes(self.nodes)]
        theta, log_sigma, log_kappa = np.moveaxis(raw, -1, 0)
        if self.theta_link == "exp":
            theta = np.exp(np.clip(theta, -LARGEST_LOG, LARGEST_LOG))
        sigma, kappa = (np.exp(np.clip(column, -LARGEST_LOG, LARGEST_LOG)) for column in (log_sigma, log_kappa))
        return MixedAsymmetricLaplace(theta, sigma, kappa, shares, support=self.support)

    def combine(self, parts: list[SurvivalDistribution], fitted: FittedNetwork) -> SurvivalDistribution:
        """One mixture of the components of all members."""
        return MixedAsymmetricLaplace.joined([part for part in parts if isinstance(part, MixedAsymmetricLaplace)])

    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """Three outputs at a level, and nothing beside the network."""
        if network.outputs != 3 or network.constants or not network.level_units:
            raise ParameterError("the network must take a level and have three outputs.")
        if extras != Extras():
            raise ParameterError("this model has no facts beside the network.")

    def describe(self, extras: Extras) -> str:
        """Family, and how many levels there are."""
        return f"individually calibrated {SUPPORTS[self.support].family_name.replace('_', ' ')} ({self.nodes} levels)"


_DEFAULT = ICALDNetwork(hidden=(32,), head_hidden=(32,), residual=True)
_PAPER = ICALDNetwork(
    **PAPER_TRAINING,
    likelihood_share=0.1,
    support="real",
    theta_link="identity",
    hidden=(32,),
    head_hidden=(32,),
    residual=True,
    # As for the model without a level: outputs that start near e⁰ suit times around 1.
    time_scale="median",
    point="mean",
)


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ICALDSurvival(NeuralSurvival):
    """Individual survival distributions by an asymmetric Laplace distribution that a random level moves.

    The network is given a level q beside the covariates, a fresh one for each row and step, and is trained to call the
    event of the row so probable: ``F(y|x, q)`` is to be q. The loss is a mean over rows of
    ``w·(-log-likelihood) + (1 - w)·|F(y|x, q) - q|``; of a right-censored row only ``F(c|x, q) > q`` is a fault. The
    prediction is the mixture over q, by quadrature. Left- and interval-censored rows, delayed entry and weights
    count as in a likelihood.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``. Beside its own
    parameters, below, it has those of `NeuralSurvival`.

    The recipe ``"paper"`` is network, loss and training as close to the published ones as is known. Validation rows are
    scored at fixed levels.

    Parameters
    ----------
    likelihood_share
        w, above 0 and up to 1: with less, levels come nearer to what they should be and distributions get wider.
    target
        What goes with the likelihood: ``"cdf"`` for ``|F(y|x, q) - q|``, or ``"pinball"`` for the pinball loss
        ``ρ_q(y - θ(x, q))`` in the unit inside (``time_scale``; with support log, of log time).
    nodes
        Levels whose distributions make up the prediction of each member, nodes of Gauss-Legendre quadrature.
    level_units
        Sizes of the layers that embed the level; each head and its output see the last of them.
    support
        ``"real"`` (the paper's: some mass below 0), ``"positive"`` (the same cut off at 0) or ``"log"`` (the
        logarithm of time has the asymmetric Laplace distribution).
    theta_link
        How θ comes from its output: ``"exp"``, ``"identity"``, or ``"auto"``: exp with support positive, where θ
        would otherwise run below 0, else identity.

    Examples
    --------
    >>> from aldsurv import datasets
    >>> train, _ = datasets.load("norm_linear").split(seed=0)
    >>> d = ICALDSurvival(random_state=0).fit(train.x, train.y).predict_distribution([[0.2], [1.8]])
    >>> d
    MixedAsymmetricLaplace(n=2, components=160, support='log')
    >>> bool(d.median()[0] < d.median()[1])
    True
    """

    likelihood_share: float | None = None
    target: str | None = None
    nodes: int | None = None
    level_units: Sequence[int] | None = None
    support: str | None = None
    theta_link: str | None = None

    RECIPES: ClassVar[Mapping[str, NetworkModel]] = {"default": _DEFAULT, "paper": _PAPER}
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(
        {**NETWORK_ENTRIES, "support": OneOf(("log", "positive", "real"))}, "log_likelihood"
    )
