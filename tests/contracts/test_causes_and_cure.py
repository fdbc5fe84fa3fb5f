"""Laws of every registered model that tells causes apart, and of every one that knows a share without event."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions import CompetingDistribution
from aldsurv.errors import AldsurvError
from aldsurv.registry import MODELS

from .test_models import make

WITH_CAUSES = [name for name in MODELS if MODELS.load(name).TAKES_CAUSES]
WITH_CURE = [name for name in MODELS if "cure" in inspect.signature(MODELS.load(name)).parameters]
# Models that refuse delayed entry, in one line that says so.
WITHOUT_ENTRY: set[str] = {"fine_gray"} & set(WITH_CAUSES)
TIMES = np.array([0.2, 0.8, 1.5, 4.0])


def drawn(kind):
    rng = np.random.default_rng(0)
    n = 160
    x = rng.normal(size=(n, 2))
    first, second = (np.exp(0.5 * x[:, k] + 0.5 * rng.normal(size=n)) for k in range(2))
    end = rng.uniform(0.5, 4.0, n)
    time = np.minimum(np.minimum(first, second), end)
    cause = np.select([time == first, time == second], [1, 2], 0)
    extra = {}
    if kind == "entry":
        extra["entry"] = np.where(np.arange(n) % 3 == 0, 0.5 * time, -np.inf)
    if kind == "weight":
        extra["weight"] = 1.0 + np.arange(n) % 3
    if kind == "group":
        extra["group"] = np.arange(n) // 2
    return x, SurvivalData.competing(time, cause, names=["relapse", "death"], **extra)


@pytest.mark.parametrize("name", WITH_CAUSES)
@pytest.mark.parametrize("kind", ["plain", "entry", "weight", "group"])
def test_incidences_add_up_and_files_predict_the_same(name, kind, tmp_path):
    x, y = drawn(kind)
    model = make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "entry" and name in WITHOUT_ENTRY:
            with pytest.raises(AldsurvError, match=r"entry|entered"):
                model.fit(x, y)
            return
        model.fit(x, y)
    predicted = model.predict_incidence(x[:12])
    assert isinstance(predicted, CompetingDistribution)
    assert model.causes_ == predicted.causes == ("relapse", "death")
    incidence = predicted.incidence(TIMES)
    assert incidence.shape == (2, 12, 4)
    assert_allclose(incidence.sum(axis=0) + predicted.survival(TIMES), 1.0, atol=1e-12)
    assert (np.diff(incidence, axis=2) >= -1e-7).all()
    assert_allclose(model.predict_distribution(x[:12]).survival(TIMES), predicted.survival(TIMES), atol=1e-10)
    again = aldsurv.load(model.save(tmp_path / "model.aldsurv"))
    assert_array_equal(again.predict_incidence(x[:12]).incidence(TIMES), incidence)
    assert again.causes_ == model.causes_
    assert np.isfinite(model.predict(x)).all()


@pytest.mark.parametrize("name", WITH_CURE)
def test_a_share_without_event_is_saved_and_loaded(name, tmp_path):
    x, y = drawn("plain")
    rows = SurvivalData.right(np.where(y.event, y.time, 9.0), y.event)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(name, cure=True).fit(x, rows)
    predicted = model.predict_distribution(x)
    share = predicted.cure_probability()
    assert ((share > 0) & (share < 1)).all()
    assert_allclose(predicted.survival(1e9), share, atol=1e-6)
    again = aldsurv.load(model.save(tmp_path / "model.aldsurv"))
    assert_array_equal(again.predict_distribution(x).cure_probability(), share)
