"""A linear model as one SELECT: the linear predictor in the inner query, what follows from it in the outer one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import Level
from aldsurv.errors import ParameterError
from aldsurv.export.sql.text import column_term, identifier, is_level, number
from aldsurv.export.times_and_levels import DEFAULT_LEVELS, checked_levels, checked_times, follow_up_quarters
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.linear.aft import LogNormalAFT, WeibullAFT
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.elastic_net.elastic_net_aft import ElasticNetAFT
from aldsurv.models.linear.proportional_hazards_survival import ProportionalHazardsSurvival
from aldsurv.nonparametric.breslow import StratifiedBaseline
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import printable

__all__ = ["SqlExport", "build_sql"]

FloatArray = NDArray[np.float64]
# Each term of a sum is on a line.
_NEXT_TERM = "\n      + "
# Names of the inner query, which a table is unlikely to have.
_LINEAR, _CURE = '"aldsurv_linear"', '"aldsurv_cure"'
_LACKING = {"times": "survival", "quantiles": "quantiles"}


@final
@dataclass(frozen=True)
class SqlExport:
    """A statement, and the names of the columns that it adds."""

    text: str
    columns: tuple[str, ...]


@final
@dataclass(frozen=True)
class _Query:
    """Expressions of the inner query by their names, and those of the outer one by theirs.

    `lacks` is the argument, ``"times"`` or ``"quantiles"``, that the statement has no columns for, and `reason` why.
    """

    inner: dict[str, str]
    outer: dict[str, str]
    lacks: str = ""
    reason: str = ""


def build_sql(
    model: SurvivalEstimator,
    *,
    times: Sequence[float] | None = None,
    quantiles: Sequence[float] | None = None,
    table: str = "people",
) -> SqlExport:
    """A fitted linear model as one SELECT over the columns of a table.

    Parameters
    ----------
    model
        A Cox or accelerated failure time model, with or without an elastic net; any other is refused.
    times
        Times of the survival, each of which gets a column such as ``survival_12``; None: quarters of the follow-up of
        training. Refused for models whose survival SQL cannot compute.
    quantiles
        Levels of quantiles of the time, such as ``quantile_0.1``; ``median`` comes with them. None: 0.1, 0.25, 0.75 and
        0.9 of models that have them in closed form. Refused for others.
    table
        Name of the table with the columns of training. A gap is NULL.
    """
    grid = checked_times(follow_up_quarters(model) if times is None else times)
    levels = checked_levels(DEFAULT_LEVELS if quantiles is None else quantiles)
    query = _query(model, grid.tolist(), levels.tolist())
    for argument, given in (("times", times), ("quantiles", quantiles)):
        if query.lacks == argument and given is not None:
            raise ParameterError(
                f"{argument} cannot be had from SQL for this {type(model).__name__}: {query.reason}",
                argument=argument,
                advice="Leave them out, or write the model as ONNX.",
            )
    inner = ",\n".join(f"    {text} AS {name}" for name, text in query.inner.items())
    outer = ",\n".join(f"  {text} AS {identifier(name)}" for name, text in query.outer.items())
    heading = f"-- {type(model).__name__} of aldsurv: one row for each row of {printable(table)}; a gap is NULL."
    notes = f"\n-- Without {_LACKING[query.lacks]}: {query.reason}." if query.lacks else ""
    text = (
        f"{heading}{notes}\nSELECT\n  {identifier('p')}.*,\n{outer}\nFROM (\n  SELECT\n    t.*,\n{inner}\n"
        f"  FROM {identifier(table)} AS t\n) AS {identifier('p')};\n"
    )
    return SqlExport(text, tuple(query.outer))


@singledispatch
def _query(model: SurvivalEstimator, times: list[float], levels: list[float]) -> _Query:
    raise ParameterError(
        f"this {type(model).__name__} cannot be written as SQL: only Cox and accelerated failure time models can, "
        "which are sums of columns.",
        argument="model",
        advice="Write it as ONNX.",
    )


def _linear(design: Design, slopes: FloatArray, start: float) -> str:
    """The sum of columns times slopes (d,), and of a number."""
    placed = np.zeros(design.features.width)
    placed[design.used] = slopes
    terms, place = [number(start)], 0
    for plan in design.features.columns:
        terms += column_term(plan, placed[place : place + plan.width].tolist())
        place += plan.width
    return _NEXT_TERM.join(terms)


def _time_name(time: float) -> str:
    return f"survival_{plain_number(time, 12)}"


# ---- proportional hazards


@_query.register
def _(model: ProportionalHazardsSurvival, times: list[float], levels: list[float]) -> _Query:
    design, baseline, slopes = model.design_, model.baseline_, model.standardised_
    risk = f"EXP({_linear(design, slopes, -float(model.average_ @ slopes))})"
    outer = {}
    for time in times:
        if isinstance(baseline, StratifiedBaseline):
            strata = [design.strata[int(code)] for code in baseline.levels]
            heights = [float(np.exp(part.log_cumulative_at([time])[0])) for part in baseline.baselines]
            cases = [
                f"WHEN {_is_stratum(design, stratum)} THEN {number(height)}"
                for stratum, height in zip(strata, heights, strict=True)
            ]
            hazard = f"CASE {' '.join(cases)} END"
        else:
            hazard = number(float(np.exp(baseline.log_cumulative_at([time])[0])))
        outer[_time_name(time)] = f"EXP(-{hazard} * {_LINEAR})"
    return _Query({_LINEAR: risk}, outer, "quantiles", "those of a curve of steps need its whole baseline")


def _is_stratum(design: Design, stratum: Sequence[Level | None]) -> str:
    names = [column if isinstance(column, str) else design.features.columns[column].name for column in design.columns]
    return " AND ".join(is_level(name, level) for name, level in zip(names, stratum, strict=True))


# ---- accelerated failure times


def _weibull(linear: str, sigma: float, times: list[float], levels: list[float], cure: str | None) -> _Query:
    outer = {}
    for time in times:
        inside = f"EXP(-EXP((LN({number(time)}) - {_LINEAR}) / {number(sigma)}))" if time > 0 else "1e0"
        outer[_time_name(time)] = inside if cure is None else f"{_CURE} + (1e0 - {_CURE}) * {inside}"
    if cure is not None:
        return _Query({_LINEAR: linear, _CURE: cure}, outer, "quantiles", "with a cure some rows have none")
    for name, level in _quantile_names(levels):
        outer[name] = f"EXP({_LINEAR} + {number(sigma * float(np.log(-np.log1p(-level))))})"
    return _Query({_LINEAR: linear}, outer)


def _log_normal(linear: str, sigma: float, levels: list[float]) -> _Query:
    from scipy.special import ndtri

    outer = {name: f"EXP({_LINEAR} + {number(sigma * float(ndtri(level)))})" for name, level in _quantile_names(levels)}
    return _Query({_LINEAR: linear}, outer, "times", "survival needs the normal distribution, which SQL does not have")


def _quantile_names(levels: list[float]) -> list[tuple[str, float]]:
    return [*((f"quantile_{plain_number(level, 12)}", level) for level in levels), ("median", 0.5)]


@_query.register
def _(model: WeibullAFT, times: list[float], levels: list[float]) -> _Query:
    count, estimates = len(model.design_.names), model.standardised_
    linear = _linear(model.design_, estimates[1 : count + 1], float(estimates[0]))
    cure = None
    if model.cure:
        logit = _linear(model.design_, estimates[count + 3 :], float(estimates[count + 2]))
        cure = f"1e0 / (1e0 + EXP(-({logit})))"
    return _weibull(linear, float(np.exp(estimates[count + 1])), times, levels, cure)


@_query.register
def _(model: LogNormalAFT, times: list[float], levels: list[float]) -> _Query:
    count, estimates = len(model.design_.names), model.standardised_
    if model.cure:
        raise ParameterError(
            "this LogNormalAFT cannot be written as SQL: with a cure neither its survival nor its quantiles are made "
            "of functions that SQL has.",
            argument="model",
            advice="Write it as ONNX.",
        )
    linear = _linear(model.design_, estimates[1 : count + 1], float(estimates[0]))
    return _log_normal(linear, float(np.exp(estimates[count + 1])), levels)


@_query.register
def _(model: ElasticNetAFT, times: list[float], levels: list[float]) -> _Query:
    linear, sigma = (
        _linear(model.design_, model.standardised_[1:-1], float(model.standardised_[0])),
        float(np.exp(model.standardised_[-1])),
    )
    if model.family == "weibull":
        return _weibull(linear, sigma, times, levels, None)
    return _log_normal(linear, sigma, levels)
