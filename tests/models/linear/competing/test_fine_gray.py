"""Fine & Gray's regression beside cmprsk's crr, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aldsurv
from aldsurv import SurvivalData
from aldsurv.errors import DataError, ParameterError
from aldsurv.models import CoxRegression, FineGray
from aldsurv.models.linear.competing.subdistribution_likelihood import SubdistributionRows

from .regression_oracle import FROZEN, KINDS, NEW, frame, outcome


@pytest.mark.parametrize("kind", KINDS)
def test_crr(kind):
    model = FineGray().fit(frame(kind)[["x", "z"]], outcome(kind))
    for one, expected in zip(model.regressions_, FROZEN[kind]["gray"], strict=True):
        assert one.log_likelihood_ == pytest.approx(expected["likelihood"], rel=1e-11)
        np.testing.assert_allclose(one.coefficients_.coefficient, expected["coefficient"], rtol=1e-8)
        np.testing.assert_allclose(np.linalg.inv(one.model_covariance_), expected["inverse"], rtol=1e-8)
        np.testing.assert_allclose(one.covariance_, expected["variance"], rtol=1e-8)
        incidence = one.predict_distribution(NEW[["x", "z"]]).cdf(expected["times"])
        np.testing.assert_allclose(incidence.T, expected["incidence"], rtol=1e-8)


@pytest.mark.parametrize("cause", [1, "two"])
def test_the_cause_of_interest_is_as_in_crr(cause):
    model = FineGray(cause).fit(frame("tied")[["x", "z"]], outcome("tied"))
    # So far out that the regressions of both causes would add up to more than one.
    far = NEW[["x", "z"]].assign(x=[-4.0, 4.0, 8.0])
    found, times = model.predict_incidence(far), FROZEN["tied"]["gray"][0]["times"]
    own, other = (0, 1) if cause == 1 else (1, 0)
    np.testing.assert_allclose(
        found.incidence(times)[own], model.regressions_[own].predict_distribution(far).cdf(times)
    )
    alone = model.regressions_[other].predict_distribution(far).cdf(times)
    share = found.incidence(times)[other] / np.where(alone > 0, alone, 1.0)
    assert (share <= 1 + 1e-12).all()
    assert (share[:, -1] < 0.999).any()
    # One factor per row, so that incidences never fall.
    np.testing.assert_allclose(share[:, -3:], share[:, -1:] * np.ones(3), rtol=1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), cause=st.sampled_from([None, 1, "c"]))
def test_incidences_and_survival_add_up_to_one(seed, cause):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 2))
    kinds = np.append([1, 2, 3], rng.integers(0, 4, 57))
    y = SurvivalData.competing(np.ceil(rng.exponential(5, 60) * 2), kinds, names=list("abc"))
    found = FineGray(cause, ridge=0.1).fit(x, y).predict_incidence(10 * x)
    times = np.append(np.unique(y.time), [0.0, 0.5, 1e6])
    whole = found.incidence(np.sort(times))
    np.testing.assert_allclose(whole.sum(axis=0) + found.survival(np.sort(times)), 1, atol=1e-12)
    assert (whole >= 0).all()
    assert (np.diff(whole, axis=2) >= 0).all()


def test_events_of_one_kind():
    x, y = frame("tied")[["x", "z"]], outcome("tied")
    plain = SurvivalData.right(y.time, y.event)
    model, cox = FineGray().fit(x, plain), CoxRegression("breslow", robust=True).fit(x, plain)
    np.testing.assert_allclose(model.coefficients_.coefficient, cox.coefficients_.coefficient, rtol=1e-9)
    np.testing.assert_allclose(model.coefficients_.standard_error, cox.coefficients_.standard_error, rtol=1e-9)
    times = np.linspace(0, 12, 9)
    ours, theirs = model.predict_distribution(x).survival(times), cox.predict_distribution(x).survival(times)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    assert model.causes_ is None


def test_a_weight_of_two_is_two_rows_of_one_group():
    x, y, own = frame("tied")[["x", "z"]].to_numpy(), outcome("tied"), np.arange(len(frame("tied")))
    weight = 1 + own % 2
    twice = np.repeat(own, weight)
    once = FineGray().fit(x, y, sample_weight=weight, groups=own)
    again = FineGray().fit(x[twice], y[twice], groups=twice)
    np.testing.assert_allclose(once.coefficients_.coefficient, again.coefficients_.coefficient, rtol=1e-8)
    np.testing.assert_allclose(once.coefficients_.standard_error, again.coefficients_.standard_error, rtol=1e-8)
    times = np.linspace(0, 12, 7)
    ours, theirs = (model.predict_incidence(x).incidence(times) for model in (once, again))
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)
    # A row without weight is as if it were not there.
    rows = np.flatnonzero(own % 5)
    left = FineGray().fit(x, y, sample_weight=own % 5 > 0).coefficients_.coefficient
    np.testing.assert_allclose(left, FineGray().fit(x[rows], y[rows]).coefficients_.coefficient, rtol=1e-8)


def test_derivatives():
    x, y = np.random.default_rng(0).normal(size=(180, 3)), outcome("tied")
    rows, beta, h = SubdistributionRows(y, 2), np.array([0.3, -0.5, 0.1]), 1e-5
    found = rows.evaluate(x, beta)
    for k, step in enumerate(h * np.eye(3)):
        up, down = rows.evaluate(x, beta + step), rows.evaluate(x, beta - step)
        assert found.gradient[k] == pytest.approx((up.value - down.value) / (2 * h), rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(-found.information[k], (up.gradient - down.gradient) / (2 * h), rtol=1e-5, atol=1e-6)
    # What the rows add is the gradient; the censorings add nothing in all.
    np.testing.assert_allclose(rows.scores(x, beta).sum(axis=0), found.gradient, atol=1e-9)


def test_saved_and_loaded(tmp_path):
    x, y = frame("tied")[["x", "z"]], outcome("tied")
    model = FineGray("two", unit="weeks").fit(x, y, groups=frame("tied")["group"])
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert loaded.summary() == model.summary()
    first, second = (one.predict_incidence(x).incidence([1.0, 3.0]) for one in (model, loaded))
    assert first.tobytes() == second.tobytes()


def test_what_is_refused():
    x, y = frame("tied")[["x", "z"]], outcome("tied")
    late = int(np.count_nonzero(frame("tied")["entry"] > 0))
    with pytest.raises(DataError, match=f"cannot learn from delayed entry, which {late} of 180 rows have"):
        FineGray().fit(x, outcome("tied", entry=True))
    with pytest.raises(ParameterError, match="cause must be a number from 1 to 2 or one of 'one', 'two'"):
        FineGray("three").fit(x, y)
    with pytest.raises(ParameterError, match="cause must be the name or the number of a cause"):
        FineGray(1.5).fit(x, y)
    with pytest.raises(DataError, match="no row has an event of cause 'three'"):
        FineGray().fit(x, SurvivalData.competing(y.time, y.cause, names=["one", "two", "three"]))
