"""What is printed beside the predictions: notes, and a summary of what was done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.input_files import time_unit
from aldsurv.cli.shared.number_text import format_count, json_text
from aldsurv.cli.shared.outputs import is_standard_output
from aldsurv.plain_numbers import percent, plain_number
from aldsurv.quoting import printable, shortened

if TYPE_CHECKING:
    from aldsurv.cli.predict.prediction_stream import Prediction, Surprises
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.models.prediction.prediction_request import PredictionRequest

__all__ = ["cause_notes", "first_names", "horizon_notes", "show_summary", "surprise_notes"]

_SHOWN = 8
_LONGEST_NAME = 60


def horizon_notes(request: PredictionRequest, model: SurvivalEstimator) -> list[str]:
    """A note on times beyond the last one of training."""
    from aldsurv.models.prediction.prediction_request import number_in_name

    last = float(model.unique_times_[-1])
    late = [number_in_name(at) for at in dict.fromkeys((*request.times, *request.horizons)) if at > last]
    if not late:
        return []
    unit = time_unit(model)
    end = f"{plain_number(last)}{f' {unit}' if unit else ''}"
    return [f"no training row was followed beyond {end}: predictions at {first_names(late)} are extrapolated."]


def cause_notes(request: PredictionRequest, model: SurvivalEstimator) -> list[str]:
    """A note on columns that are about the first event of any cause."""
    times_of_event = request.summaries or request.quantiles or request.interval is not None
    if model.causes_ is None or not times_of_event:
        return []
    more = "" if request.times else " The probability of each cause is predicted at --times."
    return [f"predicted times are those of the first event of any cause ({first_names(list(model.causes_))}).{more}"]


def surprise_notes(surprises: Surprises, prediction: Prediction) -> list[str]:
    """A note each on rows outside of what training had shown, and on new gaps."""
    notes = []
    if surprises.outside:
        share = percent(surprises.outside / surprises.rows)
        counts = first_names([f"{name} {count}" for name, count in surprises.outside_by_column.most_common()])
        notes.append(
            f"{surprises.outside} of {surprises.rows} rows ({share}) lie outside of what training had shown: {counts}."
        )
    if surprises.gaps_by_column:
        rules = prediction.inputs.gap_rules()
        columns = surprises.gaps_by_column.most_common(_SHOWN)
        gaps = "; ".join(f"{name} in {count} rows ({rules[name]})" for name, count in columns)
        notes.append(f"gaps where training had none: {gaps}.")
    return notes


def show_summary(
    out: Path,
    file_format: str,
    prediction: Prediction,
    surprises: Surprises,
    notes: list[str],
    seconds: float,
    *,
    as_json: bool,
) -> None:
    """Print what was written, as a line or as JSON."""
    to_stderr = is_standard_output(out)
    if not as_json:
        names = ", ".join(printable(name) for name in prediction.names)
        click.echo(f"{printable(out)}: {format_count(surprises.rows, 'row')}, columns {names}", err=to_stderr)
        return
    facts = {
        "out": str(out),
        "format": file_format,
        "rows": surprises.rows,
        "columns": prediction.names,
        "outside": surprises.outside,
        "outside_by_column": dict(surprises.outside_by_column),
        "gaps_by_column": dict(surprises.gaps_by_column),
        "notes": notes,
        "seconds": round(seconds, 3),
    }
    click.echo(json_text(facts), err=to_stderr)


def first_names(names: list[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(shortened(printable(name), _LONGEST_NAME) for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
