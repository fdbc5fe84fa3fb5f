"""Cox regression of each cause beside R's survival, and its laws."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aldsurv
from aldsurv import SurvivalData
from aldsurv.errors import CompetingCausesWarning, DataError, FitWarning, ModelFileError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models import CauseSpecificCox, CoxRegression

from .regression_oracle import FROZEN, KINDS, NEW, frame, outcome

CASES = [("efron", "plain"), ("breslow", "plain"), ("breslow", "strata"), ("breslow", "entry")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ties", "case"), CASES)
def test_r_s_survfit(kind, ties, case):
    expected, at = FROZEN[kind]["cox"][ties][case], FROZEN[kind]["at"]
    columns, strata = (["x", "z", "site"], "site") if case == "strata" else (["x", "z"], None)
    model = CauseSpecificCox(ties, strata=strata).fit(frame(kind)[columns], outcome(kind, entry=case == "entry"))
    np.testing.assert_allclose(model.coefficients_.coefficient, expected["coefficient"], rtol=1e-9)
    found = model.predict_incidence(NEW[columns])
    states = np.concatenate([found.survival(at)[None], found.incidence(at)])
    np.testing.assert_allclose(states.transpose(1, 2, 0), expected["states"], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_r_s_coxph_with_clusters(kind, ties):
    model = CauseSpecificCox(ties).fit(frame(kind)[["x", "z"]], outcome(kind), groups=frame(kind)["group"])
    both = FROZEN[kind]["cox"][ties]["groups"]
    for one, table, expected in zip(model.regressions_, model.coefficients_by_cause_.values(), both, strict=True):
        np.testing.assert_allclose(table.coefficient, expected["coefficient"], rtol=1e-9)
        np.testing.assert_allclose(one.covariance_, expected["robust"], rtol=1e-9)
        np.testing.assert_allclose(one.model_covariance_, expected["model"], rtol=1e-9)
    errors = np.concatenate([np.sqrt(np.diag(expected["robust"])) for expected in both])
    np.testing.assert_allclose(model.coefficients_.standard_error, errors, rtol=1e-9)
    assert model.coefficients_.names == ("one: x", "one: z", "two: x", "two: z")
    assert "robust error" in str(model.coefficients_)


def test_events_of_one_kind():
    x, y = frame("tied")[["x", "z"]], outcome("tied")
    plain = SurvivalData.right(y.time, y.event, weight=np.arange(len(y)) % 3 / 2)
    model, cox = CauseSpecificCox().fit(x, plain), CoxRegression().fit(x, plain)
    assert model.causes_ is None
    assert str(model.coefficients_) == str(cox.coefficients_)
    times = np.linspace(0, 12, 9)
    ours, theirs = model.predict_distribution(x), cox.predict_distribution(x)
    np.testing.assert_allclose(ours.survival(times), theirs.survival(times), rtol=1e-12)
    np.testing.assert_allclose(ours.quantile([0.1, 0.5]), theirs.quantile([0.1, 0.5]))
    np.testing.assert_allclose(model.predict_incidence(x).incidence(times, 1), theirs.cdf(times), rtol=1e-12)


def drawn(seed, n=60, causes=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    waits = rng.exponential(np.exp(x @ rng.normal(size=(2, causes))))
    waits = np.ceil(waits * rng.choice([2, 50])) / 10
    lost = np.ceil(rng.exponential(2, n) * 10) / 10
    time = np.minimum(waits.min(axis=1), lost)
    cause = np.where(waits.min(axis=1) <= lost, 1 + waits.argmin(axis=1), 0)
    cause[:causes] = np.arange(1, causes + 1)
    return x, SurvivalData.competing(time, cause, weight=rng.integers(1, 3, n), names=list("abc"[:causes]))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ties=st.sampled_from(["efron", "breslow"]))
def test_incidences_and_survival_add_up_to_one(seed, ties):
    x, y = drawn(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        found = CauseSpecificCox(ties, ridge=0.1).fit(x, y).predict_incidence(50 * x)
    times = np.append(np.unique(y.time), [0.0, 1e-3, 1e6])
    whole = found.incidence(times)
    np.testing.assert_allclose(whole.sum(axis=0) + found.survival(times), 1, atol=1e-12)
    assert (whole >= 0).all()


def test_true_incidences():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 2))
    # A cause that shares no covariate with the other, and heavy censoring.
    rates = np.exp(np.stack([0.8 * x[:, 0] - 0.5, -0.6 * x[:, 1] - 1], axis=1))
    waits, lost = rng.exponential(1 / rates), rng.exponential(1, 4000)
    time = np.minimum(waits.min(axis=1), lost)
    y = SurvivalData.competing(time, np.where(waits.min(axis=1) <= lost, 1 + waits.argmin(axis=1), 0))
    found, total = CauseSpecificCox().fit(x, y).predict_incidence(x[:300]), rates[:300].sum(axis=1)
    times = np.array([0.2, 0.5, 1.0, 1.5])
    true = (rates[:300] / total[:, None]).T[:, :, None] * -np.expm1(-total[:, None] * times)
    assert np.abs(found.incidence(times) - true).mean() < 0.015


def test_no_table_of_rows_and_times():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 1))
    y = SurvivalData.competing(rng.exponential(size=4000), rng.integers(0, 3, 4000))
    model = CauseSpecificCox("breslow").fit(x, y)
    tracemalloc.start()
    found = model.predict_incidence(x)
    found.incidence([0.5, 1.0])
    found.median(1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A table would be 4000 × 2700 numbers for each cause: 170 MB.
    assert peak < 60e6


def test_saved_and_loaded(tmp_path):
    x = frame("tied")[["x", "z"]].assign(site=frame("tied")["site"].map({0: "north", 1: "south"}))
    model = CauseSpecificCox(strata="site", unit="weeks").fit(x, outcome("tied"), groups=frame("tied")["group"])
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert loaded.causes_ == ("one", "two")
    assert loaded.strata_columns_ == ("site",)
    assert loaded.summary() == model.summary()
    times = [0.5, 2.0, 9.0]
    first, second = (one.predict_incidence(x).incidence(times) for one in (model, loaded))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document, arrays: document.update(causes=["one"]), "a regression per cause"),
        (lambda document, arrays: document.update(causes=["one", "one"]), "causes are unclear"),
        (lambda document, arrays: document["regressions"].pop(), "a regression per cause"),
        (lambda document, arrays: document["regressions"][0].update(design=1), "regressions are unclear"),
        (lambda document, arrays: arrays.pop("1.standardised"), "standardised is missing"),
        (lambda document, arrays: arrays.update(more=np.zeros(1)), "arrays that are not of this model"),
        (lambda document, arrays: document.pop("causes"), "entries are not those of a model"),
    ],
)
def test_files_of_other_content(tmp_path, change, message):
    path = CauseSpecificCox().fit(frame("tied")[["x", "z"]], outcome("tied")).save(tmp_path / "model")
    document, arrays = read_model_file(path)
    document, arrays = dict(document), dict(arrays)
    change(document, arrays)
    write_model_file(path, document, arrays)
    with pytest.raises(ModelFileError, match=message):
        aldsurv.load(path)


def test_what_is_refused_or_warned_of():
    x, y = frame("tied")[["x", "z"]], outcome("tied")
    rare = SurvivalData.competing(y.time, y.cause, names=["one", "two", "three"])
    with pytest.raises(DataError, match="no row has an event of cause 'three': there is nothing to learn of it"):
        CauseSpecificCox().fit(x, rare)
    with pytest.raises(DataError, match="no row has an event of causes 'two', 'three'"):
        CauseSpecificCox().fit(x, rare, sample_weight=y.cause != 2)
    with pytest.raises(DataError, match="exact and right-censored rows only"):
        CauseSpecificCox().fit(x, SurvivalData.interval(y.time, y.time + 1))
    separated = x.assign(only=np.where(y.cause == 2, 1.0, 0.0))
    with pytest.warns(FitWarning, match="cause '(one|two)': the coefficient of 'only' would be infinite") as caught:
        CauseSpecificCox().fit(separated, y)
    assert all(str(warning.message).startswith("cause '") for warning in caught)
    with pytest.warns(CompetingCausesWarning, match="such as ALDSurvival, CauseSpecificCox or FineGray"):
        CoxRegression().fit(x, y)


def test_rows_of_unknown_causes_and_strata():
    x, y = frame("tied")[["x", "z", "site"]], outcome("tied")
    model = CauseSpecificCox(strata="site").fit(x, y)
    later = SurvivalData.competing([1.0, 2.0], ["three", "one"], names=["one", "three"])
    with pytest.raises(DataError, match="the prediction has no cause 'three', only 'one', 'two'"):
        model.predict_incidence(x[:2]).log_likelihood(later)
    with pytest.raises(DataError, match="stratum"):
        model.predict_incidence(pd.DataFrame({"x": [0.0], "z": [50.0], "site": [7]}))
    assert model.predict_incidence(x)[:0].incidence([1.0]).shape == (2, 0, 1)
