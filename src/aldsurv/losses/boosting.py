"""What boosted trees ask of a likelihood: of each row its loss, slopes and information, on numpy and in float64."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.asymmetric_laplace import AsymmetricLaplace
from aldsurv.distributions.likelihood import EXACT, RIGHT, log_likelihood_of_bounds, row_kinds
from aldsurv.distributions.log_asymmetric_laplace import LogAsymmetricLaplace
from aldsurv.distributions.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs
from aldsurv.distributions.parametric import Parametric
from aldsurv.distributions.truncated import PositiveAsymmetricLaplace
from aldsurv.losses import ald_slopes, mixture_slopes
from aldsurv.losses.ald_information import ald_information
from aldsurv.losses.first_guess import ald_guess, mixture_guess
from aldsurv.losses.log_times import in_log_time
from aldsurv.survival_data import SurvivalData

__all__ = ["AldRows", "MixtureRows", "RowLosses", "ald_columns"]

FloatArray = NDArray[np.float64]

_FAMILIES: dict[str, type[Parametric]] = {
    "real": AsymmetricLaplace,
    "positive": PositiveAsymmetricLaplace,
    "log": LogAsymmetricLaplace,
}
# Beyond e^80 nothing is known any more, and squares must stay finite.
_LARGEST_LOG = 80.0
# The cube root of the precision of a number near 1: the best step of a central difference.
_STEP = 6e-6


class RowLosses(ABC):
    """Negative log-likelihood of rows of any kind of censoring.

    Exact and right-censored rows have slopes in closed form; those of the others, of which there are few in most
    tables, are central differences of the distribution's own log-likelihood.

    Parameters
    ----------
    support
        ``"real"``, ``"positive"`` or ``"log"``.
    data
        The rows; those of support log without an event at 0.
    unit
        How many of the user's units of time one unit of `data` has. The loss is that of the user's times: a density is
        per unit of time.

    Attributes
    ----------
    outputs
        How many numbers a row the likelihood needs.
    boosted
        How many of them, the first ones, depend on covariates; the others are constants.
    """

    outputs: int
    boosted: int

    def __init__(self, support: str, data: SurvivalData, unit: float) -> None:
        self._support = support
        kinds, since = row_kinds(data)
        self._closed = (kinds == EXACT) | (kinds == RIGHT)
        self._event = kinds == EXACT
        # Where an event is not exactly known, something near it: what the row tells is reckoned there.
        known = np.where(np.isfinite(data.upper), data.upper, data.lower)
        time, entry = np.where(self._closed, data.lower, known), data.entry
        offset = np.where(self._event, np.log(unit), 0.0)
        if support == "log":
            time, entry, offset = in_log_time(time, entry, self._event, offset)
        elif support == "positive" and entry is not None:
            # To be event-free at 0 is no news.
            entry = np.where(entry > 0, entry, -np.inf)
        self._time, self._entry, self._offset = time, entry, offset
        others = np.flatnonzero(~self._closed)
        self._others = others
        bounds = since[others], data.upper[others], kinds[others]
        self._bounds = (*bounds, None if data.entry is None else data.entry[others])

    @abstractmethod
    def guess(self) -> tuple[FloatArray, FloatArray]:
        """Outputs (outputs,) from which to look for those that suit all rows best, and how far each may be off."""

    @abstractmethod
    def distribution(self, raw: FloatArray) -> Any:
        """What outputs (n, outputs) stand for."""

    @abstractmethod
    def information(self, raw: FloatArray) -> FloatArray:
        """How much each row is expected to tell of each boosted output (n, boosted), the others being known."""

    @abstractmethod
    def _value_and_slopes(self, raw: FloatArray, wanted: bool) -> tuple[FloatArray, FloatArray | None]:
        """Log-likelihood of the rows and, if wanted, its slopes, as if all were exact or right-censored."""

    def losses(self, raw: FloatArray) -> FloatArray:
        """Loss (n,) of each row for outputs (n, outputs), or (1, outputs) if they are the same for all."""
        with np.errstate(all="ignore"):
            value = self._value_and_slopes(raw, False)[0]
        if self._others.size:
            value = np.asarray(value).copy()
            value[self._others] = self._log_likelihood_of_others(self._of_others(raw))
        return self._offset - value

    def losses_and_slopes(self, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Loss (n,) of each row, and its slopes (n, outputs)."""
        # What overflows shows in the loss, which the search and the rounds look at.
        with np.errstate(all="ignore"):
            value, slopes = self._value_and_slopes(raw, True)
        value, slopes = np.array(value), np.array(slopes)
        rows = self._others
        if rows.size:
            raw = self._of_others(raw)
            value[rows] = self._log_likelihood_of_others(raw)
            for k in range(self.outputs):
                there, back = raw.copy(), raw.copy()
                there[:, k] += _STEP
                back[:, k] -= _STEP
                difference = self._log_likelihood_of_others(there) - self._log_likelihood_of_others(back)
                slopes[rows, k] = difference / (2 * _STEP)
        return self._offset - value, -slopes

    def _of_others(self, raw: FloatArray) -> FloatArray:
        return np.broadcast_to(raw, (len(self._time), self.outputs))[self._others]

    def _log_likelihood_of_others(self, raw: FloatArray) -> FloatArray:
        return np.asarray(log_likelihood_of_bounds(self.distribution(raw), *self._bounds))


@final
class AldRows(RowLosses):
    """One asymmetric Laplace distribution a row: θ, log σ and log κ, all of which depend on covariates.

    Parameters
    ----------
    support, data, unit
        As of `RowLosses`.
    exp_theta
        Whether θ is the exponential of its output.
    """

    outputs = boosted = 3

    def __init__(self, support: str, data: SurvivalData, *, unit: float = 1.0, exp_theta: bool) -> None:
        super().__init__(support, data, unit)
        self._exp_theta = exp_theta
        self._since = self._entry
        if support == "positive":
            self._since = np.zeros(len(data)) if self._entry is None else np.maximum(self._entry, 0.0)

    def guess(self) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`: a symmetric distribution in the middle of the times."""
        start, reach = ald_guess(self._time, self._exp_theta)
        return start, reach

    def distribution(self, raw: FloatArray) -> Any:
        """As of `RowLosses`."""
        return _FAMILIES[self._support]._trusted(**ald_columns(raw, self._exp_theta))

    def information(self, raw: FloatArray) -> FloatArray:
        """As of `RowLosses`; what delayed entry takes from it is not reckoned."""
        with np.errstate(all="ignore"):
            theta = np.exp(raw[:, 0]) if self._exp_theta else raw[:, 0]
            seen = self._event | ~self._closed
            parts = ald_information(self._time - theta, raw[:, 1], raw[:, 2], seen)
        found = np.column_stack(parts)
        if self._exp_theta:
            found[:, 0] *= theta**2
        return found

    def _value_and_slopes(self, raw: FloatArray, wanted: bool) -> tuple[FloatArray, FloatArray | None]:
        since = () if self._since is None else (self._since,)
        value, slopes = ald_slopes.value_and_slopes(np, raw, self._time, self._event, *since, self._exp_theta, wanted)
        return value, slopes


@final
class MixtureRows(RowLosses):
    """A mixture of tied shapes: location, log scale and the weights' logits depend on covariates, shapes do not.

    Parameters
    ----------
    support, data, unit
        As of `RowLosses`.
    layout
        What the outputs are; shapes must be tied.
    least_scale
        What the scale of every component is above.
    """

    def __init__(
        self, support: str, data: SurvivalData, *, unit: float = 1.0, layout: MixtureOutputs, least_scale: float
    ) -> None:
        super().__init__(support, data, unit)
        self._layout, self._least = layout, least_scale
        self.outputs, self.boosted = layout.outputs, layout.outputs - layout.constants

    def guess(self) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`: symmetric components at evenly spread quantiles of the times."""
        start, reach = mixture_guess(self._layout, self._time, np.array([self._least]))
        return start, reach

    def distribution(self, raw: FloatArray) -> Any:
        """As of `RowLosses`."""
        return MixedAsymmetricLaplace._trusted(**self._layout.columns(raw, self._least), support=self._support)

    def information(self, raw: FloatArray) -> FloatArray:
        """That of the row if the component were known that it comes from, which is more than it tells without."""
        layout = self._layout
        with np.errstate(all="ignore"):
            columns = {name: np.asarray(column) for name, column in layout.columns(raw, self._least).items()}
            theta, sigma, weights = columns["theta"], columns["sigma"], columns["weights"]
            seen = (self._event | ~self._closed)[:, None]
            z = self._time[:, None] - theta
            on_theta, on_log_sigma, _ = ald_information(z, np.log(sigma), np.log(columns["kappa"]), seen)
        by_location = theta if layout.exp_theta else np.ones_like(theta)
        by_scale = np.zeros_like(theta) if layout.exp_theta else theta - raw[:, :1]
        on_log_scale = by_scale**2 * on_theta + (1 - self._least / sigma) ** 2 * on_log_sigma
        on_logits = ((1 - SHARED_OUT) * weights * (1 - weights)) if layout.components > 1 else weights
        location = (weights * by_location**2 * on_theta).sum(1)
        return np.column_stack([location, (weights * on_log_scale).sum(1), on_logits])

    def _value_and_slopes(self, raw: FloatArray, wanted: bool) -> tuple[FloatArray, FloatArray | None]:
        positive = self._support == "positive"
        value, slopes = mixture_slopes.value_and_slopes(
            np, raw, self._time, self._event, self._least, self._entry, None, self._layout, positive, wanted
        )
        return value, slopes


def ald_columns(raw: FloatArray, exp_theta: bool) -> dict[str, FloatArray]:
    """θ, σ and κ (n, 1) by name from outputs (n, 3)."""
    theta, log_sigma, log_kappa = raw[:, :1], raw[:, 1:2], raw[:, 2:]
    return {
        "theta": np.exp(np.clip(theta, -_LARGEST_LOG, _LARGEST_LOG)) if exp_theta else theta,
        "sigma": np.exp(np.clip(log_sigma, -_LARGEST_LOG, _LARGEST_LOG)),
        "kappa": np.exp(np.clip(log_kappa, -_LARGEST_LOG, _LARGEST_LOG)),
    }
