"""The baseline of a linear model of proportional hazards: estimated, asked for distributions, kept in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.errors import DataError
from aldsurv.models.file_entries import Arrays, finite_floats, require
from aldsurv.models.fitted_state import FittedState
from aldsurv.models.linear.design import Design
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline, baseline_hazard

__all__ = ["CoxBaseline", "require_right_censored"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@final
@dataclass(frozen=True, kw_only=True)
class CoxBaseline(FittedState):
    """The hazard of an average row.

    Attributes
    ----------
    baseline
        Cumulative hazard of an average row, or one for each stratum.
    average
        The (weighted) mean of each column (d,).
    """

    baseline: BaselineHazard | StratifiedBaseline
    average: FloatArray

    @classmethod
    def estimate(
        cls, x: FloatArray, slopes: FloatArray, data: SurvivalData, ties: str, codes: IntArray | None
    ) -> CoxBaseline:
        """From rows of numbers (n, d) and their coefficients (d,), with the stratum of each row if there are strata."""
        average = data.weights @ x / data.total_weight
        risk = (x - average) @ slopes
        baseline = baseline_hazard(data, risk, ties=ties, strata=codes)  # type: ignore[call-overload]
        return cls(baseline=baseline, average=average)

    def log_risk(self, x: FloatArray, slopes: FloatArray) -> FloatArray:
        """``β·x`` of each row, measured from an average row."""
        return np.asarray((x - self.average) @ slopes)

    def distribution(self, risk: FloatArray, codes: IntArray | None) -> ProportionalHazards:
        """Of each log risk (n,), in the stratum of that number."""
        if isinstance(self.baseline, StratifiedBaseline) and codes is not None:
            return self.baseline.distribution(risk, codes)
        return self.baseline.distribution(risk)  # type: ignore[call-arg]

    def multiplied(self, log_factor: float) -> CoxBaseline:
        """All hazards times a factor, given by its logarithm."""

        def changed(part: BaselineHazard) -> BaselineHazard:
            return BaselineHazard(part.times.copy(), part.log_cumulative + log_factor)

        if isinstance(self.baseline, StratifiedBaseline):
            parts = tuple(map(changed, self.baseline.baselines))
            return CoxBaseline(baseline=StratifiedBaseline(self.baseline.levels, parts), average=self.average)
        return CoxBaseline(baseline=changed(self.baseline), average=self.average)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """For a file."""
        parts = self.baseline.baselines if isinstance(self.baseline, StratifiedBaseline) else (self.baseline,)
        levels = self.baseline.levels if isinstance(self.baseline, StratifiedBaseline) else np.zeros(0)
        return {
            "average": self.average,
            "baseline.levels": levels.astype(np.int64),
            "baseline.sizes": np.array([part.times.size for part in parts], np.int64),
            "baseline.times": np.concatenate([part.times for part in parts]),
            "baseline.log_cumulative": np.concatenate([part.log_cumulative for part in parts]),
        }

    @classmethod
    def from_arrays(cls, design: Design, arrays: Arrays) -> CoxBaseline:
        """What `to_arrays` gave, for the columns and strata of the design; anything else is refused."""
        names = ("levels", "sizes", "times", "log_cumulative")
        expected = {"average", *(f"baseline.{name}" for name in names)}
        require(set(arrays) == expected, "its baseline is not that of this model")
        average = finite_floats(arrays, "average")
        require(average.shape == (len(design.names),), "its average row has other columns")
        levels, sizes, times, heights = (arrays[f"baseline.{name}"] for name in names)
        require(all(array.ndim == 1 for array in (levels, sizes, times, heights)), "its baseline must be of columns")
        require(levels.dtype == sizes.dtype == np.int64, "strata of the baseline must be numbered")
        require(times.dtype == heights.dtype == np.float64, "its baseline must be of numbers")
        stratified = bool(design.columns)
        require(sizes.size == (levels.size if stratified else 1), "there must be one baseline per stratum")
        numbered = bool((np.diff(levels) > 0).all() and np.isin(levels, np.arange(len(design.strata))).all())
        require(numbered, "the baselines are not those of its strata")
        require(bool((sizes > 0).all()), "the baselines are unclear")
        require(sizes.sum() == times.size == heights.size, "the baseline's sizes do not fit")
        cuts = np.cumsum(sizes)[:-1]
        parts = tuple(map(_read_baseline, np.split(times, cuts), np.split(heights, cuts)))
        baseline = StratifiedBaseline(levels, parts) if stratified else parts[0]
        return cls(baseline=baseline, average=average)


def require_right_censored(data: SurvivalData, owner: str) -> None:
    """Raise `DataError` unless every row is exact or right-censored."""
    if not (data.exact | data.right_censored).all():
        count = int(np.count_nonzero(~(data.exact | data.right_censored)))
        raise DataError(
            f"{owner} takes exact and right-censored rows only, but {count} of {len(data)} rows are left- or "
            "interval-censored",
            argument="y",
            advice="Use WeibullAFT or LogNormalAFT, or leave these rows out.",
        )


def _read_baseline(times: FloatArray, heights: FloatArray) -> BaselineHazard:
    require(bool(np.isfinite(times).all() and (np.diff(times) > 0).all()), "times of the baseline must ascend")
    # Only a stratum without an event has no hazard at all.
    no_event = heights.size == 1 and bool(np.isneginf(heights[0]))
    require(no_event or bool(np.isfinite(heights).all()), "the baseline must be of numbers")
    require(no_event or bool((np.diff(heights) >= 0).all()), "the baseline must not fall")
    return BaselineHazard(times.copy(), heights.copy())
