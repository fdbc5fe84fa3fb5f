from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from aldsurv.benchmark.plan import Plan
from aldsurv.benchmark.store import Store
from aldsurv.reports import write_benchmark_report
from aldsurv.reports.page import page_figures
from reports.made_up import made_up_store

PLAN = Plan(("gbsg", "weibull", "breastmsk"), ("ald", "lognormal"), definitions=("released", "printed"), seeds=2)
FAILED = {"weibull/printed/row/ald/paper": "TrainingError: <script>alert('x')</script> & </td></table> at epoch 3"}
MISSING = ["gbsg/real/row/lognormal/paper", "breastmsk/real/group/ald/paper"]


@pytest.fixture(scope="session")
def partial_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Two datasets with everything that the view of the paper needs, and some series failed or missing."""
    return made_up_store(tmp_path_factory.mktemp("partial"), PLAN, missing=MISSING, failed=FAILED)


@pytest.fixture(scope="session")
def partial_page(partial_store: Store) -> Path:
    """Its page, with empty files for the PNG beside each SVG: that both show the figure is tried with one."""
    drawn = page_figures.save_figure

    def saved(figure: Figure, path: Path, **given: float) -> Path:
        if path.suffix == ".png":
            path.touch()
            return path
        return drawn(figure, path, **given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_figures, "save_figure", saved)
        return write_benchmark_report(partial_store)
