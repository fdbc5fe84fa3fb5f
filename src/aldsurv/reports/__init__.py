"""Pages for readers: one self-contained HTML file each, with its tables and figures beside it."""

from aldsurv.reports.benchmark_page import write_benchmark_report

__all__ = ["write_benchmark_report"]
