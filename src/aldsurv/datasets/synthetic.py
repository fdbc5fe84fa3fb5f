"""The synthetic datasets: event and censoring times drawn from stated distributions of the covariates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.datasets.dataset import Dataset
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.splitting import generator_for
from aldsurv.registry import FAMILIES

if TYPE_CHECKING:
    from aldsurv.distributions import SurvivalDistribution

__all__ = ["RELEASED", "SMALLEST_TIME", "SYNTHETIC", "draw"]

FloatArray = NDArray[np.float64]

# Normal times can come out at or below 0, where no time can be.
SMALLEST_TIME = 1e-3

_ALD = (
    "Sheng and Henao (2025), Learning survival distributions with the asymmetric Laplace distribution, "
    "International Conference on Machine Learning (ICML 2025)"
)
# Rows for training and testing by the number of columns of x.
_ROWS = {1: (500, 1000), 4: (2000, 1000), 8: (4000, 1000)}
_BETA = np.array([0.8, 0.6, 0.4, 0.5, -0.3, 0.2, 0.0, -0.7])


@final
@dataclass(frozen=True)
class _Formula:
    """How a time depends on the covariates x (d, n): in words, and as a family and its parameters."""

    text: str
    family: str
    parameters: Callable[[FloatArray], tuple[FloatArray | float, ...]]

    def distribution(self, x: FloatArray) -> SurvivalDistribution:
        return cast("SurvivalDistribution", FAMILIES.load(self.family)(*self.parameters(x)))


@final
@dataclass(frozen=True)
class _Uniform:
    """Times between 0 and an end, whatever the covariates."""

    end: float

    @property
    def text(self) -> str:
        return f"U(0, {self.end:g})"


@final
@dataclass(frozen=True)
class _Times:
    """Event and censoring times, and the share of censored rows by integration over x (the tests repeat it)."""

    event: _Formula
    censoring: _Formula | _Uniform
    censored: float


@final
@dataclass(frozen=True)
class _SyntheticDataset:
    """A dataset as the paper prints it, and as the code released with the paper draws it where that differs."""

    name: str
    title: str
    n_features: int
    censored_in_paper: float
    printed: _Times
    released: _Times | None = None

    def record(self, definition: Literal["printed", "released"]) -> DatasetInfo:
        """The record of one of the two definitions."""
        times = self.times(definition)
        several = "" if self.n_features == 1 else f" in each of {self.n_features} columns"
        return DatasetInfo(
            name=self.name,
            location="aldsurv.datasets.synthetic:draw",
            title=self.title,
            purpose=f"event time {times.event.text}, censoring time {times.censoring.text}",
            kind="synthetic",
            n_train=_ROWS[self.n_features][0],
            n_test=_ROWS[self.n_features][1],
            feature_names=("x",) if not several else tuple(f"x{column}" for column in range(self.n_features)),
            censored=times.censored,
            censored_in_paper=self.censored_in_paper,
            unit="no unit",
            source=f"drawn when loaded, x uniform on (0, 2){several}",
            licence="none needed",
            citation=_ALD,
            definition=definition,
        )

    def times(self, definition: str | None) -> _Times:
        """Those of one of the two definitions."""
        return self.released if definition == "released" and self.released is not None else self.printed


def _as_event(event: _Formula) -> _Formula:
    return replace(event, text="as the event time")


_NORM = _Formula(
    "N(3x0 + x1² - x2² + 2 sin(x2 x3) + 6, x0 + 0.5)",
    "normal",
    lambda x: (3 * x[0] + x[1] ** 2 - x[2] ** 2 + 2 * np.sin(x[2] * x[3]) + 6, x[0] + 0.5),
)
_NORM_RELEASED = _Formula(
    "N(3x0 + x1² - x2² + sin(x2 x3) + 6, 1)",
    "normal",
    lambda x: (3 * x[0] + x[1] ** 2 - x[2] ** 2 + np.sin(x[2] * x[3]) + 6, 1.0),
)
_LOGNORM = _Formula(
    "LogNorm(βx, 1)/10, β = (0.8, 0.6, 0.4, 0.5, -0.3, 0.2, 0, -0.7)",
    # A tenth of a log-normal time is log-normal too.
    "log_normal",
    lambda x: (_BETA @ x - math.log(10), 1.0),
)
_WEIBULL_CENSORING = _Formula("Weibull(20 - 3x, 5)", "weibull", lambda x: (20 - 3 * x[0], 5.0))

_DATASETS = (
    _SyntheticDataset(
        "norm_linear",
        "Norm linear",
        n_features=1,
        censored_in_paper=0.20,
        printed=_Times(
            _Formula("N(2x + 10, x + 1)", "normal", lambda x: (2 * x[0] + 10, x[0] + 1)),
            _Formula("N(4x + 10, 0.8x + 0.4)", "normal", lambda x: (4 * x[0] + 10, 0.8 * x[0] + 0.4)),
            censored=0.230,
        ),
    ),
    _SyntheticDataset(
        "norm_nonlinear",
        "Norm non-linear",
        n_features=1,
        censored_in_paper=0.24,
        printed=_Times(
            _Formula(
                "N(x sin 2x + 10, 0.5x + 0.5)", "normal", lambda x: (x[0] * np.sin(2 * x[0]) + 10, 0.5 * x[0] + 0.5)
            ),
            _Formula("N(2x + 10, 2)", "normal", lambda x: (2 * x[0] + 10, 2.0)),
            censored=0.267,
        ),
    ),
    _SyntheticDataset(
        "exponential",
        "Exponential",
        n_features=1,
        censored_in_paper=0.30,
        printed=_Times(
            _Formula("Exp(mean 2x + 4)", "exponential", lambda x: (2 * x[0] + 4,)),
            _Formula("Exp(mean 15 - 3x)", "exponential", lambda x: (15 - 3 * x[0],)),
            censored=0.336,
        ),
    ),
    _SyntheticDataset(
        "weibull",
        "Weibull",
        n_features=1,
        censored_in_paper=0.22,
        printed=_Times(
            _Formula("Weibull(x sin(2x - 2) + 10, 5)", "weibull", lambda x: (x[0] * np.sin(2 * x[0] - 2) + 10, 5.0)),
            _WEIBULL_CENSORING,
            censored=0.107,
        ),
        released=_Times(
            _Formula(
                "Weibull(4x sin(2x - 2) + 10, 5)", "weibull", lambda x: (4 * x[0] * np.sin(2 * x[0] - 2) + 10, 5.0)
            ),
            _WEIBULL_CENSORING,
            censored=0.232,
        ),
    ),
    _SyntheticDataset(
        "lognorm",
        "LogNorm",
        n_features=1,
        censored_in_paper=0.21,
        printed=_Times(
            _Formula("LogNorm((x - 1)², x)", "log_normal", lambda x: ((x[0] - 1) ** 2, x[0])),
            _Uniform(10.0),
            censored=0.221,
        ),
        released=_Times(
            _Formula("LogNorm((x - 1)², 1)", "log_normal", lambda x: ((x[0] - 1) ** 2, 1.0)),
            _Uniform(10.0),
            censored=0.222,
        ),
    ),
    _SyntheticDataset(
        "norm_uniform",
        "Norm uniform",
        n_features=1,
        censored_in_paper=0.62,
        printed=_Times(
            _Formula("N(2x cos 2x + 13, x + 0.5)", "normal", lambda x: (2 * x[0] * np.cos(2 * x[0]) + 13, x[0] + 0.5)),
            _Uniform(18.0),
            censored=0.657,
        ),
        released=_Times(
            _Formula(
                "N(2x cos 2x + 13, x² + 0.5)", "normal", lambda x: (2 * x[0] * np.cos(2 * x[0]) + 13, x[0] ** 2 + 0.5)
            ),
            _Uniform(18.0),
            censored=0.657,
        ),
    ),
    _SyntheticDataset(
        "norm_heavy",
        "Norm heavy",
        n_features=4,
        censored_in_paper=0.80,
        printed=_Times(_NORM, _Uniform(12.0), censored=0.798),
        released=_Times(_NORM_RELEASED, _Uniform(12.0), censored=0.774),
    ),
    _SyntheticDataset(
        "norm_med",
        "Norm med",
        n_features=4,
        censored_in_paper=0.49,
        printed=_Times(_NORM, _Uniform(20.0), censored=0.503),
        released=_Times(_NORM_RELEASED, _Uniform(20.0), censored=0.476),
    ),
    _SyntheticDataset(
        "norm_light",
        "Norm light",
        n_features=4,
        censored_in_paper=0.25,
        printed=_Times(_NORM, _Uniform(40.0), censored=0.251),
        released=_Times(_NORM_RELEASED, _Uniform(40.0), censored=0.238),
    ),
    _SyntheticDataset(
        "norm_same",
        "Norm same",
        n_features=4,
        censored_in_paper=0.50,
        printed=_Times(_NORM, _as_event(_NORM), censored=0.500),
        released=_Times(_NORM_RELEASED, _as_event(_NORM_RELEASED), censored=0.500),
    ),
    _SyntheticDataset(
        "lognorm_heavy",
        "LogNorm heavy",
        n_features=8,
        censored_in_paper=0.75,
        printed=_Times(_LOGNORM, _Uniform(0.4), censored=0.750),
    ),
    _SyntheticDataset(
        "lognorm_med",
        "LogNorm med",
        n_features=8,
        censored_in_paper=0.52,
        printed=_Times(_LOGNORM, _Uniform(1.0), censored=0.527),
    ),
    _SyntheticDataset(
        "lognorm_light",
        "LogNorm light",
        n_features=8,
        censored_in_paper=0.23,
        printed=_Times(_LOGNORM, _Uniform(3.5), censored=0.239),
    ),
    _SyntheticDataset(
        "lognorm_same",
        "LogNorm same",
        n_features=8,
        censored_in_paper=0.50,
        printed=_Times(_LOGNORM, _as_event(_LOGNORM), censored=0.500),
    ),
)
_BY_NAME = {dataset.name: dataset for dataset in _DATASETS}

SYNTHETIC = tuple(dataset.record("printed") for dataset in _DATASETS)
"""The records of the synthetic datasets, by the definitions that the paper prints."""

RELEASED = {dataset.name: dataset.record("released") for dataset in _DATASETS}
"""The same by the definitions of the code released with the paper, by name; seven of them differ."""


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
    check("n_train", n_train, WholeNumber(1), none=True)
    check("n_test", n_test, WholeNumber(1), none=True)
    info = replace(
        info,
        n_train=info.n_train if n_train is None else int(n_train),
        n_test=info.n_test if n_test is None else int(n_test),
    )
    times = _BY_NAME[info.name].times(info.definition)
    generator = generator_for(seed, f"{info.name} {info.definition}")
    # Never 0, where the log-normal distribution of standard deviation x would not be one.
    x = 2.0 - generator.uniform(0.0, 2.0, (info.rows, info.n_features))
    truth = times.event.distribution(x.T)
    event_time = _positive(truth.sample(random_state=generator))
    if isinstance(times.censoring, _Uniform):
        censoring_time = _positive(generator.uniform(0.0, times.censoring.end, info.rows))
    else:
        censoring_time = _positive(times.censoring.distribution(x.T).sample(random_state=generator))
    y = SurvivalData.right(np.minimum(event_time, censoring_time), event_time <= censoring_time)
    return Dataset(x, y, info, truth, event_time, censoring_time)


def _positive(time: FloatArray) -> FloatArray:
    return np.where(time > 0, time, SMALLEST_TIME)
