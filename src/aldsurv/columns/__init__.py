"""Columns of covariates turned into numbers, and what was learned of them."""

from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number
from aldsurv.columns.covariates import take_rows
from aldsurv.columns.features import ColumnUse, Features
from aldsurv.columns.row_copies import count_extra, find_copies, find_groups

__all__ = [
    "ColumnPlan",
    "ColumnUse",
    "Features",
    "LeftOut",
    "Levels",
    "Number",
    "count_extra",
    "find_copies",
    "find_groups",
    "take_rows",
]
