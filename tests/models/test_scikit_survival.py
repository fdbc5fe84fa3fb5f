"""What scikit-survival makes of our predictions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold
from sksurv.metrics import (
    as_concordance_index_ipcw_scorer,
    as_cumulative_dynamic_auc_scorer,
    as_integrated_brier_score_scorer,
    brier_score,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
)

from aldsurv import SurvivalData, metrics
from models.rows import draw, quick

X, TIME, EVENT = draw(240)
# scikit-survival looks at no times beyond those of the rows that are scored.
TIME, EVENT = np.minimum(TIME, 30.0), EVENT & (TIME < 30)
Y = SurvivalData.right(TIME, EVENT).to_structured()
TIMES = np.linspace(3, 25, 12)


@pytest.fixture(scope="module")
def model():
    return quick(members=2, max_epochs=15, learning_rate=0.02).fit(X, Y)


def test_concordance(model):
    found = concordance_index_censored(EVENT, TIME, model.predict(X))[0]
    assert model.score(X, Y) == pytest.approx(found, abs=1e-12)
    assert found > 0.75
    ipcw = concordance_index_ipcw(Y, Y, model.predict(X), tau=25)[0]
    predicted, data = model.predict_distribution(X), SurvivalData.of(Y)
    assert metrics.concordance_uno(predicted, data, train=data, tau=25) == pytest.approx(ipcw, abs=1e-10)


def test_brier(model):
    functions = model.predict_survival_function(X)
    curves = np.vstack([function(TIMES) for function in functions])
    found = integrated_brier_score(Y, Y, curves, TIMES)
    assert 0 < found < integrated_brier_score(Y, Y, np.full_like(curves, 0.5), TIMES)
    array = model.predict_survival_function(X, return_array=True)
    inside = (model.unique_times_ > TIME.min()) & (model.unique_times_ < TIME.max())
    times, scores = brier_score(Y, Y, array[:, inside], model.unique_times_[inside])
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(times, model.unique_times_[inside])


def test_dynamic_auc(model):
    _, plain = cumulative_dynamic_auc(Y, Y, model.predict(X), TIMES)
    hazards = np.vstack([function(TIMES) for function in model.predict_cumulative_hazard_function(X)])
    _, by_time = cumulative_dynamic_auc(Y, Y, hazards, TIMES)
    assert min(plain, by_time) > 0.75


@pytest.mark.parametrize(
    "wrap", [as_integrated_brier_score_scorer, as_concordance_index_ipcw_scorer, as_cumulative_dynamic_auc_scorer]
)
def test_wrappers(wrap):
    extra = {"tau": 25.0} if wrap is as_concordance_index_ipcw_scorer else {"times": TIMES[:-4]}
    wrapped = wrap(quick(learning_rate=0.02), **extra)
    grid = {"estimator__max_epochs": [1, 12]}
    search = GridSearchCV(wrapped, grid, cv=KFold(2, shuffle=True, random_state=0), error_score="raise").fit(X, Y)
    assert search.best_params_ == {"estimator__max_epochs": 12}
    assert np.isfinite(search.score(X, Y))
