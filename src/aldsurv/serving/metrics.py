"""Counts and durations of requests in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from aldsurv.serving.served_model import ServedModel

__all__ = ["ServiceMetrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@final
class ServiceMetrics:
    """The metrics of one service, in a registry of their own.

    Parameters
    ----------
    models
        Those that are served.
    """

    def __init__(self, models: Sequence[ServedModel]) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.requests = Counter("aldsurv_requests", "Requests answered.", ["path", "status"], registry=self._registry)
        self.seconds = Histogram(
            "aldsurv_request_seconds",
            "Seconds from the head of a request to the end of its answer.",
            ["path"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.rows = Counter("aldsurv_rows", "Rows predicted for.", ["model"], registry=self._registry)
        self.refused_rows = Counter("aldsurv_refused_rows", "Rows refused.", ["model"], registry=self._registry)
        self.flagged = Counter(
            "aldsurv_flagged_rows", "Rows with a flag, by flag.", ["model", "flag"], registry=self._registry
        )
        self.in_flight = Gauge("aldsurv_requests_in_flight", "Requests under way.", registry=self._registry)
        about = Gauge(
            "aldsurv_model_info", "1 for each model that is served.", ["model", "digest", "version"],
            registry=self._registry,
        )  # fmt: skip
        for each in models:
            about.labels(each.name, each.digest, each.version or "").set(1)

    def add_rows(self, model: str, answers: Sequence[dict[str, Any]], flags: Sequence[str]) -> None:
        """Count rows that were predicted for, and their flags."""
        self.rows.labels(model).inc(len(answers))
        for flag in flags:
            if count := sum(1 for answer in answers if answer[flag]):
                self.flagged.labels(model, flag).inc(count)

    def text(self) -> tuple[bytes, str]:
        """All metrics, and the type of that text."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

        return generate_latest(self._registry), CONTENT_TYPE_LATEST
