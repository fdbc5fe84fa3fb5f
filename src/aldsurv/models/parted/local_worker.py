"""What Dask loads into each process that is started for an engine on this machine."""

from __future__ import annotations

import signal

__all__ = ["dask_setup"]


def dask_setup(worker: object) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the one that started this and will end it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
