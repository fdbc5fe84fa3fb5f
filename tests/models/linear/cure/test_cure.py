"""Failure times with a share without event: beside lifelines, beside the definition, and on drawn rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from lifelines import MixtureCureFitter, WeibullFitter

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions import Cured, LogNormal, Weibull
from aldsurv.errors import CureWarning, DataError, FitWarning, ParameterError
from aldsurv.models import LogNormalAFT, WeibullAFT
from aldsurv.models.linear.aft_likelihood import SmallestExtreme, StandardNormal
from aldsurv.models.linear.cure.cure_likelihood import CureLikelihood

KINDS = {"weibull": (WeibullAFT, SmallestExtreme), "lognormal": (LogNormalAFT, StandardNormal)}


def drawn(n=1500, seed=0):
    """Columns of which one moves the share without event and the other the time."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)) * [1, 10] + [0, 50]
    share = 1 / (1 + np.exp(0.5 - 0.8 * x[:, 0]))
    time = np.exp(1 + 0.03 * (x[:, 1] - 50) + 0.4 * np.log(rng.exponential(size=n)))
    time[rng.uniform(size=n) < share] = np.inf
    lost = rng.uniform(5, 40, n)
    return x, SurvivalData.right(np.minimum(time, lost), time <= lost), share


def distribution(kind, mu, sigma):
    return Weibull(np.exp(mu), np.full_like(mu, 1 / sigma)) if kind == "weibull" else LogNormal(mu, sigma + 0 * mu)


@pytest.mark.parametrize("kind", KINDS)
def test_the_likelihood_and_its_derivatives(kind):
    rng = np.random.default_rng(1)
    n = 60
    x = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    time = rng.exponential(3, n) + 0.5
    lower = np.select([np.arange(n) % 4 == 0, np.arange(n) % 4 == 3], [-np.inf, 0.4 * time], time)
    upper = np.where(np.arange(n) % 4 == 1, np.inf, time)
    entry = np.where(np.arange(n) % 3 == 0, 0.3 * time, -np.inf)
    data = SurvivalData.interval(lower, upper, entry=entry, weight=1.0 + np.arange(n) % 2)
    point, h = np.array([0.8, 0.3, -0.2, -0.3, -0.4, 0.6, 0.1]), 1e-5
    likelihood = CureLikelihood(x, data, KINDS[kind][1]())
    found = likelihood(point)
    share = 1 / (1 + np.exp(-(x @ point[4:])))
    whole = Cured(distribution(kind, x @ point[:3], np.exp(point[3])), share)
    assert found.value == pytest.approx(whole.log_likelihood(data).sum(), rel=1e-10)
    for k, step in enumerate(h * np.eye(7)):
        up, down = likelihood(point + step), likelihood(point - step)
        assert found.gradient[k] == pytest.approx((up.value - down.value) / (2 * h), rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(-found.information[k], (up.gradient - down.gradient) / (2 * h), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(likelihood.scores(point).sum(axis=0), found.gradient, rtol=1e-9, atol=1e-9)


def test_lifelines_without_columns():
    _, y, _ = drawn()
    fitter = MixtureCureFitter(base_fitter=WeibullFitter()).fit(y.time, y.event)
    with pytest.warns(UserWarning, match="columns that hold one value only"):
        model = WeibullAFT(cure=True).fit(np.ones((len(y), 1)), y)
    # As close as lifelines' optimiser gets to the maximum, and no less likely.
    assert model.log_likelihood_ >= fitter.log_likelihood_ - 1e-6
    assert model.log_likelihood_ == pytest.approx(fitter.log_likelihood_, abs=1e-3)
    assert model.cure_probability([[1.0]])[0] == pytest.approx(fitter.cured_fraction_, abs=1e-3)
    times = np.array([0.5, 2.0, 5.0, 20.0])
    curve = fitter.predict(times).to_numpy()
    np.testing.assert_allclose(model.predict_distribution([[1.0]]).survival(times)[0], curve, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_recovery(kind):
    x, y, share = drawn(4000)
    model = KINDS[kind][0](cure=True).fit(x, y)
    table = model.coefficients_
    assert table.names[4:] == ("cure: intercept", "cure: x0", "cure: x1")
    truth = {"x0": 0.0, "x1": 0.03, "cure: x0": 0.8, "cure: x1": 0.0}
    for name, value in truth.items() if kind == "weibull" else ():
        assert abs(table[name].coefficient - value) < 4 * table[name].standard_error
    assert np.abs(model.cure_probability(x) - share).mean() < 0.03
    assert model.predict_distribution(x).cure_probability() == pytest.approx(model.cure_probability(x))
    assert np.isfinite(model.predict(x)).all()
    assert model.score(x, y) > 0.6
    # The share is worth its parameters.
    assert model.aic_ < KINDS[kind][0]().fit(x, y).aic_ - 100


def test_units_of_columns_and_time():
    x, y, _ = drawn(400)
    first, second = WeibullAFT(cure=True).fit(x, y), WeibullAFT(cure=True).fit(x * [2, 0.1] + [5, 3], y.scaled(12))
    np.testing.assert_allclose(first.cure_probability(x), second.cure_probability(x * [2, 0.1] + [5, 3]), rtol=1e-6)
    slopes = first.coefficients_.coefficient[[1, 2, 5, 6]] / np.tile([2, 0.1], 2)
    np.testing.assert_allclose(second.coefficients_.coefficient[[1, 2, 5, 6]], slopes, rtol=1e-6)
    # The intercepts are where all columns are 0.
    table = first.coefficients_
    logit = table["cure: intercept"].coefficient
    at_zero = first.cure_probability(np.zeros((1, 2)))[0]
    assert at_zero == pytest.approx(1 / (1 + np.exp(-logit)), rel=1e-9)


def test_groups_and_files(tmp_path):
    x, y, _ = drawn(300)
    model = LogNormalAFT(cure=True).fit(x, y, groups=np.arange(300) // 3)
    assert model.coefficients_.model_error is not None
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert str(loaded.coefficients_) == str(model.coefficients_)
    assert loaded.cure_probability(x).tobytes() == model.cure_probability(x).tobytes()
    assert "some never" in loaded.summary()


def test_what_is_refused_or_warned_of():
    x, y, _ = drawn(200)
    with pytest.raises(DataError, match="cure=True needs rows that were still without an event when they were last"):
        WeibullAFT(cure=True).fit(x, SurvivalData.right(y.time, np.ones(200)))
    short = SurvivalData.right(np.minimum(y.time, 2.0), y.event & (y.time <= 2.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WeibullAFT(cure=True).fit(x, short)
    assert caught[0].category is CureWarning
    assert "follow-up may be too short for WeibullAFT" in str(caught[0].message)
    with pytest.raises(ParameterError, match="cure must be True or False"):
        WeibullAFT(cure=0.3).fit(x, y)
    wide = np.random.default_rng(0).normal(size=(200, 150))
    with pytest.raises(DataError, match="cure=True has 303 parameters, which must be no more than the 200 rows"):
        WeibullAFT(cure=True).fit(wide, y)
    # Who never has the event is known by a column: its coefficient would be infinite.
    separated = np.column_stack([x, y.event])
    with pytest.warns(FitWarning, match="coefficients of the cure would be infinite"):
        model = WeibullAFT(cure=True).fit(separated, y)
    assert np.isfinite(model.coefficients_.coefficient).all()
    assert (WeibullAFT().fit(x, y).cure_probability(x) == 0).all()
