from __future__ import annotations

from pathlib import Path

import pytest

from aldsurv.benchmark.plan import Plan
from aldsurv.benchmark.store import Store
from aldsurv.reports import write_benchmark_report
from reports.made_up import made_up_store
from reports.undrawn import leave_png_empty

PLAN = Plan(("gbsg", "weibull", "breastmsk"), ("ald", "lognormal"), definitions=("released", "printed"), seeds=2)
FAILED = {"weibull/printed/row/ald/paper": "TrainingError: <script>alert('x')</script> & </td></table> at epoch 3"}
MISSING = ["gbsg/real/row/lognormal/paper", "breastmsk/real/group/ald/paper"]


@pytest.fixture(scope="session")
def partial_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two datasets with everything that the view of the paper needs, and some series failed or missing."""
    return made_up_store(tmp_path_factory.mktemp("partial"), PLAN, missing=MISSING, failed=FAILED)


@pytest.fixture(scope="session")
def partial_page(partial_store: Store) -> Path:
    """Its page, with empty files for the PNG beside each SVG."""
    with pytest.MonkeyPatch.context() as patch:
        leave_png_empty(patch)
        return write_benchmark_report(partial_store)
