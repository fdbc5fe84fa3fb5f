"""Models against datasets: a plan, its results, statistics and tables."""

from aldsurv.benchmark.plan import Cell, Plan
from aldsurv.benchmark.results import Curve, Result, Results, Series
from aldsurv.benchmark.running import run
from aldsurv.benchmark.store import Store

__all__ = ["Cell", "Curve", "Plan", "Result", "Results", "Series", "Store", "run"]
