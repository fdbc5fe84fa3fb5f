"""Cox regression beside lifelines and scikit-survival, and beside its definition written out."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from child_process import WARNING_OPTIONS, machine_variables
from lifelines import CoxPHFitter
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored

import aldsurv
from aldsurv import SurvivalData, datasets
from aldsurv.errors import DataError, ModelFileError, ParameterError, UnknownNameError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.metrics import integrated_brier_score
from aldsurv.models.linear.cox import CoxRegression
from aldsurv.models.linear.partial_likelihood import PartialLikelihood

TIGHT = {"precision": 1e-12, "r_precision": 1e-15}
CASES = [
    {},
    {"weights_col": "weight"},
    {"entry_col": "entry"},
    {"strata": ["site"]},
    {"entry_col": "entry", "weights_col": "weight", "strata": ["site", "sex"]},
]


def tied(n=300, seed=0):
    """Times in whole weeks, columns in awkward units, with entries, weights and strata."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) * [1, 10, 0.01] + [0, 1000, 2]
    event = np.ceil(4 * rng.exponential(np.exp(0.8 * x[:, 0] - 0.03 * (x[:, 1] - 1000))))
    lost = np.ceil(rng.exponential(8, n))
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    frame["time"], frame["event"] = np.minimum(event, lost), event <= lost
    frame["entry"] = np.where(rng.uniform(size=n) < 0.5, 0, np.floor(rng.uniform(size=n) * frame["time"]))
    frame["weight"] = rng.integers(1, 5, n) / 2
    frame["site"], frame["sex"] = rng.integers(0, 3, n), rng.integers(0, 2, n)
    return frame


def ours(frame, case, **settings):
    strata = case.get("strata", [])
    y = SurvivalData.right(
        frame["time"],
        frame["event"],
        entry=frame[case["entry_col"]] if "entry_col" in case else None,
        weight=frame[case["weights_col"]] if "weights_col" in case else None,
    )
    return CoxRegression(strata=strata or None, **settings).fit(frame[["a", "b", "c", *strata]], y)


def theirs(frame, case, **settings):
    columns = ["a", "b", "c", "time", "event", *case.get("strata", [])]
    columns += [case[key] for key in ("entry_col", "weights_col") if key in case]
    with warnings.catch_warnings():
        # That weights other than whole numbers change what standard errors mean.
        warnings.simplefilter("ignore")
        return CoxPHFitter(**settings).fit(frame[columns], "time", "event", fit_options=TIGHT, **case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "+".join(case) or "plain")
def test_lifelines(case):
    frame = tied()
    model, fitter = ours(frame, case, robust=False), theirs(frame, case)
    table = model.coefficients_
    assert table.names == ("a", "b", "c")
    # As close as lifelines comes to its maximum, in units of what is known of a coefficient.
    np.testing.assert_allclose(table.z, fitter.summary["z"], atol=1e-6)
    np.testing.assert_allclose(table.standard_error, fitter.standard_errors_, rtol=1e-7)
    np.testing.assert_allclose(model.covariance_, fitter.variance_matrix_, rtol=1e-6, atol=1e-14)
    assert model.log_likelihood_ == pytest.approx(fitter.log_likelihood_, rel=1e-11)
    np.testing.assert_allclose(table.p, 2 * scipy.stats.norm.sf(np.abs(table.z)), rtol=1e-11)
    np.testing.assert_allclose(np.log(table.lower), fitter.summary["coef lower 95%"], rtol=1e-6)
    np.testing.assert_allclose(np.log(table.upper), fitter.summary["coef upper 95%"], rtol=1e-6)


def test_lifelines_on_gbsg():
    data = datasets.load("gbsg")
    model = CoxRegression().fit(data.frame(), data.y)
    fitter = CoxPHFitter().fit(data.frame(outcome=True), "time", "event", fit_options=TIGHT)
    np.testing.assert_allclose(model.coefficients_.coefficient, fitter.params_, rtol=1e-7)
    np.testing.assert_allclose(model.coefficients_.standard_error, fitter.standard_errors_, rtol=1e-7)
    assert model.log_likelihood_ == pytest.approx(fitter.log_likelihood_, rel=1e-11)
    np.testing.assert_allclose(
        model.predict(data.frame()), fitter.predict_log_partial_hazard(data.frame()), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("penalizer", [0.01, 1.0])
def test_lifelines_penalizer(penalizer):
    # lifelines scales by the standard deviation with n - 1.
    frame, n = tied(), 300
    model, fitter = ours(frame, {}, ridge=penalizer * n**2 / (n - 1)), theirs(frame, {}, penalizer=penalizer)
    np.testing.assert_allclose(model.coefficients_.z, fitter.summary["z"], atol=1e-6)
    np.testing.assert_allclose(model.coefficients_.standard_error, fitter.standard_errors_, rtol=1e-6)
    # The slope of the penalised likelihood is 0, with columns of standard deviation one.
    x = frame[["a", "b", "c"]].to_numpy()
    beta = model.coefficients_.coefficient * x.std(axis=0)
    data = SurvivalData.right(frame["time"], frame["event"])
    slope = PartialLikelihood((x - x.mean(axis=0)) / x.std(axis=0), data, ties="efron")(beta).gradient
    np.testing.assert_allclose(slope, penalizer * n**2 / (n - 1) * beta, atol=1e-9)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("ridge", [0.0, 5.0])
def test_scikit_survival(ties, ridge):
    frame = tied()
    x = frame[["a", "b", "c"]].to_numpy()
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = SurvivalData.right(frame["time"], frame["event"])
    model = CoxRegression(ties, ridge=ridge).fit(x, y)
    peer = CoxPHSurvivalAnalysis(alpha=ridge, ties=ties, tol=1e-14, n_iter=200).fit(x, y.to_structured())
    np.testing.assert_allclose(model.coefficients_.coefficient, peer.coef_, rtol=1e-6)
    assert model.score(x, y) == pytest.approx(concordance_index_censored(y.event, y.time, peer.predict(x))[0])
    if ties == "breslow":
        times = np.unique(y.time)[:-1]
        curves = np.vstack([function(times) for function in peer.predict_survival_function(x[:20])])
        np.testing.assert_allclose(model.predict_distribution(x[:20]).survival(times), curves, rtol=1e-6)


def written_out(beta, x, frame, ties, strata):
    """The weighted partial log-likelihood term by term."""
    total, eta, w = 0.0, x @ beta, frame["weight"].to_numpy()
    time, event, entry = (frame[name].to_numpy() for name in ("time", "event", "entry"))
    for stratum in np.unique(strata):
        for t in np.unique(time[event & (strata == stratum)]):
            at_risk = (strata == stratum) & (entry < t) & (time >= t)
            dead = at_risk & event & (time == t)
            m, risks, own = dead.sum(), (w * np.exp(eta))[at_risk].sum(), (w * np.exp(eta))[dead].sum()
            total += (w * eta)[dead].sum()
            for k in range(m):
                total -= w[dead].mean() * np.log(risks - (k / m * own if ties == "efron" else 0))
    return total


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_the_definition_and_its_derivatives(ties):
    frame = tied(80, seed=3)
    x = np.random.default_rng(1).normal(size=(80, 3))
    data = SurvivalData.right(frame["time"], frame["event"], entry=frame["entry"], weight=frame["weight"])
    strata = frame["site"].to_numpy()
    likelihood = PartialLikelihood(x, data, ties=ties, strata=strata)
    beta, h = np.array([0.7, -0.4, 0.2]), 1e-5
    found = likelihood(beta)
    assert found.value == pytest.approx(written_out(beta, x, frame, ties, strata), rel=1e-12)
    for k, step in enumerate(h * np.eye(3)):
        up, down = (written_out(beta + sign * step, x, frame, ties, strata) for sign in (1, -1))
        assert found.gradient[k] == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-6)
        slope = (likelihood(beta + step).gradient - likelihood(beta - step).gradient) / (2 * h)
        np.testing.assert_allclose(-found.information[k], slope, rtol=1e-6, atol=1e-6)


def test_weights():
    frame = tied()
    y = SurvivalData.right(frame["time"], frame["event"])
    x, times = frame[["a", "b", "c"]].to_numpy(), np.random.default_rng(0).integers(0, 3, 300)
    again = np.repeat(np.arange(300), times)
    once = CoxRegression("breslow").fit(x, y, sample_weight=times)
    twice = CoxRegression("breslow").fit(x[again], y[again])
    np.testing.assert_allclose(once.coefficients_.coefficient, twice.coefficients_.coefficient, rtol=1e-8)
    np.testing.assert_allclose(once.predict(x), twice.predict(x), atol=1e-8)
    grid = [1.0, 5.0, 20.0]
    np.testing.assert_allclose(
        once.predict_distribution(x).survival(grid), twice.predict_distribution(x).survival(grid), rtol=1e-8
    )
    # A row without weight is as if it were not there, with Efron's ties too, whose tied events are counted.
    kept = np.flatnonzero(times > 0)
    first = CoxRegression().fit(x, y, sample_weight=times > 0).coefficients_.coefficient
    np.testing.assert_allclose(first, CoxRegression().fit(x[kept], y[kept]).coefficients_.coefficient, rtol=1e-8)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_scikit_learn_s_checks(ties):
    # Their data are separated, dependent and wider than long, for which only a penalised likelihood has a maximum.
    found = check_estimator(CoxRegression(ties, ridge=1.0), on_skip=None, on_fail=None)
    failed = {check["check_name"] for check in found if check["status"] == "failed"}
    # A row of weight 2 is no tie, a row given twice is one.
    assert failed == ({"check_sample_weight_equivalence_on_dense_data"} if ties == "efron" else set())
    assert sum(check["status"] == "passed" for check in found) >= 45
    assert issubclass(SkipTestWarning, UserWarning)


def test_units_of_columns():
    frame = tied()
    first = ours(frame, {})
    other = ours(frame.assign(b=frame["b"] * 365 - 1e5), {})
    assert other.coefficients_["b"].coefficient == pytest.approx(first.coefficients_["b"].coefficient / 365, rel=1e-8)
    assert other.coefficients_["b"].standard_error == pytest.approx(first.coefficients_["b"].standard_error / 365)
    assert other.log_likelihood_ == pytest.approx(first.log_likelihood_, rel=1e-12)
    # The risk score is the coefficients times the columns, up to a constant.
    x = frame[["a", "b", "c"]]
    risk = x.to_numpy() @ first.coefficients_.coefficient
    np.testing.assert_allclose(first.predict(x), risk - risk.mean(), atol=1e-9)


def test_levels_and_gaps():
    frame = tied()
    rng = np.random.default_rng(5)
    grade = rng.choice(["I", "II", "III"], 300)
    gaps = rng.uniform(size=300) < 0.2
    y = SurvivalData.right(frame["time"], frame["event"])
    x = pd.DataFrame({"a": np.where(gaps, np.nan, frame["a"]), "grade": grade})
    by_hand = pd.DataFrame(
        {
            "a": np.where(gaps, frame["a"][~gaps].median(), frame["a"]),
            "a missing": gaps.astype(float),
            "grade=II": (grade == "II").astype(float),
            "grade=III": (grade == "III").astype(float),
        }
    )
    model, plain = CoxRegression().fit(x, y), CoxRegression().fit(by_hand, y)
    assert model.coefficients_.names == ("a", "a missing", "grade=II", "grade=III")
    np.testing.assert_allclose(model.coefficients_.coefficient, plain.coefficients_.coefficient, rtol=1e-8)
    np.testing.assert_allclose(model.coefficients_.standard_error, plain.coefficients_.standard_error, rtol=1e-8)
    np.testing.assert_array_equal(
        CoxRegression().fit(pl.from_pandas(x), y).predict(pl.from_pandas(x)), model.predict(x)
    )


def test_strata():
    frame = tied().assign(site=lambda table: table["site"].map({0: "north", 1: "south", 2: "east"}))
    model = ours(frame, {"strata": ["site", "sex"]})
    x = frame[["a", "b", "c", "site", "sex"]]
    assert model.n_features_in_ == 5
    assert list(model.feature_names_in_) == list(x)
    # Within a stratum the curves are those of a model of its rows with the coefficients given.
    predicted = model.predict_distribution(x)
    for key, rows in x.reset_index(drop=True).groupby(["site", "sex"]).groups.items():
        own = frame.loc[rows]
        risk = np.exp(model.predict(x)[rows])
        times = np.unique(own["time"][own["event"]])
        hazard = np.zeros(times.size)
        for k, t in enumerate(times):
            dead = (own["time"] == t) & own["event"]
            m, at_risk = dead.sum(), risk[own["time"] >= t].sum()
            hazard[k] = sum(1 / (at_risk - j / m * risk[dead].sum()) for j in range(m))
        wanted = np.exp(-np.outer(risk, hazard.cumsum()))
        np.testing.assert_allclose(predicted[np.asarray(rows)].survival(times), wanted, rtol=1e-9, err_msg=str(key))
    by_number = CoxRegression(strata=(3, 4)).fit(x.to_numpy(object), SurvivalData.right(frame["time"], frame["event"]))
    np.testing.assert_allclose(by_number.standardised_, model.standardised_, rtol=1e-9)
    with pytest.raises(DataError, match=r"site=west.*not in the training data"):
        model.predict_distribution(x.iloc[:2].assign(site="west"))
    with pytest.raises((UnknownNameError, DataError, ParameterError), match="sitee"):
        CoxRegression(strata="sitee").fit(x, (frame["time"], frame["event"]))
    with pytest.raises(ParameterError, match="strata must be columns"):
        CoxRegression(strata=1.5).fit(x, (frame["time"], frame["event"]))


def test_no_column_is_the_nelson_aalen_estimate():
    frame = tied()
    y = SurvivalData.right(frame["time"], frame["event"])
    with pytest.warns(UserWarning, match="hold one value only"):
        model = CoxRegression("breslow").fit(np.ones((300, 1)), y)
    assert len(model.coefficients_) == 0
    times = np.unique(y.time[y.event])
    wanted = np.cumsum([(y.time[y.event] == t).sum() / (y.time >= t).sum() for t in times])
    found = model.predict_distribution(np.ones((1, 1))).cumulative_hazard(times)[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_nearly_dependent_columns_are_fitted():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    x[:, 1] = x[:, 0] + 1e-3 * x[:, 1]
    time = rng.exponential(np.exp(-x[:, 0]))
    model = CoxRegression().fit(x, (time, np.ones(200, bool)))
    score = PartialLikelihood(x, SurvivalData.right(time, np.ones(200)), ties="efron")(model.coefficients_.coefficient)
    np.testing.assert_allclose(score.gradient, 0, atol=1e-8)


def test_extreme_columns():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=300) * 1e-150, rng.normal(size=300) * 1e150, rng.lognormal(0, 4, 300)])
    time = rng.exponential(np.exp(x[:, 0] * 1e150))
    table = CoxRegression().fit(x, (time, np.ones(300, bool))).coefficients_
    plain = CoxRegression().fit(x * [1e150, 1e-150, 1], (time, np.ones(300, bool))).coefficients_
    np.testing.assert_allclose(table.coefficient * [1e-150, 1e150, 1], plain.coefficient, rtol=1e-7)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"ties": "exact"}, "ties must be 'efron' or 'breslow', but is 'exact'"),
        ({"ridge": -1.0}, "ridge must be a number from 0"),
        ({"ridge": "much"}, "ridge must be a number from 0"),
        ({"point": "mid"}, "point must be one of"),
        ({"unit": 3}, "unit must be text"),
        ({"categorical": 3}, "categorical must be a list"),
    ],
)
def test_parameters_that_are_refused(settings, match):
    frame = tied()
    with pytest.raises(ParameterError, match=match):
        clone(CoxRegression(**settings)).fit(frame[["a"]], (frame["time"], frame["event"]))


def test_censoring_that_is_refused():
    frame = tied()
    y = SurvivalData.interval(frame["time"] - 1, frame["time"])
    with pytest.raises(DataError, match="exact and right-censored rows only, but 300 of 300 rows"):
        CoxRegression().fit(frame[["a"]], y)


def test_predictions_of_many_rows_are_no_table():
    """6,000 rows of some 4,000 times would be a table of 190 MB."""
    rng = np.random.default_rng(0)
    x, time, censored = rng.normal(size=(6000, 1)), rng.exponential(size=6000), rng.exponential(2.0, 6000)
    data = SurvivalData.right(np.minimum(time, censored), time <= censored)
    model = CoxRegression().fit(x, data)
    tracemalloc.start()
    predicted = model.predict_distribution(x)
    assert predicted.survival([0.5, 1.0]).shape == (6000, 2)
    assert np.isfinite(integrated_brier_score(predicted, data, train=data))
    assert np.isfinite(predicted.log_likelihood(data)).mean() > 0.99
    assert model.predict_time(x).shape == (6000,)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_summary():
    data = datasets.load("gbsg")
    model = CoxRegression(unit="months").fit(data.frame(), data.y)
    lines = model.summary().splitlines()
    assert lines[0] == "CoxRegression, proportional hazards, Efron's ties"
    assert lines[1].split() == ["rows", "2232,", "1267", "events", "(57", "%)"]
    assert lines[2].endswith("months")
    assert len({len(line) for line in lines[5:]}) == 1
    assert len(lines[6:]) == 7
    assert model.coefficients_[0] == model.coefficients_[model.coefficients_.names[0]]
    with pytest.raises(UnknownNameError, match="no coefficient is named"):
        model.coefficients_["height"]


ALONE = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "sklearn", "scipy", "pandas", "polars", "lifelines", "sksurv"}:
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
import numpy as np, aldsurv
model = aldsurv.load(sys.argv[1])
table = {"a": [0.0, 1.0], "b": [990.0, 1010.0], "c": [2.0, 2.01], "site": [0, 2], "sex": [1, 1]}
predicted = model.predict_distribution(table)
answers = [predicted.survival([1.0, 5.0]), predicted.median(), model.predict(table), model.coefficients_.p]
print(b"".join(np.ascontiguousarray(a).tobytes() for a in answers).hex())
"""


def test_saved_and_loaded_on_numpy_alone(tmp_path):
    case = {"strata": ["site", "sex"], "weights_col": "weight"}
    model = ours(tied(), case, unit="weeks")
    path = model.save(tmp_path / "cox")
    loaded = aldsurv.load(path)
    assert loaded.summary() == model.summary()
    assert loaded.save(tmp_path / "again").read_bytes() == path.read_bytes()
    table = pd.DataFrame({"a": [0.0, 1.0], "b": [990.0, 1010.0], "c": [2.0, 2.01], "site": [0, 2], "sex": [1, 1]})
    predicted = model.predict_distribution(table)
    answers = [predicted.survival([1.0, 5.0]), predicted.median(), model.predict(table), model.coefficients_.p]
    environment = {"PYTHONPATH": str(Path(aldsurv.__file__).parent.parent), "PATH": "", **machine_variables()}
    command = [sys.executable, *WARNING_OPTIONS, "-c", ALONE, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == b"".join(np.ascontiguousarray(a).tobytes() for a in answers).hex()


def damages():
    """What a stranger might write in place of a part of the file."""

    def array(name, change):
        return lambda document, arrays: arrays.__setitem__(name, change(arrays[name]))

    def entry(*keys, value):
        def damage(document, arrays):
            for key in keys[:-1]:
                document = document[key]
            document[keys[-1]] = value

        return damage

    return {
        "no coefficients": lambda document, arrays: arrays.pop("standardised"),
        "a coefficient too few": array("standardised", lambda a: a[:-1]),
        "no number": array("standardised", lambda a: a * np.nan),
        "negative variance": array("covariance", lambda a: -a),
        "falling times": array("times", lambda a: a[::-1].copy()),
        "falling hazard": array("baseline.log_cumulative", lambda a: -a),
        "hazard of none": array("baseline.log_cumulative", lambda a: np.full_like(a, -np.inf)),
        "another stratum": array("baseline.levels", lambda a: a + 1),
        "sizes": array("baseline.sizes", lambda a: a + 1),
        "negative sizes": array("baseline.sizes", lambda a: -a),
        "times of the baseline": array("baseline.times", lambda a: a * 0),
        "average": array("average", lambda a: a[:-1]),
        "another array": lambda document, arrays: arrays.__setitem__("more", np.zeros(2)),
        "strata": entry("design", "strata", value=[[1, 2]]),
        "strata that are no list": entry("design", "strata", value=7),
        "columns": entry("design", "columns", value=["a", "nowhere"]),
        "features": entry("design", "features", value={}),
        "ties": entry("parameters", "ties", value="exact"),
        "another parameter": entry("parameters", "path", value="somewhere"),
        "facts": entry("trained_on", value={}),
        "log-likelihood": entry("log_likelihood", value="high"),
        "another entry": entry("code", value="import os"),
    }


@pytest.mark.parametrize("damage", list(damages()))
def test_files_that_are_refused(damage, tmp_path):
    path = ours(tied(), {"strata": ["site", "sex"]}).save(tmp_path / "cox")
    document, arrays = read_model_file(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    damages()[damage](document, arrays)
    write_model_file(path, document, arrays)
    with pytest.raises(ModelFileError):
        aldsurv.load(path)


def test_strata_by_number_are_those_of_training_in_any_order():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"site": rng.integers(0, 2, 80), "a": rng.normal(size=80), "b": rng.integers(0, 2, 80)})
    y = (rng.exponential(1 + frame["site"] + np.exp(frame["a"] / 2)), np.ones(80, bool))
    model = CoxRegression(strata=0).fit(frame, y)
    turned = frame[["b", "site", "a"]]
    np.testing.assert_array_equal(
        model.predict_distribution(turned).survival([0.5, 1.0]), model.predict_distribution(frame).survival([0.5, 1.0])
    )
