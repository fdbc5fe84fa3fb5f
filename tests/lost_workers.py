"""Workers of a cluster that are lost in the middle of what they do."""

from __future__ import annotations

import os
import signal
import time
from typing import Any


def kill_a_worker(cluster: Any) -> None:
    """End a worker of a local cluster at once; on systems without such a signal nothing happens."""
    if not hasattr(signal, "SIGKILL"):
        return
    for _ in range(200):
        # One that is being started again has no process for a moment.
        running = [worker.pid for worker in cluster.workers.values() if worker.pid]
        if running:
            os.kill(running[0], signal.SIGKILL)
            return
        time.sleep(0.1)
    raise AssertionError("no worker has a process")
