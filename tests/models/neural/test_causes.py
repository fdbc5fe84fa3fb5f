"""Networks that learn competing causes: recovery of known incidences, laws, files, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

import aldsurv
from aldsurv import ALDSurvival, CoxRegression, LogNormalSurvival, SurvivalData
from aldsurv.errors import CompetingCausesWarning, DataError, ParameterError

TIMES = np.array([0.5, 1.0, 2.0, 4.0])
MODELS = {"ald": ALDSurvival, "lognormal": LogNormalSurvival}
QUICK = {"members": 2, "max_epochs": 3, "random_state": 0}


def chances(x):
    """P(relapse), and means of log time of relapse and of death, which share no covariate."""
    return 1 / (1 + np.exp(-1.5 * x[:, 0])), 0.3 + 0.8 * x[:, 1], 0.8 - 0.6 * x[:, 2]


def drawn(n=1500, seed=0, end=6.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    share, first, second = chances(x)
    relapse = rng.random(n) < share
    time = np.exp(np.where(relapse, first + 0.5 * rng.normal(size=n), second + 0.7 * rng.normal(size=n)))
    censored = rng.exponential(end, n)
    cause = np.where(time <= censored, np.where(relapse, 1, 2), 0)
    return x, SurvivalData.competing(np.minimum(time, censored), cause, names=["relapse", "death"])


def truth(x):
    share, first, second = chances(x)
    shares = np.stack([share, 1 - share])[:, :, None]
    return shares * np.stack([norm.cdf((np.log(TIMES) - m[:, None]) / s) for m, s in ((first, 0.5), (second, 0.7))])


@pytest.fixture(scope="module")
def data():
    return drawn()


@pytest.fixture(scope="module")
def fitted(data):
    settings = {"random_state": 0, "members": 2, "max_epochs": 40, "patience": 8, "learning_rate": 0.01}
    return {name: kind("default", causes="mixture", **settings).fit(*data) for name, kind in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_incidences_are_recovered(name, fitted):
    x = np.random.default_rng(5).normal(size=(400, 3))
    predicted = fitted[name].predict_incidence(x)
    error = np.abs(predicted.incidence(TIMES) - truth(x)).mean()
    # Without covariates the mean distance is about 0.15.
    assert error < 0.05
    assert fitted[name].causes_ == predicted.causes == ("relapse", "death")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("causes", ["mixture", "hazards"])
def test_incidences_add_up_with_survival_saved_and_loaded(name, causes, data, tmp_path):
    x, y = data[0][:300], data[1][:300]
    model = MODELS[name](causes=causes, **QUICK).fit(x, y)
    predicted = model.predict_incidence(x[:20])
    incidence = predicted.incidence(TIMES)
    assert_allclose(incidence.sum(axis=0) + predicted.survival(TIMES), 1.0, atol=1e-12)
    assert_allclose(model.predict_distribution(x[:20]).survival(TIMES), predicted.survival(TIMES), rtol=1e-12)
    members = [member.survival(TIMES) for member in model.predict_members(x[:20])]
    assert_allclose(np.mean(members, axis=0), predicted.survival(TIMES), rtol=1e-10)
    again = aldsurv.load(model.save(tmp_path / "model.aldsurv"))
    assert_array_equal(again.predict_incidence(x[:20]).incidence(TIMES), incidence)
    assert again.causes_ == model.causes_
    assert causes in model.summary()


def test_validation_rows_choose_between_mixture_and_hazards(data):
    x, y = data
    model = LogNormalSurvival(members=1, max_epochs=5, random_state=0).fit(x[:600], y[:600])
    assert set(model.fitted_.support_scores) == {"mixture", "hazards"}
    best = max(model.fitted_.support_scores, key=model.fitted_.support_scores.get)
    assert model.settings_.causes == best
    assert "by the log-likelihood" in model.summary()


def test_cause_probabilities_follow_their_covariate_only_if_they_depend_on_it(fitted):
    x = np.zeros((2, 3))
    x[:, 0] = -1.5, 1.5
    low, high = fitted["lognormal"].predict_incidence(x).cause_probability("relapse")
    assert low < 0.3 < 0.7 < high


def test_delayed_entry_weights_and_groups_are_learned_with_causes(data):
    x, y = data[0][:200], data[1][:200]
    entry = np.where(np.arange(200) % 2, y.time / 2, -np.inf)
    rows = SurvivalData.competing(
        y.time, y.cause, entry=entry, weight=1 + np.arange(200) % 3, group=np.arange(200) // 2, names=list(y.causes)
    )
    model = ALDSurvival(causes="mixture", **QUICK).fit(x, rows)
    assert np.isfinite(model.predict_incidence(x).log_likelihood(rows)).all()


def test_events_at_zero_are_learned(data):
    x, y = data[0][:200], data[1][:200]
    time = y.time.copy()
    time[y.cause == 1] = np.where(np.arange((y.cause == 1).sum()) < 3, 0.0, time[y.cause == 1])
    model = ALDSurvival(**QUICK).fit(x, SurvivalData.competing(time, y.cause, names=list(y.causes)))
    assert model.settings_.causes == "mixture"
    with pytest.raises(DataError, match=r'an event at time 0 counts as one before the first later time.*"mixture"'):
        ALDSurvival(causes="hazards", **QUICK).fit(x, SurvivalData.competing(time, y.cause))


def test_one_cause_is_a_plain_fit(data):
    x, y = data[0][:200], data[1][:200]
    one = SurvivalData.competing(y.time, (y.cause > 0).astype(int), names=["any"])
    plain = LogNormalSurvival(**QUICK).fit(x, SurvivalData.right(y.time, y.event))
    named = LogNormalSurvival(**QUICK).fit(x, one)
    assert_array_equal(named.predict(x), plain.predict(x))
    with pytest.raises(ParameterError, match="does not tell causes apart"):
        plain.predict_incidence(x)


def test_bad_input_gets_one_line(data):
    x, y = data[0][:100], data[1][:100]
    none = SurvivalData.competing(y.time, y.cause, names=["relapse", "death", "accident"])
    with pytest.raises(DataError, match="no event of cause 'accident' was observed"):
        ALDSurvival(**QUICK).fit(x, none)
    with pytest.raises(ParameterError, match="causes must be"):
        ALDSurvival(causes="both", **QUICK).fit(x, y)
    with pytest.raises(ParameterError, match="calibration and crps must be 0 with competing causes"):
        ALDSurvival(crps=0.5, **QUICK).fit(x, y)
    with pytest.warns(CompetingCausesWarning, match="such as ALDSurvival, CauseSpecificCox or FineGray"):
        model = CoxRegression().fit(x, y)
    assert model.causes_ is None
