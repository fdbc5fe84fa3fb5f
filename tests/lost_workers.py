"""Workers of a cluster that are lost in the middle of what they do."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import Any


def kill_a_worker(cluster: Any) -> None:
    """End a worker of a local cluster at once; on systems without such a signal nothing happens."""
    if not hasattr(signal, "SIGKILL"):
        return
    for _ in range(600):
        # One that is being started again has no process for a moment, or one that has ended.
        for worker in list(cluster.workers.values()):
            if worker.pid:
                with suppress(ProcessLookupError):
                    os.kill(worker.pid, signal.SIGKILL)
                    return
        time.sleep(0.1)
    raise AssertionError("no worker has a process")
