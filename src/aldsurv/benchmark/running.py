"""Running a plan, in several processes or on a cluster; a run that was killed is resumed."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np

from aldsurv import __version__
from aldsurv.benchmark.cells import run_cell
from aldsurv.benchmark.plan import Cell, Plan
from aldsurv.benchmark.store import CellOutcome, Store
from aldsurv.checks import WholeNumber, check
from aldsurv.datasets import describe
from aldsurv.errors import MissingDependencyError
from aldsurv.models.parted.engine import Failure, open_engine
from aldsurv.registry import MODELS, PEERS

__all__ = ["run", "versions"]

OnOutcome = Callable[[CellOutcome], None]


def run(
    plan: Plan,
    folder: Path | str,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    on_outcome: OnOutcome | None = None,
) -> Store:
    """Run the cells of a plan that have no results yet, and return the store.

    Parameters
    ----------
    plan
        Which cells to run.
    folder
        Where results are stored. Cells of the same plan that are stored there are not run again; failed cells are.
    jobs
        Processes on this machine.
    cluster
        Address of a Dask scheduler, whose workers run the cells instead; ``"local:4"`` starts four on this machine.
    on_outcome
        Called with the outcome of each cell.

    Examples
    --------
    >>> store = run(Plan(("norm_linear",), ("cox",), seeds=2), getfixture("tmp_path"))
    >>> len(store.results().seeds)
    2
    """
    check("jobs", jobs, WholeNumber(1))
    if cluster is None:
        _require_packages(plan)
    store = Store(folder)
    store.begin(plan, versions())
    done = store.done()
    # The longest first, so that no process waits long for the last.
    cells = sorted((cell for cell in plan.cells() if cell.name not in done), key=_expected_work, reverse=True)
    if cluster is not None:
        outcomes = _on_cluster(cells, cluster)
    elif jobs == 1 or len(cells) <= 1:
        outcomes = (run_cell(cell) for cell in _not_done(cells, store))
    else:
        outcomes = _in_processes(cells, jobs, store)
    for outcome in outcomes:
        store.add(outcome)
        if on_outcome is not None:
            on_outcome(outcome)
    return store


def versions() -> dict[str, str]:
    """Versions of the packages that the numbers depend on."""
    from importlib.metadata import PackageNotFoundError, version

    installed = {"aldsurv": __version__, "numpy": np.__version__, "python": platform.python_version()}
    for name in ("scipy", "torch"):
        # Linear models do not need torch.
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


def _require_packages(plan: Plan) -> None:
    """Raise `MissingDependencyError` before the first cell is run, not once per cell."""
    from aldsurv.models.neural.neural_survival import NeuralSurvival

    _module("threadpoolctl")
    kinds = {name: MODELS.load(name) for name in plan.models if name not in PEERS}
    # The default model inside a wrapper is a network.
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
            f"the models {', '.join(networks)} are trained by torch, which is not installed",
            advice="Install it with: pip install 'aldsurv[benchmark,torch]', or choose models without a network, such "
            "as cox.",
        ) from None


def _expected_work(cell: Cell) -> tuple[int, str]:
    """The rows of the dataset, which determine most of the time; the name settles ties."""
    return describe(cell.series.dataset).rows, cell.name


def _not_done(cells: Sequence[Cell], store: Store) -> Iterator[Cell]:
    """Cells that no other run into the same folder has stored in the meantime."""
    for cell in cells:
        if cell.name not in store.done():
            yield cell


def _in_processes(cells: Sequence[Cell], jobs: int, store: Store) -> Iterator[CellOutcome]:
    joblib = _module("joblib")
    # joblib replaces workers whose memory has grown, and warns each time.
    warnings.filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
    seen: set[str] = set()
    try:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch=jobs, batch_size=1)
            for outcome in parallel(joblib.delayed(run_cell)(cell) for cell in _not_done(cells, store)):
                seen.add(outcome.cell.name)
                yield outcome
    except BrokenProcessPool:
        # A worker was killed, perhaps for lack of memory: the cells without an outcome are run one at a time.
        for cell in _not_done([cell for cell in cells if cell.name not in seen], store):
            yield _in_one_process(joblib, cell)


def _in_one_process(joblib: ModuleType, cell: Cell) -> CellOutcome:
    try:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            outcome: CellOutcome = joblib.Parallel(n_jobs=2)([joblib.delayed(run_cell)(cell)])[0]
    except BrokenProcessPool:
        return CellOutcome(cell, error="the process was killed, perhaps for lack of memory")
    return outcome


def _on_cluster(cells: Sequence[Cell], address: str) -> Iterator[CellOutcome]:
    with open_engine(address) as engine:
        for position, outcome in engine.completed(run_cell, cells):
            if isinstance(outcome, Failure):
                yield CellOutcome(cells[position], error=f"on the cluster: {outcome.error}"[:500])
            else:
                yield outcome


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError(
            f"benchmarks need {name}, which is not installed",
            advice="Install it with: pip install 'aldsurv[benchmark]'.",
        ) from None
