"""Special functions of the JavaScript runtime against scipy, into both tails."""

from __future__ import annotations

import numpy as np
import pytest

from export.javascript.node import needs_node, run_script

pytestmark = needs_node
special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")

X = np.concatenate([-np.geomspace(1e-12, 35, 60), [0.0], np.geomspace(1e-12, 35, 60), [1.4999, 1.5, -1.5]])
BELOW_ZERO = -np.geomspace(1e-15, 1e5, 80)
POSITIVE = np.geomspace(1e-6, 1e5, 80)


def evaluated(function: str, *columns: np.ndarray) -> np.ndarray:
    calls = [[function, *map(_portable, values)] for values in zip(*columns, strict=True)]
    return np.array(run_script("evaluate.mjs", {"file": "numerics/numerics.js", "calls": calls}), dtype=object)


def test_the_normal_distribution():
    given = evaluated("erfc", X).astype(float)
    np.testing.assert_allclose(given, special.erfc(X), rtol=1e-12)
    np.testing.assert_allclose(evaluated("logNormalCdf", X).astype(float), special.log_ndtr(X), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(
        evaluated("inverseLogNormalCdf", BELOW_ZERO).astype(float), special.ndtri_exp(BELOW_ZERO), rtol=1e-11
    )


def test_gamma_functions():
    near_roots = np.abs(special.gammaln(POSITIVE)) + 1e-2
    error = np.abs(evaluated("logGamma", POSITIVE).astype(float) - special.gammaln(POSITIVE)) / near_roots
    assert error.max() < 1e-12
    orders, places = (grid.ravel() for grid in np.meshgrid([0.05, 0.3, 1.0, 2.5, 20.0], np.geomspace(1e-8, 200, 40)))
    pairs = evaluated("incompleteGammas", orders, places)
    lower, upper = (np.array([pair[side] for pair in pairs]) for side in ("lower", "upper"))
    np.testing.assert_allclose(lower, special.gammainc(orders, places), rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(upper, special.gammaincc(orders, places), rtol=1e-11, atol=1e-15)


def test_the_quantile_of_student():
    levels, freedom = (grid.ravel() for grid in np.meshgrid([0.1, 0.5, 0.75, 0.95, 0.9995], [1, 2, 3, 4, 9, 19, 99]))
    given = evaluated("studentQuantile", levels, freedom).astype(float)
    np.testing.assert_allclose(given, stats.t.ppf(levels, freedom), rtol=1e-11, atol=1e-15)


def test_logarithms_that_would_cancel():
    exact = np.where(BELOW_ZERO < -1e-3, np.log1p(-np.exp(BELOW_ZERO)), np.log(-np.expm1(BELOW_ZERO)))
    np.testing.assert_allclose(evaluated("log1mexp", BELOW_ZERO).astype(float), exact, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(evaluated("softplus", X).astype(float), np.logaddexp(X, 0.0), rtol=1e-14)
    np.testing.assert_allclose(evaluated("logistic", X).astype(float), special.expit(X), rtol=1e-14)
    both = evaluated("logAddExp", np.full(3, -np.inf), np.array([-np.inf, 0.0, 2.0]))
    assert both.tolist() == [-np.inf, 0.0, 2.0]


def _portable(value: float) -> float | str:
    """JSON has no infinities."""
    return float(value) if np.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
