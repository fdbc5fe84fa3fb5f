"""Which summaries of a distribution stand for it, where one parameter says so."""

from __future__ import annotations

from aldsurv.models.prediction.point_summaries import time_point

__all__ = ["PointParameterMixin"]


class PointParameterMixin:
    """An estimator whose parameter `point` is one of `aldsurv.models.prediction.point_summaries.RANKING_POINTS`."""

    point: str

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        return time_point(self.point)

    @property
    def ranking_point_(self) -> str:
        """The summary by which rows are ranked."""
        return self.point
