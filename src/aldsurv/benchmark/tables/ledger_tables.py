"""Tables of the published evaluation: what each deviation does, and how close each model is to the paper."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from aldsurv.benchmark.display_names import metric_title, model_title
from aldsurv.benchmark.paper.ledger import LedgerRow, switch_effects
from aldsurv.benchmark.paper.published_evaluation import DEVIATIONS, SWITCHES, Deviation
from aldsurv.benchmark.results import PAPER_METRICS, Results
from aldsurv.benchmark.tables.benchmark_table import BenchmarkTable, NumberCell, TableCell
from aldsurv.benchmark.view import sorted_models

__all__ = ["agreement_table", "deviations_table", "switches_table"]


def deviations_table(results: Results) -> BenchmarkTable:
    """Each deviation of the published evaluation: how many published numbers agree with it alone, and without it."""
    effects = switch_effects(results)
    none, every = (sum(effects[on].values()) for on in ((), SWITCHES))
    rows: list[tuple[TableCell, ...]] = []
    for deviation in DEVIATIONS:
        alone = sum(effects[deviation.name,].values())
        without = sum(effects[tuple(name for name in SWITCHES if name != deviation.name)].values())
        rows.append(
            (
                deviation.name,
                deviation.meaning,
                _columns_text(deviation),
                NumberCell(alone - none, digits=0),
                NumberCell(every - without, digits=0),
            )
        )
    note = (
        f"Numbers that agree: within two published standard deviations. By the definition {none} do, with all switches "
        f"on {every}. Alone: how many more agree with this switch than with none; last: with all than with all except "
        "this one."
    )
    columns = ("Switch", "In place of the definition", "Columns", "Alone", "Last")
    return BenchmarkTable("deviations", "Deviations of the published evaluation", columns, tuple(rows), note)


def _columns_text(deviation: Deviation) -> str:
    """The columns of the paper's table that a deviation changes, in a few words."""
    changed = {metric for metrics in deviation.affected.values() for metric in metrics}
    if changed == set(PAPER_METRICS):
        return "all"
    titles = [metric_title(metric) for metric in PAPER_METRICS if metric in changed and not metric.startswith("cal_")]
    return ", ".join([*titles, *(["Cal[S], Cal[f]"] if "cal_s_slope" in changed else [])])


def switches_table(results: Results) -> BenchmarkTable:
    """How many published numbers agree by metric, for every combination of the switches."""
    rows = tuple(
        (
            *("on" if name in on else "off" for name in SWITCHES),
            *(NumberCell(counts[metric], digits=0) for metric in PAPER_METRICS),
            NumberCell(sum(counts.values()), digits=0),
        )
        for on, counts in switch_effects(results).items()
    )
    columns = (*(one.mark for one in DEVIATIONS), *(metric_title(metric) for metric in PAPER_METRICS), "All")
    letters = "; ".join(f"{one.mark}: {one.title}" for one in DEVIATIONS)
    note = f"Numbers of each column that agree. Filter by on and off to see what a switch does. {letters}."
    return BenchmarkTable("switches", "Every combination of the switches", columns, rows, note)


def agreement_table(rows: Sequence[LedgerRow], models: Collection[str] = ()) -> BenchmarkTable:
    """By model and metric: mean distance from the published numbers, and how many agree, both ways.

    Parameters
    ----------
    rows
        Of the ledger.
    models
        Models to show; empty for all.
    """
    shown: list[tuple[TableCell, ...]] = []
    for model in sorted_models(row.model for row in rows if not models or row.model in models):
        for metric in PAPER_METRICS:
            own = [row for row in rows if row.model == model and row.metric == metric]
            if not own:
                continue
            gaps = np.array(
                [[abs(one.mean - row.published.mean) for one in (row.definition, row.published_way)] for row in own]
            )
            shown.append(
                (
                    model_title(model),
                    metric_title(metric),
                    *(NumberCell(float(gap)) for gap in np.median(gaps, axis=0)),
                    *(NumberCell(float(gap)) for gap in gaps.mean(axis=0)),
                    NumberCell(sum(row.status == "definition" for row in own), digits=0),
                    NumberCell(sum(row.agrees for row in own), digits=0),
                    NumberCell(len(own), digits=0),
                )
            )
    ways = ("definition", "published way")
    columns = [f"{which}, {way}" for which in ("Median distance", "Mean distance", "Agree") for way in ways]
    title = "Distance of our means from the published ones"
    return BenchmarkTable("agreement", title, ("Model", "Metric", *columns, "Of"), tuple(shown), groups=1)
