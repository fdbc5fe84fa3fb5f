"""Settings for all tests: the same examples on every run, unless asked for others; absent packages skip, not fail.

And a cluster of two worker processes.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import absent_packages
import pytest
from hypothesis import HealthCheck, settings
from lost_workers import LastingCluster

# Thousands of modules and tests are made and kept: looking for garbage among them takes a third of the collection.
gc.disable()
settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "search",
    parent=settings.get_profile("steady"),
    derandomize=False,
    max_examples=int(os.environ.get("ALDSURV_EXAMPLES", "200")),
)
settings.load_profile(os.environ.get("ALDSURV_HYPOTHESIS", "steady"))
if not absent_packages.is_absent("torch"):
    import torch

    torch.set_num_threads(1)


def pytest_configure(config: pytest.Config) -> None:
    # As a plugin it holds for the README, docs and src, too.
    config.pluginmanager.register(absent_packages)
    # Tests train on random tables, or for one epoch: no skill is expected there.
    config.addinivalue_line("filterwarnings", "ignore::aldsurv.errors.NoSkillWarning")


def pytest_collection_finish() -> None:
    # What lives until the end is not looked through again.
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def lasting_cluster() -> Iterator[LastingCluster]:
    """Two worker processes on this machine, started once; a part that kills two of them is given up."""
    pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    # On a busy machine one that was killed takes longer than 15 seconds to start again, after which Dask gives it up.
    patient = {"distributed.scheduler.allowed-failures": 1, "distributed.deploy.lost-worker-timeout": "1 hour"}
    with dask.config.set(patient):
        started = LastingCluster()
        yield started
        started.close()


@pytest.fixture
def cluster(lasting_cluster: LastingCluster) -> Any:
    """A local cluster of which both workers are there."""
    return lasting_cluster.whole()
