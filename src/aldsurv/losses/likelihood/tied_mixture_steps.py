"""Slopes and information of mixtures of tied shapes in one pass, on numpy, for the rounds of boosting.

The formulas are those of `ald_slopes`, `mixture_slopes` and `ald_information`. Two things make them several times
faster here. The constants of the mixture are the same for every row, so that of a row only location, scale and weights
have exponentials of their own. And nothing is chosen by row: a processor that guesses which side of θ the next row
lies on is wrong half of the time, which costs ten times a multiplication by 0 or 1.

With ``z = y - θ``, of which v and w are the exponents left and right of θ (one of them is 0), and ``E = expm1(v)``::

    S = (q - p·E)·eʷ        cdf = p·(1 + E) left of θ, 1 - q·eʷ right of it

A bound or an entry at -∞ is one so far to the left that nothing lies before it.

It computes in the precision of the outputs that it is given: of many rows in float32, whose digits are more than enough
for trees. Only a probability between two bounds, which may be near to each other, is always computed in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs

__all__ = ["MapBlocks", "Planes", "RowsOfAKind", "TiedMixture"]

FloatArray: TypeAlias = NDArray[np.float64]
# Applies a function to every block of rows, in this thread or in several.
MapBlocks: TypeAlias = Callable[[Callable[[slice], None], Sequence[slice]], None]

_SQRT2 = math.sqrt(2.0)
_LARGEST_LOG = 80.0
# So far left of every θ that nothing lies before it, and finite: 0 times it is 0.
_FAR_LEFT = -1e30
# No row has less information: a step is a slope divided by such a number.
_LEAST = 1e-12
# Bytes of one output of the rows that are computed at once: what these need stays in the processor's cache, and a call
# of numpy costs little beside the work.
_BLOCK = 1 << 15


@final
class Planes(NamedTuple):
    """Outputs of rows, one after the other.

    Attributes
    ----------
    boosted
        Those that depend on covariates (boosted, n).
    constants
        The others (constants,), the same for all rows.
    each
        Applies work to blocks of rows.
    """

    boosted: FloatArray
    constants: FloatArray
    each: MapBlocks


class _Pieces(NamedTuple):
    """Likelihood ``factor·exp(exponent)`` of each component (K, rows), and the slopes of its logarithm."""

    exponent: FloatArray
    factor: FloatArray
    by_z: FloatArray
    by_log_sigma: FloatArray


@final
class RowsOfAKind(NamedTuple):
    """Rows of the same kind of censoring, with times as the distribution has them.

    Attributes
    ----------
    rows
        Which rows they are.
    kind
        ``"event"``, ``"censored"`` or ``"between"``.
    time
        Time of the event, of the censoring, or by which the event had come.
    since
        Time after which it came; of ``"between"`` alone.
    entry
        Time that each row had survived before, -inf for none; None if no row entered late.
    """

    rows: NDArray[np.int64]
    kind: str
    time: FloatArray
    since: FloatArray | None
    entry: FloatArray | None


@final
class TiedMixture:
    """Slopes and information of rows under mixtures of tied shapes.

    Parameters
    ----------
    layout
        What the outputs are; shapes are tied and have no asymmetry that depends on covariates.
    least_scale
        What the scale of every component is above.
    positive
        Whether each component is cut off at 0.
    kinds
        The rows, each once.
    """

    def __init__(
        self, layout: MixtureOutputs, least_scale: float, positive: bool, kinds: Sequence[RowsOfAKind]
    ) -> None:
        self._layout, self._least, self._positive = layout, least_scale, positive
        self._kinds = [kind for kind in kinds if len(kind.rows)]

    def slopes_and_information(self, planes: Planes) -> tuple[FloatArray, FloatArray]:
        """Slopes of each row's loss, and its expected information, of every boosted output (boosted, n)."""
        slopes, information = np.empty_like(planes.boosted), np.empty_like(planes.boosted)

        def of_block(at: _AtRows, kind: RowsOfAKind, block: slice, rows: Any) -> None:
            pieces, known = at.pieces(kind, block)
            cut = at.survived(np.zeros(1)) if self._positive else None
            own = at.mixed(pieces, cut)
            if kind.entry is not None:
                own -= at.mixed(at.survived(self._entry(kind.entry[block])), cut)
            np.negative(own, out=own)
            slopes[:, rows], information[:, rows] = own, at.information(*known)

        self._in_blocks(planes, of_block)
        return slopes, information

    def losses(self, planes: Planes) -> FloatArray:
        """Loss (n,) of each row."""
        losses = np.empty(planes.boosted.shape[1])

        def of_block(at: _AtRows, kind: RowsOfAKind, block: slice, rows: Any) -> None:
            cut = at.survived(np.zeros(1)) if self._positive else None
            own = at.value(at.pieces(kind, block)[0], cut)
            if kind.entry is not None:
                own -= at.value(at.survived(self._entry(kind.entry[block])), cut)
            losses[rows] = -own

        self._in_blocks(planes, of_block)
        return losses

    def _entry(self, entry: FloatArray) -> FloatArray:
        """Entries, those that say nothing among them: cut off at 0, to have survived until 0 is certain."""
        return np.maximum(entry, 0.0 if self._positive else _FAR_LEFT)

    def _in_blocks(self, planes: Planes, act: _OfBlock) -> None:
        boosted = planes.boosted

        def work(kind: RowsOfAKind, shapes: _Constants) -> Callable[[slice], None]:
            first = int(kind.rows[0])
            consecutive = bool((np.diff(kind.rows) == 1).all())

            def of_block(block: slice) -> None:
                rows = slice(first + block.start, first + block.stop) if consecutive else kind.rows[block]
                with np.errstate(all="ignore"):
                    act(_AtRows(boosted[:, rows].astype(shapes.dtype, copy=False), shapes), kind, block, rows)

            return of_block

        for kind in self._kinds:
            n, precision = len(kind.rows), np.dtype(np.float64) if kind.since is not None else boosted.dtype
            size = _BLOCK // precision.itemsize
            blocks = [slice(start, min(start + size, n)) for start in range(0, n, size)]
            planes.each(work(kind, _Constants(self._layout, planes.constants, self._least, precision)), blocks)


# Takes the mixtures of a block of rows, their kind, the block, and where the rows are among all.
_OfBlock: TypeAlias = Callable[["_AtRows", RowsOfAKind, slice, Any], None]


class _Constants:
    """What the constants of the mixture are, as columns (K, 1)."""

    def __init__(self, layout: MixtureOutputs, constants: FloatArray, least: float, dtype: np.dtype[Any]) -> None:
        places, log_scales, log_kappas = constants.reshape(3, layout.components)[:, :, None]
        self.exp_theta, self.components, self.least, self.dtype = layout.exp_theta, layout.components, least, dtype
        places, kappa = places + layout.places[:, None], np.exp(log_kappas)
        columns = np.exp(places) if layout.exp_theta else places, np.exp(log_scales), kappa
        self.places, self.scales, self.kappa = (column.astype(dtype) for column in columns)
        self.p, self.q = (kappa**2 / (1 + kappa**2)).astype(dtype), (1 / (1 + kappa**2)).astype(dtype)
        self.largest_log = _LARGEST_LOG if dtype == np.float64 else _LARGEST_LOG / 4


class _AtRows:
    """The mixtures of some rows."""

    def __init__(self, planes: FloatArray, shapes: _Constants) -> None:
        self.shapes = shapes
        scale = np.exp(np.clip(planes[1], -shapes.largest_log, shapes.largest_log))
        if shapes.exp_theta:
            self.theta = np.exp(planes[0]) * shapes.places
            self.off = None
        else:
            self.off = scale * shapes.places
            self.theta = planes[0] + self.off
        grown = scale * shapes.scales
        self.precision = 1 / (grown + shapes.least)
        self.by_scale = grown * self.precision
        logits = planes[2:]
        share = np.exp(logits - logits.max(0))
        self.share = share / share.sum(0)
        self.weight = SHARED_OUT / shapes.components + (1 - SHARED_OUT) * self.share

    def pieces(self, kind: RowsOfAKind, block: slice) -> tuple[_Pieces, tuple[FloatArray, ...]]:
        """Of a block of rows, and their information on θ and on log σ of each component."""
        time = kind.time[block]
        if kind.kind == "event":
            return self.event(time), self.full_information()
        if kind.kind == "censored":
            return self.censored(time)
        since = np.maximum(time if kind.since is None else kind.since[block], _FAR_LEFT)
        return self.between(since, time), self.full_information()

    def survived(self, time: FloatArray) -> _Pieces:
        """Of rows without an event by these times."""
        return self.censored(time)[0]

    def event(self, time: FloatArray) -> _Pieces:
        """Of events at these times."""
        shapes = self.shapes
        z = self._after(time)
        rate = self._rate((z >= 0).astype(z.dtype))
        u = np.abs(z) * rate
        by_z = np.copysign(rate, z)
        np.negative(by_z, out=by_z)
        factor = (_SQRT2 * shapes.kappa * shapes.q) * self.precision
        return _Pieces(np.negative(u), factor, by_z, u - 1)

    def censored(self, time: FloatArray) -> tuple[_Pieces, tuple[FloatArray, ...]]:
        """Of rows without an event by these times, and their information on θ and on log σ of each component."""
        shapes = self.shapes
        z = self._after(time)
        above = (z >= 0).astype(z.dtype)
        below = 1 - above
        rate = self._rate(above)
        u = np.abs(z) * rate
        v, w = u * below, u * above
        np.negative(v, out=v)
        np.negative(w, out=w)
        grown = np.expm1(v)
        survival = shapes.q - shapes.p * grown
        cdf = shapes.p * (1 + grown)
        # Below θ survival hardly falls: its logarithm moves by this factor of what the exponent v does.
        odds = cdf / survival
        odds *= below
        pieces = _Pieces(w, survival, -rate * (above + odds), u * (above - odds))
        decay = np.exp(w)
        whole = 2 * self.precision**2
        on_theta = np.maximum(whole * (above + odds / shapes.kappa**2), _LEAST * whole)
        on_log_sigma = above * (1 - shapes.q * decay) + below * cdf + odds * v * v
        return pieces, (on_theta, np.maximum(on_log_sigma, _LEAST))

    def between(self, since: FloatArray, until: FloatArray) -> _Pieces:
        """Of events after the first times and at or before the second."""
        shapes = self.shapes
        first, last = since - self.theta, until - self.theta
        from_above, to_below = (first >= 0).astype(np.float64), (last < 0).astype(np.float64)
        per_left = (_SQRT2 / shapes.kappa) * self.precision
        per_right = (_SQRT2 * shapes.kappa) * self.precision
        v, w = np.minimum(last, 0.0) * per_left, np.maximum(first, 0.0) * per_right
        left = np.minimum(first, 0.0) * per_left - v
        right = w - np.maximum(last, 0.0) * per_right
        mass_left, mass_right = np.expm1(left), np.expm1(right)
        total = -shapes.p * mass_left - shapes.q * mass_right
        decay_left, decay_right = shapes.p * (1 + mass_left), shapes.q * (1 + mass_right)
        # θ inside the interval: both ends move, each in its own piece.
        inside = (1 - from_above) * (1 - to_below)
        ends = inside * (decay_right * per_right - decay_left * per_left)
        by_z = to_below * per_left - from_above * per_right + ends / total
        exponent = v - w
        by_log_sigma = (decay_left * left + decay_right * right) / total - exponent
        return _Pieces(exponent, total, by_z, by_log_sigma)

    def full_information(self) -> tuple[FloatArray, ...]:
        """Information of rows on θ and on log σ of each component if their events are seen whenever they come."""
        return 2 * self.precision**2, np.ones(1, self.precision.dtype)

    def value(self, pieces: _Pieces, cut: _Pieces | None) -> FloatArray:
        """Log-likelihood (rows,) of the mixture."""
        relative, top = self._relative(pieces, cut)
        return np.asarray(np.log(relative.sum(0)) + top)

    def mixed(self, pieces: _Pieces, cut: _Pieces | None) -> FloatArray:
        """Slopes (boosted, rows) of the mixture's log-likelihood by the outputs."""
        relative, _ = self._relative(pieces, cut)
        by_z, by_log_sigma = pieces.by_z, pieces.by_log_sigma
        if cut is not None:
            by_z, by_log_sigma = by_z - cut.by_z, by_log_sigma - cut.by_log_sigma
        pull = relative / relative.sum(0)
        slopes = np.empty((2 + self.shapes.components, pull.shape[1]), pull.dtype)
        by_theta = pull * by_z
        np.negative(by_theta, out=by_theta)
        spread = pull * by_log_sigma
        spread *= self.by_scale
        if self.off is None:
            np.sum(by_theta * self.theta, axis=0, out=slopes[0])
        else:
            np.sum(by_theta, axis=0, out=slopes[0])
            # The places are relative to the shared scale: it moves them, too.
            spread += by_theta * self.off
        np.sum(spread, axis=0, out=slopes[1])
        # Of a weight, what does not come from the even share follows the softmax.
        pull *= (1 - SHARED_OUT) * self.share / self.weight
        slopes[2:] = pull - self.share * pull.sum(0)
        return slopes

    def information(self, on_theta: FloatArray, on_log_sigma: FloatArray) -> FloatArray:
        """That on the outputs (boosted, rows) if the component were known that each row comes from."""
        weight = self.weight
        found = np.empty((2 + self.shapes.components, weight.shape[1]), weight.dtype)
        if self.off is None:
            np.sum(weight * self.theta**2 * on_theta, axis=0, out=found[0])
            np.sum(weight * (self.by_scale**2 * on_log_sigma), axis=0, out=found[1])
        else:
            weighted = weight * on_theta
            np.sum(weighted, axis=0, out=found[0])
            np.sum(weighted * self.off**2 + weight * (self.by_scale**2 * on_log_sigma), axis=0, out=found[1])
        found[2:] = ((1 - SHARED_OUT) * weight * (1 - weight)) if self.shapes.components > 1 else weight
        return found

    def _relative(self, pieces: _Pieces, cut: _Pieces | None) -> tuple[FloatArray, FloatArray]:
        """Likelihood of each component (K, rows) times its weight, in units whose logarithm is returned, too."""
        exponent, factor = pieces.exponent, pieces.factor
        if cut is not None:
            exponent, factor = exponent - cut.exponent, factor / cut.factor
        top = exponent.max(0)
        relative = np.exp(exponent - top)
        relative *= factor
        relative *= self.weight
        return relative, top

    def _after(self, time: FloatArray) -> FloatArray:
        """Time less θ of each component."""
        return np.asarray(time.astype(self.theta.dtype, copy=False) - self.theta)

    def _rate(self, above: FloatArray) -> FloatArray:
        """By how much the logarithm of the density falls per unit of time, on the side of θ where the time is."""
        left, right = _SQRT2 / self.shapes.kappa, _SQRT2 * self.shapes.kappa
        rate = above * (right - left)
        rate += left
        rate *= self.precision
        return np.asarray(rate)
