"""Sample sizes of validation: published numbers, a simulation of the published method, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from aldsurv.errors import ParameterError
from aldsurv.planning import validation_sample_size
from aldsurv.planning.planned_population import PlannedPopulation

# Recurrent thromboembolism in Riley et al. (2022): D = 1.115, so that the linear predictor has the standard deviation
# 0.699; hazard 0.052·exp(LP), horizon 3 years, censoring at the rate 0.418.
SPREAD, HAZARD, CENSORING, HORIZON = 0.699, 0.052, 0.418, 3.0


def thromboembolism() -> PlannedPopulation:
    def density(x: float) -> float:
        return stats.norm.pdf(x, scale=SPREAD) * -math.expm1(-HAZARD * HORIZON * math.exp(x))

    risk = integrate.quad(density, -8, 8)[0]
    return PlannedPopulation(risk, SPREAD, -math.expm1(-CENSORING * HORIZON))


def test_equals_pmvalsampsize_to_the_person():
    # The tests of pmvalsampsize (CRAN): prevalence 0.018, C 0.8; without censoring the formulas are the same.
    size = validation_sample_size(0.018, c_index=0.8, ratio_width=1.0)
    assert size.criterion("observed/expected").rows == 905
    assert size.criterion("concordance").rows == 4252


def test_equals_what_pmvalsampsize_prints(frozen_sizes):
    for expected in frozen_sizes["validation"]:
        widths = {"ratio_width": expected["ratio_width"], "c_width": expected["c_width"]}
        size = validation_sample_size(expected["risk"], c_index=expected["c_index"], **widths)
        assert size.criterion("observed/expected").rows == expected["ratio"]
        assert size.criterion("concordance").rows == expected["concordance"]


@pytest.mark.parametrize(("people", "error"), [(5000, 0.08738), (4000, 0.09745), (3400, 0.10790)])
def test_slope_has_the_published_standard_error(people, error):
    # Means of 50 simulations each, from the code of the authors.
    assert math.sqrt(thromboembolism().slope_variance() / people) == pytest.approx(error, rel=0.025)


def test_concordance_has_the_published_standard_error():
    # 3600 people: 0.01425576 in the authors' simulations, with C 0.69.
    observed = thromboembolism().observed_share()
    n, c = 3600, 0.69
    size = validation_sample_size(0.17, c_index=c, censored=1 - math.exp(-1.254), c_width=2 * 1.96 * 0.01425576)
    assert size.criterion("concordance").rows == pytest.approx(n, rel=0.06)
    # 513 events of 5000 and 403 of 4000 people in their simulations.
    assert observed == pytest.approx((513 + 403) / 9000, rel=0.02)


def pseudo_observations(time: np.ndarray, event: np.ndarray, horizon: float) -> np.ndarray:
    """Of the event by the horizon, from Kaplan-Meier without each row; times are distinct and ascending."""
    n = time.size
    at_risk = n - np.arange(n)
    inside = event & (time <= horizon)
    everyone = np.where(inside, 1 - 1 / at_risk, 1.0)
    smaller = np.where(inside & (at_risk > 1), 1 - 1 / np.maximum(at_risk - 1, 1), 1.0)
    before = np.concatenate([[1.0], np.cumprod(smaller)[:-1]])
    after = everyone.prod() / np.cumprod(everyone)
    return n * (1 - everyone.prod()) - (n - 1) * (1 - before * after)


def robust_error(x: np.ndarray, y: np.ndarray) -> float:
    """Robust standard error of the slope of y on x with complementary log-log link and the same weight for all."""
    design, slope = np.stack([np.ones(x.size), x], axis=1), np.array([0.0, 1.0])
    for _ in range(8):
        linear = design @ slope
        mean, rise = -np.expm1(-np.exp(linear)), np.exp(linear - np.exp(linear))
        weighted = design * rise[:, None]
        slope = slope + np.linalg.solve(weighted.T @ weighted, weighted.T @ (y - mean))
    bread = np.linalg.inv(weighted.T @ weighted)
    return float(np.sqrt((bread @ ((weighted * ((y - mean) ** 2)[:, None]).T @ weighted) @ bread)[1, 1]))


@pytest.mark.parametrize(("risk", "spread", "censored"), [(0.3, 0.8, 0.4), (0.5, 0.5, 0.0), (0.17, 0.7, 0.7)])
def test_slope_and_ratio_equal_a_simulation(risk, spread, censored):
    population = PlannedPopulation(risk, spread, censored)
    rng, n = np.random.default_rng(0), 2000
    errors, risks = [], []
    for _ in range(40):
        x = rng.normal(0, spread, n)
        event_time = rng.exponential(1 / (population.baseline * np.exp(x)))
        end = rng.exponential(1 / population.censoring_rate, n) if censored else np.full(n, np.inf)
        time = np.minimum(np.minimum(event_time, end), 1 + rng.random(n) / 1e6)
        order = np.argsort(time)
        x, time, event = x[order], time[order], (event_time <= np.minimum(end, 1))[order]
        pseudo = pseudo_observations(time, event, 1.0)
        errors.append(robust_error(math.log(population.baseline) + x, pseudo))
        risks.append(pseudo.mean())
    assert np.mean(errors) == pytest.approx(math.sqrt(population.slope_variance() / n), rel=0.04)
    assert np.mean(risks) == pytest.approx(risk, abs=0.005)
    # The standard deviation of 40 draws is known to 11 %.
    assert np.std(risks) == pytest.approx(math.sqrt(population.part().variance / n), rel=0.4)


def test_variance_without_censoring_is_binomial():
    population = PlannedPopulation(0.3, 0.9)
    assert population.part().variance == pytest.approx(0.21)
    assert population.observed_share() == pytest.approx(0.3)


def test_variance_with_censoring_is_greenwoods_of_an_exponential():
    # Without any spread all have the hazard -ln(0.7).
    population = PlannedPopulation(0.3, 1e-6, 0.5)
    total = -math.log(0.7) - math.log(0.5)
    expected = 0.49 * -math.log(0.7) / total * math.expm1(total)
    assert population.part().variance == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("threshold", [0.1, 0.25, 0.5])
def test_net_benefit_without_censoring_is_the_published_formula(threshold):
    risk, c = 0.2, 0.75
    size = validation_sample_size(risk, c_index=c, threshold=threshold)
    population = PlannedPopulation(risk, size.facts["spread"], 0.0, threshold)
    cut = math.log(-math.log1p(-threshold) / population.baseline)

    def part(event: bool, low: float, high: float) -> float:
        def density(x: float) -> float:
            survival = math.exp(-population.baseline * math.exp(x))
            return stats.norm.pdf(x, scale=population.spread) * (1 - survival if event else survival)

        return integrate.quad(density, low, high, epsabs=1e-13, limit=200)[0]

    reach = 9 * population.spread
    sensitivity, specificity = part(True, cut, reach) / risk, part(False, -reach, cut) / (1 - risk)
    weight = (1 - risk) / risk * threshold / (1 - threshold)
    benefit = sensitivity - (1 - specificity) * weight
    assert size.facts["standardised_net_benefit"] == pytest.approx(benefit)
    # Equation of Riley et al. (2021) with the standard error 0.051 for a width of 0.2.
    terms = sensitivity * (1 - sensitivity) / risk + weight**2 * specificity * (1 - specificity) / (1 - risk)
    terms += weight**2 * (1 - specificity) ** 2 / (risk * (1 - risk))
    assert size.criterion("net benefit").rows == math.ceil(terms / 0.051**2)


@settings(max_examples=15)
@given(st.floats(0.05, 0.6), st.floats(0.55, 0.85), st.floats(0, 0.8))
def test_wider_intervals_and_less_censoring_need_fewer_people(risk, c, censored):
    size = validation_sample_size(risk, c_index=c, censored=censored)
    wide = {"ratio_width": 0.3, "slope_width": 0.3, "c_width": 0.15}
    for other in (
        validation_sample_size(risk, c_index=c, censored=censored, **wide),
        validation_sample_size(risk, c_index=c, censored=censored / 2),
    ):
        for ours, others in zip(size.criteria, other.criteria, strict=True):
            # The share of cases nearest to one half is the best for C.
            if ours.name != "concordance" or risk < 0.5:
                assert others.rows <= ours.rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"risk": 1.0}, "risk must be a number between 0 and 1"),
        ({"ratio_width": 0.0}, "ratio_width must be a number from 0.001 on"),
        ({"censored": 1.0}, "censored must be a number from 0 to below 1"),
        ({"d_statistic": 1.0}, "one of c_index and d_statistic is needed, but both were given"),
        ({"c_index": None}, "one of c_index and d_statistic is needed, but none was given"),
        ({"threshold": 1 - 1e-12}, "nearly all predicted risks are below"),
        ({"threshold": 1e-12}, "nearly all predicted risks are above"),
    ],
)
def test_refuses_what_cannot_be(change, message):
    settings = {"risk": 0.2, "c_index": 0.7} | change
    with pytest.raises(ParameterError, match=message):
        validation_sample_size(settings.pop("risk"), **settings)


def test_d_in_place_of_c():
    by_d = validation_sample_size(0.17, d_statistic=5.5 * 0.19 + 10.26 * 0.19**3)
    assert by_d.facts["c_index"] == pytest.approx(0.69)
    assert by_d.rows == validation_sample_size(0.17, c_index=0.69).rows
