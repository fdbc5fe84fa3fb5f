"""The expected information of a row on the ALD's parameters: the Fisher information, in closed form.

With ``p = κ²/(1+κ²) = F(θ)`` and ``q = 1 - p``, an event that is observed whenever it comes has ``2/σ²`` for θ, 1 for
log σ and ``1 + 4pq`` for log κ. A row that is followed until c has less: with F and S at c and ``v = (c-θ)/left``,

    ========  ==========  ====================
    of        c ≥ θ       c < θ
    ========  ==========  ====================
    θ         2/σ²        2/(σκ)²·F/S
    log σ     F           F·(1 + v²/S)
    log κ     F + 4pq     F·(1 + (2q - v)²/S)
    ========  ==========  ====================

All are positive, where the curvature of the log-likelihood itself is 0 (of θ, on either side of it) or negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ald_information"]

# No row is taken to have less: a step is a slope divided by such a number.
_LEAST = 1e-12


def ald_information(z: Any, log_sigma: Any, log_kappa: Any, event: Any) -> tuple[Any, Any, Any]:
    """Information on θ, log σ and log κ: of an event where `event`, else of a row followed until the time of z.

    Parameters
    ----------
    z
        Time less θ.
    log_sigma, log_kappa
        Logarithms of scale and asymmetry.
    event
        Whether the event was seen. How long such a row would have been followed is not known: it counts as forever.
    """
    squared = np.exp(2 * log_kappa)
    q = 1 / (1 + squared)
    p = squared * q
    whole = 2 * np.exp(-2 * log_sigma)
    above = z >= 0
    v = np.where(above, 0.0, z) * np.sqrt(2.0) * np.exp(-log_sigma - log_kappa)
    w = np.where(above, -z, 0.0) * np.sqrt(2.0) * np.exp(log_kappa - log_sigma)
    cdf = np.where(above, 1 - q * np.exp(w), p * np.exp(v))
    survival = np.where(above, q * np.exp(w), q * np.exp(v) - np.expm1(v))
    odds = cdf / np.where(above, 1.0, survival)
    on_theta = np.where(above, whole, whole / squared * odds)
    on_scale = np.where(above, cdf, cdf + odds * v**2)
    on_kappa = np.where(above, cdf + 4 * p * q, cdf + odds * (2 * q - v) ** 2)
    full = whole, np.ones_like(whole), 1 + 4 * p * q
    partial = on_theta, on_scale, on_kappa
    on_theta, on_scale, on_kappa = (np.where(event, a, b) for a, b in zip(full, partial, strict=True))
    return np.maximum(on_theta, _LEAST * whole), np.maximum(on_scale, _LEAST), np.maximum(on_kappa, _LEAST)
