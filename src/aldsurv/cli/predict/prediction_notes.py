"""What is said beside the predictions: what to beware of, and what was done."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.outputs import is_standard_output
from aldsurv.quoting import printable, shortened

if TYPE_CHECKING:
    from aldsurv.cli.predict.prediction_columns import Asked
    from aldsurv.cli.predict.prediction_stream import Prediction, Surprises
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["few", "horizon_notes", "surprise_notes", "tell_what_was_done"]

_SHOWN = 8
_LONGEST_NAME = 60


def horizon_notes(asked: Asked, last: float, model: SurvivalEstimator) -> list[str]:
    """A word on times beyond the last that was seen in training."""
    from aldsurv.cli.predict.prediction_columns import told_number
    from aldsurv.cli.shared.outcome import innermost

    late = [told_number(at) for at in dict.fromkeys((*asked.times, *asked.horizons)) if at > last]
    if not late:
        return []
    unit = vars(innermost(model)).get("unit")
    end = f"{last:g}{f' {unit}' if unit else ''}"
    return [f"nobody was followed beyond {end} in training: what is said of {few(late)} is extrapolated."]


def surprise_notes(found: Surprises, prediction: Prediction) -> list[str]:
    """A line each on rows outside of what training had shown, and on new gaps."""
    notes = []
    if found.outside:
        share = 100 * found.outside / found.rows
        notes.append(
            f"{found.outside} of {found.rows} rows ({share:.2g} %) lie outside of what training had shown: "
            f"{_counted(found.outside_by_column)}."
        )
    if found.gaps_by_column:
        rules = prediction.inputs.without_gaps()
        told = [f"{name} in {count} rows ({rules[name]})" for name, count in found.gaps_by_column.most_common(_SHOWN)]
        notes.append(f"gaps where training had none: {'; '.join(told)}.")
    return notes


def tell_what_was_done(
    out: Path,
    form: str,
    prediction: Prediction,
    found: Surprises,
    notes: list[str],
    seconds: float,
    *,
    as_json: bool,
) -> None:
    """The last word, for people or for programs."""
    aside = is_standard_output(out)
    if not as_json:
        names = ", ".join(printable(name) for name in prediction.names)
        click.echo(f"{printable(out)}: {found.rows} row{'s' * (found.rows != 1)}, columns {names}", err=aside)
        return
    facts = {
        "out": str(out),
        "format": form,
        "rows": found.rows,
        "columns": prediction.names,
        "outside": found.outside,
        "outside_by_column": dict(found.outside_by_column),
        "gaps_by_column": dict(found.gaps_by_column),
        "notes": notes,
        "seconds": round(seconds, 3),
    }
    click.echo(json.dumps(facts, indent=2), err=aside)


def few(names: list[str]) -> str:
    """The first names, and how many more there are."""
    return ", ".join(shortened(printable(name), _LONGEST_NAME) for name in names[:_SHOWN]) + (
        f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    )


def _counted(counts: Counter[str]) -> str:
    return few([f"{name} {count}" for name, count in counts.most_common()])
