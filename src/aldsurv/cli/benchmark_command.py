"""``aldsurv benchmark``: run the comparison of the paper, and report its results."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.command_options import (
    CommandWithRecords,
    cluster_option,
    force_option,
    json_option,
    quiet_option,
    split_names,
)
from aldsurv.cli.shared.number_text import format_clock, json_text
from aldsurv.cli.shared.outputs import PAGE, checked_folder, checked_output
from aldsurv.cli.shared.progress import progress_line
from aldsurv.quoting import printable
from aldsurv.registry import METRICS, MODELS, PEERS

if TYPE_CHECKING:
    from aldsurv.benchmark.plan import Plan
    from aldsurv.benchmark.store import CellOutcome, Store
    from aldsurv.reports.benchmark.benchmark_page import Evaluation

__all__ = ["benchmark"]

_FOLDER = "benchmark-results"


@click.group(invoke_without_command=True)
@click.pass_context
def benchmark(ctx: click.Context) -> None:
    """Compare models as the paper does: datasets, models, seeds, nine metrics.

    \b
    Examples:
      aldsurv benchmark run --datasets gbsg,weibull --seeds 3 --out results
      aldsurv benchmark report results
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@benchmark.command(cls=CommandWithRecords, registries={"Models": MODELS, "Peers": PEERS})
@click.option("--datasets", default="all", show_default=True, help="Names, or all, real, synthetic.", metavar="NAMES")
@click.option("--models", default="paper", show_default=True, help="Names, or paper, all, peers.", metavar="NAMES")
@click.option("--seeds", default=10, show_default=True, help="Runs of each model on each dataset.", metavar="N")
@click.option("--recipe", default="paper", show_default=True, help="paper, best, or paper,best.", metavar="NAMES")
@click.option(
    "--definition",
    default="released",
    show_default=True,
    help="Definition of synthetic data: released, printed or both.",
    metavar="NAMES",
)
@click.option("--grouped/--no-grouped", default=True, show_default=True, help="WHAS and BreastMSK also by patient.")
@click.option("--jobs", default=0, help="Processes; 0: one per core.", metavar="N")
@cluster_option("--scheduler")
@click.option("--out", default=_FOLDER, show_default=True, help="Folder of the results.", metavar="DIR")
@json_option()
@quiet_option()
def run(
    datasets: str,
    models: str,
    seeds: int,
    recipe: str,
    definition: str,
    grouped: bool,
    jobs: int,
    cluster: str | None,
    out: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the comparison; if stopped, the same command continues.

    Results are in one SQLite file in the folder; a cell (all seeds of a
    model on a dataset) is in it as a whole or not at all. A cell that
    fails is recorded with its error and does not stop the others.

    \b
    Examples:
      aldsurv benchmark run
      aldsurv benchmark run --datasets real --models ald,cox,rsf --recipe best
      aldsurv benchmark run --seeds 3 --jobs 2 --out results
      aldsurv benchmark run --cluster tcp://10.0.0.5:8786
    """  # noqa: D301
    from aldsurv.benchmark import running
    from aldsurv.benchmark.plan import Plan

    plan = Plan(
        _chosen_datasets(datasets), _chosen_models(models), split_names(recipe), split_names(definition), seeds, grouped
    )
    jobs = jobs or os.cpu_count() or 1
    checked_folder(Path(out))
    start = time.monotonic()
    with progress_line(show=not (quiet or as_json)) as show:
        report_progress = _progress_report(plan, Path(out), show)
        store = running.run(plan, out, jobs=jobs, cluster=cluster, on_outcome=report_progress)
    failed = store.failed()
    _show_results(plan, store, failed, time.monotonic() - start, as_json=as_json, quiet=quiet)
    if failed:
        raise click.exceptions.Exit(1)


@benchmark.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--evaluation",
    type=click.Choice(["definition", "published"]),
    default="definition",
    show_default=True,
    help="Metrics by their definitions, or as the code released with the paper computes them.",
)
@click.option("--without", default="", help="Deviations of the published evaluation to leave out.", metavar="NAMES")
@click.option("--out", default=None, help="Folder to write to  [default: DIR/report]", metavar="DIR")
@force_option()
@json_option()
def report(folder: str, evaluation: Evaluation, without: str, out: str | None, force: bool, as_json: bool) -> None:
    """Write tables (CSV, Markdown, LaTeX), figures and one HTML page.

    The published evaluation deviates from the definitions in seven ways,
    which --without leaves out: failure_for_survival, events_as_censoring,
    nearest_level, training_median, model_grids, mixed_rows and
    exchanged_columns. The page explains them; its ledger has both ways.

    \b
    Examples:
      aldsurv benchmark report results
      aldsurv benchmark report results --evaluation published
      aldsurv benchmark report results --evaluation published --without training_median
    """  # noqa: D301
    from aldsurv.benchmark.paper.published_values import checked_switches
    from aldsurv.benchmark.store import Store
    from aldsurv.reports import write_benchmark_report

    left_out = checked_switches(split_names(without)) if without else ()
    store = Store(folder)
    target = store.folder / "report" if out is None else Path(out)
    for inner in ("tables", "figures"):
        checked_folder(target / inner)
    checked_output(target / "index.html", PAGE, inputs=[store.path], force=force, makes_folder=True)
    page = write_benchmark_report(store, target, evaluation=evaluation, without=left_out)
    click.echo(json_text({"page": str(page)}) if as_json else str(page))


def _show_results(
    plan: Plan, store: Store, failed: dict[str, str], seconds: float, *, as_json: bool, quiet: bool
) -> None:
    done = len(store.done())
    if as_json:
        click.echo(json_text({"folder": str(store.folder), "plan": plan.hash, "done": done, "failed": failed}))
        return
    for name, error in failed.items():
        click.echo(f"aldsurv: failed: {printable(name)}: {printable(error)}", err=True)
    if not quiet:
        click.echo(
            f"{done} of {len(plan.cells())} cells done, {format_clock(seconds)} this time, in {printable(store.folder)}"
        )
        click.echo(f"Next: aldsurv benchmark report {printable(store.folder)}")


def _progress_report(plan: Plan, folder: Path, show: Callable[[str], None]) -> Callable[[CellOutcome], None]:
    """A function that shows how many cells are done, the time left and the last result."""
    from aldsurv.benchmark.store import Store

    start, total, run, done = time.monotonic(), len(plan.cells()), 0, 0

    def report_progress(outcome: CellOutcome) -> None:
        nonlocal run, done
        # The first outcome is stored already: with those of earlier runs it is done.
        done = done + 1 if run else max(1, len(Store(folder).done()))
        run += 1
        left = (time.monotonic() - start) / run * (total - done)
        show(f"{done}/{total} cells, about {format_clock(left)} left · {_result_text(outcome)}")

    return report_progress


def _result_text(outcome: CellOutcome) -> str:
    """The result of a cell in a few words."""
    series = outcome.cell.series
    name = f"{series.dataset} {series.model}"
    if outcome.error is not None:
        return f"{name} failed: {outcome.error}"
    means = []
    for metric in ("harrell_c", "cens_dcal"):
        values = [row.value for row in outcome.results if row.metric == metric and row.point in ("", "median")]
        means.append(f"{METRICS[metric].short_title} {sum(values) / len(values):.3f}")
    return f"{name}: {', '.join(means)}"


def _chosen_datasets(text: str) -> tuple[str, ...]:
    from aldsurv.datasets import describe, names

    if text == "all":
        return tuple(names(paper=True))
    if text in ("real", "synthetic"):
        return tuple(
            name for name in names(paper=True) if (describe(name).kind == "synthetic") == (text == "synthetic")
        )
    return split_names(text)


def _chosen_models(text: str) -> tuple[str, ...]:
    from aldsurv.benchmark.plan import PAPER_MODELS

    groups = {"paper": PAPER_MODELS, "all": tuple(MODELS), "peers": tuple(PEERS)}
    return tuple(name for word in split_names(text) for name in groups.get(word, (word,)))
