"""Members of an ensemble apart: their mixture, limits between them, and the parts of the variance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

import aldsurv
from aldsurv import DeepHit, DeepSurv, RecalibratedSurvival, SurvivalData, WeibullAFT
from aldsurv.distributions import AsymmetricLaplace, Exponential, LogNormal, Mixture, Step
from aldsurv.errors import NotFittedError, ParameterError
from aldsurv.models import ICALDCalibrated
from aldsurv.models.prediction.member_spread import student_quantile, survival_band, time_band, variance_parts
from models.rows import draw, quick

X, TIME, EVENT = draw(150)
Y = SurvivalData.right(TIME, EVENT)
TIMES = np.linspace(0.5, 60, 9)


@pytest.fixture(scope="module", params=[1, 3], ids=["one component", "three components"])
def model(request):
    return quick(members=4, validation=0.25, components=request.param, max_epochs=4).fit(X, Y)


def by_hand(values, level, members, held):
    """Student's limits of a delete-a-part jackknife, from its definition."""
    center = values.mean(axis=0)
    variance = (1 - held) / held * ((values - center) ** 2).mean(axis=0)
    half = student.ppf((1 + level) / 2, members - 1) * np.sqrt(variance)
    return center - half, center + half


def test_members_are_those_whose_mixture_is_the_prediction(model):
    members, own = model.predict_members(X), model.predict_distribution(X)
    assert len(members) == 4
    np.testing.assert_allclose(own.cdf(TIMES), np.mean([one.cdf(TIMES) for one in members], axis=0), rtol=1e-12)
    # What the prediction is mixed of are components, not members.
    assert len(own.components) == 4 * model.settings_.components


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_limits_of_survival(model, level):
    lower, upper = model.predict_survival_band(X, TIMES, level=level)
    own = model.predict_distribution(X).survival(TIMES)
    # Of a survival near 1 its logarithm knows more.
    z = np.log([-one.log_survival(TIMES) for one in model.predict_members(X)])
    low, high = by_hand(z, level, 4, 0.25)
    np.testing.assert_allclose(lower, np.minimum(np.exp(-np.exp(high)), own), rtol=1e-9)
    np.testing.assert_allclose(upper, np.maximum(np.exp(-np.exp(low)), own), rtol=1e-9)
    assert ((lower <= own) & (own <= upper) & (lower >= 0) & (upper <= 1)).all()
    assert (upper - lower).max() > 0.01


@pytest.mark.parametrize("point", ["median", "mean", "mode", "restricted_mean", None])
def test_limits_of_a_time(model, point):
    lower, upper = model.predict_time_band(X, point=point)
    name = point or "median"

    def summary(one):
        return one.restricted_mean(TIME.max()) if name == "restricted_mean" else getattr(one, name)()

    values, own = np.array([summary(one) for one in model.predict_members(X)]), summary(model.predict_distribution(X))
    some = (np.isfinite(values) & (values > 0)).all(axis=0)
    low, high = np.exp(by_hand(np.log(values[:, some]), 0.9, 4, 0.25))
    high = np.minimum(high, TIME.max() if name == "restricted_mean" else np.inf)
    np.testing.assert_allclose(lower[some], np.minimum(low, own[some]), rtol=1e-9)
    np.testing.assert_allclose(upper[some], np.maximum(high, own[some]), rtol=1e-9)
    assert ((lower <= own) & (own <= upper)).all()


def test_without_validation_rows_the_limits_are_those_of_a_further_member():
    model = quick(members=3, validation=0.0).fit(X, Y)
    z = np.log([one.median() for one in model.predict_members(X)])
    half = student.ppf(0.95, 2) * z.std(axis=0, ddof=1) * np.sqrt(1 + 1 / 3)
    own = model.predict_distribution(X).median()
    lower, upper = model.predict_time_band(X, point="median")
    np.testing.assert_allclose(lower, np.minimum(np.exp(z.mean(axis=0) - half), own), rtol=1e-9)
    np.testing.assert_allclose(upper, np.maximum(np.exp(z.mean(axis=0) + half), own), rtol=1e-9)


def test_no_order_of_members_matters():
    parts = [Exponential([1.0, 2.0]), Exponential([1.5, 2.5]), Exponential([0.8, 4.0])]
    first, second = (
        survival_band(own, Mixture(own), np.array([0.5, 1.0]), level=0.8, stretch=2.0) for own in (parts, parts[::-1])
    )
    np.testing.assert_allclose(first, second, rtol=1e-12)
    alike = survival_band(parts[:1] * 3, parts[0], np.array([0.5, 1.0]), level=0.8, stretch=2.0)
    np.testing.assert_allclose(alike.lower, parts[0].survival([0.5, 1.0]), rtol=1e-12)
    np.testing.assert_allclose(alike.upper, alike.lower, rtol=1e-12)


def test_limits_stay_where_such_a_time_can_be():
    values = np.array([[9.0, 1.0, 5.0], [9.9, 3.0, 5.0]])
    own = values.mean(axis=0)
    wide = time_band(values, own, level=0.99, stretch=1.0)
    assert wide.upper[0] > 10
    assert wide.lower[1] < 0.5
    lower, upper = time_band(values, own, level=0.99, stretch=1.0, least=np.array([0.0, 0.5, 4.0]), most=10.0)
    np.testing.assert_allclose(lower, [wide.lower[0], 0.5, 5.0], rtol=1e-12)
    np.testing.assert_allclose(upper, [10.0, 10.0, 5.0], rtol=1e-12)


def test_the_range_is_left_where_there_is_no_distance():
    # At 1 nobody of the first member is left, and nobody of the second has gone.
    steps = [Step([1.0, 2.0], [[0.0, 0.0]], tail="hold"), Step([1.0, 2.0], [[1.0, 0.5]], tail="hold")]
    lower, upper = survival_band(steps, Mixture(steps), np.array([1.0]), level=0.9, stretch=1.0)
    assert (lower, upper) == (0.0, 1.0)
    values = np.array([[-1.0, 2.0, 1.0], [3.0, np.inf, np.inf]])
    band = time_band(values, np.array([1.0, np.inf, 4.0]), level=0.9, stretch=1.0)
    np.testing.assert_array_equal(band.lower, [-1.0, 2.0, 1.0])
    np.testing.assert_array_equal(band.upper, [3.0, np.inf, np.inf])


@pytest.mark.parametrize("components", [1, 2])
def test_law_of_total_variance(components):
    model = quick(members=3, support="positive", components=components).fit(X, Y)
    found, members = model.predict_spread(X), model.predict_members(X)
    mixture = Mixture(members).variance()
    means, variances = (np.array([getattr(one, name)() for one in members]) for name in ("mean", "variance"))
    np.testing.assert_allclose(found.total, mixture, rtol=1e-9)
    np.testing.assert_allclose(found.total, model.predict_distribution(X).variance(), rtol=1e-9)
    np.testing.assert_allclose(found.within, variances.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.between, means.var(axis=0), rtol=1e-9)
    assert found.between.max() > 0


def test_variance_within_a_horizon_by_drawing():
    parts = [AsymmetricLaplace([3.0, -1.0], [2.0, 1.0], [0.7, 1.0]), LogNormal([1.0, 0.5], [0.6, 2.0])]
    within, between, total = variance_parts(parts, 8.0)
    rng = np.random.default_rng(0)
    drawn = [np.clip(one.sample(200_000, random_state=rng), 0, 8) for one in parts]
    np.testing.assert_allclose(within, np.mean([own.var(axis=1) for own in drawn], axis=0), rtol=0.02)
    np.testing.assert_allclose(between, np.var([own.mean(axis=1) for own in drawn], axis=0), rtol=0.05)
    np.testing.assert_allclose(total, np.concatenate(drawn, axis=1).var(axis=1), rtol=0.02)


def test_infinite_variances():
    heavy, light = LogNormal([0.0], [1.0]), Step([1.0], [[0.5]], tail="hold")
    parts = variance_parts([heavy, light], None)
    assert all(np.isinf(part).all() for part in parts)
    assert np.isfinite(variance_parts([heavy, light], 5.0)).all()


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30, 999])
def test_student(freedom):
    for level in (0.55, 0.9, 0.95, 0.9995):
        assert student_quantile(level, freedom) == pytest.approx(student.ppf(level, freedom), rel=1e-10)


@pytest.mark.parametrize("kind", [DeepSurv, DeepHit])
def test_members_of_other_models(kind):
    model = kind(members=3, max_epochs=3, random_state=0).fit(X, Y)
    members = model.predict_members(X)
    own = model.predict_distribution(X).survival(TIMES)
    # Behind its last bin a curve of DeepHit goes on by itself.
    known = TIMES <= 30
    np.testing.assert_allclose(
        own[:, known], np.mean([one.survival(TIMES[known]) for one in members], axis=0), atol=1e-12
    )
    lower, upper = model.predict_survival_band(X, TIMES)
    assert ((lower <= own) & (own <= upper)).all()


def test_a_recalibrated_ensemble_lies_between_its_members():
    model = RecalibratedSurvival(quick(members=3), validation=0.4, random_state=0).fit(X, Y)
    own = model.predict_distribution(X).survival(TIMES)
    members = np.array([one.survival(TIMES) for one in model.predict_members(X)])
    assert ((members.min(axis=0) - 1e-9 <= own) & (own <= members.max(axis=0) + 1e-9)).all()
    lower, upper = model.predict_survival_band(X, TIMES)
    assert ((lower <= own) & (own <= upper)).all()


def test_an_individually_calibrated_ensemble_is_the_mixture_of_its_members():
    given = {"validation": 0.4, "max_epochs": 3, "random_state": 0}
    model = ICALDCalibrated(quick(members=3), **given).fit(X, Y)
    own = model.predict_distribution(X).survival(TIMES)
    members = [one.survival(TIMES) for one in model.predict_members(X)]
    assert len(members) == 3
    np.testing.assert_allclose(own, np.mean(members, axis=0), rtol=1e-10)
    lower, upper = model.predict_survival_band(X, TIMES)
    assert ((lower <= own) & (own <= upper)).all()
    # Small networks are no ensemble of models.
    with pytest.raises(ParameterError, match="has one member"):
        ICALDCalibrated(quick(), members=2, **given).fit(X, Y).predict_survival_band(X, TIMES)


def test_saved_and_loaded(model, tmp_path):
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    for first, second in zip(model.predict_time_band(X), loaded.predict_time_band(X), strict=True):
        assert first.tobytes() == second.tobytes()


def test_what_is_refused(model):
    for alone in (quick().fit(X, Y), WeibullAFT().fit(X, Y)):
        assert len(alone.predict_members(X)) == 1
        with pytest.raises(ParameterError, match=r"has one member.*members=5"):
            alone.predict_survival_band(X, TIMES)
        with pytest.raises(ParameterError, match="has one member"):
            alone.predict_spread(X)
    with pytest.raises(NotFittedError):
        quick(members=2).predict_time_band(X)
    for level in (0, 1, True, "0.9"):
        with pytest.raises(ParameterError, match="level must be a number between 0 and 1"):
            model.predict_time_band(X, level=level)
    with pytest.raises(ParameterError, match="point must be one of mean, median, mode, restricted_mean, but is 'std'"):
        model.predict_time_band(X, point="std")
    for horizon in (-1, 0, np.inf, np.nan, True, "5"):
        with pytest.raises(ParameterError, match="horizon must be a positive number"):
            model.predict_spread(X, horizon=horizon)
