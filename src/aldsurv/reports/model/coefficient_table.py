"""The table of a linear model's coefficients in its report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv.models.linear.coefficients import Coefficient, CoefficientTable
from aldsurv.reports.page.number_format import number, p_value
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["DIGITS", "coefficient_table"]

# Significant digits of what predictions are computed from.
DIGITS = 7
_MOST_LINES = 200


def coefficient_table(table: CoefficientTable, titles: Sequence[str]) -> PageTable:
    """Coefficients in the unit of the columns and their ratios; standard errors, p and intervals if there are any.

    Parameters
    ----------
    table, titles
        The coefficients, and what each is called on the page.
    """
    certain = not np.isnan(table.standard_error).all()
    ratio = table.ratio_name
    columns = [
        PageColumn("name", "Column"),
        PageColumn("coefficient", "Coefficient", numeric=True, meaning="Of one unit of the column."),
        PageColumn("ratio", ratio.capitalize(), numeric=True, meaning="The exponential of the coefficient."),
    ]
    if certain:
        columns += [
            PageColumn("lower", "95 % from", numeric=True, meaning=f"Lower end of the interval of the {ratio}."),
            PageColumn("upper", "95 % to", numeric=True, meaning=f"Upper end of the interval of the {ratio}."),
            PageColumn("p", "p", numeric=True, meaning="Of Wald's test that the coefficient is 0."),
        ]
    shown = table.lines(range(min(len(table), _MOST_LINES)))
    more = f" The first {_MOST_LINES} of {len(table):,}." if len(table) > _MOST_LINES else ""
    robust = " Intervals and p are by robust standard errors." if table.model_error is not None else ""
    cells = tuple(_cells(line, title, certain) for line, title in zip(shown, titles, strict=False))
    about = "Effects of the columns with all others held fixed." + robust + more
    return PageTable("coefficients", "Coefficients", tuple(columns), cells, about)


def _cells(line: Coefficient, title: str, certain: bool) -> tuple[PageCell, ...]:
    if np.isnan(line.coefficient):
        return (PageCell(title), PageCell("dropped"), *(PageCell("–") for _ in range(4 if certain else 1)))
    cells = [PageCell(title), PageCell(number(line.coefficient, DIGITS), line.coefficient), _number(line.ratio)]
    if certain:
        p = PageCell(p_value(line.p).removeprefix("p ").removeprefix("= "), line.p)
        cells += [_number(line.lower), _number(line.upper), p]
    return tuple(cells)


def _number(value: float) -> PageCell:
    return PageCell(number(value, 4), value)
