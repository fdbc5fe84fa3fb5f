"""What boosted trees ask of a likelihood: of each row its loss, slopes and information, on numpy and in float64."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.censored_likelihood import EXACT, RIGHT, row_kinds
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import Support
from aldsurv.losses.first_guess import ald_guess, mixture_guess
from aldsurv.losses.likelihood import ald_slopes, mixture_slopes
from aldsurv.losses.likelihood.ald_information import ald_information
from aldsurv.losses.likelihood.tied_mixture_steps import Planes, RowsOfAKind, TiedMixture

__all__ = ["AldRows", "DistributionRows", "MixtureRows", "RowLosses", "ald_columns"]

FloatArray = NDArray[np.float64]

# Beyond e^80 nothing is known any more, and squares must stay finite.
_LARGEST_LOG = 80.0


class RowLosses(ABC):
    """Negative log-likelihood of rows of any kind of censoring.

    Attributes
    ----------
    outputs
        How many numbers per row the likelihood needs.
    boosted
        How many of them, the first ones, depend on covariates; the others are constants.
    full_information
        Whether the information supposes that something is known which rows do not show, such as the component that a
        row comes from; then it is too large.
    logits
        Which boosted outputs (boosted,) are logits of weights that add up to 1: where all of them move at once, weights
        move by more than where one does.
    """

    outputs: int
    boosted: int
    full_information: bool
    logits: NDArray[np.bool_]

    @abstractmethod
    def guess(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Outputs (outputs,) from which to look for those that suit all rows best, and how far each may be off."""

    @abstractmethod
    def losses(self, raw: FloatArray) -> FloatArray:
        """Loss (n,) of each row for outputs (n, outputs), or (1, outputs) if they are the same for all."""

    @abstractmethod
    def losses_and_slopes(self, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Loss (n,) of each row, and its slopes (n, outputs)."""

    @abstractmethod
    def slopes_and_information(self, planes: Planes) -> tuple[FloatArray, FloatArray]:
        """Slopes of each row's loss, and its expected information, of every boosted output (boosted, n).

        The information on an output is that of a row if the others were known.
        """

    @abstractmethod
    def losses_of_planes(self, planes: Planes) -> FloatArray:
        """Loss (n,) of each row."""


class DistributionRows(RowLosses):
    """The loss under one distribution per row.

    All have slopes in closed form: exact and right-censored rows one, left- and interval-censored ones another.

    Parameters
    ----------
    support
        Where the times lie.
    data
        The rows; those of support log without an event at 0.
    unit
        How many of the user's units of time one unit of `data` has. The loss is that of the user's times: a density is
        per unit of time.
    """

    def __init__(self, support: Support, data: SurvivalData, unit: float) -> None:
        self._support = support
        kinds, since = row_kinds(data)
        self._closed = (kinds == EXACT) | (kinds == RIGHT)
        self._event = kinds == EXACT
        # Where an event is not exactly known, something near it: the information of the row is computed there.
        known = np.where(np.isfinite(data.upper), data.upper, data.lower)
        time, entry = np.where(self._closed, data.lower, known), data.entry
        offset = np.where(self._event, np.log(unit), 0.0)
        self._time, self._entry, self._offset = support.inside_rows(time, entry, self._event, offset)
        self._one_sided, self._bounded = np.flatnonzero(self._closed), np.flatnonzero(~self._closed)
        self._bounds = support.inside_bounds(since[self._bounded], data.upper[self._bounded])

    def _rows_by_kind(self) -> list[RowsOfAKind]:
        """The rows, those of each kind of censoring together."""
        since, until = self._bounds
        events, censored = np.flatnonzero(self._event), np.flatnonzero(self._closed & ~self._event)
        kinds = (
            ("event", events, self._time[events], None),
            ("censored", censored, self._time[censored], None),
            ("between", self._bounded, until, since),
        )
        entry = self._entry
        return [
            RowsOfAKind(rows, name, time, first, None if entry is None else entry[rows])
            for name, rows, time, first in kinds
        ]

    @abstractmethod
    def distribution(self, raw: FloatArray) -> Any:
        """What outputs (n, outputs) stand for."""

    @abstractmethod
    def _value_and_slopes(
        self, raw: FloatArray, rows: Any, bounds: tuple[FloatArray, FloatArray] | None, wanted: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        """Log-likelihood of rows and, if wanted, its slopes.

        Parameters
        ----------
        raw
            Their outputs (rows, outputs).
        rows
            Which of all rows they are.
        bounds
            Where their events lie between; None for rows that are exact or right-censored.
        wanted
            Whether slopes are.
        """

    def losses(self, raw: FloatArray) -> FloatArray:
        """As of `RowLosses`."""
        return self._offset - self._all_rows(raw, False)[0]

    def losses_and_slopes(self, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`."""
        value, slopes = self._all_rows(raw, True)
        return self._offset - value, -slopes

    def _all_rows(self, raw: FloatArray, wanted: bool) -> tuple[FloatArray, FloatArray]:
        n = len(self._time)
        # What overflows shows in the loss, which the search and the rounds look at.
        with np.errstate(all="ignore"):
            if not self._bounded.size:
                value, slopes = self._value_and_slopes(raw, slice(None), None, wanted)
                return np.asarray(value), np.asarray(slopes)
            found, found_slopes = np.empty(n), np.empty((n, self.outputs))
            raw = np.broadcast_to(raw, (n, self.outputs))
            for rows, bounds in ((self._one_sided, None), (self._bounded, self._bounds)):
                value, slopes = self._value_and_slopes(raw[rows], rows, bounds, wanted)
                found[rows] = value
                if slopes is not None:
                    found_slopes[rows] = slopes
        return found, found_slopes


@final
class AldRows(DistributionRows):
    """One asymmetric Laplace distribution per row: θ, log σ and log κ, all of which depend on covariates.

    Parameters
    ----------
    support, data, unit
        As of `DistributionRows`.
    exp_theta
        Whether θ is the exponential of its output.
    """

    outputs = boosted = 3
    full_information = False
    logits = np.zeros(3, np.bool_)

    def __init__(self, support: Support, data: SurvivalData, *, unit: float = 1.0, exp_theta: bool) -> None:
        super().__init__(support, data, unit)
        self._exp_theta = exp_theta
        self._since = support.condition(self._entry, len(data))

    def guess(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`: a symmetric distribution in the middle of the times."""
        start, reach = ald_guess(self._time, self._exp_theta, weight)
        return start, reach

    def distribution(self, raw: FloatArray) -> Any:
        """As of `DistributionRows`."""
        return self._support.family.from_checked(**ald_columns(raw, self._exp_theta))

    def slopes_and_information(self, planes: Planes) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`; what delayed entry takes from the information is left out."""
        raw = _rows_of(planes)
        with np.errstate(all="ignore"):
            theta = np.exp(raw[:, 0]) if self._exp_theta else raw[:, 0]
            seen = self._event | ~self._closed
            information = np.stack(ald_information(self._time - theta, raw[:, 1], raw[:, 2], seen))
        if self._exp_theta:
            information[0] *= theta**2
        return self.losses_and_slopes(raw)[1].T, information

    def losses_of_planes(self, planes: Planes) -> FloatArray:
        """As of `RowLosses`."""
        return self.losses(_rows_of(planes))

    def _value_and_slopes(
        self, raw: FloatArray, rows: Any, bounds: tuple[FloatArray, FloatArray] | None, wanted: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        since = () if self._since is None else (self._since[rows],)
        exp_theta = self._exp_theta
        if bounds is not None:
            return ald_slopes.between_value_and_slopes(np, raw, *bounds, *since, exp_theta=exp_theta, wanted=wanted)
        time, event = self._time[rows], self._event[rows]
        value, slopes = ald_slopes.value_and_slopes(np, raw, time, event, *since, exp_theta, wanted)
        return value, slopes


@final
class MixtureRows(DistributionRows):
    """A mixture of tied shapes: location, log scale and the weights' logits depend on covariates, shapes do not.

    Parameters
    ----------
    support, data, unit
        As of `DistributionRows`.
    layout
        What the outputs are; shapes must be tied.
    least_scale
        What the scale of every component is above.
    """

    full_information = True

    def __init__(
        self, support: Support, data: SurvivalData, *, unit: float = 1.0, layout: MixtureOutputs, least_scale: float
    ) -> None:
        super().__init__(support, data, unit)
        self._layout, self._least = layout, least_scale
        self.outputs, self.boosted = layout.outputs, layout.outputs - layout.constants
        self.logits = np.arange(self.boosted) >= layout.shared
        self._steps = TiedMixture(layout, least_scale, support.cut_at_zero, self._rows_by_kind())

    def guess(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`: symmetric components at evenly spread quantiles of the times."""
        start, reach = mixture_guess(self._layout, self._time, np.array([self._least]), weight)
        return start, reach

    def distribution(self, raw: FloatArray) -> Any:
        """As of `DistributionRows`."""
        return MixedAsymmetricLaplace.from_checked(**self._layout.columns(raw, self._least), support=self._support.name)

    def slopes_and_information(self, planes: Planes) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`: the information if the component were known that the row comes from, more than without."""
        return self._steps.slopes_and_information(planes)

    def losses_of_planes(self, planes: Planes) -> FloatArray:
        """As of `RowLosses`."""
        return self._offset + self._steps.losses(planes)

    def _value_and_slopes(
        self, raw: FloatArray, rows: Any, bounds: tuple[FloatArray, FloatArray] | None, wanted: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        layout, positive = self._layout, self._support.cut_at_zero
        entry = None if self._entry is None else self._entry[rows]
        if bounds is not None:
            return mixture_slopes.between_value_and_slopes(
                np, raw, *bounds, self._least, entry, layout, positive, wanted
            )
        time, event = self._time[rows], self._event[rows]
        return mixture_slopes.value_and_slopes(np, raw, time, event, self._least, entry, None, layout, positive, wanted)


def _rows_of(planes: Planes) -> FloatArray:
    """Boosted outputs (n, boosted)."""
    return np.ascontiguousarray(planes.boosted.T, np.float64)


def ald_columns(raw: FloatArray, exp_theta: bool) -> dict[str, FloatArray]:
    """θ, σ and κ (n, 1) by name from outputs (n, 3)."""
    theta, log_sigma, log_kappa = raw[:, :1], raw[:, 1:2], raw[:, 2:]
    return {
        "theta": np.exp(np.clip(theta, -_LARGEST_LOG, _LARGEST_LOG)) if exp_theta else theta,
        "sigma": np.exp(np.clip(log_sigma, -_LARGEST_LOG, _LARGEST_LOG)),
        "kappa": np.exp(np.clip(log_kappa, -_LARGEST_LOG, _LARGEST_LOG)),
    }
