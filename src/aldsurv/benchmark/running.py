"""Running a plan: here in several processes, or on a cluster; killed, it goes on where it was."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import __version__
from aldsurv.benchmark.cells import run_cell
from aldsurv.benchmark.plan import Cell, Plan
from aldsurv.benchmark.store import CellOutcome, Store
from aldsurv.datasets import describe
from aldsurv.errors import MissingDependencyError, ParameterError
from aldsurv.registry import MODELS, PEERS

__all__ = ["run", "versions"]

Tell = Callable[[CellOutcome], None]

_SECONDS_TO_CONNECT = 10


def run(
    plan: Plan, folder: Path | str, *, jobs: int = 1, scheduler: str | None = None, tell: Tell | None = None
) -> Store:
    """Do what is left of a plan, and return its results.

    Parameters
    ----------
    plan
        What to do.
    folder
        Where results are kept. What is there of the same plan is not done again; failed cells are tried again.
    jobs
        Processes on this machine.
    scheduler
        Address of a Dask scheduler, whose workers do the work instead.
    tell
        Called with each outcome as it comes in.

    Examples
    --------
    >>> store = run(Plan(("norm_linear",), ("cox",), seeds=2), getfixture("tmp_path"))
    >>> len(store.results().seeds)
    2
    """
    if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
        raise ParameterError(f"jobs must be a whole number of at least 1, but is {jobs!r}.")
    if scheduler is None:
        _require_packages(plan)
    store = Store(folder)
    store.begin(plan, versions())
    done = store.done()
    # The longest first, so that no process waits long for the last.
    left = sorted((cell for cell in plan.cells() if cell.name not in done), key=_work, reverse=True)
    if scheduler is not None:
        outcomes = _on_cluster(left, scheduler)
    elif jobs == 1 or len(left) <= 1:
        outcomes = (run_cell(cell) for cell in _still_left(left, store))
    else:
        outcomes = _in_processes(left, jobs, store)
    for outcome in outcomes:
        store.add(outcome)
        if tell is not None:
            tell(outcome)
    return store


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"aldsurv": __version__, "numpy": np.__version__, "python": platform.python_version()}
    for name in ("scipy", "torch"):
        # Linear models do without torch.
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _require_packages(plan: Plan) -> None:
    """Raise `MissingDependencyError` before the first cell is begun, not in each of them."""
    from aldsurv.models.neural.neural_survival import NeuralSurvival

    _module("threadpoolctl")
    kinds = {name: MODELS.load(name) for name in plan.models if name not in PEERS}
    # A model around another one is by default around a network.
    networks = [
        name
        for name, kind in kinds.items()
        if issubclass(kind, NeuralSurvival) or {"estimator", "max_epochs"} & set(kind.parameter_defaults())
    ]
    try:
        if networks:
            import_module("torch")
    except ImportError:
        raise MissingDependencyError(
            f"the models {', '.join(networks)} are trained by torch, which is not installed. Install it with: "
            "pip install 'aldsurv[benchmark,torch]', or choose models without a network, such as cox."
        ) from None


def _work(cell: Cell) -> tuple[int, str]:
    """Something that grows with the time a cell takes."""
    return describe(cell.series.dataset).rows, cell.name


def _still_left(cells: Sequence[Cell], store: Store) -> Iterator[Cell]:
    """Cells that no other run into the same folder has done in the meantime."""
    for cell in cells:
        if cell.name not in store.done():
            yield cell


def _in_processes(cells: Sequence[Cell], jobs: int, store: Store) -> Iterator[CellOutcome]:
    joblib: Any = _module("joblib")
    # Processes that have grown are replaced by new ones, which nobody needs to know.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
    seen: set[str] = set()
    try:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs, batch_size=1)
            for outcome in parallel(joblib.delayed(run_cell)(cell) for cell in _still_left(cells, store)):
                seen.add(outcome.cell.name)
                yield outcome
    except BrokenProcessPool:
        # Somebody, or the system for want of memory, has killed a process: who was in it is tried again, alone.
        for cell in _still_left([cell for cell in cells if cell.name not in seen], store):
            yield _alone(joblib, cell)


def _alone(joblib: Any, cell: Cell) -> CellOutcome:
    try:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            outcome: CellOutcome = joblib.Parallel(n_jobs=2)([joblib.delayed(run_cell)(cell)])[0]
    except BrokenProcessPool:
        return CellOutcome(cell, error="the process was killed, perhaps for want of memory")
    return outcome


def _on_cluster(cells: Sequence[Cell], address: str) -> Iterator[CellOutcome]:
    distributed: Any = _module("distributed")
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError, TimeoutError) as error:
        raise ParameterError(f"no Dask scheduler answers at {address!r}: {error}.") from None
    with client:
        # A worker that is lost hands its cells to others; one that every worker dies of is given up.
        futures = {client.submit(run_cell, cell, pure=False): cell for cell in cells}
        try:
            for future in distributed.as_completed(futures):
                if future.status == "finished":
                    yield future.result()
                else:
                    yield CellOutcome(futures[future], error=f"on the cluster: {future.exception()!r}"[:500])
        finally:
            client.cancel(list(futures))


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        extra = "cluster" if name == "distributed" else "benchmark"
        raise MissingDependencyError(f"this needs {name}. Install it with: pip install 'aldsurv[{extra}]'.") from None
