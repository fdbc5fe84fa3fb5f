"""Results that nothing computed: drawn around numbers of about the right size, for pages to show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from aldsurv.benchmark.paper.published_values import all_switches, comparable
from aldsurv.benchmark.plan import Cell, Plan
from aldsurv.benchmark.results import PAPER_METRICS, POINT_METRICS, Curve, Result
from aldsurv.benchmark.store import CellOutcome, Store

POINTS = ("mean", "median", "mode")
# Mean and spread of each metric.
SIZES = {
    "mae": (1.0, 0.2),
    "ibs": (0.2, 0.02),
    "harrell_c": (0.65, 0.02),
    "uno_c": (0.64, 0.02),
    "cens_dcal": (0.5, 0.2),
    "cal_s_slope": (1.0, 0.05),
    "cal_s_intercept": (0.0, 0.02),
    "cal_f_slope": (1.0, 0.08),
    "cal_f_intercept": (0.0, 0.03),
    "log_likelihood": (-1.2, 0.1),
    "f0_p50": (0.01, 0.002),
    "f0_p75": (0.05, 0.01),
    "f0_p95": (0.2, 0.03),
    "epochs": (40.0, 10.0),
}
VERSIONS = {"aldsurv": "0.0", "numpy": "2.1.0", "torch": "2.5.0"}


def made_up_outcome(cell: Cell, rng: np.random.Generator) -> CellOutcome:
    results, curves = [], []
    for seed in cell.seeds:
        for metric, (mean, spread) in SIZES.items():
            for point in POINTS if metric in POINT_METRICS else ("",):
                value = float(rng.normal(mean, spread))
                results.append(Result(cell.series, seed, point, metric, abs(value) if mean > 0 else value))
        results += [
            Result(cell.series, seed, "", f"{metric}@{'+'.join(on)}", float(rng.normal(*SIZES[metric])))
            for metric in PAPER_METRICS
            for on in (all_switches(cell.series.model, metric) if comparable(cell.series) else ())
            if on and "exchanged_columns" not in on
        ]
        for kind, levels in (("survival", np.arange(1, 11) / 10), ("density", np.arange(1, 10) / 10)):
            observed = np.clip(levels + rng.normal(0, 0.03, levels.size), 0, 1)
            curves.append(Curve(cell.series, seed, kind, tuple(levels.tolist()), tuple(observed.tolist())))
    seconds = rng.uniform(0.5, 20, 2)
    return CellOutcome(cell, tuple(results), tuple(curves), None, float(seconds[0]), float(seconds[1]))


def made_up_store(
    folder: Path, plan: Plan, *, missing: Collection[str] = (), failed: Mapping[str, str] | None = None, seed: int = 0
) -> Store:
    """A benchmark that ended without the cells `missing` and with errors in those `failed`."""
    store, rng, errors = Store(folder), np.random.default_rng(seed), dict(failed or {})
    store.begin(plan, VERSIONS)
    for cell in plan.cells():
        if cell.name in errors:
            store.add(CellOutcome(cell, error=errors[cell.name]))
        elif cell.name not in missing:
            store.add(made_up_outcome(cell, rng))
    return store


assert set(PAPER_METRICS) <= set(SIZES)
