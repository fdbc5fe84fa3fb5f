"""Robust standard errors beside R's survival, and laws that clusters and weights keep."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aldsurv
from aldsurv import SurvivalData
from aldsurv.errors import DataError, FitWarning, ParameterError
from aldsurv.models import CoxRegression, LogNormalAFT, WeibullAFT

FROZEN = json.loads((Path(__file__).parent / "frozen" / "robust_errors.json").read_text(encoding="utf-8"))
FRAME = pd.DataFrame(FROZEN["data"])
AFT = {"weibull": WeibullAFT, "lognormal": LogNormalAFT}


def outcome(case=""):
    entry = FRAME["entry"] if case in ("entry", "all") else None
    weight = FRAME["weight"] if case in ("weight", "all") else None
    return SurvivalData.right(FRAME["time"], FRAME["event"], entry=entry, weight=weight)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("case", FROZEN["cox"]["efron"])
def test_coxph(ties, case):
    expected = FROZEN["cox"][ties][case]
    columns = ["x", "z", "site"] if case in ("strata", "all") else ["x", "z"]
    model = CoxRegression(ties, strata="site" if "site" in columns else None)
    model.fit(FRAME[columns], outcome(case), groups=FRAME["own" if case == "alone" else "group"])
    np.testing.assert_allclose(model.coefficients_.coefficient, expected["coefficient"], rtol=1e-9)
    np.testing.assert_allclose(model.covariance_, expected["robust"], rtol=1e-9)
    np.testing.assert_allclose(model.model_covariance_, expected["model"], rtol=1e-9)
    np.testing.assert_allclose(model.coefficients_.standard_error, np.sqrt(np.diag(expected["robust"])), rtol=1e-9)
    np.testing.assert_allclose(model.coefficients_.model_error, np.sqrt(np.diag(expected["model"])), rtol=1e-9)


@pytest.mark.parametrize("kind", AFT)
def test_survreg(kind):
    expected, sign = FROZEN["aft"][kind], np.array([1, 1, 1, -1 if kind == "weibull" else 1])
    model = AFT[kind]().fit(FRAME[["x", "z"]], outcome(), groups=FRAME["group"])
    np.testing.assert_allclose(model.coefficients_.coefficient * sign, expected["coefficient"], rtol=1e-8)
    np.testing.assert_allclose(model.covariance_ * np.outer(sign, sign), expected["robust"], rtol=1e-7)
    np.testing.assert_allclose(model.model_covariance_ * np.outer(sign, sign), expected["model"], rtol=1e-7)


@pytest.mark.parametrize("model", [CoxRegression("breslow"), WeibullAFT(), LogNormalAFT(ridge=2.0)])
def test_a_weight_of_two_is_two_rows_of_one_group(model):
    twice = np.repeat(np.arange(len(FRAME)), 1 + FRAME["own"].to_numpy() % 2)
    x, y = FRAME[["x", "z"]].to_numpy(), outcome("entry")
    weighted = model.fit(x, y, sample_weight=1 + FRAME["own"] % 2, groups=FRAME["own"]).covariance_
    repeated = model.fit(x[twice], y[twice], groups=FRAME["own"].to_numpy()[twice]).covariance_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7)


@pytest.mark.parametrize("model", [CoxRegression(), WeibullAFT()])
def test_when_errors_are_robust(model):
    x, y = FRAME[["x", "z"]], outcome()

    def robust(setting, **rows):
        return model.set_params(robust=setting).fit(x, y, **rows).coefficients_.model_error is not None

    groups, halves, twos = FRAME["group"], np.full(len(y), 0.5), np.full(len(y), 2.0)
    assert [robust("auto"), robust("auto", groups=groups), robust("auto", sample_weight=halves)] == [False, True, True]
    assert [robust("auto", sample_weight=twos), robust(True), robust(False, groups=groups)] == [False, True, False]
    with pytest.raises(ParameterError, match=r"robust must be True, False or 'auto', but is 'yes'"):
        robust("yes")


def test_rows_without_groups_are_clusters():
    x, y = FRAME[["x", "z"]], outcome()
    alone = CoxRegression(robust=True).fit(x, y)
    np.testing.assert_allclose(alone.covariance_, FROZEN["cox"]["efron"]["alone"]["robust"], rtol=1e-9)


def test_one_group_only():
    x, y = FRAME[["x", "z"]], outcome()
    with pytest.warns(FitWarning, match="need two or more groups, but all rows of positive weight are of one"):
        model = CoxRegression().fit(x, y, groups=np.zeros(len(y)))
    assert model.coefficients_.model_error is None
    with pytest.raises(DataError, match="two or more groups"):
        WeibullAFT(robust=True).fit(x, y, groups=np.zeros(len(y)))


def test_columns_that_are_dropped_or_many():
    x = FRAME[["x", "z"]].assign(twice=2 * FRAME["x"])
    with pytest.warns(FitWarning, match="'twice'"):
        model = CoxRegression().fit(x, outcome(), groups=FRAME["group"])
    np.testing.assert_allclose(model.covariance_[:2, :2], FROZEN["cox"]["efron"]["plain"]["robust"], rtol=1e-9)
    assert np.isnan(model.covariance_[2]).all()
    assert np.isnan(model.coefficients_.model_error[2])
    assert "dropped" in str(model.coefficients_)
    genes = np.random.default_rng(0).normal(size=(len(FRAME), 200))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        assert CoxRegression().fit(genes, outcome(), groups=FRAME["group"]).covariance_ is None


def test_a_ridge_without_weight_is_none():
    x, y = FRAME[["x", "z"]], outcome()
    nearly = CoxRegression(ridge=1e-9).fit(x, y, groups=FRAME["group"]).covariance_
    np.testing.assert_allclose(nearly, FROZEN["cox"]["efron"]["plain"]["robust"], rtol=1e-6)


@pytest.mark.parametrize("kind", [CoxRegression, LogNormalAFT])
def test_saved_and_shown(kind, tmp_path):
    model = kind().fit(FRAME[["x", "z"]], outcome(), groups=FRAME["group"])
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert loaded.covariance_.tobytes() == model.covariance_.tobytes()
    assert loaded.model_covariance_.tobytes() == model.model_covariance_.tobytes()
    assert str(loaded.coefficients_) == str(model.coefficients_)
    header = str(model.coefficients_).splitlines()[0].split("  ")
    assert [name.strip() for name in header if name][:3] == ["coefficient", "model error", "robust error"]
    line = model.coefficients_["x"]
    assert line.z == line.coefficient / line.standard_error
