"""What the sums of boosted trees stand for: asymmetric Laplace distributions, one per row or a mixture of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS

if TYPE_CHECKING:
    from aldsurv.losses.likelihood.boosting_slopes import RowLosses

__all__ = ["BoostedOutputs"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True)
class BoostedOutputs:
    """The outputs of one member.

    With one component they are θ, log σ and log κ, all of them boosted; with more, those of `MixtureOutputs` with tied
    shapes, of which location, log scale and weights are boosted. With support positive θ is the exponential of its
    output.

    Parameters
    ----------
    support
        ``"log"``, ``"positive"`` or ``"real"``.
    components
        How many there are.
    least_scale
        What the scale of each of several components is above; 0 for a single one.
    """

    support: str
    components: int
    least_scale: float

    @classmethod
    def of(cls, support: str, components: int, data: SurvivalData) -> BoostedOutputs:
        """Outputs for the data, whose ties decide how narrow a component may be."""
        if components == 1:
            return cls(support, 1, 0.0)
        from aldsurv.losses.likelihood.tied_times import least_component_scale

        times = data.lower[data.exact]
        return cls(support, components, least_component_scale(SUPPORTS[support].inside(times)))

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return 3 if self.components == 1 else self._layout.outputs

    @property
    def boosted(self) -> int:
        """How many of them, the first ones, trees add to; the others are constants."""
        return 3 if self.components == 1 else self._layout.outputs - self._layout.constants

    @property
    def _exp_theta(self) -> bool:
        return SUPPORTS[self.support].theta_link == "exp"

    @property
    def _layout(self) -> MixtureOutputs:
        return MixtureOutputs(self.components, True, self._exp_theta)

    def likelihood(self, data: SurvivalData, unit: float) -> RowLosses:
        """The loss of rows, one unit of whose times is so many of the user's."""
        from aldsurv.losses.likelihood.boosting_slopes import AldRows, MixtureRows

        if self.components == 1:
            return AldRows(SUPPORTS[self.support], data, unit=unit, exp_theta=self._exp_theta)
        return MixtureRows(SUPPORTS[self.support], data, unit=unit, layout=self._layout, least_scale=self.least_scale)

    def distribution(self, raw: FloatArray) -> SurvivalDistribution:
        """What outputs (n, count) stand for."""
        columns = self.columns(raw)
        if self.components == 1:
            family = SUPPORTS[self.support].family
            return family(**{name: columns[name] for name in ("theta", "sigma", "kappa")})
        return MixedAsymmetricLaplace(**columns, support=self.support)

    def mixed(self, raw: FloatArray) -> SurvivalDistribution:
        """The mixture, in equal parts, of what outputs (members, n, count) stand for."""
        if len(raw) == 1:
            return self.distribution(raw[0])
        parts = [MixedAsymmetricLaplace(**self.columns(member), support=self.support) for member in raw]
        return MixedAsymmetricLaplace.joined(parts)

    def columns(self, raw: FloatArray) -> dict[str, Any]:
        """Parameters (n, components) by name, and their weights."""
        from aldsurv.losses.likelihood.boosting_slopes import ald_columns

        if self.components > 1:
            return self._layout.columns(raw, self.least_scale)
        return {**ald_columns(raw, self._exp_theta), "weights": np.ones((len(raw), 1))}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the distribution's parameters; of several components with their numbers."""
        if self.components == 1:
            return ("theta", "sigma", "kappa")
        kinds, numbers = ("theta", "sigma", "kappa", "weight"), range(1, self.components + 1)
        return tuple(f"{kind}_{k}" for kind in kinds for k in numbers)

    def describe(self) -> str:
        """Name of the family."""
        kind = SUPPORTS[self.support].family_name.replace("_", " ")
        return kind if self.components == 1 else f"mixture of {self.components} {kind} (tied shapes)"
