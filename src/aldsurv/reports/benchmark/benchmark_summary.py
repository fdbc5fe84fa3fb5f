"""The summary of a benchmark: its plan, missing and failed series, wins and main results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from aldsurv.benchmark.display_names import metric_title, model_title
from aldsurv.benchmark.plan import Plan
from aldsurv.benchmark.ranking import rank_models
from aldsurv.benchmark.results import PAPER_METRICS, Results
from aldsurv.benchmark.statistics import as_loss, run_summary
from aldsurv.benchmark.verdicts import count_verdicts, verdicts
from aldsurv.benchmark.view import View, sorted_models
from aldsurv.reports.page.page import Block, Facts, Text, Tile, Tiles
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["failure_blocks", "finding_tiles", "plan_facts", "wins", "wins_table"]


def plan_facts(plan: Plan, versions: Mapping[str, str], *, done: int) -> Facts:
    """The plan, and the versions that ran it."""
    return Facts(
        (
            ("Plan", plan.hash[:12]),
            ("Models", ", ".join(plan.models)),
            ("Recipes", ", ".join(plan.recipes)),
            ("Definitions of synthetic data", ", ".join(plan.definitions)),
            ("Runs of each model on each dataset", f"{plan.seeds} (seeds 0 to {plan.seeds - 1})"),
            ("Also split by patient", "yes" if plan.grouped else "no"),
            ("Series with results", f"{done} of {len(plan.cells())}"),
            ("Versions", ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))),
            ("Datasets", f"{len(plan.datasets)}: {', '.join(plan.datasets)}"),
        )
    )


def wins(results: Results, metric: str, view: View) -> dict[str, int]:
    """On how many datasets each model has the lowest mean loss; datasets with one model are not counted."""
    losses: dict[str, dict[str, float]] = {}
    for (dataset, model), series in view.series(results).items():
        mean = run_summary(as_loss(metric, results.by_seed(series, metric))).mean
        if np.isfinite(mean):
            losses.setdefault(dataset, {})[model] = mean
    counts = dict.fromkeys(sorted_models(model for by_model in losses.values() for model in by_model), 0)
    for by_model in losses.values():
        if len(by_model) > 1:
            counts[min(by_model, key=by_model.__getitem__)] += 1
    return counts


def wins_table(results: Results, view: View) -> PageTable:
    """Wins of every model by every metric."""
    models = sorted_models(model for _, model in view.series(results))
    rows = []
    for metric in PAPER_METRICS:
        counts = wins(results, metric, view)
        most = max(counts.values(), default=0)
        cells = [counts.get(model, 0) for model in models]
        rows.append(
            (
                PageCell(metric_title(metric), name=metric),
                *(PageCell(str(n), n, "best" if n == most > 0 else "") for n in cells),
            )
        )
    columns = (PageColumn("metric", "Metric"), *(PageColumn(model, model_title(model), True) for model in models))
    about = "Number of datasets on which a model has the lowest mean loss; the largest per metric is bold."
    return PageTable("wins", "Wins by metric", columns, tuple(rows), about=about)


def finding_tiles(results: Results, view: View) -> Tiles:
    """The main results: comparisons with ALD, and the first model by each metric."""
    tiles = _verdict_tiles(results, view)
    for metric in PAPER_METRICS:
        ranking = rank_models(results, metric, view=view)
        if not ranking.models or np.isnan(ranking.mean_ranks[0]) or len(ranking.models) < 2:
            continue
        first = ranking.models[0]
        counts = wins(results, metric, view)
        detail = (
            f"mean rank {ranking.mean_ranks[0]:.2f} of {len(ranking.models)}, "
            f"lowest loss on {counts[first]} of {sum(counts.values())} datasets"
        )
        tiles.append(Tile(metric_title(metric), model_title(first), detail))
    return Tiles(tuple(tiles))


def _verdict_tiles(results: Results, view: View) -> list[Tile]:
    counts = count_verdicts(verdicts(results, view=view)).values()
    better, worse, same = (sum(one[k] for one in counts) for k in range(3))
    if not better + worse + same:
        return []
    detail = "better / worse / same: t tests over the runs, false discovery rate 0.05"
    return [Tile("ALD against the others", f"{better} / {worse} / {same}", detail)]


def failure_blocks(failed: Mapping[str, str], missing: Sequence[str]) -> tuple[Block, ...]:
    """Series without results, and why; nothing if the benchmark is complete."""
    blocks: list[Block] = []
    if failed or missing:
        counts = f"{len(failed)} failed and {len(missing)} have not been run"
        blocks.append(Text(f"Not all series have results: {counts}. The report covers the others.", warning=True))
    names = ("dataset", "definition", "variant", "model", "recipe")
    columns = tuple(PageColumn(name, name.capitalize()) for name in names)
    if failed:
        rows = tuple(
            (*(PageCell(part) for part in cell.split("/")), PageCell(error, tone="wraps"))
            for cell, error in failed.items()
        )
        blocks.append(PageTable("failed", "Failed", (*columns, PageColumn("error", "Error")), rows))
    if missing:
        rows = tuple(tuple(PageCell(part) for part in cell.split("/")) for cell in missing)
        blocks.append(PageTable("missing", "Not run yet", columns, rows))
    return tuple(blocks)
