"""Which of a network's outputs is what in a mixture of asymmetric Laplace distributions, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.numerics.backend import Array, as_like, namespace

__all__ = ["SHARED_OUT", "MixtureOutputs"]

# This share of the probability is always divided evenly: a component whose weight had gone to 0 would feel no row
# any more and could not come back.
SHARED_OUT = 0.01
# Beyond e^80 nothing is known any more, and squares must stay finite.
_LARGEST_LOG = 80.0


@lru_cache
def _places(components: int) -> NDArray[np.float64]:
    found = np.linspace(-1.0, 1.0, components)
    found.setflags(write=False)
    return found


@final
@dataclass(frozen=True)
class MixtureOutputs:
    """The outputs of K components and their links.

    Free shapes: θ, log σ, log κ and the logarithm of the weight of each component, K of each. Tied shapes: one
    location μ, one log scale s and K log weights, which depend on the covariates, then constants: the places δ, log
    scales ρ and log κ of the components relative to the shared ones: ``θ = μ + eˢ·δ`` (with exp, ``log θ = μ + δ``)
    and ``log σ = s + ρ``. Tied shapes that are skewed have one asymmetry a more, after s, which depends on the
    covariates, too: ``log κ = a + `` the component's own.

    Parameters
    ----------
    components
        K.
    tied
        Whether shapes are tied.
    exp_theta
        Whether θ is the exponential of its output.
    skewed
        Of tied shapes, whether covariates move the asymmetry of all components together.
    """

    components: int
    tied: bool
    exp_theta: bool
    skewed: bool = False

    @property
    def shared(self) -> int:
        """How many outputs, the first ones, all components of tied shapes share."""
        return (2 + self.skewed) if self.tied else 0

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return 4 * self.components + self.shared

    @property
    def constants(self) -> int:
        """How many of them, the last ones, are the same for every row."""
        return 3 * self.components if self.tied else 0

    @property
    def places(self) -> NDArray[np.float64]:
        """Fixed offsets (K,) of the locations, so that components differ before anything was learned."""
        return _places(self.components)

    @property
    def one_place(self) -> NDArray[np.float64]:
        """Outputs (outputs,) that make all components the same: one asymmetric Laplace distribution; NaN: any value.

        Skewed shapes only: the location, scale and asymmetry that all share are left.
        """
        zeros = np.zeros(self.components)
        found = np.concatenate([np.full(self.shared, np.nan), zeros, -self.places, zeros, zeros])
        return found if self.skewed else np.full(self.outputs, np.nan)

    def split(self, planes: Array, constants: Array = None) -> tuple[Array, Array, Array, Array]:
        """Location, log scale, log κ and log weights (K, …) from outputs along the first axis.

        `constants` are the last outputs, which do not depend on the row, if they are not among the `planes`.
        """
        k = self.components
        places = as_like(self.places, planes).reshape(k, *(1,) * (planes.ndim - 1))
        if not self.tied:
            return planes[:k] + places, planes[k : 2 * k], planes[2 * k : 3 * k], planes[3 * k :]
        first = self.shared
        shift, log_spread = planes[:1], planes[1:2]
        logits, fixed = planes[first : first + k], planes[first + k :] if constants is None else constants
        relative, log_scale, log_kappa = fixed[:k], fixed[k : 2 * k], fixed[2 * k :]
        relative = relative + places
        if not self.exp_theta:
            xp = namespace(planes)
            relative = xp.exp(xp.clip(log_spread, -_LARGEST_LOG, _LARGEST_LOG)) * relative
        if self.skewed:
            log_kappa = log_kappa + planes[2:3]
        return shift + relative, log_spread + log_scale, log_kappa, logits

    def columns(self, raw: Array, least_scale: Array, constants: Array = None) -> dict[str, Array]:
        """Parameters (n, K) by name from outputs (n, outputs); scales are above `least_scale`, a number or (n, 1).

        `constants` (1, constants) are the last of the outputs if these do not have them. A parameter that depends on
        nothing else then is (1, K). There may be more axes before n.
        """
        xp = namespace(raw)
        fixed = None if constants is None else xp.moveaxis(constants, -1, 0)
        location, log_scale, log_kappa, logits = self.split(xp.moveaxis(raw, -1, 0), fixed)
        if self.exp_theta:
            location = xp.exp(xp.clip(location, -_LARGEST_LOG, _LARGEST_LOG))
        top = xp.max(logits, axis=0)
        share = xp.exp(logits - top)
        share = share / xp.sum(share, axis=0)
        found = {
            "theta": location,
            "sigma": xp.exp(xp.clip(log_scale, -_LARGEST_LOG, _LARGEST_LOG)),
            "kappa": xp.exp(xp.clip(log_kappa, -_LARGEST_LOG, _LARGEST_LOG)),
            "weights": SHARED_OUT / self.components + (1 - SHARED_OUT) * share,
        }
        found = {name: xp.moveaxis(plane, 0, -1) for name, plane in found.items()}
        return {**found, "sigma": found["sigma"] + least_scale}
