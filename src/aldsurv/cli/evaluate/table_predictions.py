"""A model's predictions for the rows of a table, beside what was observed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from aldsurv.cli.shared.error_text import errors_of_model
from aldsurv.cli.shared.input_files import (
    load_model,
    outcome_columns_in,
    read_model_table,
    read_outcome_table,
    require_events,
)
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_columns_of
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import CompetingDistribution, SurvivalDistribution
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table import Table

__all__ = ["TablePredictions", "predict_table", "read_training_rows"]


@final
@dataclass(frozen=True)
class TablePredictions:
    """A model and what it predicts for the rows of a table.

    Attributes
    ----------
    path, model
        The file of the model, and the model.
    table, rows, predicted
        The table, its outcome, and the distribution of each row; of episodes the table has them, and the others one row
        per person.
    incidence
        The incidence of each cause, of a model that tells causes apart and rows that have them; else None.
    """

    path: str
    model: SurvivalEstimator
    table: Table
    rows: SurvivalData
    predicted: SurvivalDistribution
    incidence: CompetingDistribution | None = None


def predict_table(model_path: str, table_path: str, given: OutcomeColumns, reading: ReadingOptions) -> TablePredictions:
    """Load a model, read a table with its outcome, and predict."""
    from aldsurv.distributions.wrappers.covariate_path import along_paths

    model = load_model(model_path)
    with errors_of_model(model_path):
        columns = outcome_columns_in(table_path, model, given, reading)
        table = read_model_table(table_path, model, columns, reading)
    rows = require_events(table, columns)
    with errors_of_model(model_path):
        first, by_cause = model.predict_distribution(table.x), model.causes_ is not None and rows.causes is not None
        incidence = model.predict_incidence(table.x) if by_cause and rows.person is None else None
        predicted, rows = along_paths(first, rows)
    return TablePredictions(model_path, model, table, rows, predicted, incidence)


def read_training_rows(
    path: str | None, predictions: TablePredictions, given: OutcomeColumns, reading: ReadingOptions
) -> SurvivalData:
    """Rows that the censoring is estimated from: those of `path`, or without one those that are predicted."""
    if path is None:
        return predictions.rows
    columns = outcome_columns_of(predictions.model, given)
    # Of episodes persons count, of other rows each.
    columns = columns if columns.stop else replace(columns, id=None)
    rows = read_outcome_table(path, columns, reading=reading_of(predictions.model, reading)).y
    if rows is None:
        raise ParameterError(f"--train {path!r} has no outcome.")
    return rows.persons()
