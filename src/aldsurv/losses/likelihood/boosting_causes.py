"""The loss that boosted trees take where causes, and never having an event, have probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.cause_outputs import CauseOutputs
from aldsurv.losses.likelihood.boosting_slopes import RowLosses
from aldsurv.losses.likelihood.entry_rows import outcome_and_entry
from aldsurv.losses.likelihood.tied_mixture_steps import Planes

__all__ = ["CauseMixtureRows"]

FloatArray = NDArray[np.float64]
# How far logits may be off at the start, and the share that may never have an event there.
_LOGIT_REACH, _FIRST_CURE = 1.0, 0.2


@final
class CauseMixtureRows(RowLosses):
    """A probability for each cause, and one distribution of its time per cause, all of the same kind.

    An event of cause k has the likelihood ``π_k·f_k``, a row without an event ``Σ π_k·S_k``, to which a cure adds its
    share. Its slopes are those of the parts, times the probability that the row is of that part.

    Parameters
    ----------
    layout
        What the outputs are.
    part
        Makes the loss of rows under the distribution of one cause, from the rows.
    data
        The rows; without causes, events are of one.
    """

    full_information = True

    def __init__(self, layout: CauseOutputs, part: Callable[[SurvivalData], RowLosses], data: SurvivalData) -> None:
        self.outputs, self.boosted = layout.outputs, layout.outputs - layout.constants
        self._layout, self._columns = layout, [layout.columns(k) for k in range(layout.causes)]
        self._cause = data.exact.astype(np.int64) if data.cause is None else data.cause
        outcome, survived, self._entered = outcome_and_entry(data)
        self._outcome = part(outcome)
        self._survived = None if survived is None else part(survived)
        self.logits = np.concatenate([np.ones(layout.logits, np.bool_), *[self._outcome.logits] * layout.causes])
        # Of which parts a row may be (logits, n): events of one known cause, those without an event of any.
        possible = [(self._cause == 0) | (self._cause == k + 1) for k in range(layout.causes)]
        self._possible = np.stack([*possible, data.right_censored] if layout.cure else possible)

    def guess(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`: each part by the events of its cause, and the causes as often as they were seen."""
        layout = self._layout
        start, reach = np.zeros(self.outputs), np.full(self.outputs, _LOGIT_REACH)
        shares = np.empty(layout.causes)
        for k, columns in enumerate(self._columns):
            seen = np.where(self._cause == k + 1, weight, 0.0)
            shares[k] = seen.sum() + 1.0
            start[columns], reach[columns] = self._outcome.guess(seen if seen.any() else weight)
        shares /= shares.sum()
        start[: layout.logits] = np.log(np.append(shares * (1 - _FIRST_CURE), _FIRST_CURE) if layout.cure else shares)
        return start, reach

    def losses(self, raw: FloatArray) -> FloatArray:
        """As of `RowLosses`."""
        with np.errstate(all="ignore"):
            log_share = _log_softmax(raw[:, : self._layout.logits])
            loss = -self._mixed(self._part_values(self._outcome, raw), log_share, self._possible)[0]
            if self._survived is not None:
                before = self._mixed(self._part_values(self._survived, raw), log_share, np.ones_like(self._possible))[0]
                loss = loss + np.where(self._entered, before, 0.0)
        return np.asarray(loss)

    def losses_and_slopes(self, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`."""
        with np.errstate(all="ignore"):
            log_share = _log_softmax(raw[:, : self._layout.logits])
            loss, slopes = self._with_slopes(self._outcome, raw, log_share, self._possible)
            if self._survived is not None:
                every = np.ones_like(self._possible)
                before, before_slopes = self._with_slopes(self._survived, raw, log_share, every)
                loss = loss - np.where(self._entered, before, 0.0)
                slopes = slopes - np.where(self._entered[:, None], before_slopes, 0.0)
        return loss, slopes

    def slopes_and_information(self, planes: Planes) -> tuple[FloatArray, FloatArray]:
        """As of `RowLosses`.

        The information is that of the row if its cause were known: that of each part in proportion to how likely the
        row is of it.
        """
        boosted, logits = planes.boosted, self._layout.logits
        with np.errstate(all="ignore"):
            log_share = _log_softmax(boosted[:logits].T)
            share = np.exp(log_share.T)
            slopes, information = self._of_parts(self._outcome, planes, log_share, self._possible)
            information[:logits] = share * (1 - share)
            if self._survived is not None:
                every = np.ones_like(self._possible)
                slopes -= np.where(self._entered, self._of_parts(self._survived, planes, log_share, every)[0], 0.0)
        return slopes, information

    def _of_parts(
        self, rows: RowLosses, planes: Planes, log_share: FloatArray, possible: NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray]:
        """Slopes of the mixture (boosted, n) by all boosted outputs, and information on those of the parts."""
        slopes, information = np.empty_like(planes.boosted), np.zeros_like(planes.boosted)
        parts = [self._of_cause(columns, planes) for columns in self._columns]
        _, pull = self._mixed([-rows.losses_of_planes(part) for part in parts], log_share, possible)
        slopes[: self._layout.logits] = np.exp(log_share.T) - pull
        for columns, part, share in zip(self._columns, parts, pull[: len(parts)], strict=True):
            of_part = columns[: len(part.boosted)]
            # What a row of another cause has here may be infinite.
            for into, values in zip((slopes, information), rows.slopes_and_information(part), strict=True):
                into[of_part] = np.where(share > 0, share * values, 0.0)
        return slopes, information

    def losses_of_planes(self, planes: Planes) -> FloatArray:
        """As of `RowLosses`."""
        with np.errstate(all="ignore"):
            log_share = _log_softmax(planes.boosted[: self._layout.logits].T)
            parts = [self._of_cause(columns, planes) for columns in self._columns]
            values = [-self._outcome.losses_of_planes(part) for part in parts]
            loss = -self._mixed(values, log_share, self._possible)[0]
            if self._survived is not None:
                values = [-self._survived.losses_of_planes(part) for part in parts]
                before = self._mixed(values, log_share, np.ones_like(self._possible))[0]
                loss = loss + np.where(self._entered, before, 0.0)
        return np.asarray(loss)

    def _of_cause(self, columns: NDArray[np.int64], planes: Planes) -> Planes:
        """The outputs of the distribution of a cause."""
        moved, fixed = columns[columns < self.boosted], columns[columns >= self.boosted]
        return Planes(planes.boosted[moved], planes.constants[fixed - self.boosted], planes.each)

    def _part_values(self, rows: RowLosses, raw: FloatArray) -> list[FloatArray]:
        """Log-likelihood (n,) of each row under the part of each cause."""
        return [-rows.losses(raw[:, columns]) for columns in self._columns]

    def _mixed(
        self, values: list[FloatArray], log_share: FloatArray, possible: NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray]:
        """Log-likelihood (n,) of each row, and the probability (logits, n) that it is of each part."""
        never = [np.zeros_like(values[0])] if self._layout.cure else []
        terms = np.where(possible, log_share.T + np.stack([*values, *never]), -np.inf)
        top = terms.max(axis=0)
        relative = np.exp(terms - top)
        total = relative.sum(axis=0)
        return np.asarray(top + np.log(total)), np.asarray(relative / total)

    def _with_slopes(self, rows: RowLosses, raw: FloatArray, log_share: FloatArray, possible: Any) -> Any:
        parts = [rows.losses_and_slopes(raw[:, columns]) for columns in self._columns]
        value, pull = self._mixed([-loss for loss, _ in parts], log_share, possible)
        slopes = np.empty((len(value), self.outputs))
        slopes[:, : self._layout.logits] = np.exp(log_share) - pull.T
        for k, (columns, (_, part_slopes)) in enumerate(zip(self._columns, parts, strict=True)):
            slopes[:, columns] = np.where(pull[k][:, None] > 0, pull[k][:, None] * part_slopes, 0.0)
        return -value, slopes


def _log_softmax(logits: FloatArray) -> FloatArray:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
