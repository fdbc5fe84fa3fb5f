"""Elastic nets: scikit-survival's coefficients, the conditions of a minimum, limits of the penalty, wide tables."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from sksurv.linear_model import CoxnetSurvivalAnalysis

import aldsurv
from aldsurv import ElasticNetAFT, ElasticNetCox, SurvivalData
from aldsurv.errors import DataError, NoSkillWarning, ParameterError
from aldsurv.metrics import integrated_brier_score, log_likelihood
from aldsurv.models import CoxRegression, LogNormalAFT, WeibullAFT
from aldsurv.models.linear.aft_likelihood import SmallestExtreme, StandardNormal
from aldsurv.models.linear.elastic_net import elastic_net_survival
from aldsurv.models.linear.elastic_net.losses import LogTimeLoss, PartialLoss
from aldsurv.models.linear.elastic_net.path import follow_path, largest_alpha
from aldsurv.models.linear.elastic_net.ridge import Components, follow_ridge_path, ridge_alphas
from aldsurv.models.linear.elastic_net.scored_path import score_path
from aldsurv.models.linear.elastic_net.solver import PenalisedFit, Penalty


def standardised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def drawn(n, p, seed=0, signal=3):
    rng = np.random.default_rng(seed)
    x = standardised(rng.normal(size=(n, p)))
    event, lost = rng.exponential(np.exp(-0.8 * x[:, :signal].sum(axis=1))), rng.exponential(2.0, n)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost)


@pytest.mark.parametrize(("l1_ratio", "p"), [(0.2, 8), (0.5, 120), (1.0, 30)])
def test_coefficients_are_those_of_scikit_survival(l1_ratio, p):
    x, y = drawn(90, p)
    alphas = [0.2, 0.1, 0.05]
    # Its optimiser comes closer when asked for more digits than it can give.
    peer = CoxnetSurvivalAnalysis(l1_ratio=l1_ratio, alphas=alphas, tol=1e-14, max_iter=10**6)
    peer.fit(x, y.to_structured())
    for k, alpha in enumerate(alphas):
        ours = ElasticNetCox(l1_ratio, alpha, ties="breslow").fit(x, y)
        np.testing.assert_allclose(ours.standardised_, peer.coef_[:, k], atol=3e-5)


def losses(kind, data):
    if kind == "cox":
        return PartialLoss(data, "efron", None)
    return LogTimeLoss(data, {"lognormal": StandardNormal(), "weibull": SmallestExtreme()}[kind])


@settings(max_examples=12, deadline=None)
@given(
    kind=st.sampled_from(["cox", "lognormal", "weibull"]),
    seed=st.integers(0, 10**6),
    p=st.sampled_from([1, 4, 90]),
    l1_ratio=st.sampled_from([0.05, 0.5, 1.0]),
    share=st.floats(0.02, 0.9),
)
def test_conditions_of_a_minimum(kind, seed, p, l1_ratio, share):
    rng = np.random.default_rng(seed)
    n = 40
    x = standardised(rng.normal(size=(n, p)))
    # Equal columns, and a column that is almost another one.
    if p > 1:
        x[:, 1] = x[:, 0]
        x[:, 2] = standardised(x[:, 3] + 1e-4 * rng.normal(size=n))
    time = np.ceil(20 * rng.exponential(np.exp(0.5 * x[:, 0]))) / 4
    data = SurvivalData.right(time, rng.uniform(size=n) < 0.7, weight=rng.uniform(0.5, 2, n))
    if kind != "cox":
        upper = np.where(rng.uniform(size=n) < 0.3, time + 0.5, np.where(data.event, time, np.inf))
        lower = np.where(np.isfinite(upper) & (rng.uniform(size=n) < 0.1), -np.inf, time)
        data = SurvivalData.interval(lower, upper, weight=data.weight)
    fit = PenalisedFit.without_columns(losses(kind, data), np.arange(n), p)
    columns = np.ascontiguousarray(x.T)
    largest = largest_alpha(columns, fit, l1_ratio)
    alphas = [largest, largest * share**0.5, largest * share]
    objectives = []
    for alpha in follow_path(columns, [fit], alphas, l1_ratio):
        penalty = Penalty.mixed(alpha, l1_ratio)
        if alpha == largest:
            assert not fit.beta.any()
        slopes = fit.loss.at(fit.beta @ columns, fit.free)
        gradient = penalty.square * fit.beta - columns @ slopes.by_row / fit.loss.weight
        active = fit.beta != 0
        close = 1e-6 * penalty.absolute + 1e-9
        assert np.abs(gradient[active] + penalty.absolute * np.sign(fit.beta[active])).max(initial=0) <= close
        assert np.abs(gradient[~active]).max(initial=0) <= penalty.absolute + close
        assert np.abs(slopes.by_free / fit.loss.weight).max(initial=0) <= close
        objectives.append(penalty.cost(fit.beta) - slopes.value / fit.loss.weight)
    # A smaller penalty has a smaller minimum.
    assert len(objectives) == 3
    assert (np.diff(objectives) <= 1e-10).all()


@pytest.mark.parametrize("kind", ["cox", "lognormal", "weibull"])
def test_slopes_by_differences(kind):
    rng = np.random.default_rng(1)
    time, entry = rng.exponential(1, 20) + 0.2, np.where(rng.uniform(size=20) < 0.4, 0.1, 0.0)
    loss = losses(kind, SurvivalData.right(time, rng.uniform(size=20) < 0.6, entry=entry))
    free, u, x = loss.start(), 0.3 * rng.normal(size=20), rng.normal(size=(20, 3))
    k = free.size

    def value(point):
        return loss.at(u + x @ point[:3], free + point[3:]).value

    def slope(point):
        slopes = loss.at(u + x @ point[:3], free + point[3:])
        return np.concatenate([x.T @ slopes.by_row, slopes.by_free])

    zero = np.zeros(3 + k)
    np.testing.assert_allclose(slope(zero), approx_fprime(zero, value, 1e-7), rtol=1e-4, atol=1e-5)
    information = loss.at(u, free).information(x)
    np.testing.assert_allclose(-information, approx_fprime(zero, slope, 1e-7), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("net", "plain"),
    [
        (ElasticNetCox(alpha=1e-9), CoxRegression()),
        (ElasticNetAFT(alpha=1e-9), LogNormalAFT()),
        (ElasticNetAFT(alpha=1e-9, family="weibull"), WeibullAFT()),
    ],
)
def test_without_a_penalty_it_is_the_maximum_of_the_likelihood(net, plain):
    rng = np.random.default_rng(2)
    x, y = drawn(80, 3)
    columns = {"a": x[:, 0], "b": 20 + 7 * x[:, 1], "c": np.where(x[:, 2] > 0, "yes", "no")}
    y = SurvivalData.right(y.time, y.event, entry=0.3 * y.time * (rng.uniform(size=80) < 0.4), weight=1 + x[:, 0] ** 2)
    net.fit(columns, y)
    plain.fit(columns, y)
    assert net.coefficients_.names == plain.coefficients_.names
    np.testing.assert_allclose(net.coefficients_.coefficient, plain.coefficients_.coefficient, rtol=1e-5, atol=1e-6)
    assert net.log_likelihood_ == pytest.approx(plain.log_likelihood_, abs=1e-6)
    times = [0.1, 0.5, 1.0]
    ours, theirs = (model.predict_distribution(columns).survival(times) for model in (net, plain))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_strata_are_those_of_cox_regression():
    x, y = drawn(80, 2)
    columns = {"a": x[:, 0], "site": np.where(x[:, 1] > 0, "n", "s")}
    net, plain = ElasticNetCox(alpha=1e-9, strata="site").fit(columns, y), CoxRegression(strata="site").fit(columns, y)
    assert net.coefficients_["a"].coefficient == pytest.approx(plain.coefficients_["a"].coefficient, rel=1e-5)
    chosen = ElasticNetCox(0.9, strata="site", folds=3, random_state=0).fit(columns, y)
    assert chosen.strata_ == plain.strata_
    assert chosen.selected_columns_ == ["a"]


@pytest.mark.parametrize("kind", [ElasticNetCox, ElasticNetAFT])
def test_a_wide_table_with_few_columns_that_matter(kind, tmp_path):
    x, y = drawn(150, 400)
    wide = np.column_stack([x, np.r_[1.0, np.zeros(149)], x[:, 0]])
    model = kind(0.9, folds=5, random_state=0).fit(wide[:120], y[:120])
    chosen = set(model.selected_columns_)
    assert {"x1", "x2"} <= chosen
    assert "x400" not in chosen
    # Equal columns share the effect.
    slopes = dict(zip(model.coefficients_.names, model.coefficients_.coefficient, strict=True))
    assert slopes["x0"] == pytest.approx(slopes["x401"], rel=1e-4)
    assert len(chosen) < 100
    assert model.score(wide[120:], y[120:]) > 0.7
    # The score of each alpha is a gain over the first, which has no columns; the best one is taken.
    path = model.path_
    assert path.nonzero[0] == 0
    assert model.alpha_ == path.alphas[path.scores.argmax()]
    assert path.nonzero[path.scores.argmax()] == len(chosen)
    assert (np.diff(path.gains) >= -1e-8).all()
    simpler = kind(0.9, folds=5, choose="one_standard_error", random_state=0).fit(wide[:120], y[:120])
    assert simpler.alpha_ >= model.alpha_
    assert f"{len(chosen)} of 402 have a coefficient" in model.summary()
    loaded = aldsurv.load(model.save(tmp_path / "m"))
    assert loaded.summary() == model.summary()
    np.testing.assert_array_equal(loaded.path_.values, path.values)


@pytest.mark.parametrize("kind", [ElasticNetCox, ElasticNetAFT])
def test_the_score_is_what_models_of_the_other_rows_have(kind):
    x, y = drawn(60, 4)
    model = kind(0.9, folds=2, random_state=3).fit(x, y)
    from aldsurv.models.rows.member_rows import member_seeds
    from aldsurv.models.wrappers.cross_fitting import choose_parts

    parts = choose_parts(y, folds=2, validation=None, seed=member_seeds(3, 1)[0], X=x)
    total, weight = 0.0, 0.0
    # Columns have the standard deviation of all rows in every fold, as here; so they must be left as they are.
    for part in parts:
        rest = np.setdiff1d(np.arange(60), part)
        if kind is ElasticNetCox:
            from aldsurv.models.linear.partial_likelihood import PartialLikelihood

            def held_out(beta, rest=rest):
                every, some = (
                    PartialLikelihood(x[rows], y[rows], ties="efron")(beta) for rows in (np.arange(60), rest)
                )
                return every.value - some.value

            beta = _beta_of(x[rest], y[rest], model.alpha_, "cox")
            total, weight = total + held_out(beta) - held_out(np.zeros(4)), weight + y[part].n_events
        else:
            beta, free = _beta_of(x[rest], y[rest], model.alpha_, "lognormal", free=True)
            loss = LogTimeLoss(y[rest], StandardNormal())
            null = PenalisedFit.without_columns(loss, np.arange(len(rest)), 4).free
            held = LogTimeLoss(y[part], StandardNormal())
            total += held.log_likelihood(x[part] @ beta, free) - held.log_likelihood(np.zeros(len(part)), null)
            weight += len(part)
    path = model.path_
    assert path.scores[np.flatnonzero(path.alphas == model.alpha_)[0]] == pytest.approx(total / weight, abs=1e-5)


def _beta_of(x, y, alpha, kind, free=False):
    fit = PenalisedFit.without_columns(losses(kind, y), np.arange(len(y)), x.shape[1])
    columns = np.ascontiguousarray(x.T)
    assert list(follow_path(columns, [fit], [alpha], 0.9)) == [alpha]
    return (fit.beta, fit.free) if free else fit.beta


@pytest.mark.parametrize("p", [5, 60])
def test_a_ridge_is_that_of_cox_regression(p):
    """Whose penalty is on the sum over rows; with more columns than rows it is found by rotation."""
    x, y = drawn(40, p)
    ours, theirs = ElasticNetCox(0.0, 0.7).fit(x, y), CoxRegression(ridge=40 * 0.7).fit(x, y)
    np.testing.assert_allclose(ours.standardised_, theirs.standardised_, atol=1e-5)


@pytest.mark.parametrize("kind", ["cox", "lognormal", "weibull"])
def test_conditions_of_the_minimum_of_a_ridge(kind):
    x, y = drawn(30, 50)
    columns = np.ascontiguousarray(x.T)
    components = Components.of(columns)
    np.testing.assert_allclose(components.loadings @ components.values, columns, atol=1e-10)
    fit = PenalisedFit.without_columns(losses(kind, y), np.arange(30), len(components.values))
    alphas = ridge_alphas(columns, 6).tolist()
    reached = []
    for alpha in follow_ridge_path(components.values, [fit], alphas):
        beta = components.loadings @ fit.beta
        np.testing.assert_allclose(columns @ fit.residual, alpha * beta, atol=1e-5)
        reached.append(alpha)
    assert reached == alphas


@pytest.mark.parametrize(("p", "ratios"), [(20, [0.1, 0.5, 0.9]), (40, [0.0, 0.1, 0.5, 0.9])])
def test_a_ridge_is_tried_where_columns_outnumber_rows(p, ratios, monkeypatch):
    tried = []

    def noted(problem, columns, parts, alphas, l1_ratio):
        tried.append(l1_ratio)
        return score_path(problem, columns, parts, alphas, l1_ratio)

    monkeypatch.setattr(elastic_net_survival, "score_path", noted)
    ElasticNetCox(folds=2, n_alphas=5, random_state=0).fit(*drawn(30, p))
    assert tried == ratios


@pytest.mark.parametrize("kind", [ElasticNetCox, ElasticNetAFT])
def test_a_ridge_path_begins_without_columns(kind, tmp_path):
    rng = np.random.default_rng(5)
    x, time = rng.normal(size=(40, 60)), rng.exponential(1, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoSkillWarning)
        model = kind(0.0, folds=4, n_alphas=12, random_state=0).fit(x, (time, np.ones(40)))
    path = model.path_
    assert path.nonzero[0] == 0
    assert path.scores[0] == pytest.approx(0, abs=1e-12)
    assert (path.nonzero[1:] == 60).all()
    assert (np.diff(path.gains) > 0).all()
    loaded = aldsurv.load(model.save(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.path_.values, path.values)
    assert loaded.l1_ratio_ == 0


def test_noise_gives_no_column_a_coefficient():
    rng = np.random.default_rng(5)
    x, time = rng.normal(size=(80, 200)), rng.exponential(1, 80)
    with pytest.warns(NoSkillWarning, match="gives no column a coefficient: held-out rows"):
        model = ElasticNetCox(0.9, folds=5, choose="one_standard_error", random_state=0).fit(x, (time, np.ones(80)))
    assert model.selected_columns_ == []
    assert "none of 200 has a coefficient: held-out rows" in model.summary()
    survival = model.predict_distribution(x[:2]).survival([0.5, 1.0])
    np.testing.assert_array_equal(survival[0], survival[1])


@pytest.mark.filterwarnings("ignore:.*leaves out columns that hold one value only")
@pytest.mark.parametrize("kind", [ElasticNetCox, ElasticNetAFT])
def test_tables_with_nothing_to_choose_from(kind):
    x, y = drawn(30, 2)
    with pytest.warns(NoSkillWarning, match="gives no column"):
        assert kind(0.9, folds=2, random_state=0).fit(np.ones((30, 2)), y).selected_columns_ == []
    one = SurvivalData.right(y.time, np.arange(30) == 3)
    with pytest.warns(NoSkillWarning, match="too few events"):
        assert kind(random_state=0).fit(x, one).selected_columns_ == []
    model = kind((0.2, 0.9), folds=3, random_state=0).fit(x, y)
    assert model.l1_ratio_ in (0.2, 0.9)


def test_times_that_columns_explain_exactly():
    x = np.random.default_rng(0).normal(size=(30, 60))
    model = ElasticNetAFT(0.9, folds=3, random_state=0).fit(x, (np.exp(x[:, 0]), np.ones(30)))
    assert np.isfinite(model.standardised_).all()
    assert "x0" in model.selected_columns_


def test_interval_censored_rows():
    x, y = drawn(120, 30)
    visits = SurvivalData.interval(np.floor(4 * y.time) / 4, np.where(y.event, np.floor(4 * y.time + 1) / 4, np.inf))
    model = ElasticNetAFT(0.9, folds=3, random_state=0, family="weibull").fit(x, visits)
    assert {"x0", "x1", "x2"} <= set(model.selected_columns_)
    with pytest.raises(DataError, match="ElasticNetCox takes exact and right-censored rows only"):
        ElasticNetCox().fit(x, visits)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"l1_ratio": -0.1}, "l1_ratio must be a number from 0 to 1, several of them, or 'auto', but is -0.1"),
        ({"l1_ratio": "some"}, "l1_ratio must be"),
        ({"l1_ratio": ()}, "l1_ratio must be"),
        ({"alpha": 0}, "alpha must be a number above 0 or None, but is 0"),
        ({"alpha_min_ratio": 1.0}, "alpha_min_ratio must be a number between 0 and 1 or 'auto'"),
        ({"choose": "worst"}, "choose must be 'best' or 'one_standard_error'"),
    ],
)
def test_settings_that_are_refused(setting, message):
    x, y = drawn(20, 2)
    with pytest.raises(ParameterError, match=message):
        ElasticNetCox(**setting).fit(x, y)


def test_it_predicts_no_worse_than_kaplan_meier_and_better_with_a_signal():
    x, y = drawn(240, 60)
    train, test = np.arange(160), np.arange(160, 240)
    for kind in (ElasticNetCox, ElasticNetAFT):
        model, null = kind(folds=5, random_state=0).fit(x[train], y[train]), kind(alpha=10.0).fit(x[train], y[train])
        assert null.selected_columns_ == []
        scores = [
            integrated_brier_score(m.predict_distribution(x[test]), y[test], train=y[train]) for m in (model, null)
        ]
        assert scores[0] < scores[1] - 0.01
    likelihoods = [log_likelihood(m.predict_distribution(x[test]), y[test]) for m in (model, null)]
    assert likelihoods[0] > likelihoods[1]
