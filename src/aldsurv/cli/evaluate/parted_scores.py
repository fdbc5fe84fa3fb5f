"""Scores of a model on a folder of Parquet files, by this process or the workers of a cluster."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from aldsurv.cli.scores.metric_settings import MetricSettings
from aldsurv.cli.scores.metric_table import MetricLine, metric_table, shown_metrics
from aldsurv.cli.shared.input_files import load_model, open_outcome_table, time_unit
from aldsurv.cli.shared.number_text import format_clock, format_number, format_p_value
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_columns_of
from aldsurv.cli.shared.progress import progress_line
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of
from aldsurv.cli.shared.text_layout import paragraph, printable
from aldsurv.errors import ParameterError
from aldsurv.plain_numbers import percent
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.models.parted.evaluation import PartedEvaluation
    from aldsurv.tables.parts.parted_table import PartedTable

__all__ = ["PartedScores", "evaluate_folder", "refuse_options"]


@final
@dataclass(frozen=True)
class PartedScores:
    """Scores of a model on the rows of a folder.

    Attributes
    ----------
    path, model, table
        The file of the model, the model, and the folder.
    scores
        The metrics.
    """

    path: str
    model: SurvivalEstimator
    table: PartedTable
    scores: PartedEvaluation

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        scores = self.scores
        return {
            "model": self.path,
            "kind": type(self.model).__name__,
            "table": self.table.label,
            "parts": len(self.table.parts),
            "rows": scores.rows,
            "events": scores.events,
            "unit": time_unit(self.model),
            "metrics": {
                name: {"value": value, "standard_error": scores.standard_errors.get(name)}
                for name, value in scores.items()
            },
        }

    def lines(self) -> list[str]:
        """As a table."""
        scores = self.scores
        lines = []
        for name in shown_metrics(scores, [scores["log_likelihood"]]):
            value, error = scores[name], scores.standard_errors.get(name)
            text = format_p_value(value) if name == "d_calibration" else format_number(value)
            more = "" if error is None else f"; of a sample, standard error {error:.2g}"
            lines.append(MetricLine(METRICS[name].title, text, "", f"{METRICS[name].hint}{more}"))
        counts = f"{scores.rows:,} rows in {len(self.table.parts)} parts, {scores.events:,} events "
        return [
            paragraph(printable(f"{self.path} ({type(self.model).__name__}) on {self.table.label}")),
            paragraph(f"{counts}({percent(scores.events / scores.rows)})", indent="  "),
            "",
            *metric_table(lines, None),
        ]


def refuse_options(given: Mapping[str, object], reading: ReadingOptions) -> None:
    """Raise `ParameterError` for options that only a table that is read as a whole has."""
    text = {f"--{name}": getattr(reading, name) for name in ("delimiter", "decimal", "encoding", "sheet")}
    for option, value in {**given, **text}.items():
        if value is not None:
            raise ParameterError(f"{option} cannot be combined with a folder of Parquet files. Leave it out.")


def evaluate_folder(
    model_path: str,
    table_path: str,
    given: OutcomeColumns,
    reading: ReadingOptions,
    train_path: str | None,
    settings: MetricSettings,
    *,
    cluster: str | None,
    quiet: bool,
) -> PartedScores:
    """Open the table, predict and score where its parts are."""
    from aldsurv.metrics.evaluation import DEFAULT_METRICS
    from aldsurv.models.parted.engine import open_engine
    from aldsurv.models.parted.evaluation import evaluate_parts

    model = load_model(model_path)
    columns = outcome_columns_of(model, given)
    missing = reading_of(model, reading).missing or ()

    def opened(path: str) -> PartedTable:
        # Workers may be in another folder.
        return open_outcome_table(Path(path).resolve() if cluster else Path(path), columns, missing=missing)

    table = opened(table_path)
    train = None if train_path is None else opened(train_path)
    bounded = "lower" in table.reading.roles
    names = [name for name in (*DEFAULT_METRICS, "d_calibration") if METRICS[name].any_censoring or not bounded]
    begun, done = time.monotonic(), 0
    with open_engine(cluster), progress_line(show=not quiet) as show:

        def report_progress(rows: int) -> None:
            nonlocal done
            done += rows
            left = (time.monotonic() - begun) / max(done, 1) * (len(table) - done)
            show(f"scored {done:,} of {len(table):,} rows, about {format_clock(left)} left")

        scores = evaluate_parts(
            model,
            table,
            train=train,
            metrics=names,
            point=settings.error_point(model),
            ranking_point=settings.ranking_point(model),
            on_rows=report_progress,
        )
    return PartedScores(model_path, model, table, scores)
