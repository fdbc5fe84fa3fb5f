"""Competing causes by a probability for each cause and a distribution of the time given that cause."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_names import checked_causes
from aldsurv.distributions.wrappers.cured import Cured
from aldsurv.distributions.wrappers.mixture import Mixture
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CauseMixture"]

FloatArray = NDArray[np.float64]
# Probabilities that add up to more than one by no more than this do so by rounding.
_ROUNDING = 1e-9


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class CauseMixture(CompetingDistribution):
    """A cause is drawn first, and then the time of its event: ``F_k(t) = π_k·G_k(t)``.

    Incidences, densities, conditional predictions and quantiles are those of the parts in closed form.

    Parameters
    ----------
    parts
        For each cause the distribution of the time of its event, among those who have it.
    probabilities
        Probability of each cause: (causes,), or (n, causes); what is missing to one never have an event.
    causes
        Names of the causes; None: "1", "2", …

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> d = CauseMixture([Exponential([2.0]), Exponential([5.0])], [0.3, 0.5], ["relapse", "death"])
    >>> d.incidence([1.0, 1000.0], cause="death").round(4), d.survival(1000.0).round(4)
    (array([[0.0906, 0.5   ]]), array([0.2]))
    >>> d.conditional(4.0).cause_probability().round(4)[:, 0]
    array([0.0873, 0.4829])
    """

    parts: tuple[SurvivalDistribution, ...]
    probabilities: FloatArray
    # Kept beside the others: one minus their sum would lose the digits of a small share.
    cure: FloatArray
    causes: tuple[str, ...]

    def __init__(
        self, parts: Sequence[SurvivalDistribution], probabilities: Any, causes: Sequence[str] | None = None
    ) -> None:
        lengths = {len(part) for part in parts}
        if len(lengths) != 1:
            raise ParameterError(f"parts must be distributions of the same rows, but have {sorted(lengths)} of them.")
        n, count = lengths.pop(), len(parts)
        table = np.array(probabilities, np.float64)
        table = table[None, :] if table.ndim == 1 else table
        if table.ndim != 2 or table.shape[0] not in (1, n) or table.shape[1] != count:
            raise ParameterError(
                f"probabilities must have shape ({count},) or ({n}, {count}) for {count} causes, but have "
                f"{np.shape(probabilities)}."
            )
        total = table.sum(axis=1, keepdims=True)
        if not bool((table >= 0).all() and (total <= 1 + _ROUNDING).all()):
            raise ParameterError("probabilities must not be negative, nor add up to more than 1 in any row.")
        cure = np.where(total > 1 - _ROUNDING, 0.0, 1 - total)
        table = np.where(total > 1 - _ROUNDING, table / total, table)
        fields = {
            "parts": tuple(parts),
            "probabilities": np.broadcast_to(table, (n, count)),
            "cure": np.broadcast_to(cure, (n, 1)),
            "causes": checked_causes(causes, count),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def mean_of(cls, members: Sequence[CauseMixture]) -> CauseMixture:
        """The mixture, in equal parts, of what several members predict for the same individuals."""
        if len(members) == 1:
            return members[0]
        shares = np.stack([member.probabilities for member in members], axis=2) / len(members)
        # A cause that no member gives a chance has a time all the same.
        weights = np.where(shares.sum(axis=2, keepdims=True) > 0, shares, 1.0)
        count = len(members[0].parts)
        mixed = [Mixture([member.parts[k] for member in members], weights[:, k]) for k in range(count)]
        return cls.from_checked(
            parts=tuple(part._flat() or part for part in mixed),
            probabilities=shares.sum(axis=2),
            cure=np.mean([member.cure for member in members], axis=0),
            causes=members[0].causes,
        )

    @property
    def _column(self) -> FloatArray:
        return self.probabilities

    def _map_rows(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        return self.from_checked(
            parts=tuple(part._map_rows(change) for part in self.parts),
            probabilities=change(self.probabilities),
            cure=change(self.cure),
            causes=self.causes,
        )

    def _join(self, others: Sequence[Self]) -> Self:
        every = zip(self.parts, *(other.parts for other in others), strict=True)
        return self.from_checked(
            parts=tuple(SurvivalDistribution.concatenate(parts) for parts in every),
            probabilities=np.concatenate([self.probabilities, *(other.probabilities for other in others)]),
            cure=np.concatenate([self.cure, *(other.cure for other in others)]),
            causes=self.causes,
        )

    def overall(self) -> SurvivalDistribution:
        """The mixture of the parts, and of those who never have an event if there are any."""
        total = self.probabilities.sum(axis=1, keepdims=True)
        weights = np.where(total > 0, self.probabilities, 1.0)
        first = self.parts[0]
        if len(self.parts) > 1:
            mixed = Mixture(self.parts, weights)
            first = mixed._flat() or mixed
        return Cured.from_checked(base=first, cure=self.cure) if self.cure.any() else first

    def _weighted(self, values: list[FloatArray]) -> FloatArray:
        chances = self.probabilities.T[:, :, None]
        return np.where(chances > 0, chances * np.stack(np.broadcast_arrays(*values)), 0.0)

    def _incidences(self, t: FloatArray) -> FloatArray:
        return self._weighted([np.asarray(part._cdf(t)) for part in self.parts])

    def _log_densities(self, t: FloatArray) -> FloatArray:
        slopes = np.stack(np.broadcast_arrays(*[np.asarray(part._log_density(t)) for part in self.parts]))
        chances = self.probabilities.T[:, :, None]
        return np.asarray(np.where(chances > 0, np.log(np.where(chances > 0, chances, 1.0)) + slopes, -math.inf))

    def subdistribution(self, cause: int | str) -> SurvivalDistribution:
        """The time to an event of one cause, infinite for those who never have it: its cdf is the incidence."""
        k = self._number(cause) - 1
        others = [self.probabilities[:, j : j + 1] for j in range(len(self.parts)) if j != k]
        never = np.minimum(reduce(np.add, others, self.cure), 1.0)
        return Cured.from_checked(base=self.parts[k], cure=never)

    def quantile(self, levels: object, cause: int | str) -> FloatArray:
        """Time by which a share `levels` of those who ever have the event of a cause have had it."""
        return np.asarray(self.parts[self._number(cause) - 1].quantile(levels))

    def _conditional(self, since: FloatArray) -> CompetingDistribution:
        with np.errstate(all="ignore"):
            left = [np.asarray(part._log_survival(since)) for part in self.parts]
            whole = np.asarray(self.overall()._log_survival(since))
        if any((each == -math.inf).any() for each in left):
            return super()._conditional(since)
        return self.from_checked(
            parts=tuple(part._conditional(since) for part in self.parts),
            probabilities=self.probabilities * np.exp(np.concatenate(left, axis=1) - whole),
            cure=self.cure * np.exp(-whole),
            causes=self.causes,
        )

    def _scaled(self, factor: FloatArray) -> CauseMixture:
        return self.from_checked(
            parts=tuple(part._scaled(factor) for part in self.parts),
            probabilities=self.probabilities + 0 * factor,
            cure=self.cure + 0 * factor,
            causes=self.causes,
        )
