"""What notebooks show of models, and of their tables."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from lifelines import CoxPHFitter, KaplanMeierFitter
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aldsurv import ConformalLowerBound, CoxRegression, DeepSurv, RecalibratedSurvival, StackedSurvival, WeibullAFT
from aldsurv.data.survival_data import SurvivalData
from aldsurv.nonparametric import aalen_johansen, kaplan_meier
from aldsurv.registry import MODELS

RNG = np.random.default_rng(5)
X = {"age": RNG.normal(60, 9, 150), "<script>x</script>": np.array(["I", "<b>"])[RNG.integers(0, 2, 150)]}
Y = SurvivalData.right(RNG.exponential(np.exp((X["age"] - 60) / 15)), RNG.random(150) < 0.8)


def words(text):
    return " ".join(re.sub("<[^>]*>", " ", text).split())


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_unfitted(name):
    kind = MODELS.load(name)
    assert words(kind()._repr_html_()) == f"{kind.__name__} parameters default not fitted"


def test_parameters_that_differ_and_the_fit():
    model = CoxRegression(ridge=0.5, strata="<script>x</script>")
    assert words(model._repr_html_()).startswith("CoxRegression ridge 0.5 strata &#x27;&lt;script&gt;x")
    text = model.fit(X, Y)._repr_html_()
    assert "<script" not in text
    assert "<b>" not in text
    assert f"rows 150 events {Y.n_events} time" in words(text)
    assert "2 columns" in words(text)
    assert "age number, scaled filled with" in words(text)


@pytest.mark.parametrize(
    "model",
    [
        StackedSurvival([WeibullAFT(), CoxRegression()], folds=2, random_state=0),
        RecalibratedSurvival(WeibullAFT(), folds=2, random_state=0),
        DeepSurv(strata=1, members=1, max_epochs=1, random_state=0, progress=False),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_around_others(model):
    text = words(model.fit(X, Y)._repr_html_())
    assert "rows 150" in text
    assert "age number" in text
    if isinstance(model, StackedSurvival):
        assert "weight" in model.stack_table_._repr_html_()


def test_one_that_predicts_no_distribution():
    bound = ConformalLowerBound(WeibullAFT(), random_state=0)
    assert words(bound._repr_html_()).endswith("not fitted")
    assert "WeibullAFT()" in words(bound.fit(X, Y)._repr_html_())


def test_a_pipeline_shows_it():
    pipeline = make_pipeline(StandardScaler(), CoxRegression(ridge=0.5))
    assert "CoxRegression" in pipeline._repr_html_()


def test_coefficients_against_lifelines():
    model = CoxRegression().fit({"age": X["age"]}, Y)
    frame = model.coefficients_.to_frame()
    table = pd.DataFrame({"age": X["age"], "time": Y.time, "event": Y.event})
    peer = CoxPHFitter().fit(table, "time", "event").summary.loc["age"]
    ours = frame.loc["age", ["coefficient", "standard_error", "z", "p", "hazard ratio", "lower", "upper"]]
    names = ["coef", "se(coef)", "z", "p", "exp(coef)", "exp(coef) lower 95%", "exp(coef) upper 95%"]
    np.testing.assert_allclose(ours.astype(float), peer[names].astype(float), rtol=1e-4)
    printed = " ".join(str(model.coefficients_).split())
    assert words(model.coefficients_._repr_html_()) == f"Coefficients {printed}".replace("<", "&lt;")


def test_kaplan_meier_against_lifelines():
    frame = kaplan_meier(Y).to_frame()
    peer = KaplanMeierFitter().fit(Y.time, Y.event)
    np.testing.assert_allclose(frame["survival"], peer.survival_function_.iloc[1:, 0], rtol=1e-12)
    limits = peer.confidence_interval_.iloc[1:]
    np.testing.assert_allclose(frame[["lower", "upper"]], limits, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(frame["at_risk"], peer.event_table["at_risk"].iloc[1:])
    assert frame.index.name == "time"
    assert "Kaplan-Meier, 150 times" in kaplan_meier(Y)._repr_html_()


def test_aalen_johansen_by_cause():
    data = SurvivalData.competing([1, 2, 3, 4], [1, 2, 0, 1], names=["a", "<b>"])
    curves = aalen_johansen(data)
    frame = curves.to_frame()
    np.testing.assert_array_equal(frame["a", "incidence"], curves.incidence_at([1, 2, 3, 4], "a"))
    assert list(frame["<b>"]) == ["incidence", "std", "lower", "upper"]
    assert "&lt;b&gt;" in curves._repr_html_()
    assert "<b>" not in curves._repr_html_()
