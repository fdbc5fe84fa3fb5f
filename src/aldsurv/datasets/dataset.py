"""A dataset: covariates, times, and what else its rows have."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.splitting import generator_for, group_test_rows, row_test_rows
from aldsurv.errors import DataError, MissingDependencyError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from aldsurv.distributions import SurvivalDistribution

__all__ = ["Dataset"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows of one dataset, usually made by `aldsurv.datasets.load`. Arrays are read-only; ``data[rows]`` are some rows.

    Parameters
    ----------
    x
        Covariates (n, d), as published: nothing is scaled.
    y
        Times and events, in the unit ``info.unit``.
    info
        The record of the dataset.
    truth
        The distribution that each row's event time was drawn from; None for real data.
    event_time, censoring_time
        Both times of each row (n,), of which `y` shows the earlier; None for real data.
    groups
        A number for each row (n,), equal for rows that are not independent; None where every row stands for itself.

    Examples
    --------
    >>> from aldsurv import datasets
    >>> train, test = datasets.load("gbsg").split(seed=0)
    >>> print(train.y)
    n=1785, 1031 events (58 %), time 0.263–87.4
    """

    x: FloatArray
    y: SurvivalData
    info: DatasetInfo
    truth: SurvivalDistribution | None = None
    event_time: FloatArray | None = None
    censoring_time: FloatArray | None = None
    groups: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or field.name == "info":
                continue
            if len(value) != len(self.y):
                raise DataError(
                    f"{field.name} must have one row for each of {len(self.y)} times, but has {len(value)}."
                )
            if isinstance(value, np.ndarray):
                frozen = value.view()
                frozen.flags.writeable = False
                object.__setattr__(self, field.name, frozen)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of `x`."""
        return list(self.info.feature_names)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Any) -> Dataset:
        """Rows by slice, integer (one row), integers or bool mask."""
        y = self.y[rows]
        if not isinstance(rows, slice):
            rows = np.atleast_1d(rows)
            rows = rows if rows.size else rows.astype(np.intp)
        optional: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows]
            for name in ("truth", "event_time", "censoring_time", "groups")
        }
        return Dataset(self.x[rows], y, self.info, **optional)

    def split(self, seed: int = 0, *, by: str = "row") -> tuple[Dataset, Dataset]:
        """A random training and test part, in the proportion of the paper: 20 % for testing if the data are real.

        Rows keep their order. Nothing is stratified, as in the paper.

        Parameters
        ----------
        seed
            Which of the random splits; the same seed splits the same rows in the same way.
        by
            ``"row"``: every row on its own, as in the paper. ``"group"``: rows of one group stay on one side, and
            the test part is as near to its size as whole groups come; without `groups` the same as by row.
        """
        check("by", by, Choice(("row", "group")))
        n, generator = len(self), generator_for(seed, f"{self.info.name} split")
        # Rounded up, which is what gives the sizes of the paper's table: 447 of GBSG's 2232.
        n_test = -(-n * self.info.n_test // self.info.rows)
        if not 0 < n_test < n:
            raise ParameterError(f"{n} rows cannot be split into a training and a test part.", advice="Load more.")
        if by == "group" and self.groups is not None:
            in_test = group_test_rows(self.groups, n_test, generator)
        else:
            in_test = row_test_rows(n, n_test, generator)
        return self[~in_test], self[in_test]

    def with_positive_times(self) -> Dataset:
        """The same rows with times at 0 raised to half of the step in which times were recorded.

        For models of the logarithm of time. A time recorded as 0 in steps of one month lies somewhere in the first
        month; half a step is its middle to within rounding, and does not depend on the rows at hand.
        """
        at_zero = self.y.time <= 0
        if not at_zero.any():
            return self
        if self.info.time_step is None:
            raise DataError(
                f"{at_zero.sum()} of {len(self)} times are 0, but it is not known in which steps {self.info.name} was "
                "recorded.",
                advice="Set info.time_step.",
            )
        time = np.where(at_zero, self.info.time_step / 2, self.y.time)
        upper = np.where(self.y.event, time, np.inf)
        causes = self.y.cause, self.y.causes
        y = SurvivalData.from_checked(time, upper, self.y.entry, self.y.weight, *causes, self.y.group)
        return replace(self, y=y)

    def frame(self, *, outcome: bool = False) -> pd.DataFrame:
        """The covariates as a pandas frame with named columns, with `outcome` also the columns time and event.

        Of data with causes the latter has their names, and ``"censored"``.
        """
        try:
            import pandas as pd
        except ImportError:
            raise MissingDependencyError("frame needs pandas, which is not installed: pip install pandas") from None
        frame = pd.DataFrame(self.x, columns=self.feature_names)
        if not outcome:
            return frame
        if self.y.cause is None or self.y.causes is None:
            return frame.assign(time=self.y.time, event=self.y.event)
        names = np.array(["censored", *self.y.causes], dtype=object)
        return frame.assign(time=self.y.time, event=names[self.y.cause])

    def __str__(self) -> str:
        """One line: name, rows, events and range of time."""
        return f"{self.info.name}: {self.y.summary()} ({self.info.unit}), {self.info.n_features} features"

    def __repr__(self) -> str:
        return f"Dataset({self.info.name!r}, n={len(self)})"
