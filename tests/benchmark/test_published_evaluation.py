"""The published evaluation against plain loops over rows, and its switches against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

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
from benchmark.published_loops import LEVELS, nine


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


# ---- against loops


@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("model", PAPER_MODELS)
def test_the_published_way_by_loops(model, truth):
    one = evaluation(model, truth=truth)
    predicted = one.mixed if model == "lognormal" else one.predicted
    expected = nine(model, predicted, one.train, one.test, published=True, truth=one.truth, unit=2.5)
    for metric in PAPER_METRICS:
        assert one.value(metric) == pytest.approx(expected[metric], rel=1e-9, abs=1e-12), metric
    if model in ("deepsurv", "deephit"):
        # Some rows reach their median, others do not.
        shares = one.predicted.cdf(one.train.time.max())
        assert 0 < (shares >= 0.5).sum() < 60


@pytest.mark.parametrize("model", PAPER_MODELS)
def test_the_definition_by_loops(model):
    one = evaluation(model)
    expected = nine(model, one.predicted, one.train, one.test, published=False, unit=2.5)
    for metric in PAPER_METRICS:
        assert one.value(metric, ()) == pytest.approx(expected[metric], rel=1e-9, abs=1e-12), metric


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
