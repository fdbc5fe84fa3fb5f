"""Covariates that are dates: neither numbers nor categories."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.data.dates.date_texts import looks_like_date
from aldsurv.errors import FitWarning
from aldsurv.tables.table import Table, TableColumn

__all__ = ["without_dates"]


def without_dates(table: Table) -> Table:
    """The table without covariates that are dates, and a warning that names them.

    A date that is a category has as many levels as there are days, and one that is a number lets a model learn from
    when the rows were collected; dates of the end of observation even give the outcome away.
    """
    dates = [name for name, values in table.x.items() if _holds_dates(values) and name not in table.categorical]
    if not dates:
        return table
    one = len(dates) == 1
    warnings.warn(
        f"column{'s' * (not one)} {listed(dates, 8)} hold{'s' * one} dates and {'is' if one else 'are'} left out. If "
        "a date is known when predictions are made and matters, give a number in its place, such as the age on that "
        "day or the year.",
        FitWarning,
        stacklevel=2,
    )
    columns = tuple(TableColumn(name, "left out" if name in dates else use) for name, use in table.columns)
    return replace(table, x={name: values for name, values in table.x.items() if name not in dates}, columns=columns)


def _holds_dates(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "M":
        return True
    if values.dtype != object:
        return False
    distinct = set(values.tolist()) - {None}
    return all(isinstance(value, str) for value in distinct) and looks_like_date(distinct)
