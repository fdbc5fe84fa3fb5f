from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
from lifelines import CoxPHFitter, NelsonAalenFitter
from sksurv.linear_model.coxph import BreslowEstimator

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.nonparametric.breslow import BaselineHazard, baseline_hazard

EXACT = {"rtol": 1e-12, "atol": 0}


def simulated(
    seed: int, n: int = 200, *, ties: bool = True, entry: bool = False, weight: bool = False
) -> tuple[SurvivalData, np.ndarray]:
    rng = np.random.default_rng(seed)
    risk = rng.normal(0, 2, n)
    time = rng.exponential(20, n) * np.exp(-risk / 4)
    time = np.ceil(time) if ties else time
    entries = np.where(rng.random(n) < 0.5, np.floor(time * rng.random(n)), -np.inf) if entry else None
    weights = rng.choice([0.0, 0.3, 1.0, 2.5], n) if weight else None
    return SurvivalData.right(time, rng.random(n) < 0.6, entry=entries, weight=weights), risk


def by_definition(data: SurvivalData, risk: np.ndarray, ties: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and cumulative hazard, row by row, in 50 digits."""
    with mpmath.workdps(50):
        share = [mpmath.mpf(w) * mpmath.exp(r) for w, r in zip(data.weights.tolist(), risk.tolist(), strict=True)]
        entry = np.full(len(data), -np.inf) if data.entry is None else data.entry
        times = np.unique(data.time[data.event & (data.weights > 0)])
        total, found = mpmath.mpf(0), []
        for t in times:
            at_risk = np.flatnonzero((entry < t) & (t <= data.time))
            tied = np.flatnonzero((data.time == t) & data.event & (data.weights > 0))
            whole, part = sum(share[i] for i in at_risk), sum(share[i] for i in tied)
            weight = mpmath.mpf(float(data.weights[tied].sum())) / len(tied)
            for k in range(len(tied)):
                gone = mpmath.mpf(k) / len(tied) if ties == "efron" else 0
                total += weight / (whole - gone * part)
            found.append(mpmath.log(total))
        return times, np.array([float(value) for value in found])


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.parametrize("spread", [0.0, 1.0, 400.0])
def test_the_definition_in_fifty_digits(ties: str, entry: bool, weight: bool, spread: float) -> None:
    data, risk = simulated(1, 120, entry=entry, weight=weight)
    times, log_cumulative = by_definition(data, spread * risk, ties)
    found = baseline_hazard(data, spread * risk, ties=ties)
    np.testing.assert_array_equal(found.times, times)
    np.testing.assert_allclose(found.log_cumulative, log_cumulative, rtol=1e-12, atol=1e-12)
    if spread <= 1:
        np.testing.assert_allclose(found.cumulative, np.exp(log_cumulative), rtol=1e-11)


def test_breslow_as_in_scikit_survival() -> None:
    data, risk = simulated(2)
    oracle = BreslowEstimator().fit(risk, data.event, data.time).cum_baseline_hazard_
    found = baseline_hazard(data, risk, ties="breslow")
    np.testing.assert_allclose(np.exp(found.log_cumulative_at(oracle.x)), oracle.y, **EXACT)


@pytest.mark.parametrize("strata", [False, True])
def test_breslow_as_in_lifelines_with_weights_and_strata(strata: bool) -> None:
    import pandas as pd

    # Without entry, which lifelines heeds in the coefficients but not in the baseline.
    data, _ = simulated(3, 300)
    rng = np.random.default_rng(3)
    covariate, stratum, weight = rng.normal(size=300), rng.integers(0, 3, 300), rng.integers(1, 4, 300)
    frame = pd.DataFrame({"t": data.time, "e": data.event, "x": covariate, "w": weight, "s": stratum})
    options = {"strata": ["s"]} if strata else {}
    frame = frame if strata else frame.drop(columns="s")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = CoxPHFitter().fit(frame, "t", "e", weights_col="w", **options)
    weighted = SurvivalData.right(data.time, data.event, weight=weight.astype(float))
    risk = (covariate - covariate.mean()) * oracle.params_["x"]
    if strata:
        found = baseline_hazard(weighted, risk, ties="breslow", strata=stratum)
        curves = dict(zip(found.levels.tolist(), found.baselines, strict=True))
    else:
        curves = {"baseline cumulative hazard": baseline_hazard(weighted, risk, ties="breslow")}
    table = oracle.baseline_cumulative_hazard_
    assert len(curves) == table.shape[1]
    for name, curve in curves.items():
        column = table[name]
        # lifelines takes the mean of x with what pandas gives it; its own numbers are good to nine digits.
        np.testing.assert_allclose(np.exp(curve.log_cumulative_at(column.index)), column, rtol=1e-8, atol=1e-12)


def test_efron_without_risks_is_lifelines_smoothed_nelson_aalen() -> None:
    data, _ = simulated(4, 300, entry=True)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = NelsonAalenFitter(nelson_aalen_smoothing=True).fit(data.time, data.event, entry=data.entry.clip(0))
    column = oracle.cumulative_hazard_.iloc[:, 0]
    found = baseline_hazard(data, np.zeros(300), ties="efron")
    np.testing.assert_allclose(np.exp(found.log_cumulative_at(column.index)), column, rtol=1e-12, atol=1e-15)


def test_efron_lies_between_breslow_and_the_events_one_by_one() -> None:
    data, risk = simulated(5)
    low, high = (baseline_hazard(data, risk, ties=ties).log_cumulative for ties in ("breslow", "efron"))
    assert np.all(low <= high)
    assert low[-1] < high[-1]
    data, risk = simulated(5, ties=False)
    low, high = (baseline_hazard(data, risk, ties=ties).log_cumulative for ties in ("breslow", "efron"))
    np.testing.assert_array_equal(low, high)


def test_a_shift_of_all_log_risks_changes_no_distribution_even_a_huge_one() -> None:
    data, risk = simulated(6, entry=True)
    one = baseline_hazard(data, risk).distribution(risk[:7])
    for shift in (-5000.0, 5000.0):
        other = baseline_hazard(data, risk + shift).distribution(risk[:7] + shift)
        np.testing.assert_allclose(other.to_step().values, one.to_step().values, rtol=1e-9)


def test_the_order_of_rows_and_absent_rows_change_nothing() -> None:
    data, risk = simulated(7, entry=True, weight=True)
    found = baseline_hazard(data, risk)
    order = np.random.default_rng(0).permutation(len(data))
    order = order[data.weights[order] > 0]
    other = baseline_hazard(data[order], risk[order])
    np.testing.assert_array_equal(found.times, other.times)
    np.testing.assert_allclose(found.log_cumulative, other.log_cumulative, rtol=1e-13, atol=1e-13)


def test_a_whole_weight_is_so_many_rows() -> None:
    data, risk = simulated(8, ties=False)
    count = np.random.default_rng(8).integers(1, 4, len(data))
    weighted = SurvivalData.right(data.time, data.event, weight=count.astype(float))
    many = np.repeat(np.arange(len(data)), count)
    one = baseline_hazard(weighted, risk, ties="breslow")
    other = baseline_hazard(data[many], risk[many], ties="breslow")
    np.testing.assert_allclose(one.log_cumulative, other.log_cumulative, rtol=1e-12, atol=1e-13)


def test_each_stratum_is_estimated_from_its_rows_alone() -> None:
    data, risk = simulated(9)
    stratum = np.array(["b", "a", "c", "a"])[np.arange(len(data)) % 4]
    found = baseline_hazard(data, risk, strata=stratum)
    assert found.levels.tolist() == ["a", "b", "c"]
    together = found.distribution(risk, stratum)
    for level, baseline in zip(found.levels, found.baselines, strict=True):
        rows = np.flatnonzero(stratum == level)
        alone = baseline_hazard(data[rows], risk[rows])
        np.testing.assert_array_equal(baseline.log_cumulative, alone.log_cumulative)
        times = np.linspace(0, 100, 37)
        np.testing.assert_array_equal(together[rows].survival(times), alone.distribution(risk[rows]).survival(times))


def test_survival_is_that_of_proportional_hazards_and_held_at_the_end() -> None:
    data, risk = simulated(10)
    baseline = baseline_hazard(data, risk)
    predicted = baseline.distribution([0.0, 1.0, -800.0, 800.0])
    expected = np.exp(-np.outer(np.exp([0.0, 1.0]), baseline.cumulative))
    np.testing.assert_allclose(predicted.survival(baseline.times)[:2], expected, rtol=1e-10, atol=1e-300)
    np.testing.assert_array_equal(
        predicted.survival(baseline.times)[2:], np.outer([1.0, 0.0], np.ones(len(expected[0])))
    )
    np.testing.assert_array_equal(predicted.survival(1e9), predicted.survival(baseline.times[-1]))
    assert predicted.survival(baseline.times[0] / 2)[1] == 1


def test_no_events_no_hazard() -> None:
    found = baseline_hazard(SurvivalData.right([3, 5, 4], [0, 0, 0]), [1.0, 2.0, 3.0])
    assert isinstance(found, BaselineHazard)
    np.testing.assert_array_equal(found.distribution([0.0, 9.0]).survival([1.0, 6.0]), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"log_risk": [1.0, 2.0]}, ParameterError, r"log_risk must be one number per row \(3,\), but has shape \(2,\)"),
        ({"log_risk": [1.0, np.nan, 2.0]}, ParameterError, r"log_risk must be finite, but is nan \(row 1\)"),
        ({"ties": "exact"}, ParameterError, "ties must be 'efron' or 'breslow', but is 'exact'"),
        ({"strata": [1, 2]}, ParameterError, r"strata must be one value per row \(3,\)"),
        ({"strata": [1.0, np.nan, 2.0]}, ParameterError, "strata must not be NaN"),
        ({"strata": np.array([1, "a", 2], object)}, ParameterError, "strata must be all numbers or all text"),
        ({"data": SurvivalData.interval([1, 2, 3], [2, 4, 5])}, CensoringError, "3 of 3 rows have left- or interval"),
        (
            {"data": SurvivalData.right([1, 2, 3], [1, 1, 1], weight=[0, 0, 1])[:2], "log_risk": [1.0, 2.0]},
            DataError,
            "at least one row of positive",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(options: dict, error: type, message: str) -> None:
    given = {"data": SurvivalData.right([1, 2, 3], [1, 1, 0]), "log_risk": np.zeros(3), **options}
    with pytest.raises(error, match=message):
        baseline_hazard(given.pop("data"), given.pop("log_risk"), **given)


def test_an_unknown_stratum_is_named() -> None:
    found = baseline_hazard(SurvivalData.right([1, 2, 3], [1, 1, 0]), np.zeros(3), strata=["x", "y", "x"])
    with pytest.raises(DataError, match="stratum 'z' was not in the training data"):
        found.distribution([0.0, 0.0], ["x", "z"])
