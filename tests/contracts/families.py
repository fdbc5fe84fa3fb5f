"""Random members of every registered family.

A parametric family needs nothing here: its parameters declare their domains. Others have a builder below; a
registered family with neither fails the contract tests by name.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from aldsurv.distributions import (
    AsymmetricLaplace,
    CovariatePath,
    Cured,
    Earliest,
    LeftTruncated,
    LogNormal,
    MixedAsymmetricLaplace,
    Mixture,
    ProportionalHazards,
    QuantileKnots,
    Recalibrated,
    ScaledHazard,
    Shifted,
    Step,
    Weibull,
)
from aldsurv.distributions.families.parametric import Parametric
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.registry import FAMILIES

NAMES = list(FAMILIES)
# Families whose probability sits on a grid: no density, a cdf with jumps.
DISCRETE = {"step", "proportional_hazards"}

# Families that divide by a survival: their cdf has an absolute error of rounding size, not a relative one.
CONDITIONED = {"covariate_path", "left_truncated", "positive_asymmetric_laplace", "mixed_asymmetric_laplace"}

_REAL = st.floats(-3.0, 12.0)
_POSITIVE = st.floats(-2.0, 1.2).map(math.exp)
_SEED = st.integers(0, 2**32 - 1)


def _column(draw: st.DrawFn, n: int, values: st.SearchStrategy[float]) -> np.ndarray:
    return np.array([draw(values) for _ in range(n)])


def parametric(draw: st.DrawFn, cls: type[Parametric], n: int) -> Parametric:
    domains = {"real": _REAL, "positive": _POSITIVE}
    return cls(**{name: _column(draw, n, domains[domain]) for name, domain in cls.parameters().items()})


def _smooth_weibull(draw: st.DrawFn, n: int) -> Weibull:
    """Without the pole or corner that a shape below 2 has at the start: moved elsewhere, numbers cannot resolve it."""
    return Weibull(_column(draw, n, _POSITIVE), 2 + _column(draw, n, _POSITIVE))


def _step(draw: st.DrawFn, n: int) -> Step:
    rng = np.random.default_rng(draw(_SEED))
    m = draw(st.integers(1, 12))
    times = np.cumsum(rng.gamma(2.0, 1.0, m))
    survival = -np.sort(-rng.uniform(size=(n, m)), axis=1)
    return Step(times, survival, tail=draw(st.sampled_from(["hold", "drop"])))


def _proportional_hazards(draw: st.DrawFn, n: int) -> ProportionalHazards:
    """Of one or two members, and of one to three strata with grids of their own."""
    rng = np.random.default_rng(draw(_SEED))
    members, strata = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    sizes = rng.integers(1, 12, strata)
    times = [np.cumsum(rng.gamma(2.0, 1.0, size)) for size in sizes]
    height, ends = draw(st.sampled_from([0.3, 3.0])), draw(st.booleans())
    hazard = [np.log(height * rng.gamma(0.5, size=(size, members)).cumsum(axis=0)) for size in sizes]
    for part in hazard if ends else ():
        part[-1] = np.inf
    return ProportionalHazards(
        np.concatenate(times),
        np.concatenate(hazard),
        rng.normal(size=(n, members)),
        sizes=sizes,
        strata=rng.integers(0, strata, n),
    )


def _quantile_knots(draw: st.DrawFn, n: int) -> QuantileKnots:
    rng = np.random.default_rng(draw(_SEED))
    m = draw(st.integers(2, 9))
    levels = np.sort(rng.uniform(0.02, 0.98, m)) + np.arange(m) * 1e-3
    quantiles = rng.normal(5.0, 4.0, (n, 1)) + rng.gamma(1.0, 2.0, (n, m)).cumsum(axis=1)
    return QuantileKnots(levels, quantiles)


def _mixture(draw: st.DrawFn, n: int) -> Mixture:
    parts = [
        parametric(draw, AsymmetricLaplace, n),
        _smooth_weibull(draw, n),
        parametric(draw, AsymmetricLaplace, n),
    ]
    rng = np.random.default_rng(draw(_SEED))
    return Mixture(parts, rng.dirichlet(np.ones(3), size=n))


def _mixed_asymmetric_laplace(draw: st.DrawFn, n: int) -> MixedAsymmetricLaplace:
    support = draw(st.sampled_from(["real", "positive", "log"]))
    # Of log time: e^12 would be far from the horizons at which the laws are tried.
    place = st.floats(-2.0, 3.0) if support == "log" else _REAL
    columns = [
        np.stack([_column(draw, n, values) for _ in range(3)], axis=1) for values in (place, _POSITIVE, _POSITIVE)
    ]
    weights = np.random.default_rng(draw(_SEED)).dirichlet(np.ones(3), size=n)
    return MixedAsymmetricLaplace(*columns, weights, support=support)


def _left_truncated(draw: st.DrawFn, n: int) -> LeftTruncated:
    base = parametric(draw, LogNormal, n)
    return LeftTruncated(base, base.quantile(draw(st.floats(0.01, 0.95))))


def _cured(draw: st.DrawFn, n: int) -> Cured:
    base = parametric(draw, draw(st.sampled_from([AsymmetricLaplace, LogNormal])), n)
    # Shares at which no level of the laws ends: there rounding decides between the last events and none.
    return Cured(base, _column(draw, n, st.sampled_from([0.0, 1.3e-9, 0.053, 0.57])))


def _earliest(draw: st.DrawFn, n: int) -> Earliest:
    return Earliest([parametric(draw, LogNormal, n), parametric(draw, AsymmetricLaplace, n), _smooth_weibull(draw, n)])


def _shifted(draw: st.DrawFn, n: int) -> Shifted:
    return Shifted(_smooth_weibull(draw, n), np.round(_column(draw, n, _REAL), 6))


def _recalibrated(draw: st.DrawFn, n: int) -> Recalibrated:
    rng = np.random.default_rng(draw(_SEED))
    steps = rng.uniform(0.4, 1.0, (2, draw(st.integers(1, 6))))
    knots, values = steps.cumsum(axis=1) - rng.uniform(0.5, 2.5, (2, 1))
    return Recalibrated(parametric(draw, AsymmetricLaplace, n), LevelMap(knots, values))


def _scaled_hazard(draw: st.DrawFn, n: int) -> ScaledHazard:
    # Of positive times: the mean of a symmetric law is 0 except for rounding, which no relative bound allows.
    base = parametric(draw, LogNormal, n) if draw(st.booleans()) else _smooth_weibull(draw, n)
    return ScaledHazard(base, _column(draw, n, st.floats(-1.5, 1.5).map(math.exp)))


def _covariate_path(draw: st.DrawFn, n: int) -> CovariatePath:
    """Of up to three episodes, from the start or after a delayed entry; some rows have fewer."""
    parts = [_smooth_weibull(draw, n), parametric(draw, LogNormal, n), _smooth_weibull(draw, n)]
    parts = parts[: draw(st.integers(1, 3))]
    starts = np.stack([np.round(_column(draw, n, st.floats(0.05, 2.0)), 6) for _ in parts], axis=1).cumsum(axis=1)
    starts[:, 0] = draw(st.sampled_from([-np.inf, 0.04]))
    starts[0, 1 + draw(st.integers(0, len(parts) - 1)) :] = np.inf
    return CovariatePath(parts, starts)


BUILDERS = {
    "covariate_path": _covariate_path,
    "step": _step,
    "proportional_hazards": _proportional_hazards,
    "quantile_knots": _quantile_knots,
    "mixture": _mixture,
    "mixed_asymmetric_laplace": _mixed_asymmetric_laplace,
    "left_truncated": _left_truncated,
    "cured": _cured,
    "earliest": _earliest,
    "shifted": _shifted,
    "recalibrated": _recalibrated,
    "scaled_hazard": _scaled_hazard,
}


@st.composite
def members(draw: st.DrawFn, name: str, rows: int | None = None):
    """A distribution of the family ``name`` with a few rows."""
    n = draw(st.integers(1, 3)) if rows is None else rows
    cls = FAMILIES.load(name)
    if name in BUILDERS:
        return BUILDERS[name](draw, n)
    if issubclass(cls, Parametric):
        return parametric(draw, cls, n)
    raise AssertionError(f"family {name!r} is not parametric and has no builder in tests/contracts/families.py")
