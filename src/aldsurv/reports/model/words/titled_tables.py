"""Tables of covariates with the labels of their columns and levels, as they are printed."""

from __future__ import annotations

from dataclasses import replace

from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.errors import ParameterError
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.quoting import quoted

__all__ = ["printed_table", "titled_table"]


def titled_table(table: CovariateTable, labels: ColumnLabels) -> CovariateTable:
    """The table, whose columns are called by their labels in print."""
    names = table.key_names
    titles = tuple(labels.column(name) for name in names)
    if len(set(titles)) < len(set(names)):
        same = next(title for title in titles if titles.count(title) > 1)
        raise ParameterError(f"labels gives two columns the title {quoted(same)}. Give each its own.")
    return replace(table, titles=titles)


def printed_table(table: CovariateTable, labels: ColumnLabels) -> CovariateTable:
    """The table with the values as they are printed, too; not for a model."""
    pairs = zip(table.key_names, table.columns, strict=True)
    columns = tuple(labels.values(name, column) for name, column in pairs)
    return replace(titled_table(table, labels), columns=columns, whole=None)
