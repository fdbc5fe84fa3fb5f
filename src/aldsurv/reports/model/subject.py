"""What a report is about: a model, rows whose outcome is known, and its predictions for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.errors import DataError
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.models import SurvivalEstimator

__all__ = ["Subject", "subject_of"]

# More rows make the numbers hardly more precise, and the report slow.
_MOST_ROWS = 10_000


@final
@dataclass(frozen=True, eq=False)
class Subject:
    """A model and rows that it is tried on.

    Attributes
    ----------
    model, everything
        The model, and the covariates of all rows of the table.
    rows
        Numbers of the rows that are looked at, all unless there are too many.
    table, data, predicted
        Covariates, outcome and prediction of these.
    train
        Rows that the censoring is estimated from.
    has_train
        Whether these are others than `data`.
    unit
        Name of the unit of time, if the model knows it.
    seed
        Of everything that is drawn at random.
    """

    model: SurvivalEstimator
    everything: CovariateTable
    rows: NDArray[np.intp]
    table: CovariateTable
    data: SurvivalData
    predicted: SurvivalDistribution
    train: SurvivalData
    has_train: bool
    unit: str | None
    seed: int

    @property
    def follow_up(self) -> float:
        """The last time that the model has seen in training."""
        return float(self.model.unique_times_[-1])

    @property
    def facts(self) -> dict[str, Any]:
        """What the model knows of its training; empty if it keeps nothing."""
        return {} if self.model.trained_on_ is None else self.model.trained_on_.to_dict()

    def some_rows(self, most: int) -> Subject:
        """The same with no more rows than that, drawn at random."""
        if len(self.rows) <= most:
            return self
        chosen = np.sort(np.random.default_rng(self.seed).choice(len(self.rows), most, replace=False))
        return replace(
            self,
            rows=self.rows[chosen],
            table=self.table.rows(chosen),
            data=self.data[chosen],
            predicted=self.predicted[chosen],
        )


def subject_of(
    model: SurvivalEstimator, X: Any, data: SurvivalData, *, train: SurvivalData | None, unit: str | None, seed: int
) -> Subject:
    """Predict for the rows, or for some of them drawn at random if they are very many."""
    everything = CovariateTable.of(X)
    if len(everything) != len(data):
        raise DataError(f"X has {len(everything)} rows, but data has {len(data)}. Give one row of X for each time.")
    rows = np.arange(len(data))
    if len(data) > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(len(data), _MOST_ROWS, replace=False))
        data = data[rows]
    table = everything.rows(rows)
    named = unit or next((value for name, value in model.get_params().items() if name.endswith("unit") and value), None)
    return Subject(
        model,
        everything,
        rows,
        table,
        data,
        model.predict_distribution(table.given),
        data if train is None else train,
        train is not None,
        named if isinstance(named, str) and named.strip() else None,
        seed,
    )
