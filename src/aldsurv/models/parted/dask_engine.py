"""The workers of a Dask cluster as an engine, which alone speaks to Dask; `dask_tasks` is what runs elsewhere."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from itertools import islice
from types import TracebackType
from typing import Any, TypeVar, final

from aldsurv.errors import AldsurvError, ClusterError, ParameterError
from aldsurv.models.parted.dask_tasks import (
    SECONDS_BETWEEN_LOOKS,
    all_blocks,
    free_port,
    import_distributed,
    meeting_place,
    paused_workers,
    run_as_rank,
    same_value,
    tasks_at_work,
    workers_at_work,
)
from aldsurv.models.parted.engine import Arrays, Blocks, Engine, Failure, Held, ShowText
from aldsurv.quoting import quoted

__all__ = ["DaskEngine"]

Item = TypeVar("Item")
Result = TypeVar("Result")

SECONDS_TO_CONNECT = 10.0
# Dask starts killed workers again within seconds: after so long without any, none will come.
SECONDS_WITHOUT_WORKERS = 60.0
# How often processes that train together are started.
_MOST_STARTS = 4
# Items that are with the workers at a time, per thread of theirs: enough that none waits for the next.
_ITEMS_PER_THREAD = 3
_LOCAL = "local"
# What Dask calls futures of which nothing more comes; one whose worker was killed is lost for a while, then pending.
_ENDED = ("finished", "error", "cancelled")


class _LostResultError(Exception):
    """A worker was lost before its result was fetched: Dask computes it again."""


@final
class DaskEngine(Engine):
    """The workers of a Dask cluster: what a killed worker had is computed again elsewhere.

    Parameters
    ----------
    cluster
        As in `open_engine`.
    """

    def __init__(self, cluster: str) -> None:
        self._distributed = import_distributed()
        workers = _local_workers(cluster)
        with ExitStack() as started:
            self._address = cluster if workers is None else started.enter_context(self._local_cluster(workers))
            self.client = self._connected()
            self._started = started.pop_all()

    @property
    def address(self) -> str | None:
        """Of the scheduler."""
        return self._address

    def completed(
        self, function: Callable[..., Result], items: Sequence[Any], shared: tuple[Any, ...] = ()
    ) -> Iterator[tuple[int, Result | Failure]]:
        """As in the base."""
        waiting = iter(enumerate(items))
        places: dict[Any, int] = {}
        suspects: list[int] = []
        alone: set[int] = set()
        common = self._common(shared)
        try:
            while True:
                room = 0 if suspects else max(self._room() - len(places), 0)
                chosen = list(islice(waiting, room))
                if suspects and not places:
                    # Whatever waited for a worker that died may have had no part in it: once more, by itself.
                    alone.add(suspects[0])
                    chosen = [(suspects[0], items[suspects.pop(0)])]
                for position, item in chosen:
                    places[self._submit(function, item, *common)] = position
                if not places:
                    return
                for future, status in self._some_done(list(places)):
                    position = places.pop(future)
                    if status == "error" and position not in alone and self._is_killer(future):
                        suspects.append(position)
                        continue
                    try:
                        result = self._result(future, status, str(items[position]))
                    except _LostResultError:
                        places[future] = position
                    else:
                        yield position, result
        finally:
            self.client.cancel(list(places))

    def hold(
        self, function: Callable[..., Iterator[Arrays]], items: Sequence[Any], shared: tuple[Any, ...] = ()
    ) -> list[Held[Blocks]]:
        """As in the base."""
        common = self._common(shared)
        return [Held(str(item), self._submit(partial(all_blocks, function), item, *common)) for item in items]

    def together(
        self, function: Callable[..., Result], shared: tuple[Any, ...], *, most: int, show: ShowText | None
    ) -> Result:
        """As in the base: the processes are workers, one task each."""
        common = self._common(shared)
        topic = f"aldsurv-{uuid.uuid4().hex}" if show is not None else None
        if show is not None:
            self.client.subscribe_topic(topic, lambda event: show(*event[1]))
        try:
            result: Result = self._from_first(function, common, most, topic)
            return result
        finally:
            if topic is not None:
                self.client.unsubscribe_topic(topic)

    def _from_first(self, function: Callable[..., Any], common: list[Any], most: int, topic: str | None) -> Any:
        """What the first of several processes gives; they start again if one is lost."""
        for _ in range(_MOST_STARTS):
            workers = self._free_workers()[:most]
            host = self._distributed.comm.get_address_host(workers[0])
            # On another worker if this one is lost meanwhile: what follows notices it.
            place = {"workers": workers[:1], "allow_other_workers": True}
            port = self._result_of(self.client.submit(free_port, **place, pure=False))
            futures = [
                self.client.submit(
                    partial(run_as_rank, function, meeting_place(host, port), number, len(workers), topic),
                    *common,
                    workers=[worker],
                    pure=False,
                )
                for number, worker in enumerate(workers)
            ]
            try:
                if self._all_done(futures, workers):
                    return self._result(futures[0], "finished", "training")
            except _LostResultError:
                continue
            finally:
                # Those that still work notice it after the next batch.
                self.client.cancel(futures)
        raise ClusterError(
            f"training on the cluster at {quoted(self.address)} lost a worker {_MOST_STARTS} times, perhaps for "
            "lack of memory",
            advice="Give the workers more memory; with a checkpoint, the same command goes on",
        )

    def _all_done(self, futures: list[Any], workers: list[str]) -> bool:
        """Wait for processes that train together; False if one was lost, and all others have noticed.

        An error that is no consequence of a loss is raised.
        """
        while True:
            alive = set(self._workers())
            states = [str(future.status) for future in futures]
            if states[0] == "finished":
                return True
            for future, state in zip(futures, states, strict=True):
                if state == "error" and not isinstance(future.exception(), self._losses()):
                    self._result_of(future)
            if "error" in states:
                self._cancel_those_not_begun(futures, states)
            if all(state in _ENDED or worker not in alive for state, worker in zip(states, workers, strict=True)):
                return False
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _cancel_those_not_begun(self, futures: list[Any], states: list[str]) -> None:
        """Cancel what waits for a worker that is paused, or has other work: the others do not wait for it any more."""
        begun = self._on_scheduler(tasks_at_work)
        if begun is not None:
            waiting = zip(futures, states, strict=True)
            self.client.cancel([task for task, state in waiting if state not in _ENDED and task.key not in begun])

    def _losses(self) -> tuple[type[Exception], ...]:
        from aldsurv.training.ranks import LostRankError

        return LostRankError, self._distributed.KilledWorker

    def _result_of(self, future: Any) -> Any:
        """The result of one task; its error is raised."""
        while True:
            ((_, status),) = self._some_done([future])
            try:
                result = self._result(future, status, "training")
            except _LostResultError:
                continue
            if isinstance(result, Failure):
                raise result.error
            return result

    def _workers(self) -> list[str]:
        """Addresses of the workers, of which there is at least one."""
        waited = 0.0
        while True:
            try:
                workers = sorted(self.client.nthreads())
            except (OSError, self._distributed.CancelledError):
                raise self._lost() from None
            if workers:
                return workers
            if waited >= SECONDS_WITHOUT_WORKERS:
                raise self._without_workers(waited)
            time.sleep(SECONDS_BETWEEN_LOOKS)
            waited += SECONDS_BETWEEN_LOOKS

    def _free_workers(self) -> list[str]:
        """Addresses of the workers that are not paused, of which there is at least one."""
        waited = 0.0
        while True:
            workers, paused = self._workers(), self._on_scheduler(paused_workers) or ()
            free = [worker for worker in workers if worker not in paused]
            if free:
                return free
            if waited >= SECONDS_WITHOUT_WORKERS:
                raise self._without_workers(waited, paused=True)
            time.sleep(SECONDS_BETWEEN_LOOKS)
            waited += SECONDS_BETWEEN_LOOKS

    def close(self) -> None:
        """Leave the cluster; one that was started for this engine ends."""
        self.client.close()
        self._started.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self.close()

    @contextmanager
    def _local_cluster(self, workers: int) -> Iterator[str]:
        """The address of a cluster of processes of this machine, which lasts as long as the block."""
        # Dask would give up a killed process that takes 15 seconds to start again, as on a busy machine.
        with import_module("dask").config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}):
            try:
                cluster = self._distributed.LocalCluster(
                    n_workers=workers or None,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    preload=["aldsurv.models.parted.local_worker"],
                    # What fails is raised here: in the terminal the workers would show it with its traceback.
                    silence_logs=logging.CRITICAL,
                )
            except (RuntimeError, OSError) as error:
                raise ClusterError(
                    f"processes of this machine could not be started: {error}",
                    argument="cluster",
                    advice='A script that starts them needs if __name__ == "__main__": around what it does.',
                ) from error
            with cluster:
                yield str(cluster.scheduler_address)

    def _connected(self) -> Any:
        """A client of a scheduler that has workers."""
        try:
            # A client that is given no address would be closed, with a traceback, when Python ends.
            self._distributed.comm.resolve_address(self._address)
            client = self._distributed.Client(self._address, timeout=SECONDS_TO_CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            problem = f"no Dask scheduler answers at {quoted(self._address)}: {error}."
            raise ParameterError(problem, argument="cluster") from None
        try:
            client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
        except TimeoutError:
            client.close()
            problem = f"the Dask scheduler at {quoted(self._address)} has no workers"
            raise ParameterError(problem, argument="cluster", advice="Start some: dask worker ADDRESS") from None
        return client

    def _submit(self, function: Callable[..., Any], item: Any, *common: Any) -> Any:
        # Dask hands the function the result of a future in place of the future.
        return self.client.submit(function, item.content if isinstance(item, Held) else item, *common, pure=False)

    def _common(self, shared: tuple[Any, ...]) -> list[Any]:
        """What is shared, on its way to the workers that need it: large tasks, of which Dask would warn."""
        with import_module("dask").config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}):
            # By a task, not by scattering: it is computed again if the workers that have it are lost.
            return [self.client.submit(same_value, value, pure=False) for value in shared]

    def _room(self) -> int:
        """How many items may be with the workers now."""
        return max(_ITEMS_PER_THREAD * self._threads(), 2)

    def _threads(self) -> int:
        try:
            return sum(self.client.nthreads().values())
        except (OSError, self._distributed.CancelledError):
            raise self._lost() from None

    def _some_done(self, futures: list[Any]) -> list[tuple[Any, str]]:
        """Those futures that have ended, and how, once there are any.

        None of them may be left: the result of a killed worker is lost, which Dask reports before it computes it again.
        """
        waited = 0.0
        while True:
            seconds = min(5.0, SECONDS_WITHOUT_WORKERS)
            try:
                with self.client.as_current():
                    done = self._distributed.wait(futures, timeout=seconds, return_when="FIRST_COMPLETED").done
                states = [(future, str(future.status)) for future in done]
                return [(future, status) for future, status in states if status in _ENDED]
            except (TimeoutError, self._distributed.TimeoutError):
                waited = self._waited(waited, seconds)
            except self._distributed.CancelledError:
                raise self._lost() from None

    def _waited(self, before: float, seconds: float) -> float:
        """For how long there has been no worker, after some more seconds without a result; too long is an error."""
        workers, at_work = self._at_work()
        waited = 0.0 if at_work else before + seconds
        if waited >= SECONDS_WITHOUT_WORKERS:
            raise self._without_workers(waited, paused=workers > 0)
        return waited

    def _at_work(self) -> tuple[int, int]:
        """How many workers there are, and how many of them compute something or would."""
        if self.client.status != "running":
            return 1, 1
        threads = self._threads()
        return self._on_scheduler(workers_at_work) or (threads, threads)

    def _on_scheduler(self, function: Callable[..., Result]) -> Result | None:
        """The result of a function on the scheduler; None if it is set up to take no functions."""
        try:
            found: Result = self.client.run_on_scheduler(function)
        except (OSError, self._distributed.CancelledError):
            raise self._lost() from None
        except ValueError:
            return None
        return found

    def _is_killer(self, future: Any) -> bool:
        """Whether workers died while they had it."""
        return isinstance(future.exception(), self._distributed.KilledWorker)

    def _result(self, future: Any, status: str, label: str) -> Any:
        if status == "finished":
            return self._fetched(future)
        if status != "error":
            raise self._lost()
        error = future.exception()
        if isinstance(error, AldsurvError):
            return Failure(error)
        if self._is_killer(future):
            problem = (
                f"{quoted(label)} killed every worker that took it, last {error.last_worker.address}, perhaps for lack "
                "of memory"
            )
            return Failure(ClusterError(problem, advice="Give the workers more memory, or make the parts smaller."))
        failed = ClusterError(f"{quoted(label)} failed on the cluster at {quoted(self.address)}: {error!r:.500}")
        failed.__cause__ = error
        return Failure(failed)

    def _fetched(self, future: Any) -> Any:
        """The result of a future that has ended; `_LostResultError` if the worker that had it was lost meanwhile."""
        seconds, waited = min(5.0, SECONDS_WITHOUT_WORKERS), 0.0
        while True:
            try:
                return future.result(timeout=seconds)
            except (TimeoutError, self._distributed.TimeoutError):  # noqa: PERF203
                if future.status != "finished":
                    raise _LostResultError from None
                waited = self._waited(waited, seconds)
                # A large one may take longer than this.
                seconds *= 2
            except (OSError, self._distributed.CancelledError):
                raise self._lost() from None

    def _without_workers(self, seconds: float, *, paused: bool = False) -> ClusterError:
        if not paused:
            return ClusterError(
                f"the cluster at {quoted(self.address)} has had no worker for {seconds:.0f} seconds.",
                argument="cluster",
                advice="A worker ends if it lacks this version of aldsurv, or memory: its own output says which.",
            )
        return ClusterError(
            f"every worker of the cluster at {quoted(self.address)} has been paused for {seconds:.0f} seconds, because "
            "its memory is nearly full",
            argument="cluster",
            advice="Give the workers more memory, or make the parts smaller.",
        )

    def _lost(self) -> ClusterError:
        return ClusterError(
            f"the Dask scheduler at {quoted(self.address)} does not answer any more.",
            argument="cluster",
            advice="Start the cluster again, then the same command.",
        )


def _local_workers(cluster: str) -> int | None:
    """Processes of this machine that are asked for, 0 for as many as cores; None if it is an address."""
    kind, _, count = cluster.partition(":")
    if kind != _LOCAL:
        return None
    if count and not (count.isdecimal() and int(count) > 0):
        raise ParameterError(
            f"cluster must be the address of a Dask scheduler, 'local' or 'local:' and a number of processes, but is "
            f"{quoted(cluster)}.",
            argument="cluster",
        )
    return int(count or 0)
