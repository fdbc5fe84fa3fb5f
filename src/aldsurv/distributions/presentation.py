"""Distributions as people look at them: frames of pandas, and a small table with curves in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, check
from aldsurv.display.frames import data_frame
from aldsurv.display.html import html_block, html_curves, html_note, html_table
from aldsurv.distributions.numerics.backend import Array, without_gradient
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from aldsurv.distributions.base import SurvivalDistribution
    from aldsurv.distributions.competing.base import CompetingDistribution

__all__ = ["distribution_frame", "distribution_html", "incidence_frame", "incidence_html"]

FloatArray = NDArray[np.float64]

# Quantiles that say where most events are.
_LEVELS = {"q10": 0.1, "q25": 0.25, "median": 0.5, "q75": 0.75, "q90": 0.9}
_CURVES = ("survival", "cdf", "cumulative_hazard", "hazard", "density")
_INCIDENCES = ("incidence", "density", "cause_specific_hazard")
# Rows and times that a notebook shows.
_ROWS, _TIMES = 5, 60


def distribution_frame(predicted: SurvivalDistribution, times: object, kind: str, index: Any) -> pd.DataFrame:
    """See `SurvivalDistribution.to_frame`."""
    check("kind", kind, Choice(_CURVES))
    if times is None:
        if kind != "survival":
            raise ParameterError(f"times must be given for kind {kind!r}, but is None", argument="times")
        quantiles = _numbers(predicted.quantile(list(_LEVELS.values())))
        return data_frame(dict(zip(_LEVELS, quantiles.T, strict=True)), index=index, length=len(predicted))
    grid = _grid(times)
    values = _numbers(getattr(predicted, kind)(grid))
    columns = dict(zip(grid.tolist(), values.T, strict=True))
    return data_frame(columns, index=index, length=len(predicted), labels="time")


def incidence_frame(predicted: CompetingDistribution, times: object, kind: str, index: Any) -> pd.DataFrame:
    """See `CompetingDistribution.to_frame`."""
    check("kind", kind, Choice(_INCIDENCES))
    if times is None:
        if kind != "incidence":
            raise ParameterError(f"times must be given for kind {kind!r}, but is None", argument="times")
        summaries: dict[tuple[str, str], FloatArray] = {}
        for number, cause in enumerate(predicted.causes, start=1):
            summaries[cause, "probability"] = predicted.cause_probability(number)
            summaries[cause, "median"] = predicted.median(number)
        return data_frame(summaries, index=index, length=len(predicted), labels=("cause", "value"))
    grid = _grid(times)
    values = _numbers(getattr(predicted, kind)(grid))
    columns = {
        (cause, time): values[k, :, j]
        for k, cause in enumerate(predicted.causes)
        for j, time in enumerate(grid.tolist())
    }
    return data_frame(columns, index=index, length=len(predicted), labels=("cause", "time"))


def distribution_html(predicted: SurvivalDistribution) -> str:
    """The quantiles and curves of the first rows."""
    first = predicted[:_ROWS]
    if not len(first):
        return html_block(_title(predicted))
    quantiles = _numbers(first.quantile(list(_LEVELS.values())))
    times = np.linspace(0.0, _last(quantiles), _TIMES)
    return html_block(
        _title(predicted),
        html_table(["row", *_LEVELS], [[f"{row}", *line] for row, line in enumerate(quantiles.tolist())]),
        html_curves(times, _numbers(first.survival(times)), label="survival over time", names=_row_names(first)),
        _more(predicted),
    )


def incidence_html(predicted: CompetingDistribution) -> str:
    """How probable the causes are for the first rows, and their incidence for the first."""
    title = f"{_title(predicted)}, {len(predicted.causes)} causes"
    first = predicted[:_ROWS]
    if not len(first):
        return html_block(title)
    header = ["row"]
    columns = []
    for number, cause in enumerate(predicted.causes, start=1):
        header += [f"probability of {cause}", f"median of {cause}"]
        columns += [first.cause_probability(number), first.median(number)]
    table = np.stack(columns, axis=1)
    times = np.linspace(0.0, _last(_numbers(first.overall().quantile([0.5, 0.9]))), _TIMES)
    incidences = _numbers(first[:1].incidence(times))[:, 0]
    return html_block(
        title,
        html_table(header, [[f"{row}", *line] for row, line in enumerate(table.tolist())]),
        html_curves(times, incidences, label="incidence of each cause, row 0", names=predicted.causes),
        _more(predicted),
    )


def _grid(times: object) -> FloatArray:
    """Times as a vector of different ones, which become the names of columns."""
    try:
        grid = np.atleast_1d(np.asarray(times, np.float64))
    except (TypeError, ValueError):
        grid = np.full((1, 1), np.nan)
    if grid.ndim != 1 or grid.size == 0 or np.isnan(grid).any() or np.unique(grid).size < grid.size:
        raise ParameterError(
            f"times must be a number or a list of different numbers, but is {times!r:.60}", argument="times"
        )
    return grid


def _numbers(values: Array) -> FloatArray:
    return np.asarray(without_gradient(values), np.float64)


def _row_names(rows: SurvivalDistribution) -> list[str]:
    return [f"row {row}" for row in range(len(rows))]


def _last(quantiles: FloatArray) -> float:
    """How far to draw: where most rows have had most of their events, or the median of those who have one."""
    finite = quantiles[np.isfinite(quantiles) & (quantiles > 0)]
    return float(finite.max()) if finite.size else 1.0


def _title(predicted: SurvivalDistribution | CompetingDistribution) -> str:
    rows = len(predicted)
    return f"{type(predicted).__name__}, {rows} row{'s' * (rows != 1)}"


def _more(predicted: SurvivalDistribution | CompetingDistribution) -> str:
    shown = min(_ROWS, len(predicted))
    return html_note(f"first {shown} of {len(predicted)} rows") if shown < len(predicted) else ""
