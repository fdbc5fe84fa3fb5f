"""What a report is about: a model, rows with observed outcomes, and the predictions for these rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.data.persons import first_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CompetingDistribution, SurvivalDistribution
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.errors import DataError
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.models import SurvivalEstimator
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.reports.model.row_kind import RowKind, count_known_events, known_times
from aldsurv.reports.model.words.titled_tables import printed_table, titled_table

__all__ = ["EvaluatedModel", "free_of", "unit_of"]

# More rows hardly make the metrics more precise, and make the report slow.
_MOST_ROWS = 10_000


@final
@dataclass(frozen=True, eq=False)
class EvaluatedModel:
    """A model and rows that it is evaluated on.

    Attributes
    ----------
    model, everything
        The model, and the covariates of all rows of the table.
    rows
        Numbers of the evaluated rows: all, or a random sample of very many.
    table, data, predicted
        Covariates, outcomes and predictions of these.
    train
        Rows that the censoring is estimated from: the training rows, if they are given and have times.
    has_train
        Whether these are other rows than `data`.
    unit
        Unit of time, if it is known.
    seed
        Of everything that is drawn at random.
    incidence
        Predicted incidence of each cause; None unless both the model and the rows have causes.
    event
        What the event is called in sentences.
    labels
        What columns and their values are called.
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
    incidence: CompetingDistribution | None = None
    event: str = "event"
    labels: ColumnLabels = field(default_factory=ColumnLabels)

    @classmethod
    def on_rows(
        cls,
        model: SurvivalEstimator,
        X: object,
        data: SurvivalData,
        *,
        train: SurvivalData | None,
        unit: str | None,
        seed: int,
        event: str = "event",
        labels: ColumnLabels | None = None,
    ) -> EvaluatedModel:
        """Predict the given rows, or a random sample if there are very many.

        Of episodes there is one row per person: the prediction along its path, and the covariates of its first episode.
        """
        labels = ColumnLabels() if labels is None else labels
        everything = titled_table(CovariateTable.of(X), labels)
        if len(everything) != len(data):
            raise DataError(
                f"X has {len(everything)} rows, but data has {len(data)}",
                argument="X",
                advice="Give one row of X for each time.",
            )
        path = None
        if data.person is not None:
            everything, (path, data) = (
                everything.rows(first_rows(data)),
                along_paths(model.predict_distribution(everything.given), data),
            )
        rows = np.arange(len(data))
        if len(data) > _MOST_ROWS:
            rows = np.sort(np.random.default_rng(seed).choice(len(data), _MOST_ROWS, replace=False))
            data = data[rows]
        table = everything.rows(rows)
        # Without times of censoring there is no distribution of them.
        given = None if train is None else train.persons()
        usable = given is not None and RowKind.of(given).has_times
        by_cause = model.causes_ is not None and data.causes is not None and path is None
        return cls(
            model,
            everything,
            rows,
            table,
            data,
            model.predict_distribution(table.given) if path is None else path[rows],
            given if given is not None and usable else data,
            usable,
            unit if unit and unit.strip() else unit_of(model),
            seed,
            model.predict_incidence(table.given) if by_cause else None,
            event,
            labels,
        )

    @property
    def kind(self) -> RowKind:
        """What is known of the outcomes of the rows."""
        return RowKind.of(self.data)

    @property
    def events(self) -> int:
        """Number of rows whose event is known to have come, at a time or within bounds."""
        return count_known_events(self.data)

    @property
    def longest(self) -> float:
        """The last time at which something is known of a row."""
        return float(known_times(self.data).max())

    @property
    def follow_up(self) -> float:
        """The last time in training."""
        return float(self.model.unique_times_[-1])

    @property
    def the_event(self) -> str:
        """The event in a sentence: "the event", or its name."""
        return "the event" if self.event == "event" else self.event

    @property
    def free(self) -> str:
        """Not to have had the event: "event-free", or without its name."""
        return free_of(self.event)

    @property
    def shown_table(self) -> CovariateTable:
        """The covariates as they are printed: with labels of columns and levels."""
        return printed_table(self.table, self.labels)

    @property
    def unit_label(self) -> str | None:
        """The unit of time as it is written at axes."""
        return None if self.unit is None else plain_label(self.unit)

    @property
    def used_places(self) -> list[int]:
        """Positions of the columns that predictions depend on; what a model leaves out may be names of persons."""
        plans = () if self.model.features_ is None else self.model.features_.columns
        left_out = {plan.name for plan in plans if not plan.names_out}
        return [place for place, name in enumerate(self.table.key_names) if name not in left_out]

    def some_rows(self, most: int) -> EvaluatedModel:
        """The same on at most so many rows, drawn at random."""
        if len(self.rows) <= most:
            return self
        chosen = np.sort(np.random.default_rng(self.seed).choice(len(self.rows), most, replace=False))
        return replace(
            self,
            rows=self.rows[chosen],
            table=self.table.rows(chosen),
            data=self.data[chosen],
            predicted=self.predicted[chosen],
            incidence=None if self.incidence is None else self.incidence[chosen],
        )


def free_of(event: str) -> str:
    """Not to have had an event of that name; "event" for one that has none."""
    return "event-free" if event == "event" else f"without {event}"


def unit_of(model: SurvivalEstimator) -> str | None:
    """The parameter ``unit`` of the model, or of the model inside it."""
    given = (value for name, value in model.get_params().items() if name.endswith("unit") and value)
    unit = next(given, None)
    return unit if isinstance(unit, str) and unit.strip() else None
