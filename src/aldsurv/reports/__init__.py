"""Pages for readers: one self-contained HTML file each; that of a benchmark has tables and figures beside it."""

from aldsurv.errors import MissingDependencyError

try:
    import aldsurv.plots as _plots  # noqa: F401
except MissingDependencyError:
    raise MissingDependencyError(
        'reports need matplotlib, which is not installed. Install it with: pip install "aldsurv[reports]"'
    ) from None

from aldsurv.reports.benchmark.benchmark_page import write_benchmark_report
from aldsurv.reports.model.model_page import write_model_report

__all__ = ["write_benchmark_report", "write_model_report"]
