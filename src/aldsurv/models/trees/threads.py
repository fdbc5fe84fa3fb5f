"""How many threads fit a table, blocks of rows in several of them, and members that take turns."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import final

from aldsurv.losses.likelihood.tied_mixture_steps import MapBlocks
from aldsurv.models.trees.boosting_settings import LARGE_ROWS

__all__ = ["Turns", "count_threads", "run_blocks"]


@final
class Turns:
    """Lets so many threads work at a time, in the order in which they ask.

    Five members on two threads would take as long as six; if three of them take turns, they take as long as five.
    """

    def __init__(self, count: int) -> None:
        self._free, self._waiting, self._lock = count, deque[threading.Event](), threading.Lock()
        self._ended = False

    def end(self) -> None:
        """Give no more turns: asking or waiting for one raises `CancelledError`."""
        self._ended = True

    def __enter__(self) -> None:
        self._wait()
        if self._ended:
            self.__exit__(None, None, None)
            raise CancelledError

    def _wait(self) -> None:
        turn = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                return
            self._waiting.append(turn)
        turn.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


def count_threads(n_jobs: int | None, rows: int) -> int:
    """How many threads fit a table.

    Parameters
    ----------
    n_jobs
        As of `BoostedALD`.
    rows
        How many the table has.
    """
    if n_jobs is None:
        # Workers of a pool are started with as many threads as they may have.
        limit = os.environ.get("OMP_NUM_THREADS", "")
        most = int(limit) if limit.isdecimal() and int(limit) > 0 else _cores()
        return 1 if rows < LARGE_ROWS else min(most, _cores())
    return n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


@contextmanager
def run_blocks(threads: int) -> Iterator[MapBlocks]:
    """What applies a function to every block of rows: one after the other, or so many at a time."""
    if threads == 1:
        yield _in_turn
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="rows") as pool:

        def each(work: Callable[[slice], None], blocks: Sequence[slice]) -> None:
            for _ in pool.map(work, blocks):
                pass

        yield each


def _in_turn(work: Callable[[slice], None], blocks: Sequence[slice]) -> None:
    for block in blocks:
        work(block)


def _cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
