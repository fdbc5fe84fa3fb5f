"""Weibull and log-normal regression beside lifelines, the distributions' own likelihood, and known truths."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.special
from lifelines import LogNormalAFTFitter, WeibullAFTFitter
from sklearn.utils.estimator_checks import check_estimator

import aldsurv
from aldsurv import SurvivalData, datasets
from aldsurv.distributions import LogNormal, Weibull
from aldsurv.distributions.censored_likelihood import row_log_likelihood
from aldsurv.errors import DataError, ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models.linear.aft import LogNormalAFT, WeibullAFT
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, SmallestExtreme, StandardNormal

MODELS = [WeibullAFT, LogNormalAFT]
KINDS = ["right", "weights", "entry", "left", "interval"]
PEERS = {WeibullAFT: (WeibullAFTFitter, "lambda_", "rho_"), LogNormalAFT: (LogNormalAFTFitter, "mu_", "sigma_")}


def draw(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.normal(size=(n, 2)) * [1, 5] + [0, 40], columns=["a", "b"])
    event = np.exp(1 + 0.5 * x["a"] - 0.05 * (x["b"] - 40) + 0.6 * rng.normal(size=n)).to_numpy()
    lost = rng.exponential(8, n)
    entry = np.where(rng.uniform(size=n) < 0.5, 0, np.minimum(event, lost) * rng.uniform(size=n))
    return x, event, lost, entry, rng.integers(1, 4, n) / 2


def target(kind):
    """Columns and rows of one kind of censoring."""
    x, event, lost, entry, weight = draw()
    time, seen = np.minimum(event, lost), event <= lost
    if kind == "interval":
        # Known to a quarter of a unit, some lost, some seen exactly.
        lower, upper = np.floor(4 * event) / 4, np.where(event > lost, np.inf, np.floor(4 * event) / 4 + 0.25)
        exact = np.arange(len(x)) % 5 == 0
        return x, SurvivalData.interval(np.where(exact, event, lower), np.where(exact, event, upper))
    if kind == "left":
        return x, SurvivalData.left(time, seen)
    return x, SurvivalData.right(
        time, seen, weight=weight if kind == "weights" else None, entry=entry if kind == "entry" else None
    )


class Likelihood:
    """A regression's log-likelihood of log time, its columns standardised so that an optimiser converges."""

    def __init__(self, model, x, data):
        self.model, self.weights = model, data.weights
        x = np.asarray(x, float)
        # Coefficients of the columns as they are, from those of the columns standardised.
        self.back = np.diag([1, *1 / x.std(axis=0), -1 if model is WeibullAFT else 1])
        self.back[0, 1:-1] = -x.mean(axis=0) / x.std(axis=0)
        self.x = (x - x.mean(axis=0)) / x.std(axis=0)
        self.exact = data.lower == data.upper
        entry = np.zeros(len(x)) if data.entry is None else data.entry
        # Survival is 1 at minus infinity and 0 at infinity: nothing else is needed for any kind of censoring.
        with np.errstate(divide="ignore"):
            self.lower, self.upper, self.entry = np.log(np.maximum([data.lower, data.upper, entry], 0))

    def log_survival(self, z):
        return -np.exp(z) if self.model is WeibullAFT else scipy.special.log_ndtr(-z)

    def log_density(self, z):
        return z - np.exp(z) if self.model is WeibullAFT else -0.5 * z**2 - 0.5 * np.log(2 * np.pi)

    def __call__(self, point):
        mu, sigma = point[0] + self.x @ point[1:-1], np.exp(point[-1])
        lower, upper, entry = ((log_time - mu) / sigma for log_time in (self.lower, self.upper, self.entry))
        terms = np.empty(len(mu))
        seen, hidden = self.exact, ~self.exact
        terms[seen] = self.log_density(upper[seen]) - point[-1] - self.upper[seen]
        begin, end = self.log_survival(lower[hidden]), self.log_survival(upper[hidden])
        terms[hidden] = begin + np.log(-np.expm1(end - begin))
        return self.weights @ (terms - self.log_survival(entry))

    def slope(self, point, step=1e-4):
        steps = step * np.eye(len(point))
        return np.array([(self(point + h) - self(point - h)) / (2 * step) for h in steps])

    def maximum(self):
        """Coefficients, standard errors and the log-likelihood at its maximum."""
        start, total = np.zeros(self.x.shape[1] + 2), self.weights.sum()
        start[0] = np.median(np.where(np.isfinite(self.upper), self.upper, self.lower))
        best = scipy.optimize.minimize(
            lambda point: -self(point) / total, start, jac=lambda point: -self.slope(point) / total
        ).x
        for _ in range(3):  # Newton's steps, until the slope is a rounding error
            curvature = np.array([self.slope(best + h) - self.slope(best - h) for h in 1e-3 * np.eye(len(best))]) / 2e-3
            covariance = np.linalg.inv(-(curvature + curvature.T) / 2)
            best = best + covariance @ self.slope(best)
        error = np.sqrt(np.diag(self.back @ covariance @ self.back.T))
        return self.back @ best, error, self(best)


def assert_maximum(model, x, y):
    fitted = model(robust=False).fit(x, y)
    coefficient, error, value = Likelihood(model, x, y).maximum()
    table = fitted.coefficients_
    # In units of what is known of a coefficient; both are at the maximum but for differences of a likelihood.
    np.testing.assert_allclose((table.coefficient - coefficient) / error, 0, atol=1e-5)
    np.testing.assert_allclose(table.standard_error, error, rtol=1e-4)
    assert fitted.log_likelihood_ == pytest.approx(value, abs=1e-6)
    assert fitted.aic_ == pytest.approx(2 * len(coefficient) - 2 * value, abs=1e-5)
    return fitted


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_maximum_likelihood(model, kind):
    table = assert_maximum(model, *target(kind)).coefficients_
    assert table.names == ("intercept", "a", "b", "log(shape)" if model is WeibullAFT else "log(sigma)")


def test_maximum_likelihood_on_gbsg():
    data = datasets.load("gbsg")
    assert_maximum(WeibullAFT, data.frame(), data.y)


@pytest.mark.parametrize("model", MODELS)
def test_lifelines(model):
    # Its optimiser stops before the maximum, how far depends on the processor: a twentieth of a standard error.
    x, y = target("right")
    fitter, location, spread = PEERS[model]
    with warnings.catch_warnings():
        # About how autograd calls numpy, and pandas of a later release.
        warnings.simplefilter("ignore")
        peer = fitter().fit(x.assign(time=y.time, event=y.event), "time", "event")
    lines = [(location, "Intercept"), (location, "a"), (location, "b"), (spread, "Intercept")]
    table = model().fit(x, y).coefficients_
    np.testing.assert_allclose((table.coefficient - peer.params_[lines]) / table.standard_error, 0, atol=0.05)
    np.testing.assert_allclose(table.standard_error, peer.standard_errors_[lines], rtol=0.05)


def every_kind(n=200, seed=4, narrowest=-9):
    """Exact, right-, left- and interval-censored rows, some very narrow, entries and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    event = np.exp(0.5 + x[:, 0] + 0.7 * rng.normal(size=n))
    lower, upper = event.copy(), event.copy()
    kind = np.arange(n) % 5
    upper[kind == 1] = np.inf
    lower[kind == 2] = -np.inf
    upper[kind == 3] *= 1.3
    upper[kind == 4] *= 1 + 10 ** rng.uniform(narrowest, 0, (kind == 4).sum())
    entry = np.where((rng.uniform(size=n) < 0.4) & (kind != 2), 0.5 * event, -np.inf)
    entry[2] = 0.3 * upper[2]
    return x, SurvivalData.interval(lower, upper, entry=entry, weight=rng.uniform(0.5, 2, n))


def family(model, mu, sigma):
    return Weibull(np.exp(mu), np.full_like(mu, 1 / sigma)) if model is WeibullAFT else LogNormal(mu, sigma + 0 * mu)


@pytest.mark.parametrize("model", MODELS)
def test_likelihood_and_derivatives(model):
    x, data = every_kind()
    columns = np.column_stack([np.ones(len(x)), x])
    standard = SmallestExtreme() if model is WeibullAFT else StandardNormal()
    likelihood, h = LogTimeLikelihood(columns, data, standard), 1e-5
    for point in (np.array([0.4, 0.9, -0.2, -0.3]), np.array([2.0, -1.0, 0.5, 0.7])):
        found = likelihood(point)
        wanted = row_log_likelihood(family(model, columns @ point[:-1], np.exp(point[-1])), data).sum()
        assert found.value == pytest.approx(wanted, rel=1e-7)
        for k, step in enumerate(h * np.eye(4)):
            up, down = likelihood(point + step), likelihood(point - step)
            assert found.gradient[k] == pytest.approx((up.value - down.value) / (2 * h), rel=1e-5, abs=1e-4)
            slope = (up.gradient - down.gradient) / (2 * h)
            np.testing.assert_allclose(-found.information[k], slope, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("ridge", [0.0, 20.0])
def test_it_is_the_maximum(model, ridge):
    # The distributions take an interval's probability as a difference, which is noise where it is very narrow.
    x, data = every_kind(narrowest=-3)
    found = model(ridge=ridge).fit(x * [10, 0.1], data)
    w = data.weights / data.total_weight
    spread = np.sqrt(w @ (x - w @ x) ** 2)

    def cost(point):
        distribution = family(model, point[0] + x @ point[1:3], np.exp(point[3]))
        return -row_log_likelihood(distribution, data).sum() + 0.5 * ridge * np.sum((spread * point[1:3]) ** 2)

    mine = found.coefficients_.coefficient * [1, 10, 0.1, -1 if model is WeibullAFT else 1]
    best = scipy.optimize.minimize(cost, np.zeros(4), method="L-BFGS-B")
    np.testing.assert_allclose(mine, best.x, atol=1e-3)
    least = cost(mine)
    assert least <= best.fun
    for direction in np.random.default_rng(0).normal(size=(10, 4)):
        curve = [cost(mine + step * direction) - least for step in (-1e-4, 1e-4)]
        assert min(curve) > 0
        # Of a parabola, both sides are equally high.
        assert curve[0] == pytest.approx(curve[1], rel=1e-2)
    penalty = 0.5 * ridge * np.sum((spread * mine[1:3]) ** 2)
    assert found.log_likelihood_ == pytest.approx(penalty - least, rel=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_it_finds_the_truth(model):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20_000, 2))
    sigma = 0.5
    noise = np.log(rng.exponential(size=20_000)) if model is WeibullAFT else rng.normal(size=20_000)
    event, lost = np.exp(3 + x @ [0.7, -0.3] + sigma * noise), rng.exponential(60, 20_000)
    fitted = model().fit(x, (np.minimum(event, lost), event <= lost))
    truth = [3, 0.7, -0.3, np.log(sigma) * (-1 if model is WeibullAFT else 1)]
    assert (np.abs(fitted.coefficients_.coefficient - truth) < 4 * fitted.coefficients_.standard_error).all()
    assert (fitted.coefficients_.standard_error < 0.02).all()
    wanted = family(model, 3 + x[:50] @ [0.7, -0.3], sigma).quantile([0.1, 0.5, 0.9])
    np.testing.assert_allclose(fitted.predict_distribution(x[:50]).quantile([0.1, 0.5, 0.9]), wanted, rtol=0.06)


@pytest.mark.parametrize("model", MODELS)
def test_units_and_weights(model):
    x, data = every_kind()
    first = model().fit(x, data)
    # Months to days, and columns in other units.
    other = model().fit(x * [100, 1] + [7, 0], data.scaled(30.0))
    change = [np.log(30), 0, 0, 0]
    mine = first.coefficients_.coefficient / [1, 100, 1, 1] + change
    mine[0] -= 7 * mine[1]
    np.testing.assert_allclose(other.coefficients_.coefficient, mine, rtol=1e-7)
    times = np.arange(len(x)) % 3
    again = np.repeat(np.arange(len(x)), times)
    plain = SurvivalData.interval(data.lower, data.upper, entry=data.entry)
    once, twice = model().fit(x, plain, sample_weight=times), model().fit(x[again], plain[again])
    np.testing.assert_allclose(once.coefficients_.coefficient, twice.coefficients_.coefficient, rtol=1e-7)
    np.testing.assert_allclose(once.coefficients_.standard_error, twice.coefficients_.standard_error, rtol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_times_at_zero(model):
    x, event, lost, *_ = draw()
    time, seen = np.minimum(event, lost), event <= lost
    time[:3], seen[:3] = 0, [True, True, False]
    found = model().fit(x, (time, seen))
    # As left-censored at the smallest time above 0; nobody learns from a row that was lost at once.
    lower, upper = time.copy(), np.where(seen, time, np.inf)
    lower[:2], upper[:2] = -np.inf, time[3:].min()
    kept = np.arange(300) != 2
    wanted = model().fit(x[kept], SurvivalData.interval(lower[kept], upper[kept]))
    np.testing.assert_allclose(found.coefficients_.coefficient, wanted.coefficients_.coefficient, rtol=1e-9)
    early = SurvivalData.left(np.where(np.arange(300) < 2, 0, time), np.arange(300) >= 2)
    assert np.isfinite(model().fit(x, early).log_likelihood_)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", MODELS)
def test_scikit_learn_s_checks(model):
    # Their data are explained exactly, dependent and wider than long: only a penalised likelihood has a maximum.
    found = check_estimator(model(ridge=1.0), on_skip=None, on_fail=None)
    assert [check["check_name"] for check in found if check["status"] == "failed"] == []
    assert sum(check["status"] == "passed" for check in found) >= 45


@pytest.mark.parametrize("model", MODELS)
def test_too_few_rows(model):
    x, time = np.random.default_rng(0).normal(size=(80, 2)), np.arange(1.0, 81)
    with pytest.raises(DataError, match="n_samples=1"):
        model().fit(x, (time, np.ones(80, bool)), sample_weight=np.arange(80) == 0)


def test_parameters_that_are_refused():
    x, event, *_ = draw()
    for settings in ({"ridge": -1.0}, {"ridge": True}, {"point": "mid"}, {"unit": 3}):
        with pytest.raises(ParameterError, match=next(iter(settings))):
            WeibullAFT(**settings).fit(x, (event, np.ones(300)))


@pytest.mark.parametrize("model", MODELS)
def test_saved_and_loaded(model, tmp_path):
    x, data = every_kind()
    table = pd.DataFrame(x, columns=["a", "b"]).assign(c=np.where(x[:, 1] > 0.5, "yes", "no"))
    fitted = model(unit="years", point="mean").fit(table, data)
    path = fitted.save(tmp_path / "model")
    loaded = aldsurv.load(path)
    assert type(loaded) is model
    assert loaded.summary() == fitted.summary()
    assert "AIC" in fitted.summary()
    np.testing.assert_array_equal(loaded.predict(table), fitted.predict(table))
    np.testing.assert_array_equal(
        loaded.predict_distribution(table).survival([1, 2]), fitted.predict_distribution(table).survival([1, 2])
    )
    assert loaded.save(tmp_path / "again").read_bytes() == path.read_bytes()
    document, arrays = read_model_file(path)
    for name, array in (("standardised", np.zeros(3)), ("covariance", np.zeros((5, 5))), ("more", np.zeros(1))):
        write_model_file(path, document, {**arrays, name: array})
        with pytest.raises(ModelFileError):
            aldsurv.load(path)
