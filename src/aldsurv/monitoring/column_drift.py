"""Whether the covariates of later periods are like those of a reference: stability index, difference, and a test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import ColumnKey, Level, distinct_levels, read_numbers
from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number
from aldsurv.columns.covariates import read_covariates
from aldsurv.models.base import SurvivalEstimator

__all__ = ["DRIFTED", "ColumnDrift", "column_drift", "used_columns"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# Below this stability index a difference is small, whatever the test says of many rows.
DRIFTED = 0.1
_DECILES = np.arange(1, 10) / 10
# Of numbers, for the test: rows of the smaller sample for each bin, and how many bins there are at most.
_ROWS_PER_BIN, _MOST_BINS = 8, 10


@final
@dataclass(frozen=True)
class ColumnDrift:
    """A column in a period, beside the reference.

    Attributes
    ----------
    period, column
        Their names.
    kind
        ``"number"`` or ``"levels"``.
    psi
        Population stability index over deciles of the reference, or levels, with gaps as one more bin: ``Σ (p - q)
        log(p/q)``, half a row of the smaller of the two being added to each bin of both. NaN in the periods of the
        reference.
    difference
        Standardised difference: of numbers that of the means, of levels the largest of those of their shares.
    p_value
        Of exact tests that period and reference have the same distribution; NaN where there is one value only.
    limit
        What the p-value must not exceed for an alarm.
    outside
        Share of rows beyond the range of training or, of levels, with one that training had not shown.
    gaps
        Share of rows without a value.
    drifted
        Whether the p-value is at most its limit and the stability index at least 0.1.
    """

    period: str
    column: str
    kind: str
    psi: float
    difference: float
    p_value: float
    limit: float
    outside: float
    gaps: float
    drifted: bool


def used_columns(model: SurvivalEstimator, X: object) -> dict[str, tuple[ColumnPlan, ColumnKey, NDArray[Any]]]:
    """What was learned of each column that a model uses, its key and its values, by name."""
    table = read_covariates(X)
    features = model.innermost.features_
    if features is None:
        return {}
    places = {name: j for j, name in enumerate(table.names or [plan.name for plan in features.columns])}
    return {
        plan.name: (plan, table.keys[places[plan.name]], table.read(places[plan.name]))
        for plan in features.columns
        if not isinstance(plan, LeftOut) and plan.name in places
    }


def column_drift(
    model: SurvivalEstimator,
    X: object,
    place: IntArray,
    names: Sequence[str],
    *,
    weights: FloatArray,
    reference: object,
    reference_periods: int,
    alpha: float,
) -> tuple[ColumnDrift, ...]:
    """Every column in every period, columns in order within a period.

    Period k after the reference has ``alpha/(k(k + 1))``, which is divided evenly among the columns: over all periods
    and columns the limits sum to at most `alpha`.

    Parameters
    ----------
    model
        A fitted model, which knows its columns.
    X, place, names
        Covariates, the period of each row, and names of the periods.
    weights
        Of the rows: they count in shares and means. The test counts each row of positive weight once.
    reference
        Covariates of the training rows; None: the rows of the first `reference_periods`.
    reference_periods
        How many periods are the reference, if no rows are.
    alpha
        Probability of any alarm while nothing has changed.
    """
    columns = used_columns(model, X)
    others: Mapping[str, tuple[ColumnPlan, ColumnKey, NDArray[Any]]] = (
        {} if reference is None else used_columns(model, reference)
    )
    first = 0 if reference is not None else reference_periods
    found: list[list[ColumnDrift]] = [[] for _ in names]
    for name, (plan, key, raw) in columns.items():
        values = _Values.of(plan, key, raw)
        outside = plan.outside(raw, key)
        if reference is None:
            base = values.where(place < first)
            base_weights = weights[place < first]
        elif name in others:
            base = _Values.of(*others[name])
            base_weights = np.ones(base.gaps.size)
        else:
            continue
        for k, period in enumerate(names):
            here = place == k
            limit = alpha / ((k - first + 1) * (k - first + 2) * len(columns)) if k >= first else math.nan
            psi, difference, p_value = (
                _compare(base, base_weights, values.where(here), weights[here]) if k >= first else [math.nan] * 3
            )
            found[k].append(
                ColumnDrift(
                    period,
                    name,
                    "number" if isinstance(plan, Number) else "levels",
                    psi,
                    difference,
                    p_value,
                    limit,
                    _share(outside[here], weights[here]),
                    _share(values.gaps[here], weights[here]),
                    bool(p_value <= limit and psi >= DRIFTED),
                )
            )
    return tuple(drift for period in found for drift in period)


@final
@dataclass(frozen=True)
class _Values:
    """A column as numbers (n,), NaN where there is none, or as numbers of levels; and where it has gaps."""

    numbers: FloatArray
    gaps: NDArray[np.bool_]
    levels: int

    @classmethod
    def of(cls, plan: ColumnPlan, key: ColumnKey, raw: NDArray[Any]) -> _Values:
        if isinstance(plan, Number):
            numbers = read_numbers(raw, key)
            return cls(numbers, np.isnan(numbers), 0)
        levels, inverse = distinct_levels(raw, key)
        # Levels beyond those of training share one number.
        kept = plan.levels if isinstance(plan, Levels) else ()
        known: dict[Level | None, int] = {level: place for place, level in enumerate(kept)}
        codes = np.array([math.nan if level is None else known.get(level, len(known)) for level in levels])
        numbers = codes[inverse] if codes.size else np.zeros(0)
        return cls(numbers, np.isnan(numbers), len(known) + 1)

    def where(self, rows: NDArray[np.bool_]) -> _Values:
        return _Values(self.numbers[rows], self.gaps[rows], self.levels)

    def bins(self, cuts: FloatArray) -> IntArray:
        """The bin of each row: values up to each cut, beyond the last, and gaps."""
        place = np.searchsorted(cuts, self.numbers, side="left")
        return np.where(self.gaps, cuts.size + 1, place).astype(np.intp)


def _compare(
    base: _Values, base_weights: FloatArray, other: _Values, other_weights: FloatArray
) -> tuple[float, float, float]:
    """Stability index, standardised difference and p-value."""
    known = base.numbers[~base.gaps & (base_weights > 0)]
    if not known.size or not (other_weights > 0).any():
        return math.nan, math.nan, math.nan
    cuts = np.arange(base.levels - 1.0) if base.levels else np.unique(np.quantile(known, _DECILES))
    count = cuts.size + 2
    samples = ((base.bins(cuts), base_weights), (other.bins(cuts), other_weights))
    weighed = [np.bincount(bins, weights, minlength=count) for bins, weights in samples]
    # Of the smaller sample, for both: a bin that the larger does not have is not taken for an impossible one.
    used = (weighed[0] + weighed[1]) > 0
    half = 0.5 / min(each.sum() for each in weighed)
    shares = [(each[used] / each.sum() + half) / (1 + half * used.sum()) for each in weighed]
    psi = float(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum())
    rows = _counts([base.where(base_weights > 0), other.where(other_weights > 0)])
    if base.levels:
        plain = [each[:-1] / max(each[:-1].sum(), 1e-300) for each in weighed]
        return psi, _largest_share_difference(*plain), _homogeneity(*rows, ordered=False)
    return psi, _mean_difference(base, base_weights, other, other_weights), _homogeneity(*rows, ordered=True)


def _counts(samples: Sequence[_Values]) -> list[FloatArray]:
    """Rows of two samples by bin: levels, or as many quantiles of all values as the smaller sample has rows for."""
    if samples[0].levels:
        cuts = np.arange(samples[0].levels - 1.0)
    else:
        known = [each.numbers[~each.gaps] for each in samples]
        # By the rows of both, gaps included: which of them have the gaps must not matter for the cuts.
        bins = int(np.clip(min(each.gaps.size for each in samples) // _ROWS_PER_BIN, 2, _MOST_BINS))
        cuts = np.unique(np.quantile(np.concatenate(known), np.arange(1, bins) / bins))
    return [np.bincount(each.bins(cuts), minlength=cuts.size + 2).astype(np.float64) for each in samples]


def _mean_difference(base: _Values, base_weights: FloatArray, other: _Values, other_weights: FloatArray) -> float:
    means, variances = [], []
    for values, weights in ((base, base_weights), (other, other_weights)):
        some = ~values.gaps & (weights > 0)
        if not some.any():
            return math.nan
        mean = float(np.average(values.numbers[some], weights=weights[some]))
        means.append(mean)
        variances.append(float(np.average((values.numbers[some] - mean) ** 2, weights=weights[some])))
    spread = math.sqrt(sum(variances) / 2)
    return (means[1] - means[0]) / spread if spread > 0 else 0.0 if means[0] == means[1] else math.nan


def _largest_share_difference(base: FloatArray, other: FloatArray) -> float:
    # Shares are at most 1 up to rounding.
    spread = np.sqrt(np.maximum(base * (1 - base) + other * (1 - other), 0.0) / 2)
    differences = np.divide(other - base, spread, out=np.zeros(base.size), where=spread > 0)
    return float(differences[np.abs(differences).argmax()])


def _homogeneity(base: FloatArray, other: FloatArray, *, ordered: bool) -> float:
    """p-value of the test that two rows of counts, gaps last, are of one distribution; NaN if one bin is left.

    Each part is tested exactly against all else, and the smallest p-value multiplied by the number of parts. Of numbers
    a part is what lies up to a cut, of levels each level; gaps are one more. However few rows a part has, the
    probability that the result is at most p is at most p while nothing has changed.
    """
    known = [np.cumsum(each[:-1]) if ordered else each[:-1] for each in (base, other)]
    parts = np.array([np.append(mine, each[-1]) for mine, each in zip(known, (base, other), strict=True)])
    sizes = float(base.sum()), float(other.sum())
    total = parts.sum(0)
    parts = np.unique(parts[:, (total > 0) & (total < sum(sizes))], axis=1)
    if not ordered and parts.shape[1] == 2 and parts.sum() == sum(sizes):
        # Two levels and nothing else: each is the rest of the other.
        parts = parts[:, :1]
    if not parts.size:
        return math.nan
    smallest = min(_exact_p_value(part, *sizes) for part in parts.T)
    return min(1.0, len(parts.T) * smallest)


def _exact_p_value(part: FloatArray, base: float, other: float) -> float:
    """Twice the smaller tail of the hypergeometric number of rows of a part that are among the `other` rows."""
    # Imports ten times faster than scipy.stats.
    from scipy.special import gammaln

    total = float(part.sum())
    taken = np.arange(max(0.0, total - base), min(total, other) + 1)

    def log_choices(n: float, k: FloatArray) -> FloatArray:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    log = log_choices(total, taken) + log_choices(base + other - total, other - taken)
    probability = np.exp(log - log_choices(base + other, np.array(other)))
    tails = float(probability[taken <= part[1]].sum()), float(probability[taken >= part[1]].sum())
    return min(1.0, 2 * min(tails))


def _share(flags: NDArray[np.bool_], weights: FloatArray) -> float:
    total = float(weights.sum())
    return float(weights @ flags) / total if total > 0 else math.nan
