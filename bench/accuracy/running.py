"""Cells run in processes; each result is a line of a file from which a killed study goes on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, final

from bench.accuracy.cells import Cell, run_cell

__all__ = ["Lines", "keep", "read_kept", "run"]


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

    def done(self, stage: str) -> set[Cell]:
        """Cells that have scores; those that failed are tried again."""
        return {Cell(*(line[key] for key in Cell._fields)) for line in self.read(stage) if "error" not in line}

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


def run(cells: Iterable[Cell], folder: Path | str, *, jobs: int = 1) -> int:
    """Do what is left of the cells, in their order; the number of those that failed."""
    lines, wanted = Lines(folder), list(dict.fromkeys(cells))
    left = _left(wanted, lines)
    failed = 0
    for count, line in enumerate(_in_processes(left, jobs) if jobs > 1 else map(run_cell, left), start=1):
        lines.add(line)
        failed += "error" in line
        if sys.stderr.isatty():
            seconds, told = line.get("seconds", float("nan")), line.get("error", f"{line.get('log_loss', 0):.3f}")
            name = Cell(*(line[key] for key in Cell._fields)).name
            print(f"{count} of at most {len(wanted)}: {name}  {seconds:.1f} s  {told}", file=sys.stderr)
    return failed


def _left(cells: list[Cell], lines: Lines) -> Iterator[Cell]:
    """Cells that nobody has done, nor another run into the same folder in the meantime."""
    for cell in cells:
        if cell not in lines.done(cell.stage):
            yield cell


def _in_processes(cells: Iterator[Cell], jobs: int) -> Iterator[dict[str, Any]]:
    waiting: dict[Future[dict[str, Any]], Cell] = {}
    pool, more = _pool(jobs), True
    try:
        while more or waiting:
            while more and len(waiting) < jobs:
                cell = next(cells, None)
                more = cell is not None
                if cell is not None:
                    waiting[pool.submit(run_cell, cell)] = cell
            ready = wait(waiting, return_when=FIRST_COMPLETED).done
            lost = [future for future in ready if isinstance(future.exception(), BrokenProcessPool)]
            if lost:
                # A process was killed, perhaps for want of memory: those that were in one are told, the others go on.
                for cell in waiting.values():
                    yield {**cell._asdict(), "error": "the process was killed, perhaps for want of memory"}
                pool.shutdown(cancel_futures=True)
                pool, waiting, ready = _pool(jobs), {}, set()
            for future in ready:
                del waiting[future]
                yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Threads of torch do not survive a fork.
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
