"""Workers of a cluster that are lost in the middle of what they do, and a cluster that has them all again."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import Any

SECONDS_TO_RESTART = 60.0


def kill_a_worker(cluster: Any) -> None:
    """End a worker of a local cluster at once; on systems without such a signal nothing happens."""
    if not hasattr(signal, "SIGKILL"):
        return
    until = time.monotonic() + SECONDS_TO_RESTART
    while time.monotonic() < until:
        # Dask gives up one that is killed while it starts.
        for worker in _running(cluster):
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)
                return
        time.sleep(0.1)
    raise AssertionError("no worker is running")


class LastingCluster:
    """Two worker processes on this machine; others take their place when one was lost for good."""

    def __init__(self) -> None:
        self._cluster: Any = None

    def whole(self) -> Any:
        """The cluster, with both workers."""
        until = time.monotonic() + SECONDS_TO_RESTART
        while self._cluster is not None and len(_running(self._cluster)) < 2:
            time.sleep(0.1)
            if time.monotonic() > until:
                self.close()
        if self._cluster is None:
            import distributed

            self._cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
        return self._cluster

    def close(self) -> None:
        """End both."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None


def _running(cluster: Any) -> list[Any]:
    """Those that the scheduler has, and that are alive."""
    workers = [worker for worker in list(cluster.workers.values()) if worker.status.name == "running"]
    return [worker for worker in workers if worker.is_alive() and worker.worker_address in cluster.scheduler.workers]
