"""Rows with censored times: what was observed, checked once, and how rows are split."""

from aldsurv.data.rows.row_splitting import keep_together, split_rows
from aldsurv.data.survival_data import SurvivalData

__all__ = ["SurvivalData", "keep_together", "split_rows"]
