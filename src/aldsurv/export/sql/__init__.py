"""Linear models as one SELECT, which a database runs where the rows are."""

from aldsurv.export.sql.statement import SqlExport, build_sql

__all__ = ["SqlExport", "build_sql"]
