"""Tables with two competing causes, drawn from laws whose incidences are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData
from aldsurv.distributions import CauseHazards, CauseMixture, LogNormal, Weibull

__all__ = ["LAWS", "ROWS", "DrawnTable", "drawn_table"]

FloatArray = NDArray[np.float64]
ROWS, TEST_ROWS, COLUMNS = 10_000, 2_000, 6
# Times at which incidences are compared, up to the quantile of the observed times by which most have left.
_TIMES, _LAST_LEVEL = 50, 0.9
# P(cause 1) of Fine's and Gray's law where all covariates are 0.
_FIRST_SHARE = 0.55


@dataclass(frozen=True, eq=False)
class DrawnTable:
    """Rows to learn from, and rows whose incidences are known.

    Attributes
    ----------
    x, y
        Training rows.
    test_x
        Covariates of the others.
    times
        At which incidences are compared.
    incidence
        The true ones (causes, n, m).
    """

    x: FloatArray
    y: SurvivalData
    test_x: FloatArray
    times: FloatArray
    incidence: FloatArray


@dataclass(frozen=True)
class Law:
    """How times and causes depend on covariates.

    Attributes
    ----------
    title
        For readers.
    incidence
        Incidences (2, n, m) of covariates at times (m,).
    sample
        Draws time and cause of each row.
    censoring
        Mean time to a censoring, which is exponential.
    """

    title: str
    incidence: Callable[[FloatArray, FloatArray], FloatArray]
    sample: Callable[[FloatArray, np.random.Generator], tuple[FloatArray, NDArray[np.int64]]]
    censoring: float


def _hazards(x: FloatArray, *, apart: bool) -> CauseHazards:
    """Weibull hazards of the causes, one rising and one falling; `apart`: of no covariate in common, and not linear."""
    if apart:
        first = 0.9 * x[:, 0] - 0.8 * (x[:, 1] > 0.5)
        second = 0.8 * np.abs(x[:, 2]) - 0.7 * x[:, 2] * (x[:, 3] > 0)
    else:
        first = 0.8 * x[:, 0] - 0.4 * x[:, 1] * x[:, 2]
        second = 0.5 * x[:, 0] + 0.7 * np.sin(2 * x[:, 3])
    parts = [
        Weibull(10 * np.exp(-first / 1.6), np.full(len(x), 1.6)),
        Weibull(14 * np.exp(-second), np.full(len(x), 0.8)),
    ]
    return CauseHazards(parts)


def _sampled_hazards(x: FloatArray, rng: np.random.Generator, *, apart: bool) -> tuple[FloatArray, NDArray[np.int64]]:
    """The earlier of one time per cause."""
    times = np.stack([np.asarray(part.sample(random_state=rng)) for part in _hazards(x, apart=apart).parts])
    return times.min(axis=0), times.argmin(axis=0) + 1


def _mixture(x: FloatArray) -> CauseMixture:
    """A probability for each cause, and log-normal times given the cause."""
    share = 1 / (1 + np.exp(-(0.3 + 1.2 * x[:, 0] - 0.8 * np.abs(x[:, 1]))))
    parts = [
        LogNormal(1.5 + 0.6 * x[:, 2] - 0.4 * x[:, 0], np.full(len(x), 0.6)),
        LogNormal(2.0 - 0.5 * x[:, 3] * (x[:, 2] > 0), np.exp(-0.4 + 0.2 * x[:, 1])),
    ]
    return CauseMixture(parts, np.column_stack([share, 1 - share]))


def _subdistribution(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Hazard ratios of the first subdistribution, P(cause 1), and rates of the second cause's time."""
    ratio = np.exp(0.7 * x[:, 0] - 0.5 * x[:, 1])
    return ratio, 1 - (1 - _FIRST_SHARE) ** ratio, np.exp(0.4 * x[:, 0] + 0.5 * x[:, 2])


def _subdistribution_incidence(x: FloatArray, times: FloatArray) -> FloatArray:
    ratio, share, rate = (column[:, None] for column in _subdistribution(x))
    first = 1 - (1 - _FIRST_SHARE * -np.expm1(-times)) ** ratio
    return np.stack([first, (1 - share) * -np.expm1(-rate * times)])


def _sampled_subdistribution(x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.int64]]:
    ratio, share, rate = _subdistribution(x)
    first = rng.random(len(x)) < share
    # The inverse of the first incidence, given that cause.
    base = (1 - (1 - rng.random(len(x)) * share) ** (1 / ratio)) / _FIRST_SHARE
    time = np.where(first, -np.log1p(-np.minimum(base, 1 - 1e-12)), rng.exponential(1 / rate))
    return time, np.where(first, 1, 2)


def _from_hazards(
    *, apart: bool
) -> tuple[Callable[..., FloatArray], Callable[..., tuple[FloatArray, NDArray[np.int64]]]]:
    return (
        lambda x, times: _hazards(x, apart=apart).incidence(times),
        lambda x, rng: _sampled_hazards(x, rng, apart=apart),
    )


LAWS: dict[str, Law] = {
    "hazards": Law("Weibull hazards", *_from_hazards(apart=False), censoring=30.0),
    "mixture": Law(
        "log-normal mixture",
        lambda x, times: _mixture(x).incidence(times),
        lambda x, rng: _mixture(x).sample(random_state=rng),
        censoring=30.0,
    ),
    "subdistribution": Law("Fine-Gray", _subdistribution_incidence, _sampled_subdistribution, censoring=4.0),
    "censored": Law("Weibull hazards, heavy censoring", *_from_hazards(apart=False), censoring=2.0),
    "apart": Law("Weibull hazards, no covariate shared", *_from_hazards(apart=True), censoring=30.0),
}


def drawn_table(name: str, *, rows: int = ROWS, test_rows: int = TEST_ROWS, seed: int = 0) -> DrawnTable:
    """Draw the rows of a law, by its name in `LAWS`."""
    law, rng = LAWS[name], np.random.default_rng([seed, sorted(LAWS).index(name)])
    x, test_x = (rng.normal(size=(count, COLUMNS)) for count in (rows, test_rows))
    time, cause = law.sample(x, rng)
    end = rng.exponential(law.censoring, rows)
    y = SurvivalData.competing(np.minimum(time, end), np.where(time <= end, cause, 0))
    times = np.linspace(0, float(np.quantile(y.time, _LAST_LEVEL)), _TIMES + 1)[1:]
    return DrawnTable(x, y, test_x, times, law.incidence(test_x, times))
