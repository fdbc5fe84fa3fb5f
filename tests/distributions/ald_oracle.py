"""The asymmetric Laplace distribution in 120 digits, straight from its definition.

Written as the textbook has it, without regard to cancellation: at this precision none survives.
"""

from __future__ import annotations

from mpmath import mp, mpf


class ExactALD:
    """One individual; times and parameters are the exact values of the floats given."""

    def __init__(self, theta: float, sigma: float, kappa: float) -> None:
        mp.dps = 120
        self.theta, self.sigma, self.kappa = mpf(theta), mpf(sigma), mpf(kappa)
        self.left = self.sigma * self.kappa / mp.sqrt(2)
        self.right = self.sigma / (self.kappa * mp.sqrt(2))
        self.below = self.kappa**2 / (1 + self.kappa**2)
        self.above = 1 / (1 + self.kappa**2)

    def density(self, t):
        z = mpf(t) - self.theta
        front = mp.sqrt(2) / self.sigma * self.kappa / (1 + self.kappa**2)
        if z >= 0:
            return front * mp.exp(-mp.sqrt(2) * self.kappa / self.sigma * z)
        return front * mp.exp(mp.sqrt(2) / (self.sigma * self.kappa) * z)

    def cdf(self, t):
        z = mpf(t) - self.theta
        return 1 - self.above * mp.exp(-z / self.right) if z >= 0 else self.below * mp.exp(z / self.left)

    def survival(self, t):
        z = mpf(t) - self.theta
        return self.above * mp.exp(-z / self.right) if z >= 0 else 1 - self.below * mp.exp(z / self.left)

    def log_survival(self, t):
        z = mpf(t) - self.theta
        return mp.log(self.above) - z / self.right if z >= 0 else mp.log1p(-self.below * mp.exp(z / self.left))

    def log_cdf(self, t):
        z = mpf(t) - self.theta
        return mp.log1p(-self.above * mp.exp(-z / self.right)) if z >= 0 else mp.log(self.below) + z / self.left

    def log_density(self, t):
        z = mpf(t) - self.theta
        return (-z / self.right if z >= 0 else z / self.left) - mp.log(self.left + self.right)

    def hazard(self, t):
        return mp.exp(self.log_density(t) - self.log_survival(t))

    def cumulative_hazard(self, t):
        return -self.log_survival(t)

    def quantile(self, q):
        q = mpf(q)
        if q <= self.below:
            return self.theta + self.left * mp.log(q / self.below)
        return self.theta - self.right * mp.log((1 - q) / self.above)

    def mean(self):
        return self.theta + self.right - self.left

    def variance(self):
        return self.left**2 + self.right**2

    def skewness(self):
        return 2 * (self.right**3 - self.left**3) / self.variance() ** mpf("1.5")

    def entropy(self):
        return 1 + mp.log(self.left + self.right)

    def excess(self, t):
        """``E[(T - t)⁺]``, the area under survival beyond t."""
        z = mpf(t) - self.theta
        if z >= 0:
            return self.right * self.survival(t)
        return self.mean() - mpf(t) + self.left * self.cdf(t)

    def restricted_mean(self, horizon):
        return self.excess(0) - self.excess(horizon)

    def mean_residual_life(self, t):
        return self.excess(t) / self.survival(t) if mpf(t) < self.theta else self.right

    def squared_cdf(self, t):
        """``∫ F²`` from minus infinity to t."""
        z = mpf(t) - self.theta
        if z < 0:
            return self.left * self.cdf(t) ** 2 / 2
        r, p = self.right, self.above
        rise = z - 2 * p * r * (1 - mp.exp(-z / r)) + p**2 * r / 2 * (1 - mp.exp(-2 * z / r))
        return self.left * self.below**2 / 2 + rise

    def crps(self, t):
        # E|T - t| - E|T - T'|/2, from the excess on either side and Gini's mean difference.
        below = mpf(t) - self.mean() + self.excess(t)
        gini = self.left * self.below * (1 - self.below / 2) + self.right * self.above * (1 - self.above / 2)
        return self.excess(t) + below - gini

    def censored_crps(self, t):
        return self.squared_cdf(t)

    def probability(self, lower, upper):
        # 120 digits of a cdf near 1 say nothing of a tail of 1e-150: there survivals are subtracted.
        if mpf(lower) >= self.theta:
            return self.survival(lower) - self.survival(upper)
        return self.cdf(upper) - self.cdf(lower)
