"""A distribution reduced to its three logarithms, so that the base class must do all the rest numerically."""

from __future__ import annotations

from aldsurv.distributions import SurvivalDistribution


class Stripped(SurvivalDistribution):
    def __init__(self, whole: SurvivalDistribution) -> None:
        self.whole = whole

    @property
    def _column(self):
        return self.whole._column

    def _map_rows(self, change):
        return Stripped(self.whole._map_rows(change))

    def _join(self, others):
        return Stripped(self.whole._join([other.whole for other in others]))

    def _scaled(self, factor):
        return Stripped(self.whole._scaled(factor))

    def _log_survival(self, t):
        return self.whole._log_survival(t)

    def _log_cdf(self, t):
        return self.whole._log_cdf(t)

    def _log_density(self, t):
        return self.whole._log_density(t)

    def _kinks(self):
        return self.whole._kinks()

    def _lower(self):
        return self.whole._lower()
