"""The report of the rows that ``aldsurv fit`` held out: of the model fitted to the others, which its scores are of."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from aldsurv.cli.report_command import report_unit
from aldsurv.errors import DataError
from aldsurv.quoting import printable

if TYPE_CHECKING:
    from aldsurv.cli.fit.fit_request import FitRequest
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table import Table

__all__ = ["held_out_page", "require_report_rows"]


def require_report_rows(test: Table | None) -> None:
    """Raise before training what would otherwise be raised after it: no rows, or packages that are missing."""
    from aldsurv.reports.page.page import page_templates

    page_templates()
    if test is None or test.y is None:
        raise DataError(
            "--report needs held-out rows, and there are too few for that",
            advice="Fit without --report, or give more rows.",
        )


def held_out_page(request: FitRequest, model: SurvivalEstimator, train: Table, test: Table) -> str:
    """The page, as HTML.

    Parameters
    ----------
    request
        What was asked for.
    model, train
        The model without the held-out rows, and the rows that it was fitted to.
    test
        The held-out rows.
    """
    from aldsurv.reports.model.model_page import model_report
    from aldsurv.reports.page.page import render_page

    with warnings.catch_warnings():
        # The scores have given them, and the page has them.
        warnings.simplefilter("ignore")
        result = model_report(
            model,
            test.x,
            test.y,
            train=train.y,
            train_X=train.x,
            source=f"{printable(request.table.name)} that were held out, fitted to the other {len(train):,}",
            unit=report_unit(model, request.outcome),
            random_state=request.seed,
        )
    return render_page(result.page)
