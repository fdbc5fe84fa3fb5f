"""Pages for readers: one self-contained HTML file each; that of a benchmark has tables and figures beside it."""

from aldsurv.reports.benchmark_page import write_benchmark_report
from aldsurv.reports.model_page import write_model_report

__all__ = ["write_benchmark_report", "write_model_report"]
