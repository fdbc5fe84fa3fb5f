from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions import LogNormal
from aldsurv.models.neural.log_normal_survival import LogNormalSurvival

ROWS = 2500
GRID = np.stack([np.linspace(-0.9, 0.9, 15), np.tile([-0.5, 0.0, 0.5], 5)], 1)
LEVELS = [0.1, 0.5, 0.9]
QUICK = {
    "members": 1,
    "learning_rate": 0.01,
    "schedule": "cosine",
    "dropout": 0.0,
    "weight_decay": 0.01,
    "max_epochs": 40,
    "batch_size": 256,
    "random_state": 0,
    "progress": False,
}


def truth(x):
    return LogNormal(1.0 + 0.8 * x[:, 0] - 0.5 * np.sin(2 * x[:, 1]), 0.4 + 0.2 * x[:, 0] ** 2)


def observed(kind, rng):
    """Covariates, what is known of the times, and what somebody would take it for who ignores how it came about."""
    n = ROWS if kind != "delayed" else 8 * ROWS
    x = rng.uniform(-1, 1, (n, 2))
    time = truth(x).quantile(rng.uniform(size=n)[:, None])[:, 0]
    if kind == "right":
        lost = rng.exponential(4.0, n)
        seen = np.minimum(time, lost)
        return x, SurvivalData.right(seen, time <= lost), SurvivalData.right(seen, np.ones(n))
    if kind == "left":
        start = rng.exponential(2.0, n)
        seen = np.maximum(time, start)
        return x, SurvivalData.left(seen, time >= start), SurvivalData.right(seen, np.ones(n))
    if kind == "interval":
        step = rng.uniform(2.0, 5.0, n)
        lower = step * np.floor(time / step)
        return x, SurvivalData.interval(lower, lower + step), SurvivalData.right(lower + step, np.ones(n))
    entry = rng.uniform(*np.quantile(time, [0.05, 0.9]), n)
    chosen = np.flatnonzero(time > entry)[: 3 * ROWS // 2]
    late = SurvivalData.right(time[chosen], np.ones(len(chosen)), entry=entry[chosen])
    return x[chosen], late, SurvivalData.right(time[chosen], np.ones(len(chosen)))


def error(x, y):
    """Mean distance of fitted from true quantiles, in widths of the true central 80 %."""
    wanted = truth(GRID).quantile(LEVELS)
    found = LogNormalSurvival(**QUICK).fit(x, y).predict_distribution(GRID).quantile(LEVELS)
    return (np.abs(found - wanted) / (wanted[:, 2:] - wanted[:, :1])).mean()


@pytest.mark.parametrize("kind", ["right", "left", "interval", "delayed"])
def test_quantiles_are_found_and_censoring_counts(kind):
    x, known, careless = observed(kind, np.random.default_rng(0))
    found = error(x, known)
    assert found < 0.08
    assert error(x, careless) > 2.5 * found


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_without_hidden_layers_it_is_near_the_linear_model_of_lifelines():
    import pandas as pd
    from lifelines import LogNormalAFTFitter

    rng = np.random.default_rng(1)
    x = rng.normal(size=(1500, 2))
    event_time, lost = (
        np.exp(0.5 + 0.7 * x[:, 0] - 0.3 * x[:, 1] + 0.6 * rng.normal(size=1500)),
        rng.exponential(5, 1500),
    )
    time, event = np.minimum(event_time, lost), event_time <= lost
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(time=time, event=event)
    linear = LogNormalAFTFitter().fit(frame, "time", "event", ancillary=True)
    settings = {"hidden": (), "head_hidden": (), "validation": 0.0, "max_epochs": 80, "weight_decay": 0.0}
    model = LogNormalSurvival(**{**QUICK, **settings}).fit(x, (time, event))
    # Their scale is the exponential of a line, ours softplus of one: hardly a difference where both are nearly flat.
    wanted = linear.predict_median(frame).to_numpy()
    assert np.abs(np.log(model.predict_distribution(x).median() / wanted)).max() < 0.05
    loss = -np.mean(model.predict_distribution(x).log_likelihood(SurvivalData.right(time, event)))
    assert loss == pytest.approx(-linear.log_likelihood_ / 1500, abs=2e-3)


def test_the_start_is_the_best_distribution_without_covariates():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(400, 2)), np.exp(3.0 + 0.5 * rng.normal(size=400))
    settings = {**QUICK, "max_epochs": 1, "learning_rate": 1e-9, "validation": 0.0}
    model = LogNormalSurvival(**settings, start="marginal").fit(x, (y, np.ones(400)))
    predicted = model.predict_distribution(x)
    np.testing.assert_allclose(predicted.mu[:, 0], np.log(y).mean(), atol=2e-3)
    np.testing.assert_allclose(predicted.sigma[:, 0], np.log(y).std(), atol=2e-3)
    other = LogNormalSurvival(**settings, start="random").fit(x, (y, np.ones(400)))
    assert np.ptp(other.predict_distribution(x).mu) > 1e-3


def test_an_event_at_time_0_came_before_the_first_later_one():
    rng = np.random.default_rng(3)
    x, time, event = rng.normal(size=(200, 2)), rng.exponential(2.0, 200) + 0.2, rng.random(200) < 0.7
    time[:5], event[:5] = 0.0, True
    first = time[time > 0].min()
    bounds = np.where(event, time, np.inf)
    bounds[:5] = first
    told = SurvivalData.interval(np.where(np.arange(200) < 5, -np.inf, time), bounds)
    settings = {**QUICK, "max_epochs": 3}
    models = [LogNormalSurvival(**settings).fit(x, y) for y in ((time, event), told)]
    np.testing.assert_array_equal(models[0].predict(x), models[1].predict(x))


def test_recipes():
    paper = asdict(LogNormalSurvival("paper").settings())
    assert paper["hidden"] == (100, 100)
    assert (paper["activation"], paper["optimizer"], paper["learning_rate"]) == ("relu", "adam", 0.01)
    assert (paper["batch_size"], paper["validation"], paper["patience"], paper["members"]) == (128, 0.0, 0, 1)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 2))
    time = np.exp(x[:, 0] + 0.3 * rng.normal(size=300))
    model = LogNormalSurvival("paper", max_epochs=20, random_state=0, progress=False).fit(x, (time, np.ones(300)))
    assert model.score(x, (time, np.ones(300))) > 0.8
    assert model.history_.epochs == 20
    assert "log normal" in model.summary()


def test_the_file_holds_the_two_parameters(tmp_path):
    rng = np.random.default_rng(5)
    x, time = rng.normal(size=(100, 2)), rng.exponential(size=100) + 0.1
    model = LogNormalSurvival(**{**QUICK, "max_epochs": 2, "members": 2}).fit(x, (time, np.ones(100)))
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    raw = model.predict_outputs(x)
    parts = [stats.lognorm(np.logaddexp(r[:, 1], 0), scale=np.exp(r[:, 0]) * model.fitted_.time_scale) for r in raw]
    wanted = np.mean([part.sf(1.5) for part in parts], axis=0)
    np.testing.assert_allclose(loaded.predict_distribution(x).survival(1.5), wanted, rtol=1e-9)
