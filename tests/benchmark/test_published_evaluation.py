"""The published evaluation against plain loops over rows, and its switches against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from lifelines import KaplanMeierFitter
from scipy import stats
from sksurv.metrics import concordance_index_censored
from sksurv.nonparametric import kaplan_meier_estimator

from aldsurv import SurvivalData, datasets, metrics
from aldsurv.benchmark.paper.mixed_rows import mixed_rows
from aldsurv.benchmark.paper.published_evaluation import (
    DEVIATIONS,
    SWITCHES,
    PublishedEvaluation,
    exchanged_metric,
    switches_of,
)
from aldsurv.benchmark.paper.published_values import all_switches, stored_values
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import PAPER_METRICS
from aldsurv.distributions import AsymmetricLaplace, LogNormal, QuantileKnots, Step
from aldsurv.errors import ParameterError
from aldsurv.models.neural.deephit import linear_survival

LEVELS = [k / 10 for k in range(1, 10)]


def rows(n: int, seed: int) -> SurvivalData:
    """Whole times, so that some are tied with each other."""
    rng = np.random.default_rng(seed)
    event, censoring = rng.exponential(8, n), rng.exponential(10, n)
    return SurvivalData.right(np.ceil(np.minimum(event, censoring)), event <= censoring)


def prediction(model: str, train: SurvivalData, n: int) -> object:
    rng = np.random.default_rng(5)
    risk = rng.uniform(0.02, 0.2, (n, 1))
    durations = np.unique(train.time)
    made = {
        "ald": lambda: AsymmetricLaplace(rng.uniform(3, 9, n), rng.uniform(2, 6, n), rng.uniform(0.4, 1.2, n)),
        "lognormal": lambda: LogNormal(rng.normal(1.8, 0.4, n), rng.uniform(0.5, 1, n)),
        "cqrnn": lambda: QuantileKnots(LEVELS, np.sort(rng.exponential(8, (n, 9)), axis=1)),
        "deepsurv": lambda: Step(durations, np.exp(-risk * durations)),
        "deephit": lambda: linear_survival(
            np.linspace(0, durations[-1], 26)[1:], np.exp(-risk * np.linspace(1, 25, 25))
        ),
    }
    return made[model]()


def evaluation(model: str, *, truth: bool = False) -> PublishedEvaluation:
    train, test = rows(90, 0), rows(60, 1)
    predicted = prediction(model, train, 60)
    mixed = LogNormal(np.linspace(1, 2.5, 60), 0.8) if model == "lognormal" else None
    return PublishedEvaluation(
        model, predicted, train, test, truth=np.linspace(4, 12, 60) if truth else None, unit=2.5, mixed=mixed
    )


# ---- which switch changes what


def test_every_switch_is_named_once_and_changes_something():
    assert len(set(SWITCHES)) == len(SWITCHES) == 7
    for deviation in DEVIATIONS:
        assert deviation.affected
        for model, affected in deviation.affected.items():
            for metric in affected:
                assert deviation.name in switches_of(model, metric)
                one = evaluation(model)
                alone = one.value(metric, [deviation.name])
                assert alone != one.value(metric, ())


@pytest.mark.parametrize("model", PAPER_MODELS)
def test_without_switches_it_is_the_definition(model):
    one = evaluation(model)
    point = "mean" if model in ("ald", "lognormal") else "median"
    times = getattr(one.predicted, point)()
    times = np.where(np.isinf(times), one.train.time.max(), times)
    expected = metrics.evaluate(one.predicted, one.test, train=one.train, ties="scikit-survival", unit=2.5)
    expected |= {
        "mae": metrics.mean_absolute_error(times, one.test, unit=2.5),
        "harrell_c": metrics.concordance_harrell(times, one.test),
        "uno_c": metrics.concordance_uno(times, one.test, train=one.train),
    }
    for metric in PAPER_METRICS:
        assert one.value(metric, ()) == pytest.approx(expected[metric], rel=1e-10), metric


@pytest.mark.parametrize("model", PAPER_MODELS)
def test_switches_of_other_models_change_nothing(model):
    one = evaluation(model)
    for metric in PAPER_METRICS:
        others = set(SWITCHES) - set(switches_of(model, metric))
        assert one.value(metric, others) == one.value(metric, ())


def test_exchanged_columns_are_the_other_column():
    one = evaluation("ald")
    for metric in PAPER_METRICS:
        assert exchanged_metric(exchanged_metric(metric)) == metric
        assert one.value(metric, ["exchanged_columns"]) == one.value(exchanged_metric(metric), ())


# ---- the Brier score


def brier_by_loops(one, survival_at, *, of_events: bool) -> float:
    """Row by row and time by time, the Kaplan-Meier curves by lifelines and scikit-survival."""
    times = np.linspace(*np.percentile(one.train.time, [10, 90]), 100)
    if of_events:
        curve = KaplanMeierFitter().fit(one.test.time, one.test.event)
        at_rows, at_times = curve.predict(one.test.time).to_numpy(), curve.predict(times).to_numpy()
    else:
        steps, heights = kaplan_meier_estimator(one.train.event, one.train.time, reverse=True)
        at_rows, at_times = (
            np.append(1.0, heights)[np.searchsorted(steps, t, side="right")] for t in (one.test.time, times)
        )
    scores = []
    for t, at_time in zip(times, at_times, strict=True):
        total = 0.0
        for i in range(len(one.test)):
            s = survival_at(i, t)
            if one.test.time[i] <= t and one.test.event[i]:
                total += s**2 / at_rows[i]
            elif one.test.time[i] > t:
                total += (1 - s) ** 2 / at_time
        scores.append(total / len(one.test))
    return float(np.trapezoid(scores, times) / (times[-1] - times[0]))


@pytest.mark.parametrize(
    ("model", "on"),
    [
        ("ald", {"events_as_censoring"}),
        ("lognormal", {"failure_for_survival"}),
        ("deepsurv", {"failure_for_survival", "events_as_censoring"}),
    ],
)
def test_ibs_by_loops(model, on):
    one = evaluation(model)

    def survival_at(row, t):
        value = float(one.predicted[row].survival(t)[0])
        return 1 - value if "failure_for_survival" in on else value

    expected = brier_by_loops(one, survival_at, of_events="events_as_censoring" in on)
    assert one.value("ibs", on) == pytest.approx(expected, rel=1e-9)


def test_ibs_of_cqrnn_by_loops():
    one = evaluation("cqrnn")
    quantiles = one.predicted.quantile(LEVELS)

    def survival_at(row, t):
        own = quantiles[row]
        if t < own[0] or t >= own[-1]:
            return 0.0
        return 1 - LEVELS[min(range(9), key=lambda k: (abs(own[k] - t), k))]

    expected = brier_by_loops(one, survival_at, of_events=True)
    assert one.value("ibs", {"events_as_censoring", "nearest_level"}) == pytest.approx(expected, rel=1e-9)


# ---- one predicted time for each row


@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("model", ["deepsurv", "deephit"])
def test_rows_that_do_not_reach_their_median_get_that_of_training(model, truth):
    one = evaluation(model, truth=truth)
    last = {"deepsurv": np.unique(one.train.time), "deephit": np.linspace(0, one.train.time.max(), 26)[1:]}[model]
    failure = one.predicted.cdf(last)
    width = (one.train.time.max() - one.train.time.min()) / 25
    times = []
    for row in range(60):
        place = next((k for k in range(len(last)) if failure[row, k] >= 0.5), None)
        if place is None:
            times.append(np.median(one.train.time))
        else:
            times.append(last[place] if model == "deepsurv" else one.train.time.min() + (place + 0.5) * width)
    assert 0 < sum(time == np.median(one.train.time) for time in times) < 60
    expected = concordance_index_censored(one.test.event, one.test.time, -np.array(times))[0]
    assert one.value("harrell_c") == pytest.approx(expected, rel=1e-12)
    gaps = [
        abs(times[i] - (one.truth[i] if truth else one.test.time[i])) for i in range(60) if truth or one.test.event[i]
    ]
    assert one.value("mae") == pytest.approx(np.mean(gaps) / 2.5, rel=1e-12)


# ---- calibration


def shares_by_loops(one, quantiles, *, closed: bool) -> list[float]:
    shares = []
    for j in range(10):
        total = 0.0
        for i, (time, event) in enumerate(zip(one.test.time, one.test.event, strict=True)):
            own = quantiles[i]
            u = (min(range(9), key=lambda k: (abs(own[k] - time), k)) + 1) / 10
            lower, upper = own[j - 1] if j else -np.inf, own[j] if j < 9 else np.inf
            if event:
                total += lower <= time <= upper
                continue
            if lower <= time and (time < upper or (closed and time <= upper)):
                total += ((j + 1) / 10 - u) / (1 - u)
            if time < lower or (closed and time <= lower):
                total += 0.1 / (1 - u)
        shares.append(total / len(one.test))
    return shares


@pytest.mark.parametrize("model", ["cqrnn", "deepsurv", "deephit"])
def test_calibration_on_the_grid_of_each_model_by_loops(model):
    one = evaluation(model)
    if model == "cqrnn":
        quantiles = one.predicted.quantile(LEVELS)
    else:
        durations = np.unique(one.train.time) if model == "deepsurv" else np.linspace(0, one.train.time.max(), 26)[1:]
        failure = one.predicted.cdf(durations)
        quantiles = [
            [next((t for t, f in zip(durations, row, strict=True) if f >= q), durations[-1]) for q in LEVELS]
            for row in failure
        ]
    on = ["model_grids"]
    half_open = shares_by_loops(one, quantiles, closed=False)
    assert one.value("cens_dcal", on) == pytest.approx(100 * sum((0.1 - share) ** 2 for share in half_open), rel=1e-9)
    closed = shares_by_loops(one, quantiles, closed=True)
    cumulated = [sum(closed[: j + 1]) for j in range(9)] + [1.0]
    line = stats.linregress(np.arange(1, 11) / 10, cumulated)
    assert one.value("cal_s_slope", on) == pytest.approx(line.slope, rel=1e-9)
    assert one.value("cal_s_intercept", on) == pytest.approx(line.intercept, abs=1e-9)
    around = [sum(closed[5 - k : 5 + k]) for k in range(1, 5)]
    line = stats.linregress([0.2, 0.4, 0.6, 0.8], around)
    assert one.value("cal_f_slope", on) == pytest.approx(line.slope, rel=1e-9)
    assert one.value("cal_f_intercept", on) == pytest.approx(line.intercept, abs=1e-9)
    # With the columns exchanged it is the other one.
    assert one.value("cal_s_slope") == one.value("cal_f_slope", on)


# ---- LogNorm's loss


def test_mixed_rows_have_the_likelihood_of_the_published_loss():
    train, _ = datasets.load_split("lognorm", seed=0, definition="released")
    train = train[:40]
    mean, sd = torch.linspace(-0.5, 1.5, 40, dtype=torch.float64), torch.linspace(0.6, 1.4, 40, dtype=torch.float64)
    time = torch.tensor(train.y.time)
    censored = torch.tensor(~train.y.event)[:, None]
    log_density = torch.distributions.LogNormal(mean, sd).log_prob(time)
    log_survival = torch.log1p(-torch.distributions.LogNormal(mean, sd).cdf(time))
    # A column of indicators times a row of terms is a table, whose mean is taken.
    published = torch.mean(~censored * log_density + censored * log_survival)
    assert (~censored * log_density).shape == (40, 40)

    mixed = mixed_rows(train)
    assert mixed.x.shape == (80, train.x.shape[1])
    predicted = LogNormal(np.tile(mean.numpy(), 2), np.tile(sd.numpy(), 2))
    ours = (mixed.y.weights * predicted.log_likelihood(SurvivalData.right(mixed.y.time, mixed.y.event))).sum() / 40
    assert ours == pytest.approx(float(published), rel=1e-12)


def test_mixed_rows_need_a_prediction_of_their_own():
    one = evaluation("lognormal")
    alone = PublishedEvaluation("lognormal", one.mixed, one.train, one.test, unit=2.5)
    for metric in PAPER_METRICS:
        rest = set(SWITCHES) - {"mixed_rows"}
        assert one.value(metric) == alone.value(metric, rest)
        with pytest.raises(ParameterError, match="mixed must be given"):
            alone.value(metric)


# ---- what is stored


def test_all_combinations_but_exchanges_are_stored():
    for model in PAPER_MODELS:
        one = evaluation(model)
        stored = stored_values(one)
        count = 0
        for metric in PAPER_METRICS:
            for on in all_switches(model, metric):
                if on and "exchanged_columns" not in on:
                    assert stored[f"{metric}@{'+'.join(on)}"] == one.value(metric, on)
                    count += 1
        assert len(stored) == count
