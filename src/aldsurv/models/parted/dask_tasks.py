"""What runs on the scheduler and on the workers of a Dask cluster."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from aldsurv.errors import MissingDependencyError
from aldsurv.models.parted.engine import Arrays

if TYPE_CHECKING:
    from aldsurv.training.ranks import Ranks

__all__ = [
    "SECONDS_BETWEEN_LOOKS",
    "all_blocks",
    "free_port",
    "import_distributed",
    "meeting_place",
    "paused_workers",
    "run_as_rank",
    "same_value",
    "stop_unwanted",
    "tasks_at_work",
    "workers_at_work",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

# How often tasks and workers are looked at.
SECONDS_BETWEEN_LOOKS = 0.2


def workers_at_work(dask_scheduler: Any) -> tuple[int, int]:
    """On the scheduler: Dask pauses a worker whose memory is nearly full, which then starts no other task."""
    workers = dask_scheduler.workers.values()
    at_work = sum(worker in dask_scheduler.running or bool(worker.executing) for worker in workers)
    return len(workers), at_work


def paused_workers(dask_scheduler: Any) -> set[str]:
    """On the scheduler: addresses of the workers that start no tasks."""
    return {address for address, worker in dask_scheduler.workers.items() if worker not in dask_scheduler.running}


def tasks_at_work(dask_scheduler: Any) -> set[Any]:
    """On the scheduler: keys of the tasks that workers have begun, as far as they have reported it."""
    return {task.key for worker in dask_scheduler.workers.values() for task in worker.executing}


def same_value(value: Item) -> Item:
    """On a worker: a value that tasks share."""
    return value


def free_port() -> int:
    """A port that no process of this machine has."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def meeting_place(host: str, port: int) -> str:
    """The address at which processes meet; one of IPv6 is in brackets."""
    return f"tcp://[{host}]:{port}" if ":" in host else f"tcp://{host}:{port}"


def run_as_rank(
    function: Callable[..., Result], url: str, number: int, count: int, topic: str | None, *shared: Any
) -> Result | None:
    """On a worker: call a function as one of several processes; None from those that are not the first."""
    from aldsurv.training.ranks import LostRankError, open_ranks

    worker, ended = import_distributed().get_worker(), threading.Event()
    task = worker.state.tasks, worker.get_current_task()
    result, done = None, False
    with open_ranks(url, number, count) as ranks:
        threading.Thread(target=stop_unwanted, args=(*task, ranks, ended), daemon=True).start()
        try:
            shows = topic is not None and ranks.first
            result = function(*shared, (lambda *text: worker.log_event(topic, text)) if shows else None)
            done = True
        finally:
            ended.set()
    if number == 0 and not done:
        raise LostRankError("training was stopped, because its result was not needed any more")
    return result if number == 0 else None


def stop_unwanted(tasks: Mapping[Any, Any], key: Any, ranks: Ranks, ended: threading.Event) -> None:
    """Stop training whose result is not needed any more: Dask does not interrupt a running task."""
    while not ended.wait(SECONDS_BETWEEN_LOOKS):
        # One look: the worker may forget the task at any time.
        task = tasks.get(key)
        if task is None or task.state == "cancelled":
            ranks.stop(unwanted=True)
            return


def all_blocks(function: Callable[..., Iterator[Arrays]], *given: Any) -> list[Arrays]:
    """On a worker: the blocks of a part."""
    return list(function(*given))


def import_distributed() -> ModuleType:
    """The library, or an error that says how to install it."""
    try:
        return import_module("distributed")
    except ImportError:
        raise MissingDependencyError(
            "a cluster needs distributed, which is not installed",
            advice="Install it with: pip install 'aldsurv[cluster]'.",
        ) from None
