"""Boosted trees with competing causes and with a cure: recovery of known incidences, laws, files, bad input."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from child_process import machine_variables
from lifelines import MixtureCureFitter, WeibullFitter
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

import aldsurv
from aldsurv import BoostedALD, SurvivalData
from aldsurv.errors import CureWarning, DataError, ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file

TIMES = np.array([0.5, 1.0, 2.0, 4.0])
QUICK = {"components": 1, "members": 2, "max_rounds": 12, "random_state": 0}
KINDS = ["mixture", "hazards"]

# Whether follow-up is long enough is not what is tried here.
pytestmark = pytest.mark.filterwarnings("ignore::aldsurv.errors.CureWarning")


def chances(x):
    """P(relapse), and means of log time of relapse and of death, which share no covariate."""
    return np.where(x[:, 0] > 0, 0.8, 0.25), 0.3 + np.where(x[:, 1] > 0, 0.7, -0.5), 0.8 - 0.6 * x[:, 2]


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    share, first, second = chances(x)
    relapse = rng.random(n) < share
    time = np.exp(np.where(relapse, first + 0.5 * rng.normal(size=n), second + 0.7 * rng.normal(size=n)))
    censored = rng.exponential(6.0, n)
    cause = np.where(time <= censored, np.where(relapse, 1, 2), 0)
    return x, SurvivalData.competing(np.minimum(time, censored), cause, names=["relapse", "death"])


def truth(x):
    share, first, second = chances(x)
    shares = np.stack([share, 1 - share])[:, :, None]
    return shares * np.stack([norm.cdf((np.log(TIMES) - m[:, None]) / s) for m, s in ((first, 0.5), (second, 0.7))])


def followed_on(y):
    """Rows without an event, seen long after the last event of the others."""
    return SurvivalData.competing(np.where(y.cause == 0, 90.0, y.time), y.cause, names=list(y.causes))


@pytest.fixture(scope="module")
def small():
    return drawn(300, seed=1)


@pytest.fixture(scope="module")
def fitted(small):
    return {kind: BoostedALD(causes=kind, **QUICK).fit(*small) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_incidences_are_recovered(kind):
    x, y = drawn(2000)
    model = BoostedALD(causes=kind, members=2, random_state=0).fit(x, y)
    other = np.random.default_rng(5).normal(size=(400, 3))
    predicted, wanted = model.predict_incidence(other), truth(other)
    marginal = np.abs(wanted - wanted.mean(axis=1, keepdims=True)).mean()
    assert np.abs(predicted.incidence(TIMES) - wanted).mean() < 0.4 * marginal
    assert model.causes_ == predicted.causes == ("relapse", "death")
    low, high = predicted.cause_probability("relapse")[np.argsort(other[:, 0])[[5, -5]]]
    assert low < 0.45 < 0.6 < high


@pytest.mark.parametrize("kind", KINDS)
def test_incidences_add_up_with_survival(kind, fitted, small):
    x, model = small[0][:20], fitted[kind]
    predicted = model.predict_incidence(x)
    assert_allclose(predicted.incidence(TIMES).sum(axis=0) + predicted.survival(TIMES), 1.0, atol=1e-12)
    assert_allclose(predicted.cause_probability().sum(axis=0), 1.0, atol=1e-12)
    assert_allclose(model.predict_distribution(x).survival(TIMES), predicted.survival(TIMES), rtol=1e-12)
    members = [member.survival(TIMES) for member in model.predict_members(x)]
    assert_allclose(np.mean(members, axis=0), predicted.survival(TIMES), rtol=1e-10)
    band = model.predict_survival_band(x, TIMES)
    assert (band.lower <= predicted.survival(TIMES)).all()
    assert model.n_members == 2
    assert f"2 causes ({kind})" in model.summary()
    assert model.parameter_names == ()
    assert model.predict_parameters(x) == {}


@pytest.mark.parametrize("components", [1, 2])
def test_hazards_are_fits_with_the_other_cause_censored(components, small):
    """The likelihood factorises: without held-out rows each cause is a fit of its own."""
    x, y = small
    settings = {**QUICK, "components": components, "validation": 0.0, "members": 1}
    joint = BoostedALD(causes="hazards", **settings).fit(x, y).predict_incidence(x[:10])
    # The components are as narrow as ties allow, which are those of all events.
    if components == 1:
        alone = [BoostedALD(**settings).fit(x, y.of_cause(k)).predict_distribution(x[:10]) for k in (1, 2)]
        assert_allclose(joint.survival(TIMES), alone[0].survival(TIMES) * alone[1].survival(TIMES), rtol=1e-9)
    assert (joint.cause_specific_hazard(TIMES) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_cause_is_a_plain_fit(kind, small):
    x, y = small
    one = SurvivalData.competing(y.time, y.event.astype(int), names=["any"])
    plain = BoostedALD(**QUICK).fit(x, SurvivalData.right(y.time, y.event))
    named = BoostedALD(causes=kind, **QUICK).fit(x, one)
    assert_array_equal(named.predict_distribution(x).survival(TIMES), plain.predict_distribution(x).survival(TIMES))
    assert named.causes_ == ("any",)
    assert plain.causes_ is None
    incidence = named.predict_incidence(x).incidence(TIMES, "any")
    assert_allclose(incidence, 1 - plain.predict_distribution(x).survival(TIMES), atol=1e-12)
    with pytest.raises(ParameterError, match="does not tell causes apart"):
        plain.predict_incidence(x)


def test_validation_rows_choose_between_mixture_and_hazards(small):
    x, y = small
    model = BoostedALD(**QUICK).fit(x, y)
    assert set(model.cause_scores_) == {"mixture", "hazards"}
    best = max(model.cause_scores_, key=model.cause_scores_.get)
    assert model.outputs_.cause_kind == best
    assert f"chosen          {best}, by the log-likelihood" in model.summary()
    alone = BoostedALD(causes=best, **QUICK).fit(x, y)
    assert_array_equal(alone.predict_incidence(x).incidence(TIMES), model.predict_incidence(x).incidence(TIMES))
    assert alone.cause_scores_ == {}
    assert BoostedALD(validation=0.0, **QUICK).fit(x, y).outputs_.cause_kind == "mixture"


@pytest.mark.parametrize("kind", KINDS)
def test_validation_loss_is_the_likelihood_with_causes(kind, small):
    """Without held-out rows it is the mean over the training rows of what the prediction says of them."""
    x, y = small
    model = BoostedALD(causes=kind, **{**QUICK, "members": 1, "validation": 0.0}).fit(x, y)
    assert -model.validation_loss_[0] == pytest.approx(model.predict_incidence(x).log_likelihood(y).mean(), rel=1e-6)


@pytest.mark.parametrize("kind", [*KINDS, "cure"])
def test_saved_models_predict_the_same_on_numpy_alone(kind, small, tmp_path):
    x, y = small
    settings = {"cure": True} if kind == "cure" else {"causes": kind}
    rows = followed_on(y) if kind == "cure" else y
    model = BoostedALD(**settings, **QUICK).fit(x, rows)
    path = model.save(tmp_path / "model.aldsurv")
    np.save(tmp_path / "x.npy", x[:20])
    again = aldsurv.load(path)
    assert_array_equal(
        again.predict_incidence(x[:20]).incidence(TIMES), model.predict_incidence(x[:20]).incidence(TIMES)
    )
    assert again.summary() == model.summary()
    script = (
        "import sys, numpy, aldsurv\n"
        f"model = aldsurv.load({str(path)!r})\n"
        f"d = model.predict_incidence(numpy.load({str(tmp_path / 'x.npy')!r}))\n"
        f"numpy.save({str(tmp_path / 'out.npy')!r}, d.incidence({TIMES.tolist()}))\n"
        "assert not {'torch', 'xgboost', 'scipy.optimize'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=machine_variables())
    assert_allclose(np.load(tmp_path / "out.npy"), model.predict_incidence(x[:20]).incidence(TIMES), rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ["a", "a"]}, "causes must be different names"),
        ({"names": "ab"}, "causes must be different names"),
        ({"names": ["a", "b", "c"]}, "start is not that of its outputs"),
        ({"mixture": 1}, "whether they are a mixture"),
        ({"cure": True}, "hazards of causes leave no share"),
        ({"more": 1}, "causes are unclear"),
    ],
)
def test_damaged_causes_are_refused(change, message, fitted, tmp_path):
    path = fitted["hazards"].save(tmp_path / "model.aldsurv")
    document, arrays = read_model_file(path)
    document["causes"] = {**document["causes"], **change}
    write_model_file(tmp_path / "other.aldsurv", document, arrays)
    with pytest.raises(ModelFileError, match=message):
        aldsurv.load(tmp_path / "other.aldsurv")


def test_events_at_zero_are_learned_by_the_mixture(small):
    x, y = small
    time = np.where((y.cause == 1) & (np.cumsum(y.cause == 1) <= 3), 0.0, y.time)
    rows = SurvivalData.competing(time, y.cause, names=list(y.causes))
    assert BoostedALD(**QUICK).fit(x, rows).outputs_.cause_kind == "mixture"
    with pytest.raises(DataError, match=r'an event at time 0 counts as one before the first later time.*"mixture"'):
        BoostedALD(causes="hazards", **QUICK).fit(x, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cause_seen_twice_keeps_finite(kind, small):
    x, y = small
    rare = np.where(np.cumsum(y.cause == 2) <= 2, y.cause, np.minimum(y.cause, 1))
    rows = SurvivalData.competing(y.time, rare, names=["relapse", "death"])
    predicted = BoostedALD(causes=kind, **QUICK).fit(x, rows).predict_incidence(x)
    incidence = predicted.incidence(TIMES)
    assert np.isfinite(predicted.log_likelihood(rows)).all()
    assert incidence[1].mean() < 0.1


def test_bad_input_is_named(small):
    x, y = small
    never = SurvivalData.competing(y.time, y.cause, names=["relapse", "death", "other"])
    with pytest.raises(DataError, match="no event of cause 'other' was observed"):
        BoostedALD(**QUICK).fit(x, never)
    with pytest.raises(ParameterError, match="causes must be"):
        BoostedALD(causes="both", **QUICK).fit(x, y)
    with pytest.raises(ParameterError, match="'mixture' or 'auto' with cure=True"):
        BoostedALD(causes="hazards", cure=True, **QUICK).fit(x, y)
    with pytest.raises(ParameterError, match="cure must be"):
        BoostedALD(cure="yes", **QUICK).fit(x, y)
    with pytest.raises(DataError, match="cure=True needs rows that were still without an event"):
        BoostedALD(cure=True, **QUICK).fit(x, SurvivalData.right(y.time, np.ones(len(y))))


# ---- cure ------------------------------------------------------------------------------------------------------------


def with_cure(n, seed=0, *, covariates=True):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    cure = np.where(covariates & (x[:, 0] > 0), 0.7, 0.3 if covariates else 0.4)
    place = 0.3 + np.where(covariates & (x[:, 1] > 0), 0.8, 0.0)
    time = np.where(rng.random(n) < cure, np.inf, np.exp(place + 0.4 * rng.normal(size=n)))
    end = rng.uniform(12, 30, n)
    return x, SurvivalData.right(np.minimum(time, end), time <= end), cure, np.exp(place)


def test_shares_and_times_are_recovered():
    x, y, cure, median = with_cure(1500)
    model = BoostedALD(cure=True, components=1, members=2, random_state=0).fit(x, y)
    predicted = model.predict_distribution(x)
    assert np.abs(predicted.cure_probability() - cure).mean() < 0.06
    assert 0.85 < np.median(predicted.base.median() / median) < 1.15
    assert np.isinf(predicted.mean()).all()
    assert_allclose(model.predict_incidence(x[:5]).survival(np.inf), predicted[:5].cure_probability())
    assert "some never" in model.summary()


def test_without_covariates_the_share_is_that_of_a_mixture_cure_model():
    _, y, cure, _ = with_cure(1200, covariates=False)
    fitter = MixtureCureFitter(base_fitter=WeibullFitter()).fit(y.time, y.event)
    x = np.arange(len(y))[:, None] % 2
    share = BoostedALD(cure=True, **QUICK).fit(x, y).predict_distribution(x[:2]).cure_probability()
    assert_allclose(share, fitter.cured_fraction_, atol=0.06)
    assert_allclose(share, cure[0], atol=0.06)


def test_causes_and_a_cure_share_add_up_to_one(small):
    x, y = small
    predicted = BoostedALD(cure=True, **QUICK).fit(x, followed_on(y)).predict_incidence(x[:9])
    assert_allclose(predicted.cause_probability().sum(axis=0) + predicted.survival(np.inf), 1.0, atol=1e-12)
    assert (predicted.survival(np.inf) > 0).all()


def test_follow_up_that_is_too_short_is_named(small):
    x, y = small
    with pytest.warns(CureWarning, match="follow-up may be too short for BoostedALD to estimate a share without event"):
        BoostedALD(cure=True, **{**QUICK, "max_rounds": 2}).fit(x, y)


def test_a_cure_share_is_learned_from_intervals(small):
    x, y = small
    rows = followed_on(y)
    lower = np.where(rows.event, np.floor(rows.time), rows.time)
    between = SurvivalData.interval(lower, np.where(rows.event, lower + 1, np.inf))
    predicted = BoostedALD(cure=True, **QUICK).fit(x, between).predict_distribution(x)
    assert np.isfinite(predicted.log_likelihood(between)).all()
    # Those who were seen to the end without an event, as many as there are.
    assert abs(predicted.cure_probability().mean() - (~rows.event).mean()) < 0.1
