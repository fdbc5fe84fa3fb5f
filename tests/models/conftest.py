"""A cluster of two worker processes."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes on this machine, started once; a part that kills two of them is given up."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as started,
    ):
        yield started
