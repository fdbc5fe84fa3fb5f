"""The synthetic datasets: event and censoring times drawn from stated distributions of the covariates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.datasets.dataset import Dataset
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.splitting import generator_for
from aldsurv.distributions import Exponential, LogNormal, Normal, SurvivalDistribution, Weibull
from aldsurv.errors import ParameterError

__all__ = ["SMALLEST_TIME", "draw"]

FloatArray = NDArray[np.float64]
Formula = Callable[[FloatArray], SurvivalDistribution]

# Normal times can come out at or below 0, where no time can be.
SMALLEST_TIME = 1e-3

_BETA = np.array([0.8, 0.6, 0.4, 0.5, -0.3, 0.2, 0.0, -0.7])


class _Times(NamedTuple):
    """How times depend on x (d, n): the event time, and the censoring time or the end of its uniform distribution."""

    event: Formula
    censoring: Formula | float


def _norm(x: FloatArray) -> Normal:
    return Normal(3 * x[0] + x[1] ** 2 - x[2] ** 2 + 2 * np.sin(x[2] * x[3]) + 6, x[0] + 0.5)


def _norm_released(x: FloatArray) -> Normal:
    return Normal(3 * x[0] + x[1] ** 2 - x[2] ** 2 + np.sin(x[2] * x[3]) + 6, 1.0)


def _lognorm(x: FloatArray) -> LogNormal:
    # A tenth of a log-normal time is log-normal too.
    return LogNormal(_BETA @ x - math.log(10), 1.0)


def _weibull_censoring(x: FloatArray) -> Weibull:
    return Weibull(20 - 3 * x[0], 5.0)


_PRINTED = {
    "norm_linear": _Times(
        lambda x: Normal(2 * x[0] + 10, x[0] + 1),
        lambda x: Normal(4 * x[0] + 10, 0.8 * x[0] + 0.4),
    ),
    "norm_nonlinear": _Times(
        lambda x: Normal(x[0] * np.sin(2 * x[0]) + 10, 0.5 * x[0] + 0.5),
        lambda x: Normal(2 * x[0] + 10, 2.0),
    ),
    "exponential": _Times(lambda x: Exponential(2 * x[0] + 4), lambda x: Exponential(15 - 3 * x[0])),
    "weibull": _Times(lambda x: Weibull(x[0] * np.sin(2 * x[0] - 2) + 10, 5.0), _weibull_censoring),
    "lognorm": _Times(lambda x: LogNormal((x[0] - 1) ** 2, x[0]), 10.0),
    "norm_uniform": _Times(lambda x: Normal(2 * x[0] * np.cos(2 * x[0]) + 13, x[0] + 0.5), 18.0),
    "norm_heavy": _Times(_norm, 12.0),
    "norm_med": _Times(_norm, 20.0),
    "norm_light": _Times(_norm, 40.0),
    "norm_same": _Times(_norm, _norm),
    "lognorm_heavy": _Times(_lognorm, 0.4),
    "lognorm_med": _Times(_lognorm, 1.0),
    "lognorm_light": _Times(_lognorm, 3.5),
    "lognorm_same": _Times(_lognorm, _lognorm),
}
_RELEASED = _PRINTED | {
    "weibull": _Times(lambda x: Weibull(4 * x[0] * np.sin(2 * x[0] - 2) + 10, 5.0), _weibull_censoring),
    "lognorm": _Times(lambda x: LogNormal((x[0] - 1) ** 2, 1.0), 10.0),
    "norm_uniform": _Times(lambda x: Normal(2 * x[0] * np.cos(2 * x[0]) + 13, x[0] ** 2 + 0.5), 18.0),
    "norm_heavy": _Times(_norm_released, 12.0),
    "norm_med": _Times(_norm_released, 20.0),
    "norm_light": _Times(_norm_released, 40.0),
    "norm_same": _Times(_norm_released, _norm_released),
}


def draw(info: DatasetInfo, *, seed: int, n_train: int | None, n_test: int | None) -> Dataset:
    """Rows of a synthetic dataset, with the distribution and both times of each.

    Parameters
    ----------
    info
        The dataset and its definition.
    seed
        Another seed gives other rows.
    n_train, n_test
        Rows of the two parts; None for those of the paper.
    """
    sizes = [info.n_train if n_train is None else n_train, info.n_test if n_test is None else n_test]
    for name, size in zip(("n_train", "n_test"), sizes, strict=True):
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise ParameterError(f"{name} must be a whole number from 1, but is {size!r}.")
    info = replace(info, n_train=int(sizes[0]), n_test=int(sizes[1]))
    times = (_RELEASED if info.definition == "released" else _PRINTED)[info.name]
    generator = generator_for(seed, f"{info.name} {info.definition}")
    # Never 0, where the log-normal distribution of standard deviation x would not be one.
    x = 2.0 - generator.uniform(0.0, 2.0, (info.rows, info.n_features))
    truth = times.event(x.T)
    event_time = _positive(truth.sample(random_state=generator))
    if isinstance(times.censoring, float):
        censoring_time = _positive(generator.uniform(0.0, times.censoring, info.rows))
    else:
        censoring_time = _positive(times.censoring(x.T).sample(random_state=generator))
    y = SurvivalData.right(np.minimum(event_time, censoring_time), event_time <= censoring_time)
    return Dataset(x, y, info, truth, event_time, censoring_time)


def _positive(time: FloatArray) -> FloatArray:
    return np.where(time > 0, time, SMALLEST_TIME)
