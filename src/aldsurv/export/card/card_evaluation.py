"""What a model card says of rows with observed outcomes: the numbers of a report, without its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.data.persons import first_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.models import SurvivalEstimator
from aldsurv.plots.drawing.axes_text import collected_warnings
from aldsurv.reports.model.at_times.time_findings import TimeFindings, compute_time_findings
from aldsurv.reports.model.causes.cause_findings import CauseFindings, compute_cause_findings
from aldsurv.reports.model.causes.cause_sections import cause_cautions
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.partial.partial_findings import compute_partial_findings
from aldsurv.reports.model.quality.cautions import Caution, cautions
from aldsurv.reports.model.quality.findings import Findings, compute_findings
from aldsurv.reports.model.quality.subgroups import Subgroup, subgroups
from aldsurv.reports.model.report_times import checked_report_times, default_report_times, main_time
from aldsurv.reports.model.row_kind import RowKind

__all__ = ["CardEvaluation", "evaluate_for_card"]


@final
@dataclass(frozen=True, eq=False)
class CardEvaluation:
    """A model on rows with observed outcomes.

    Attributes
    ----------
    evaluated, findings
        The rows and predictions, and the numbers over all follow-up.
    at_times
        Numbers at chosen times, of each cause, too; none where they are not defined.
    causes
        Numbers of each cause.
    groups, horizon
        Subgroups of the columns that were asked for, and the time at which they are compared.
    cautions
        What these rows show that a reader should know.
    source
        Name of the rows, if it is known.
    """

    evaluated: EvaluatedModel
    findings: Findings
    at_times: tuple[TimeFindings, ...]
    causes: tuple[CauseFindings, ...]
    groups: tuple[Subgroup, ...]
    horizon: float
    cautions: tuple[Caution, ...]
    source: str | None = None


def evaluate_for_card(
    model: SurvivalEstimator,
    X: object,
    data: SurvivalData,
    *,
    train: SurvivalData | None = None,
    times: Sequence[float] | None = None,
    groups: Mapping[str, Any] | None = None,
    unit: str | None = None,
    event: str = "event",
    labels: ColumnLabels | None = None,
    source: str | None = None,
    random_state: int = 0,
) -> CardEvaluation:
    """Evaluate a model on rows, by the same functions as the report.

    Parameters
    ----------
    model, X, data
        The model, and covariates and outcomes of rows, preferably other ones than those of training.
    train
        Rows from which the censoring is estimated; None: from these.
    times
        Times at which predictions are judged; None: those that a report would choose.
    groups
        Values (n,) by the name of the column, of columns of subgroups.
    unit, event, labels, source
        Words: unit of time, the event, columns, and the name of the rows.
    random_state
        Seed of resamples, and of the sample of very many rows.
    """
    outcome = data.persons()
    kind = RowKind.of(outcome)
    chosen = None if times is None else checked_report_times(times, outcome)
    main = None if chosen is None else main_time(chosen, outcome)
    with collected_warnings() as messages:
        evaluated = EvaluatedModel.on_rows(
            model, X, data, train=train, unit=unit, seed=random_state, event=event, labels=labels
        )
        columns = [(name, _values(name, given, data, evaluated)) for name, given in (groups or {}).items()]
        findings = compute_findings(evaluated, main) if kind.complete else compute_partial_findings(evaluated, main)
        at = float(f"{findings.horizon:.2g}") if main is None else main
        causes = compute_cause_findings(evaluated, at) if kind.complete else ()
    if chosen is None:
        chosen = default_report_times(evaluated.data) if kind.has_times else ()
    # Of parts of the rows the same warnings would be repeated.
    with collected_warnings():
        at_times = compute_time_findings(evaluated, chosen) if kind.complete else ()
        judged, horizon = subgroups(evaluated, (), columns, main) if columns and kind.complete else ([], float("nan"))
    applying = (*cautions(evaluated, findings, judged, messages), *cause_cautions(evaluated, causes))
    return CardEvaluation(evaluated, findings, at_times, causes, tuple(judged), horizon, applying, source)


def _values(name: str, given: Any, data: SurvivalData, evaluated: EvaluatedModel) -> NDArray[Any]:
    """The values of a column of subgroups in the evaluated rows; of episodes those of the first of each person."""
    values = np.asarray(given)
    if values.shape != (len(data),):
        raise DataError(
            f"groups must have one value of {name!r} for each of {len(data)} rows, but has the shape {values.shape}",
            argument="groups",
        )
    rows = values if data.person is None else values[first_rows(data)]
    return np.asarray(rows[evaluated.rows])
