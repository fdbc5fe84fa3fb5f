"""What the parts of a running service share: models, settings, metrics, threads, and how it is stopped."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, final

from aldsurv.serving.keys import ApiKeys
from aldsurv.serving.metrics import ServiceMetrics
from aldsurv.serving.requests.problems import ProblemError
from aldsurv.serving.served_model import ServedModel
from aldsurv.serving.settings import ServiceSettings

__all__ = ["Service"]

Result = TypeVar("Result")
# The end of a batch must be written within the time that a stop leaves.
_SHARE_OF_GRACE = 0.7


@final
class Service:
    """State of a service.

    Parameters
    ----------
    models
        By name.
    settings
        Limits and defaults.
    """

    def __init__(self, models: Mapping[str, ServedModel], settings: ServiceSettings) -> None:
        self.models, self.settings = dict(models), settings
        self.metrics, self.keys = ServiceMetrics(list(models.values())), ApiKeys(settings.api_keys)
        self.in_flight = 0
        self._stop_by: float | None = None
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="predict")

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop_by is not None

    @property
    def out_of_time(self) -> bool:
        """Whether what is still running has to come to its end."""
        return self._stop_by is not None and time.monotonic() > self._stop_by

    def stop(self) -> None:
        """Begin to stop: running requests are finished, long batches within the time of grace."""
        if self._stop_by is None:
            self._stop_by = time.monotonic() + _SHARE_OF_GRACE * self.settings.grace

    def close(self) -> None:
        """Let the threads go."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def model(self, name: str) -> ServedModel:
        """A model by its name; raises `ProblemError`."""
        if name not in self.models:
            raise ProblemError(404, f"there is no such model; there are {', '.join(self.models)}.")
        return self.models[name]

    async def in_thread(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """The result of work that would hold up other requests; raises `ProblemError` if it takes too long."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)
        try:
            return await asyncio.wait_for(future, self.settings.timeout)
        except (asyncio.TimeoutError, TimeoutError):
            raise ProblemError(
                504, f"the prediction took longer than {self.settings.timeout:g} s. Ask for fewer rows or times."
            ) from None
