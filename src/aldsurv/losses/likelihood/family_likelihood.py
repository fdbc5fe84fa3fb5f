"""Maximum likelihood for any parametric family, under every kind of censoring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.censored_likelihood import EXACT, INTERVAL, RIGHT, log_likelihood_of_bounds, row_kinds
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.parametric import Parametric
from aldsurv.distributions.links import linked_columns
from aldsurv.distributions.support import Support, log_time_rows, support_of
from aldsurv.errors import DataError
from aldsurv.losses.first_guess import ald_guess as _ald_guess
from aldsurv.losses.likelihood.ald_likelihood import ald_log_likelihood, ald_log_likelihood_and_slopes
from aldsurv.losses.likelihood.log_normal_likelihood import (
    log_normal_log_likelihood,
    log_normal_log_likelihood_and_slopes,
)
from aldsurv.losses.objective import (
    ClosedFormLikelihood,
    Device,
    FloatArray,
    Guess,
    IntArray,
    LikelihoodObjective,
)
from aldsurv.registry import FAMILIES

__all__ = ["likelihood_objective", "require_readable"]


def likelihood_objective(
    family: str, links: Sequence[str] | None, data: SurvivalData, *, unit: Any = 1.0, device: Device = "cpu"
) -> LikelihoodObjective:
    """Mean negative censored log-likelihood of `data` under a registered family.

    Parameters
    ----------
    family
        Name of a parametric family.
    links
        For each of its parameters the link from the network's output; None for those that the family declares.
    data
        The rows; weights come with each batch.
    unit
        How many of the user's units of time one unit of `data` has, a number or one per row. The loss is that of the
        user's times: a density is per unit of time.
    device
        Where the tensors live.
    """
    law: type[Parametric] = FAMILIES.load(family)
    links = law.links() if links is None else tuple(links)
    require_readable(law, data)
    kinds, since = row_kinds(data)
    support = support_of(law)
    if bool(((kinds == EXACT) | (kinds == RIGHT)).all()):
        if support is not None and links[0] in ("exp", "identity") and links[1:] == ("exp", "exp"):
            return _AldLikelihood(support, links[0] == "exp", data, kinds == EXACT, np.log(unit), device)
        if law is LogNormal and links == law.links():
            return _LogNormalLikelihood(data, kinds == EXACT, np.log(unit), device)
    return _FamilyLikelihood(law, links, data, kinds, since, np.log(unit), device)


def require_readable(family: type[Parametric], data: SurvivalData) -> None:
    """Raise a `DataError` if an event has time 0 and the family no density there.

    Parameters
    ----------
    family
        A parametric family.
    data
        Rows of any censoring.
    """
    if not family.events_at_zero and bool((data.exact & (data.lower <= 0)).any()):
        raise DataError(
            "an event at time 0 has no logarithm.", advice="Give it as left-censored: (-inf, the first later time]."
        )


@final
class _AldLikelihood(ClosedFormLikelihood):
    """Exact and right-censored rows of the three ALD families, by the closed form."""

    outputs = 3

    def __init__(
        self, support: Support, exp_theta: bool, data: SurvivalData, event: Any, log_unit: Any, device: Device
    ) -> None:
        self._exp_theta = exp_theta
        offset = np.where(event, log_unit, 0.0)
        time, entry, offset = support.inside_rows(data.lower, data.entry, event, offset)
        entry = support.condition(entry, len(data))
        self._delayed = entry is not None
        self._middle = time
        columns = [_float(time, device), torch.from_numpy(np.array(event)).to(device), _float(offset, device)]
        self.fields = (*columns, _float(entry, device)) if entry is not None else tuple(columns)

    def guess(self, rows: IntArray) -> Guess:
        return _ald_guess(self._middle[rows], self._exp_theta)

    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        time, event, offset = fields[:3]
        since = fields[3] if self._delayed else None
        return ald_log_likelihood(raw, time, event, since, exp_theta=self._exp_theta) - offset

    def log_likelihoods_and_slopes(self, raw: FloatArray, fields: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
        rows, slopes = ald_log_likelihood_and_slopes(raw, *fields[:2], *fields[3:], exp_theta=self._exp_theta)
        return rows - fields[2], slopes


@final
class _LogNormalLikelihood(ClosedFormLikelihood):
    """Exact and right-censored rows of the log-normal, by the closed form."""

    outputs = 2

    def __init__(self, data: SurvivalData, event: Any, log_unit: Any, device: Device) -> None:
        offset = np.where(event, log_unit, 0.0)
        time, entry, offset = log_time_rows(data.lower, data.entry, event, offset)
        self._middle = time
        columns = [_float(time, device), torch.from_numpy(np.array(event)).to(device), _float(offset, device)]
        self.fields = (*columns, _float(entry, device)) if entry is not None else tuple(columns)

    def guess(self, rows: IntArray) -> Guess:
        middle, log_spread, _ = _ald_guess(self._middle[rows], exp_theta=False)[0]
        spread = np.exp(log_spread)
        return np.array([middle, np.log(np.expm1(spread))]), np.array([spread, 1.0])

    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        return log_normal_log_likelihood(raw, *fields[:2], *fields[3:]) - fields[2]

    def log_likelihoods_and_slopes(self, raw: FloatArray, fields: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
        rows, slopes = log_normal_log_likelihood_and_slopes(raw, *fields[:2], *fields[3:])
        return rows - fields[2], slopes


@final
class _FamilyLikelihood(LikelihoodObjective):
    """Any family and any kind of row, by automatic differentiation of the family's own formulas."""

    def __init__(
        self,
        family: type[Parametric],
        links: Sequence[str],
        data: SurvivalData,
        kinds: Any,
        since: Any,
        log_unit: Any,
        device: Device,
    ) -> None:
        self._family, self._links, self._names = family, list(links), list(family.parameters())
        self.outputs = len(self._names)
        self._middle = None
        support = support_of(family)
        if support is not None:
            middle = np.where(
                np.isfinite(since + data.upper), (since + data.upper) / 2, np.fmin(data.upper, data.lower)
            )
            middle = np.where(np.isfinite(middle), middle, np.where(np.isfinite(data.upper), data.upper, data.lower))
            self._middle = support.inside_near(middle)
        kinds, offset = kinds.copy(), np.where(kinds == EXACT, log_unit, 0.0)
        # An interval too narrow for float32 holds its density times its width.
        narrow = (kinds == INTERVAL) & (data.upper - since < _NARROW * data.upper)
        kinds[narrow] = EXACT
        offset[narrow] = -np.log((data.upper - since)[narrow])
        bounds = [_float(column, device) for column in (since, data.upper, offset)]
        self._delayed = data.entry is not None
        entry = [_float(data.entry, device)] if data.entry is not None else []
        self.fields = (*bounds, torch.from_numpy(np.array(kinds)).to(device), *entry)

    def guess(self, rows: IntArray) -> Guess:
        return super().guess(rows) if self._middle is None else _ald_guess(self._middle[rows], self._links[0] == "exp")

    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        lower, upper, offset, kinds = (field.reshape(-1) for field in fields[:4])
        entry = fields[4].reshape(-1) if self._delayed else None
        columns = linked_columns(raw.reshape(-1, self.outputs), self._names, self._links)
        rows = log_likelihood_of_bounds(self._family.from_checked(**columns), lower, upper, kinds, entry)
        values: Tensor = (rows - offset).view(raw.shape[:2])
        return values


# Share of a time that float32 still resolves well.
_NARROW = 1e-5


def _float(column: Any, device: Device) -> Tensor:
    return torch.from_numpy(np.array(column, np.float32)).to(device)
