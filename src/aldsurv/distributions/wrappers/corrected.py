"""Asymmetric Laplace distributions whose parameters are multiplied, as a network that puts a prediction right does."""

from __future__ import annotations

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.support import Support, support_of
from aldsurv.distributions.wrappers.mixture import Mixture

__all__ = ["corrected", "flat_mixture"]


def flat_mixture(distribution: SurvivalDistribution) -> MixedAsymmetricLaplace | None:
    """A distribution of asymmetric Laplace parts as one flat mixture of them; None if it has other parts."""
    if isinstance(distribution, MixedAsymmetricLaplace):
        return distribution
    if isinstance(distribution, Mixture):
        xp = namespace(distribution.weights)
        parts = [flat_mixture(part) for part in distribution.components]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts) or len({part.support for part in known}) > 1:
            return None
        columns = {
            name: xp.concat([getattr(part, name) for part in known], axis=1) for name in ("theta", "sigma", "kappa")
        }
        weights = [part.weights * distribution.weights[:, k : k + 1] for k, part in enumerate(known)]
        return MixedAsymmetricLaplace(**columns, weights=xp.concat(weights, axis=1), support=known[0].support)
    support = support_of(type(distribution))
    if support is None:
        return None
    columns = {name: getattr(distribution, name) for name in ("theta", "sigma", "kappa")}
    return MixedAsymmetricLaplace(**columns, support=support.name)


def corrected(
    theta: Array, sigma: Array, kappa: Array, log_factors: Array, *, support: Support
) -> tuple[Array, Array, Array]:
    """Parameters multiplied by ``exp(log_factors)``, whose last axis has one each for θ, σ and κ.

    With support log, where θ is the logarithm of a time, that time is multiplied: factors do not depend on the unit.
    """
    xp = namespace(log_factors)
    by_theta, by_sigma, by_kappa = (log_factors[..., k : k + 1] for k in range(3))
    moved = theta + by_theta if support.of_log_time else theta * xp.exp(by_theta)
    return moved, sigma * xp.exp(by_sigma), kappa * xp.exp(by_kappa)
