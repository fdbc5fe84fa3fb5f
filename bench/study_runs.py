"""Cells of a study run in processes; each result is a line of a file from which a killed study goes on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, final

from aldsurv.models.parted.engine import Failure, open_engine

__all__ = ["Lines", "StudyCell", "keep", "read_kept", "run"]


class StudyCell(Protocol):
    """One fit of a study: a named tuple of what is fitted to what."""

    @property
    def stage(self) -> str:
        """Which file its line is in."""

    @property
    def name(self) -> str:
        """For people."""

    def _asdict(self) -> dict[str, Any]: ...


Compute = Callable[[Any], dict[str, Any]]


@final
class Lines:
    """Results in a folder: JSON lines, one file a stage, only ever appended to.

    Parameters
    ----------
    folder
        Made if it is not there. Several runs may write into it at once.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def read(self, stage: str) -> list[dict[str, Any]]:
        """All lines of a stage; one that was cut off when its run was killed is none."""
        file = self.folder / f"{stage}.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def is_done(self, cell: StudyCell) -> bool:
        """Whether a cell has scores; one that failed is tried again."""
        wanted = cell._asdict().items()
        return any(wanted <= _plain(line).items() for line in self.read(cell.stage) if "error" not in line)

    def add(self, line: dict[str, Any]) -> None:
        """Append a result, in one write, after whatever a killed run has left."""
        file = self.folder / f"{line['stage']}.jsonl"
        with file.open("ab+") as out:
            cut_off = out.tell() and (out.seek(-1, os.SEEK_END), out.read(1))[1] != b"\n"
            out.write(b"\n" * bool(cut_off) + json.dumps(line).encode() + b"\n")


def keep(folder: Path | str, name: str, found: dict[str, Any]) -> None:
    """Put what was measured apart from the cells into the folder, for the report."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")


def read_kept(folder: Path | str, name: str) -> dict[str, Any] | None:
    """What `keep` has put there, if it has."""
    file = Path(folder) / f"{name}.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def run(
    cells: Iterable[StudyCell],
    compute: Compute,
    folder: Path | str,
    *,
    shown: str = "log_loss",
    jobs: int = 1,
    cluster: str | None = None,
) -> int:
    """Do what is left of the cells, in their order; the number of those that failed.

    Parameters
    ----------
    cells
        All cells.
    compute
        A function of a module that gives the line of a cell: its entries with scores, or with an ``error``.
    folder
        Of the lines.
    shown
        The score that a terminal shows as they come in.
    jobs
        Processes.
    cluster
        Address of a Dask scheduler, whose workers do it instead.
    """
    lines, wanted = Lines(folder), list(dict.fromkeys(cells))
    left = _left(wanted, lines)
    failed = 0
    if cluster is not None:
        lines_of_cells = _on_cluster(list(left), compute, cluster)
    else:
        lines_of_cells = _in_processes(left, compute, jobs) if jobs > 1 else ((cell, compute(cell)) for cell in left)
    for count, (cell, line) in enumerate(lines_of_cells, start=1):
        lines.add(line)
        failed += "error" in line
        if sys.stderr.isatty():
            seconds, result = line.get("seconds", float("nan")), line.get("error", f"{line.get(shown, 0):.3f}")
            print(f"{count} of at most {len(wanted)}: {cell.name}  {seconds:.1f} s  {result}", file=sys.stderr)
    return failed


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in line.items() if isinstance(value, (str, int, float))}


def _left(cells: list[StudyCell], lines: Lines) -> Iterator[StudyCell]:
    """Cells that nobody has done, nor another run into the same folder in the meantime."""
    for cell in cells:
        if not lines.is_done(cell):
            yield cell


def _on_cluster(cells: list[StudyCell], compute: Compute, cluster: str) -> Iterator[tuple[StudyCell, dict[str, Any]]]:
    with open_engine(cluster) as engine:
        for position, line in engine.completed(compute, cells):
            cell = cells[position]
            yield cell, {**cell._asdict(), "error": str(line.error)} if isinstance(line, Failure) else line


def _in_processes(
    cells: Iterator[StudyCell], compute: Compute, jobs: int
) -> Iterator[tuple[StudyCell, dict[str, Any]]]:
    waiting: dict[Future[dict[str, Any]], StudyCell] = {}
    pool, more = _pool(jobs), True
    try:
        while more or waiting:
            while more and len(waiting) < jobs:
                cell = next(cells, None)
                more = cell is not None
                if cell is not None:
                    waiting[pool.submit(compute, cell)] = cell
            ready = wait(waiting, return_when=FIRST_COMPLETED).done
            lost = [future for future in ready if isinstance(future.exception(), BrokenProcessPool)]
            if lost:
                # A process was killed, perhaps for want of memory: those that were in one are told, the others go on.
                for cell in waiting.values():
                    yield cell, {**cell._asdict(), "error": "the process was killed, perhaps for want of memory"}
                pool.shutdown(cancel_futures=True)
                pool, waiting, ready = _pool(jobs), {}, set()
            for future in ready:
                yield waiting.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Threads of torch do not survive a fork.
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
