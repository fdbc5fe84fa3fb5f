"""``aldsurv benchmark``: run the comparison of the paper, and report it."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.shared.outputs import PAGE, checked_folder, checked_output, force_option
from aldsurv.quoting import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from aldsurv.benchmark.plan import Plan
    from aldsurv.benchmark.store import CellOutcome, Store

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


@benchmark.command()
@click.option("--datasets", default="all", show_default=True, help="Names, or all, real, synthetic.", metavar="NAMES")
@click.option("--models", default="paper", show_default=True, help="Names, or paper, all, peers.", metavar="NAMES")
@click.option("--seeds", default=10, show_default=True, help="Runs of each model on each dataset.", metavar="N")
@click.option("--recipe", default="paper", show_default=True, help="paper, best, or paper,best.", metavar="NAMES")
@click.option(
    "--definition",
    default="released",
    show_default=True,
    help="Of synthetic data: released, printed or both.",
    metavar="NAMES",
)
@click.option("--grouped/--no-grouped", default=True, show_default=True, help="WHAS and BreastMSK also by patient.")
@click.option("--jobs", default=0, help="Processes; 0 for one a core.", metavar="N")
@click.option("--scheduler", default=None, help="A Dask scheduler whose workers do it.", metavar="ADDRESS")
@click.option("--out", default=_FOLDER, show_default=True, help="Folder of the results.", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def run(
    datasets: str,
    models: str,
    seeds: int,
    recipe: str,
    definition: str,
    grouped: bool,
    jobs: int,
    scheduler: str | None,
    out: str,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the comparison; killed, the same command goes on where it was.

    Results are in one SQLite file in the folder; a cell (all seeds of a
    model on a dataset) is in it as a whole or not at all. A cell that
    fails is recorded with its error and does not stop the others.

    \b
    Examples:
      aldsurv benchmark run
      aldsurv benchmark run --datasets real --models ald,cox,rsf --recipe best
      aldsurv benchmark run --seeds 3 --jobs 2 --out results
      aldsurv benchmark run --scheduler tcp://10.0.0.5:8786
    """  # noqa: D301
    from aldsurv.benchmark import running
    from aldsurv.benchmark.plan import Plan

    plan = Plan(_chosen_datasets(datasets), _chosen_models(models), _words(recipe), _words(definition), seeds, grouped)
    jobs = jobs or os.cpu_count() or 1
    checked_folder(Path(out))
    start = time.monotonic()
    with _display(plan, Path(out), show=not (quiet or as_json)) as tell:
        store = running.run(plan, out, jobs=jobs, scheduler=scheduler, on_outcome=tell)
    failed = store.failed()
    _announce(plan, store, failed, time.monotonic() - start, as_json=as_json, quiet=quiet)
    if failed:
        raise click.exceptions.Exit(1)


@benchmark.command()
@click.argument("folder", metavar="DIR")
@click.option("--out", default=None, help="Folder to write to  [default: DIR/report]", metavar="DIR")
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def report(folder: str, out: str | None, force: bool, as_json: bool) -> None:
    """Write tables (CSV, Markdown, LaTeX), figures and one HTML page.

    \b
    Examples:
      aldsurv benchmark report results
    """  # noqa: D301
    from aldsurv.benchmark.store import Store
    from aldsurv.reports import write_benchmark_report

    store = Store(folder)
    target = store.folder / "report" if out is None else Path(out)
    for inner in ("tables", "figures"):
        checked_folder(target / inner)
    checked_output(target / "index.html", PAGE, inputs=[store.path], force=force, makes_folder=True)
    page = write_benchmark_report(store, target)
    click.echo(json.dumps({"page": str(page)}) if as_json else str(page))


def _announce(plan: Plan, store: Store, failed: dict[str, str], seconds: float, *, as_json: bool, quiet: bool) -> None:
    done = len(store.done())
    if as_json:
        told: dict[str, Any] = {"folder": str(store.folder), "plan": plan.hash, "done": done, "failed": failed}
        click.echo(json.dumps(told, indent=2))
        return
    for name, error in failed.items():
        click.echo(f"aldsurv: failed: {printable(name)}: {printable(error)}", err=True)
    if not quiet:
        click.echo(
            f"{done} of {len(plan.cells())} cells done, {_clock(seconds)} this time, in {printable(store.folder)}"
        )
        click.echo(f"Next: aldsurv benchmark report {printable(store.folder)}")


@contextmanager
def _display(plan: Plan, folder: Path, *, show: bool) -> Iterator[Callable[[CellOutcome], None]]:
    """A line that tells how far a run is, for people who watch."""
    if not show or not sys.stderr.isatty():
        yield lambda outcome: None
        return
    from aldsurv.benchmark.store import Store

    store, start = Store(folder), time.monotonic()
    before = len(store.done()) if store.path.is_file() else 0
    total, came = len(plan.cells()), 0

    def tell(outcome: CellOutcome) -> None:
        nonlocal came
        came += 1
        left = (time.monotonic() - start) / came * (total - before - came)
        line = f"{before + came}/{total} cells, about {_clock(left)} left · {_brief(outcome)}"
        width = shutil.get_terminal_size().columns - 1
        click.echo(f"\r\033[K{printable(line)[:width]}", nl=False, err=True)

    try:
        yield tell
    finally:
        click.echo("\r\033[K", nl=False, err=True)


def _brief(outcome: CellOutcome) -> str:
    """Last results in a few words."""
    series = outcome.cell.series
    name = f"{series.dataset} {series.model}"
    if outcome.error is not None:
        return f"{name} failed: {outcome.error}"
    means = []
    for label, metric in (("C", "harrell_c"), ("CensDcal", "cens_dcal")):
        values = [row.value for row in outcome.results if row.metric == metric and row.point in ("", "median")]
        means.append(f"{label} {sum(values) / len(values):.3f}")
    return f"{name}: {', '.join(means)}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{rest} s"


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _chosen_datasets(text: str) -> tuple[str, ...]:
    from aldsurv.datasets import describe, names

    if text == "all":
        return tuple(names())
    if text in ("real", "synthetic"):
        return tuple(name for name in names() if (describe(name).kind == "synthetic") == (text == "synthetic"))
    return _words(text)


def _chosen_models(text: str) -> tuple[str, ...]:
    from aldsurv.benchmark.plan import PAPER_MODELS
    from aldsurv.registry import MODELS, PEERS

    groups = {"paper": PAPER_MODELS, "all": tuple(MODELS), "peers": tuple(PEERS)}
    return tuple(name for word in _words(text) for name in groups.get(word, (word,)))
