"""Events at time 0: metrics see them as training does, as events at or before the first time above 0."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, LogNormal, Step, Weibull
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.resampling.row_counts import by_counts
from aldsurv.registry import METRICS

right = SurvivalData.right


@pytest.fixture(scope="module")
def rows() -> SurvivalData:
    """A clock in whole units: what comes in the first half of one is at 0."""
    rng = np.random.default_rng(0)
    event, lost = Weibull(np.full(120, 5.0), 1.3).sample(random_state=1), rng.uniform(0, 12, 120)
    data = right(np.round(np.minimum(event, lost)), event <= lost)
    assert np.count_nonzero(data.event & (data.time == 0)) > 3
    assert np.count_nonzero(~data.event & (data.time == 0)) > 1
    return data


def predictions(n: int) -> dict[str, object]:
    shape = np.linspace(0.8, 1.2, n)
    return {
        "log-normal": LogNormal(1.4 * shape, 0.8),
        "weibull": Weibull(5.0 * shape, 1.3),
        "exponential": Exponential(5.0 * shape),
        "real": AsymmetricLaplace(4.0 * shape, 2.0, 0.6),
        "step": Step([1.0, 3.0, 6.0, 20.0], np.outer(shape, [0.8, 0.5, 0.2, 0.0]).clip(0, 1)),
    }


@pytest.mark.parametrize("family", predictions(1))
def test_every_metric_is_finite(rows, family):
    predicted = predictions(len(rows))[family]
    for name, value in metrics.evaluate(predicted, rows, train=rows).items():
        assert np.isfinite(value), name
    for name, metric in ((name, find_metric(name)) for name in METRICS):
        options = metric.options_with(rows, {}, rows)
        assert np.isfinite(metric(predicted, rows, **options)), name


def test_the_likelihood_is_that_of_an_early_event(rows):
    predicted = LogNormal(np.linspace(1.0, 2.0, len(rows)), 0.8)
    zero = rows.event & (rows.time == 0)
    expected = np.where(rows.event, predicted.log_density(np.maximum(rows.time, 1e-9)[:, None])[:, 0], 0.0)
    expected[~rows.event] = predicted.log_survival(rows.time[:, None])[~rows.event, 0]
    expected[zero] = predicted.log_cdf(1.0)[zero]  # 1 is the first time above 0
    assert metrics.log_likelihood(predicted, rows) == pytest.approx(expected.mean(), rel=1e-12)
    # As training has it, by the same function.
    early = with_zero_as_early(rows)
    assert metrics.log_likelihood(predicted, rows) == metrics.log_likelihood(predicted, early)
    for metric in (metrics.calibration_counts, metrics.interval_coverage, metrics.survival_crps):
        np.testing.assert_array_equal(metric(predicted, rows), metric(predicted, early))


def test_levels_of_early_events_are_uniform():
    """Over half of the probability is before the first tick of the clock, with and without some below 0."""
    n = 20_000
    for truth in (Exponential(np.full(n, 1.0)), AsymmetricLaplace(np.full(n, 0.0), 1.0, 1.0)):
        event = truth.sample(random_state=0)
        tick = float(np.max(truth.median()[:1])) + 0.5
        data = right(np.where(event <= tick, 0.0, event), np.ones(n, bool))
        data = SurvivalData.concatenate([data[:-1], right([tick], [True])])
        assert metrics.censored_d_calibration(truth, data) < 0.03
        assert metrics.average_calibration(truth, data) < 0.2


@pytest.mark.parametrize("first", [0.7, 2.0, 30.0])
def test_an_early_event_before_the_first_step_of_a_curve(first):
    """By a Riemann sum of the density that events after 0 are judged by."""
    data = right([0.0, 0.5, 3.0, 4.0], [True, True, False, True])
    curve = Step([first, 40.0], np.array([[0.6, 0.1]] * 4))
    assert (curve.cdf(0.5) == 0).all()
    middles = (np.arange(1000) + 0.5) * 0.5 / 1000
    early = np.log(curve.density(middles)[0].sum() * 0.5 / 1000)
    density, survival = curve.log_density(data.time[:, None])[:, 0], curve.log_survival(data.time[:, None])[:, 0]
    expected = np.mean([early, density[1], survival[2], density[3]])
    assert np.isfinite(expected)
    assert metrics.log_likelihood(curve, data) == pytest.approx(expected, rel=1e-9)


def test_a_row_censored_at_0_says_nothing(rows):
    counted = rows.event | (rows.time > 0)
    kinds = {name: one for name, one in predictions(len(rows)).items() if name != "real"}
    for predicted in kinds.values():
        total = metrics.log_likelihood(predicted, rows) * len(rows)
        some = metrics.log_likelihood(predicted[counted], rows[counted]) * counted.sum()
        assert total == pytest.approx(some, rel=1e-12)


@pytest.mark.parametrize("family", predictions(1))
@pytest.mark.parametrize("name", ["log_likelihood", "bounded_log_likelihood"])
def test_where_all_times_are_0_there_is_no_likelihood(family, name):
    predicted, metric = predictions(2)[family], find_metric(name)
    with pytest.warns(UserWarning, match="all times are 0, and an event at 0 is one at or before the smallest time"):
        assert np.isnan(metric(predicted, right([0.0, 0.0], [True, False])))
    if family != "real":
        assert metric(predicted, right([0.0, 0.0], [False, False])) == pytest.approx(0.0, abs=1e-12)


def test_what_has_no_later_time_stays_as_it_is():
    data = right([0.0, 0.0], [True, True])
    assert with_zero_as_early(data) is data
    none = right([0.0, 2.0], [False, True])
    assert with_zero_as_early(none) is none


AT_ZERO = right([0, 2, 3, 5, 8, 9], [True, True, False, True, False, True])
DRAWN = np.array([2, 0, 1, 1, 1, 1])  # the event at 0 twice, the first time above 0 never
EARLY = ("log_likelihood", "bounded_log_likelihood", "cens_dcal", "cal_s_slope", "cal_f_slope", "d_calibration")


@pytest.mark.parametrize("name", [*EARLY, "average_calibration", "coverage", "crps", "survival_crps"])
def test_a_resample_has_the_clock_of_all_rows(name):
    """The smallest time above 0 is that of the rows handed in, whether it is drawn or not."""
    predicted = LogNormal(np.linspace(0.5, 1.5, 6), 0.8)
    metric = find_metric(name)
    options = metric.options_with(None, {}, AT_ZERO)
    expected = metric(predicted, AT_ZERO.with_weight(DRAWN), **options)
    assert by_counts(metric, predicted, AT_ZERO, options)(DRAWN[None])[0, 0] == pytest.approx(expected, rel=1e-12)
    rows = np.repeat(np.arange(6), DRAWN)
    assert metric(predicted[rows], AT_ZERO[rows], **options) != pytest.approx(expected, rel=1e-6)


def test_the_bound_of_an_early_event_in_a_resample():
    predicted = LogNormal(np.linspace(0.5, 1.5, 6), 0.8)
    density, survival = (
        predicted.log_density(AT_ZERO.time[:, None])[:, 0],
        predicted.log_survival(AT_ZERO.time[:, None]),
    )
    rows = np.where(AT_ZERO.event, density, survival[:, 0])
    rows[0] = predicted.log_cdf(2.0)[0]
    metric = find_metric("log_likelihood")
    found = by_counts(metric, predicted, AT_ZERO, {})(DRAWN[None])[0, 0]
    assert found == pytest.approx(DRAWN @ rows / DRAWN.sum(), rel=1e-12)


def test_resamples_without_weight_have_no_value():
    data = right([0, 2, 3], [True, True, True], weight=[0, 1, 0])
    metric = find_metric("crps")
    with pytest.warns(UserWarning, match="no uncensored row has a positive weight"):
        found = by_counts(metric, LogNormal(np.ones(3), 1.0), data, {})(np.array([[2, 0, 1]]))
    assert np.isnan(found).all()


def test_true_times_are_drawn_with_their_rows():
    rng = np.random.default_rng(0)
    data = right(rng.uniform(1, 9, 30), rng.random(30) < 0.6)
    predicted, truth = Weibull(rng.uniform(2, 9, 30), 1.5), rng.uniform(1, 20, 30)
    counts = rng.multinomial(30, np.full(30, 1 / 30), size=3)
    for name, function in (("crps", metrics.crps), ("mae", metrics.mean_absolute_error)):
        found = by_counts(find_metric(name), predicted, data, {"truth": truth})(counts)
        for row, value in zip(counts, found[:, 0], strict=True):
            rows = np.repeat(np.arange(30), row)
            assert value == pytest.approx(function(predicted[rows], data[rows], truth=truth[rows]), rel=1e-12)
