"""Importance and partial dependence of the incidence of one of several causes."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import SurvivalData, WeibullAFT
from aldsurv.distributions import CauseMixture, Exponential
from aldsurv.errors import ParameterError
from aldsurv.inspection import partial_dependence, permutation_importance
from inspection.known_causes import KnownCauses, drawn_rows


def exact(x: dict[str, np.ndarray], cause: int, time: float) -> np.ndarray:
    rates = np.stack([0.1 * np.exp(x["grade"]), 0.05 * np.exp(x["age"])])
    total = rates.sum(axis=0)
    return rates[cause] / total * -np.expm1(-total * time)


@pytest.mark.parametrize(("cause", "number"), [("relapse", 0), (2, 1)])
def test_partial_dependence_is_the_mean_incidence(cause, number):
    x, _ = drawn_rows(60)
    effect = partial_dependence(KnownCauses(), x, "age", cause=cause, time=5, grid=[-1.0, 0.0, 1.0], sample=None)
    for place, age in enumerate((-1.0, 0.0, 1.0)):
        values = exact({**x, "age": np.full(60, age)}, number, 5.0)
        np.testing.assert_allclose(effect.individual[:, place], values, rtol=1e-12)
    assert effect.summary == f"probability of {('relapse', 'death')[number]} by 5"
    # Age raises the rate of death; relapse falls for that reason alone.
    assert (np.diff(effect.mean) * (-1, 1)[number] > 0).all()


def test_effects_and_survival_add_up():
    x, _ = drawn_rows(30)
    parts = [
        partial_dependence(KnownCauses(), x, "grade", cause=cause, time=4.0, grid=[0.0, 1.0], sample=None).mean
        for cause in ("relapse", "death")
    ]
    event_free = partial_dependence(
        KnownCauses(), x, "grade", summary=lambda d: d.survival(4.0), grid=[0.0, 1.0], sample=None
    )
    np.testing.assert_allclose(sum(parts) + event_free.mean, 1.0, atol=1e-12)


def test_a_column_matters_for_its_own_cause():
    x, y = drawn_rows(800)
    falls = {
        cause: permutation_importance(KnownCauses(), x, y, cause=cause, repeats=2).mean
        for cause in ("relapse", "death")
    }
    # Columns: grade, age.
    assert falls["relapse"][0] > 0.1 > abs(falls["relapse"][1])
    assert falls["death"][1] > 0.1
    assert falls["death"][1] > falls["death"][0]
    at_time = permutation_importance(KnownCauses(), x, y, cause="death", metric="auc", time=5.0, repeats=1)
    assert at_time.mean[1] > 0.05


def test_errors():
    x, y = drawn_rows(30)
    known = KnownCauses()
    one = WeibullAFT().fit(x, y.of_cause("death"))
    for wrong, told in (
        ({"cause": "death"}, "needs the time"),
        ({"cause": "death", "time": -1.0}, "time must be"),
        ({"cause": "deth", "time": 1.0}, "one of 'relapse', 'death'"),
        ({"cause": "death", "time": 1.0, "summary": "mean"}, "cannot be combined with cause"),
    ):
        with pytest.raises(ParameterError, match=told):
            partial_dependence(known, x, "age", **wrong)
    with pytest.raises(ParameterError, match="this WeibullAFT does not tell causes apart"):
        partial_dependence(one, x, "age", cause="death", time=1.0)
    with pytest.raises(ParameterError, match="does not look at given times"):
        permutation_importance(known, x, y, metric="ibs", time=3.0)
    with pytest.raises(ParameterError, match="cannot be combined with a function"):
        permutation_importance(known, x, y, metric=lambda model, X, y: 0.0, cause="death")


def test_the_known_model_is_what_it_says():
    x, y = drawn_rows(50)
    assert isinstance(y, SurvivalData)
    predicted = KnownCauses().predict_incidence(x)
    assert isinstance(predicted, CauseMixture)
    np.testing.assert_allclose(predicted.incidence(3.0, "death"), exact(x, 1, 3.0), rtol=1e-12)
    assert isinstance(KnownCauses().predict_distribution(x), Exponential)
