"""A cell against the same steps done one by one."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import ALDSurvival, datasets, metrics
from aldsurv.benchmark import Cell, Series
from aldsurv.benchmark.cells import run_cell, split_of
from aldsurv.errors import DataError
from aldsurv.models.linear.cox import CoxRegression


def found_in(outcome, seed):
    assert outcome.error is None
    return {(row.point, row.metric): row.value for row in outcome.results if row.seed == seed}


@pytest.mark.parametrize("dataset", ["norm_linear", "gbsg"])
def test_each_seed_is_what_it_would_be_alone(dataset):
    real = dataset == "gbsg"
    series = Series(dataset, "real" if real else "released", "row", "ald", "paper")
    outcome = run_cell(Cell(series, (0, 3)))
    for seed in (0, 3):
        train, test = datasets.load_split(dataset, seed=seed, definition="released")
        model = ALDSurvival("paper", random_state=seed).fit(train.x, train.y)
        predicted = model.predict_distribution(test.x)
        found = found_in(outcome, seed)
        whole = datasets.load(dataset).y.time if real else None
        truth, unit = (None, np.std(whole)) if real else (test.truth.mean(), 1.0)
        for point in ("mean", "median", "mode"):
            wanted = metrics.evaluate(
                predicted, test.y, train=train.y, point=point, truth=truth, unit=unit, ties="scikit-survival"
            )
            del wanted["bounded_log_likelihood"]
            for name, value in wanted.items():
                own = point if name in ("mae", "harrell_c", "uno_c") else ""
                assert found[own, name] == pytest.approx(value, rel=1e-9)
        below = predicted.cdf(np.zeros(1))[:, 0]
        assert found["", "f0_p75"] == pytest.approx(np.percentile(below, 75), rel=1e-9)
        assert found["", "epochs"] == model.history_.best_epoch[0]
        curves = {curve.kind: curve for curve in outcome.curves if curve.seed == seed}
        slope, intercept = np.polyfit(curves["survival"].expected, curves["survival"].observed, 1)
        assert found["", "cal_s_slope"] == pytest.approx(slope, rel=1e-9)
        assert found["", "cal_s_intercept"] == pytest.approx(intercept, rel=1e-6, abs=1e-9)
        assert len(curves["density"].expected) == 9


def test_models_without_recipes_and_seeds():
    outcome = run_cell(Cell(Series("gbsg", "real", "row", "cox", "-"), (1,)))
    train, test = datasets.load_split("gbsg", seed=1)
    predicted = CoxRegression().fit(train.x, train.y).predict_distribution(test.x)
    wanted = metrics.evaluate(predicted, test.y, train=train.y, ties="scikit-survival", ranking_point="median")
    found = found_in(outcome, 1)
    assert found["", "ibs"] == pytest.approx(wanted["ibs"], rel=1e-9)
    assert found["median", "harrell_c"] == pytest.approx(wanted["harrell_c"], rel=1e-9)
    assert ("", "epochs") not in found


def test_an_error_is_part_of_the_outcome(monkeypatch, tmp_path):
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    outcome = run_cell(Cell(Series("metabric", "real", "row", "ald", "paper"), (0,)))
    assert outcome.results == ()
    assert "metabric" in outcome.error


def test_patients_stay_on_one_side_and_the_telling_column_can_be_left_out():
    try:
        datasets.load("whas")
    except DataError:
        pytest.skip("the publisher's file is not in the data folder")
    series = Series("whas", "real", "group, without case", "ald", "paper")
    train, test = split_of(series, 0)
    assert train.feature_names == test.feature_names == ["age", "female", "bmi", "heart_failure", "recurrent"]
    assert train.x.shape[1] == 5
    assert not set(train.groups) & set(test.groups)
    by_row = split_of(series._replace(variant="row"), 0)
    assert by_row[0].feature_names[0] == "case"
    assert set(by_row[0].groups) & set(by_row[1].groups)
