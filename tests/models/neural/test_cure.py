"""Networks that learn a share which never has the event."""

from __future__ import annotations

import numpy as np
import pytest
from lifelines import MixtureCureFitter, WeibullFitter
from numpy.testing import assert_allclose

import aldsurv
from aldsurv import ALDSurvival, LogNormalSurvival, SurvivalData
from aldsurv.errors import CureWarning, DataError, ParameterError

QUICK = {"members": 2, "max_epochs": 3, "random_state": 0}


def drawn(n=1500, seed=0, *, covariates=True):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    cure = 1 / (1 + np.exp(0.5 - 1.2 * x[:, 0] * covariates))
    time = np.where(rng.random(n) < cure, np.inf, np.exp(0.3 + 0.7 * x[:, 1] * covariates + 0.4 * rng.normal(size=n)))
    # Covariates spread the times widely: follow-up well beyond the last event takes long.
    end = rng.uniform(30, 60, n)
    return x, SurvivalData.right(np.minimum(time, end), time <= end), cure


@pytest.mark.parametrize("kind", [ALDSurvival, LogNormalSurvival])
def test_shares_and_times_are_recovered(kind):
    x, y, cure = drawn()
    settings = {"random_state": 0, "members": 2, "max_epochs": 40, "patience": 8, "learning_rate": 0.01}
    predicted = kind("default", cure=True, **settings).fit(x, y).predict_distribution(x)
    assert np.abs(predicted.cure_probability() - cure).mean() < 0.08
    ratio = predicted.base.median() / np.exp(0.3 + 0.7 * x[:, 1])
    assert 0.85 < np.median(ratio) < 1.15
    assert np.isinf(predicted.mean()).all()
    assert np.isfinite(predicted.base.mean()).all()


def test_without_covariates_the_share_is_that_of_a_mixture_cure_model():
    _, y, cure = drawn(1200, covariates=False)
    fitter = MixtureCureFitter(base_fitter=WeibullFitter()).fit(y.time, y.event)
    x = np.zeros((len(y), 1)) + np.arange(len(y))[:, None] % 2
    model = LogNormalSurvival(cure=True, random_state=0, members=1, max_epochs=10).fit(x, y)
    share = float(model.predict_distribution(x[:2]).cure_probability().mean())
    assert_allclose(share, fitter.cured_fraction_, atol=0.06)
    assert_allclose(share, cure[0], atol=0.06)


def test_saved_and_loaded_and_ranked(tmp_path):
    x, y, _ = drawn(200)
    model = ALDSurvival(cure=True, **QUICK).fit(x, y)
    again = aldsurv.load(model.save(tmp_path / "model.aldsurv"))
    assert_allclose(
        again.predict_distribution(x).survival([1.0, 1e9]), model.predict_distribution(x).survival([1.0, 1e9])
    )
    assert np.isfinite(model.predict(x)).all()
    assert again.settings_.cure
    assert "some never" in model.summary()


def test_causes_and_a_cure_share_add_up_to_one():
    x, y, _ = drawn(300)
    cause = np.where(y.event, 1 + (np.arange(300) % 2), 0)
    rows = SurvivalData.competing(y.time, cause, names=["a", "b"])
    predicted = ALDSurvival(cure=True, **QUICK).fit(x, rows).predict_incidence(x[:9])
    total = predicted.cause_probability().sum(axis=0) + predicted.survival(np.inf)
    assert_allclose(total, 1.0, atol=1e-12)
    assert (predicted.survival(np.inf) > 0).all()
    assert_allclose(predicted.survival(np.inf), predicted.cure_probability())


def test_short_follow_up_is_warned_of():
    x, y, _ = drawn(200)
    early = SurvivalData.right(np.minimum(y.time, 1.0), y.event & (y.time <= 1.0))
    with pytest.warns(CureWarning, match="may be too short for ALDSurvival to estimate a share without event"):
        ALDSurvival(cure=True, **QUICK).fit(x, early)


def test_a_cure_needs_rows_without_an_event():
    x, y, _ = drawn(100)
    with pytest.raises(DataError, match="cure=True needs rows that were still without an event"):
        ALDSurvival(cure=True, **QUICK).fit(x, SurvivalData.right(y.time, np.ones(100)))
    with pytest.raises(ParameterError, match="cure must be"):
        ALDSurvival(cure="yes", **QUICK).fit(x, y)
    with pytest.raises(ParameterError, match="'mixture' or 'auto' with cure=True"):
        ALDSurvival(cure=True, causes="hazards", **QUICK).fit(x, y)
