"""The paper's printed numbers, and what follows from them without running anything."""

from aldsurv.benchmark.paper.calibration_bounds import calibration_bounds
from aldsurv.benchmark.paper.published import (
    Published,
    published_at_zero,
    published_by_summary,
    published_counts,
    published_results,
    recomputed_verdicts,
)

__all__ = [
    "Published",
    "calibration_bounds",
    "published_at_zero",
    "published_by_summary",
    "published_counts",
    "published_results",
    "recomputed_verdicts",
]
