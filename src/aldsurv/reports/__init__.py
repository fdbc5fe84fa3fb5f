"""HTML reports of a model, of a model in use and of a benchmark, each one self-contained file.

`page` is how a page is made, `model`, `monitoring` and `benchmark` are what the reports say.
"""

from aldsurv.errors import MissingDependencyError

try:
    import aldsurv.plots as _plots  # noqa: F401
except MissingDependencyError:
    raise MissingDependencyError(
        "reports need matplotlib, which is not installed", advice='Install it with: pip install "aldsurv[reports]"'
    ) from None

from aldsurv.columns.column_labels import ColumnLabel, ColumnLabels, read_labels
from aldsurv.reports.benchmark.benchmark_page import write_benchmark_report
from aldsurv.reports.model.model_page import write_model_report
from aldsurv.reports.monitoring.monitoring_page import write_monitoring_report

__all__ = [
    "ColumnLabel",
    "ColumnLabels",
    "read_labels",
    "write_benchmark_report",
    "write_model_report",
    "write_monitoring_report",
]
