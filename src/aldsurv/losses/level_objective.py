"""Losses of a randomised forecaster: it is given a level q beside the covariates, and is to call the event so probable.

With ``u = F(y|x, q)`` the loss of a row is ``w·(-log-likelihood) + (1 - w)·|u - q|``, or in place of ``|u - q|`` the
pinball loss ``ρ_q(y - θ(x, q))``. Of a censored row only a range of u is known: what counts is how far q lies outside
of it, which for a right-censored row is ``max(F(c|x, q) - q, 0)``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.censored_likelihood import row_kinds
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.links import linked_columns
from aldsurv.distributions.support import LEAST_LOG_TIME, SUPPORTS, Support
from aldsurv.distributions.wrappers.corrected import corrected
from aldsurv.losses.first_guess import ald_guess
from aldsurv.losses.likelihood.ald_likelihood import ald_log_likelihood
from aldsurv.losses.likelihood.family_likelihood import likelihood_objective
from aldsurv.losses.objective import Device, Guess, IntArray, Objective, weighted_mean

__all__ = ["correction_objective", "level_objective"]

# Levels at which the loss of the validation rows is taken: it is a mean over many rows, each a smooth function of q.
_VALIDATION_NODES = 8


def level_objective(
    support: Support,
    links: Sequence[str],
    data: SurvivalData,
    *,
    share: float,
    target: str,
    unit: Any = 1.0,
    device: Device = "cpu",
) -> Objective:
    """The loss of a network that gives the parameters of an asymmetric Laplace family at a level.

    Parameters
    ----------
    support
        Where the times lie; it says which family it is.
    links, data, unit, device
        As for `likelihood_objective`; the links of σ and κ must be exp.
    share
        w: how much the likelihood counts, from 0 to 1.
    target
        ``"cdf"`` for ``|u - q|`` or ``"pinball"``.
    """
    if (data.exact | data.right_censored).all():
        return _OfParameters(links[0] == "exp", data, support, np.log(unit), share, target, device)
    likelihood = likelihood_objective(support.family_name, links, data, unit=unit, device=device)
    return _OfAnyRows(likelihood, links, data, support, share, target, device)


def correction_objective(
    base: MixedAsymmetricLaplace,
    data: SurvivalData,
    *,
    share: float,
    target: str,
    unit: Any = 1.0,
    device: Device = "cpu",
) -> Objective:
    """The loss of a network that gives logarithms of factors at a level, for the parameters of given distributions.

    Parameters
    ----------
    base
        Distributions of the rows of `data`.
    data
        Exact and right-censored rows; with support log, events after time 0.
    share, target, unit, device
        As for `level_objective`.
    """
    return _OfFactors(base, data, np.log(unit), share, target, device)


class _LevelObjective(Objective):
    """Likelihood and distance from the level; which numbers the network gives is left open."""

    outputs = 3
    level_nodes = _VALIDATION_NODES

    def __init__(self, share: float, target: str) -> None:
        self._share, self._pinball = share, target == "pinball"

    @abstractmethod
    def _likelihood(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        """Mean negative log-likelihood (members,)."""

    @abstractmethod
    def _beyond_level(self, raw: Tensor, fields: tuple[Tensor, ...], level: Tensor) -> Tensor:
        """How far the level is from all those that the event of each row may have had (members, rows)."""

    @abstractmethod
    def _beyond_quantile(self, raw: Tensor, fields: tuple[Tensor, ...], level: Tensor) -> Tensor:
        """The least pinball loss of all times at which the event of each row may have been (members, rows)."""

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        likelihood = self._share * self._likelihood(raw, fields, weight)
        if len(fields) == len(self.fields):
            # No level where the best constant is looked for: there is the likelihood alone.
            return likelihood
        beyond = self._beyond_quantile if self._pinball else self._beyond_level
        return likelihood + (1 - self._share) * weighted_mean(beyond(raw, fields, fields[-1]), weight)


class _OfExactOrLater(_LevelObjective):
    """Rows that are exact or right-censored, by the closed form of the likelihood: S is that of a censored row."""

    def __init__(
        self, data: SurvivalData, support: Support, log_unit: Any, share: float, target: str, device: Device
    ) -> None:
        super().__init__(share, target)
        event = data.exact
        time, entry, offset = data.lower, data.entry, np.where(event, log_unit, 0.0)
        time, entry, offset = support.inside_rows(time, entry, event, offset)
        self._middle, self._delayed, self._positive = time, entry is not None, support.cut_at_zero
        self._earliest = support.earliest
        known = [time, offset] if entry is None else [time, offset, entry]
        self.fields = (torch.from_numpy(np.array(event)).to(device), *(_float(column, device) for column in known))

    @abstractmethod
    def _parts(self, raw: Tensor, fields: tuple[Tensor, ...]) -> tuple[Tensor, Tensor | None]:
        """θ, log σ and log κ (members, rows, parts, 3), and logarithms of weights, None for a single part."""

    def _known(self, parts: tuple[Tensor, Tensor | None], time: Tensor, event: Tensor) -> Tensor:
        """Log density where `event`, else log survival (members, rows)."""
        numbers, weights = parts
        time, event = (column.unsqueeze(-1).expand(numbers.shape[:-1]) for column in (time, event))
        since = torch.zeros_like(time) if self._positive else None
        rows = ald_log_likelihood(numbers, time, event, since, exp_theta=False)
        return rows.squeeze(-1) if weights is None else torch.logsumexp(rows + weights, -1)

    def _given_entry(self, parts: tuple[Tensor, Tensor | None], fields: tuple[Tensor, ...], event: Tensor) -> Tensor:
        """The same of those event-free at their entry."""
        known = self._known(parts, fields[1], event)
        if not self._delayed:
            return known
        entry = fields[3].clamp_min(self._earliest)
        return known - self._known(parts, entry, torch.zeros_like(event))

    def _likelihood(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        return weighted_mean(fields[2] - self._given_entry(self._parts(raw, fields), fields, fields[0]), weight)

    def _beyond_level(self, raw: Tensor, fields: tuple[Tensor, ...], level: Tensor) -> Tensor:
        event = fields[0]
        reached = -torch.expm1(self._given_entry(self._parts(raw, fields), fields, torch.zeros_like(event)))
        return torch.relu(reached - level) + event * torch.relu(level - reached)

    def _beyond_quantile(self, raw: Tensor, fields: tuple[Tensor, ...], level: Tensor) -> Tensor:
        (numbers, weights), (event, time) = self._parts(raw, fields), fields[:2]
        theta = numbers[..., 0]
        place = theta.squeeze(-1) if weights is None else (theta * weights.exp()).sum(-1)
        # A row censored at time 0 of log time says nothing, and is not to weigh for how much it does not.
        early = torch.relu(time - place) * (time > LEAST_LOG_TIME)
        return level * early + event * (1 - level) * torch.relu(place - time)


@final
class _OfParameters(_OfExactOrLater):
    """The network gives θ, or its logarithm, and the logarithms of σ and κ."""

    def __init__(
        self,
        exp_theta: bool,
        data: SurvivalData,
        support: Support,
        log_unit: Any,
        share: float,
        target: str,
        device: Device,
    ) -> None:
        super().__init__(data, support, log_unit, share, target, device)
        self._exp_theta = exp_theta

    def guess(self, rows: IntArray) -> Guess:
        return ald_guess(self._middle[rows], self._exp_theta)

    def _parts(self, raw: Tensor, fields: tuple[Tensor, ...]) -> tuple[Tensor, Tensor | None]:
        if self._exp_theta:
            raw = torch.cat([raw[..., :1].exp(), raw[..., 1:]], -1)
        return raw.unsqueeze(-2), None


@final
class _OfFactors(_OfExactOrLater):
    """The network gives the logarithms of three factors, for the parameters of given distributions."""

    def __init__(
        self, base: MixedAsymmetricLaplace, data: SurvivalData, log_unit: Any, share: float, target: str, device: Device
    ) -> None:
        super().__init__(data, SUPPORTS[base.support], log_unit, share, target, device)
        self._support, self._own, self._count = SUPPORTS[base.support], len(self.fields), base.theta.shape[1]
        columns = [base.theta, base.sigma, base.kappa, np.maximum(base.weights, np.finfo(np.float32).tiny)]
        self.fields = (*self.fields, *(_float(column, device) for own in columns for column in np.asarray(own).T))

    def _parts(self, raw: Tensor, fields: tuple[Tensor, ...]) -> tuple[Tensor, Tensor | None]:
        columns = torch.stack(fields[self._own : len(self.fields)], -1)
        theta, sigma, kappa, weights = torch.split(columns, self._count, -1)
        theta, sigma, kappa = corrected(theta, sigma, kappa, raw, support=self._support)
        return torch.stack([theta, sigma.log(), kappa.log()], -1), None if self._count == 1 else weights.log()


@final
class _OfAnyRows(_LevelObjective):
    """Rows censored in any way, by the formulas of the family."""

    def __init__(
        self,
        likelihood: Objective,
        links: Sequence[str],
        data: SurvivalData,
        support: Support,
        share: float,
        target: str,
        device: Device,
    ) -> None:
        super().__init__(share, target)
        self._inner, self._links, self._in_log = likelihood, list(links), support.of_log_time
        self._family = support.family
        _, since = row_kinds(data)
        bounds = [since, data.upper] if data.entry is None else [since, data.upper, data.entry]
        self._own = len(bounds)
        self.fields = (*(_float(column, device) for column in bounds), *likelihood.fields)

    def guess(self, rows: IntArray) -> Guess:
        return self._inner.guess(rows)

    def _likelihood(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        return self._inner.losses(raw, fields[self._own : len(self.fields)], weight)

    def _columns(self, raw: Tensor, fields: tuple[Tensor, ...], level: Tensor) -> tuple[Any, list[Tensor]]:
        """Parameters, and bounds, level and entry, as columns."""
        parameters = linked_columns(raw.reshape(-1, 3), list(self._family.parameters()), self._links)
        given = [fields[0], fields[1], level, *fields[2 : self._own]]
        return parameters, [column.reshape(-1, 1) for column in given]

    def _beyond_level(self, raw: Tensor, fields: tuple[Tensor, ...], level: Tensor) -> Tensor:
        parameters, (lower, upper, levels, *entry) = self._columns(raw, fields, level)
        distribution, earliest = self._family.from_checked(**parameters), 0.0 if self._in_log else -torch.inf
        least, most = (_cdf(distribution, bound, earliest, *entry) for bound in (lower, upper))
        beyond = torch.relu(least - levels) + torch.where(torch.isposinf(upper), 0.0, torch.relu(levels - most))
        return beyond.view(level.shape)

    def _beyond_quantile(self, raw: Tensor, fields: tuple[Tensor, ...], level: Tensor) -> Tensor:
        parameters, (lower, upper, levels, *_) = self._columns(raw, fields, level)
        early, late = torch.isfinite(lower) & ((lower > 0) | (not self._in_log)), torch.isfinite(upper)
        lower, upper = (torch.where(known, t, 1.0) for known, t in ((early, lower), (late, upper)))
        if self._in_log:
            lower, upper = torch.log(lower), torch.log(upper)
        below = torch.where(early, torch.relu(lower - parameters["theta"]), 0.0)
        above = torch.where(late, torch.relu(parameters["theta"] - upper), 0.0)
        return (levels * below + (1 - levels) * above).view(level.shape)


def _cdf(distribution: SurvivalDistribution, time: Tensor, earliest: float, entry: Tensor | None = None) -> Tensor:
    """``F(time)``, of those event-free at `entry`; 0 up to `earliest`, and at inf, where it is not used."""
    known = torch.isfinite(time) & (time > earliest)
    at = torch.where(known, time, 1.0)
    value = distribution.cdf(at)
    if entry is not None:
        delayed = torch.isfinite(entry) & (entry > earliest) & known
        since = torch.minimum(torch.where(delayed, entry, at), at)
        value = torch.where(delayed, -torch.expm1(distribution.log_conditional_survival(at, since)), value)
    return torch.where(known, value, 0.0)


def _float(column: Any, device: Device) -> Tensor:
    return torch.from_numpy(np.array(column, np.float32)).to(device)
