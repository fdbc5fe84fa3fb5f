"""Rows are ranked by what follow-up can tell: the mean time without event up to its end."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv import SurvivalData, metrics
from aldsurv.distributions import Step
from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.metrics.point_estimates import ranking_time
from aldsurv.models import (
    CQRNN,
    ALDSurvival,
    BoostedALD,
    CoxRegression,
    DeepHit,
    DeepSurv,
    LogNormalSurvival,
    RecalibratedSurvival,
    StackedSurvival,
    WeibullAFT,
)

FROZEN = Path(__file__).parent / "frozen"
NETWORK = {"members": 2, "max_epochs": 6, "random_state": 0, "progress": False, "device": "cpu"}
# Every model that ranks by a summary of its distribution, and those around others.
MODELS = {
    "ald": lambda **given: ALDSurvival(**NETWORK, **given),
    "lognormal": lambda **given: LogNormalSurvival(**NETWORK, **given),
    "cqrnn": lambda **given: CQRNN(**NETWORK, **given),
    "deephit": lambda **given: DeepHit(**NETWORK, **given),
    "boosted_ald": lambda **given: BoostedALD(members=2, max_rounds=15, random_state=0, **given),
    "stack": lambda **given: StackedSurvival([WeibullAFT(), CoxRegression()], folds=2, random_state=0, **given),
    "recalibrated": lambda **given: RecalibratedSurvival(ALDSurvival(**NETWORK, **given), folds=2, random_state=0),
}


@pytest.fixture(scope="module")
def censored():
    """Rows of which five in six are censored long before their median."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(240, 3))
    event, lost = 30 * rng.weibull(1.3, 240) * np.exp(0.8 * x[:, 0]), rng.uniform(1, 12, 240)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost)


@pytest.fixture(scope="module", params=MODELS)
def fitted(request, censored):
    return MODELS[request.param]().fit(*censored)


def test_the_risk_is_the_area_under_the_curve_within_follow_up(fitted, censored):
    x, y = censored
    end = sorted(y.time)[int(np.ceil(0.8 * len(y))) - 1]
    assert y.event.mean() < 0.25
    assert fitted.follow_up_ == end
    assert (fitted.error_point_, fitted.ranking_point_) == ("median", "follow_up")
    # By the rule of the midpoint: of steps as good as their width, of curves far better.
    width = end / 20_000
    curve = fitted.predict_survival_function(x[:40], width * (np.arange(20_000) + 0.5))
    np.testing.assert_allclose(fitted.predict(x[:40]), -curve.sum(axis=1) * width, rtol=2e-4)
    np.testing.assert_array_equal(fitted.predict_time(x), fitted.predict_distribution(x).median())
    # The area is that of follow-up, whereas medians of most rows lie beyond all that was seen.
    assert (fitted.predict(x) >= -end).all()
    assert fitted.score(x, y) == metrics.concordance_harrell(fitted.predict_distribution(x), y, train=y)


def test_a_file_keeps_it(fitted, censored, tmp_path):
    loaded = aldsurv.load(fitted.save(tmp_path / "model"))
    assert (loaded.follow_up_, loaded.ranking_point_) == (fitted.follow_up_, "follow_up")
    np.testing.assert_array_equal(loaded.predict(censored[0]), fitted.predict(censored[0]))


@pytest.mark.parametrize("name", ["ald", "boosted_ald", "stack", "recalibrated"])
@pytest.mark.parametrize("point", ["median", "restricted_mean"])
def test_another_point_is_for_both_uses(name, point, censored):
    x, y = censored
    model = MODELS[name](point=point).fit(x, y)
    d = model.predict_distribution(x)
    wanted = d.median() if point == "median" else d.restricted_mean(y.time.max())
    assert (model.error_point_, model.ranking_point_) == (point, point)
    np.testing.assert_array_equal(model.predict(x), -wanted)
    np.testing.assert_array_equal(model.predict_time(x), wanted)


def test_where_medians_are_far_away_the_ranking_is_better():
    # Whoever has a high hazard up to the end of follow-up has a low one after it, where the medians are.
    rng = np.random.default_rng(0)
    early = rng.uniform(0.005, 0.1, 400)
    late = 0.12 - early
    time = rng.exponential(size=400) / early
    y = SurvivalData.right(np.minimum(time, 4.0), time <= 4)
    grid = np.append(np.linspace(0.1, 4, 40), np.linspace(4.5, 60, 112))
    hazard = early[:, None] * np.minimum(grid, 4) + late[:, None] * np.maximum(grid - 4, 0)
    d = Step(grid, np.exp(-hazard))
    by_median, within = (metrics.concordance_harrell(d, y, point=point) for point in ("median", "follow_up"))
    assert within == pytest.approx(metrics.concordance_harrell(-early, y))
    assert by_median < within - 0.1


def test_cox_ranks_by_its_linear_predictor(censored):
    x, y = censored
    for model in (CoxRegression(), CoxRegression(point="restricted_mean"), DeepSurv(**NETWORK)):
        model.fit(x, y)
        area = model.predict_distribution(x).restricted_mean(model.follow_up_)
        if isinstance(model, CoxRegression):
            np.testing.assert_array_equal(np.argsort(model.predict(x)), np.argsort(-area))
            assert model.ranking_point_ == "follow_up"
            assert model.error_point_ == model.point
        assert model.follow_up_ == ALDSurvival(**{**NETWORK, "max_epochs": 1}).fit(x, y).follow_up_
    assert DeepSurv().settings().point == "restricted_mean"
    assert DeepSurv("paper").settings().point == CQRNN("paper").settings().point == DeepHit("paper").settings().point
    assert DeepSurv("paper").settings().point == "median"


@pytest.mark.parametrize(
    "name", ["ald_default", "cqrnn_default", "boosted_ald_entry_log", "cox_efron", "recalibrated_ald"]
)
def test_an_older_file_ranks_by_the_median(name):
    document, _ = read_model_file(FROZEN / f"{name}.aldsurv")
    assert "follow_up" not in json.dumps(document)
    model = aldsurv.load(FROZEN / f"{name}.aldsurv")
    assert (model.error_point_, model.ranking_point_) == ("median", "median")
    with pytest.raises(ParameterError, match=r"earlier version and does not have the end of follow-up\. Fit it again"):
        _ = model.follow_up_


def test_a_file_without_the_end_of_follow_up_is_refused(fitted, tmp_path):
    document, arrays = read_model_file(fitted.save(tmp_path / "model"))

    def edited(node, value):
        """The document with another end of follow-up wherever it has one."""
        if isinstance(node, dict):
            new = {key: edited(item, value) for key, item in node.items() if key != "follow_up"}
            return new | {"follow_up": value} if "follow_up" in node and value is not None else new
        return [edited(item, value) for item in node] if isinstance(node, list) else node

    for value in (None, -1.0, 1e9, "late", True):
        write_model_file(tmp_path / "odd", edited(document, value), arrays)
        with pytest.raises(ModelFileError, match="follow"):
            aldsurv.load(tmp_path / "odd")


def test_what_is_refused(censored):
    x, y = censored
    for make in (MODELS["ald"], MODELS["boosted_ald"], MODELS["stack"], CoxRegression):
        with pytest.raises(ParameterError, match=r"^point must be one of .*follow_up.*, but is 'followup'\.?$"):
            make(point="followup").fit(x, y)
    d = CoxRegression().fit(x, y).predict_distribution(x)
    listed = re.escape("point must be one of 'follow_up', 'mean', 'median', 'mode', 'restricted_mean', but is 'late'")
    for refused in (
        lambda: metrics.concordance_harrell(d, y, point="late"),
        lambda: metrics.concordance_uno(d, y, train=y, point="late"),
        lambda: metrics.evaluate(d, y, train=y, point="late"),
        lambda: metrics.calibration_by_group(d, y, x[:, 0] > 0, point="late"),
        lambda: ranking_time(d, y, point="late"),
    ):
        with pytest.raises(ParameterError, match=listed):
            refused()
    with pytest.raises(ParameterError, match=r"^ranking_point must be one of 'follow_up', .* or None, but is 'late'"):
        metrics.evaluate(d, y, train=y, ranking_point="late")
    # An area is no time of an event.
    with pytest.raises(ParameterError, match=r"point must be one of 'mean', 'median', .*, but is 'follow_up'"):
        metrics.mean_absolute_error(d, y, point="follow_up")
