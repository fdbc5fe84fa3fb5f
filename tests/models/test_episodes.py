"""Models of covariates that change: R and lifelines for Cox, and for all the law that cutting an episode is nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from contracts.families import NAMES, members
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv import ALDSurvival, CoxRegression, LogNormalSurvival, SurvivalData, WeibullAFT, metrics
from aldsurv.columns.joined_episodes import join_episodes
from aldsurv.distributions.families.parametric import Parametric
from aldsurv.errors import DataError
from aldsurv.losses import likelihood_objective
from aldsurv.models.rows.time_units import time_unit
from aldsurv.registry import FAMILIES
from aldsurv.tuning import tune
from models.episodes import cut, drawn

FROZEN = Path(__file__).parent / "frozen"
TIMES = np.array([0.5, 1.5, 3.0])


@pytest.fixture(scope="module")
def by_r() -> dict:
    return json.loads((FROZEN / "episodes_r.json").read_text())


# ---- Cox regression against R and lifelines


def columns(table, *names):
    return [np.array(table[name], float) for name in names]


def test_cox_is_that_of_r(by_r):
    who, start, stop, event = columns(by_r["table"], "id", "start", "stop", "event")
    data = SurvivalData.episodes(who, start, stop, event)
    x = dict(zip(("age", "dose", "sex"), columns(by_r["table"], "age", "dose", "sex"), strict=True))
    plain = {name: x[name] for name in ("age", "dose")}
    for model, covariates, expected in (
        (CoxRegression(), plain, by_r["cox"]),
        (CoxRegression(strata="sex"), x, by_r["cox_by_sex"]),
    ):
        table = model.fit(covariates, data).coefficients_
        assert_allclose(table.coefficient, expected["coefficients"], rtol=1e-6)
        assert_allclose(table.standard_error, expected["robust"], rtol=1e-5)
        assert_allclose(table.model_error, expected["errors"], rtol=1e-5)
        assert model.log_likelihood_ == pytest.approx(expected["log_likelihood"][1], rel=1e-9)
    path = by_r["path"]
    model = CoxRegression().fit(plain, data)
    predicted = model.predict_path(
        {name: np.array(path[name], float) for name in ("age", "dose")}, path["id"], path["start"], path["stop"]
    )
    assert_allclose(predicted.survival(path["times"])[0], path["survival"], rtol=1e-6)


def test_heart_transplants_are_those_of_r_and_lifelines(by_r):
    from lifelines import CoxTimeVaryingFitter
    from lifelines.datasets import load_stanford_heart_transplants

    heart = load_stanford_heart_transplants()
    names = ["age", "year", "surgery", "transplant"]
    data = SurvivalData.from_frame(heart, id="id", start="start", stop="stop", event="event")
    assert (data.n_persons, data.n_events) == (103, 75)
    model = CoxRegression().fit(heart[names], data)
    assert_allclose(model.coefficients_.coefficient, by_r["heart"]["coefficients"], rtol=1e-5)
    assert_allclose(model.coefficients_.standard_error, by_r["heart"]["robust"], rtol=1e-4)
    assert_allclose(model.coefficients_.model_error, by_r["heart"]["errors"], rtol=1e-5)
    assert model.log_likelihood_ == pytest.approx(by_r["heart"]["log_likelihood"][1], rel=1e-8)
    theirs = CoxTimeVaryingFitter().fit(heart, id_col="id", start_col="start", stop_col="stop", event_col="event")
    assert_allclose(model.coefficients_.coefficient, theirs.params_[names].to_numpy(), rtol=1e-3)
    assert model.log_likelihood_ == pytest.approx(theirs.log_likelihood_, rel=1e-6)


# ---- the law: cutting an episode in two changes nothing


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(data=st.data(), level=st.floats(0.05, 0.9), event=st.booleans())
def test_cutting_does_not_change_the_likelihood_of_any_family(name, data, level, event):
    d = data.draw(members(name, rows=1))
    stop, middle = (float(d.quantile(share)[0]) for share in (level, level / 2))
    if not 0 < middle < stop < np.inf:
        return
    whole = SurvivalData.episodes([1], [0], [stop], [event])
    parts = SurvivalData.episodes([1, 1], [0, middle], [middle, stop], [0, event])
    halves = type(d).concatenate([d, d])
    assert_allclose(
        halves.log_likelihood(parts).sum(), d.log_likelihood(whole).sum(), rtol=1e-9, atol=1e-9, equal_nan=True
    )


@pytest.mark.parametrize("name", [name for name in NAMES if issubclass(FAMILIES.load(name), Parametric)])
def test_cutting_does_not_change_the_loss_nor_its_gradient(name):
    given_rows = drawn(20)
    whole, parts = SurvivalData.episodes(*given_rows[:4]), cut(*given_rows)
    split = SurvivalData.episodes(*parts[:4])
    x, split_x = (torch.tensor(np.column_stack([np.ones(len(one)), one])) for one in (given_rows[4], parts[4]))
    sums = []
    for data, inputs in ((whole, x), (split, split_x)):
        objective = likelihood_objective(name, None, data)
        slopes = torch.full((inputs.shape[1], objective.outputs), 0.1, dtype=torch.float64, requires_grad=True)
        fields = tuple(
            values[None].double() if values.is_floating_point() else values[None] for values in objective.fields
        )
        loss = objective.losses((inputs @ slopes)[None], fields, None).sum() * len(data)
        sums.append((loss.item(), torch.autograd.grad(loss, slopes)[0].numpy()))
    # What is known of a row is in float32.
    assert sums[1][0] == pytest.approx(sums[0][0], rel=1e-5)
    assert_allclose(sums[1][1], sums[0][1], rtol=1e-4, atol=1e-4)


# ---- the episodes that a model learns from


def test_only_episodes_that_follow_with_the_same_values_are_joined():
    who = ["a", "a", "a", "a", "b", "b"]
    start, stop, event = [0, 1, 2, 3, 0, 2], [1, 2, 3, 4, 1, 3], [0, 0, 0, 1, 0, 1]
    data = SurvivalData.episodes(who, start, stop, event, gaps="allow")
    x = {
        "dose": np.array([1.0, 1.0, np.nan, np.nan, 5.0, 5.0]),
        "ward": np.array(["x", "x", "x", "x", "y", "y"], object),
    }
    table, joined = join_episodes(x, data)
    assert_array_equal(table["dose"], [1.0, np.nan, 5.0, 5.0])
    assert_array_equal(joined.time, [2, 4, 1, 3])
    assert_array_equal(joined.entry, [-np.inf, 2, -np.inf, 2])
    assert_array_equal(joined.event, [False, True, False, True])
    weighted = data.with_weight([1, 2, 1, 1, 1, 1])
    assert len(join_episodes(x, weighted)[1]) == 5


def test_the_unit_of_time_is_that_of_persons():
    rows = drawn()
    whole, split = SurvivalData.episodes(*rows[:4]), SurvivalData.episodes(*cut(*rows)[:4])
    assert time_unit(split, "median") == time_unit(whole, "median") == np.median(whole.persons().time)


def test_one_episode_per_person_is_an_ordinary_fit():
    rng = np.random.default_rng(0)
    x, time, event = rng.normal(size=(50, 2)), rng.exponential(size=50), rng.random(50) < 0.7
    plain = WeibullAFT().fit(x, (time, event))
    episodes = WeibullAFT().fit(x, SurvivalData.episodes(np.arange(50), np.zeros(50), time, event))
    assert_array_equal(episodes.coefficients_.coefficient, plain.coefficients_.coefficient)
    path = plain.predict_path(x, np.arange(50), np.zeros(50), time)
    assert_array_equal(path.survival(TIMES), plain.predict_distribution(x).survival(TIMES))


# ---- predictions


@pytest.fixture(scope="module")
def weibull() -> WeibullAFT:
    rows = drawn()
    return WeibullAFT().fit(rows[4], SurvivalData.episodes(*rows[:4]))


def test_a_path_follows_the_hazard_of_each_episode(weibull):
    x, cuts = np.array([[0.5, 0.0], [0.5, 1.0], [-0.2, 0.0]]), 1.3
    predicted = weibull.predict_path(x, ["b", "b", "a"], [0, cuts, 0], [cuts, 2, 9])
    assert len(predicted) == 2
    before, after, other = (weibull.predict_distribution(x[[k]]) for k in range(3))
    for t in (0.8, 1.3, 2.0, 6.0):
        hazard = before.cumulative_hazard(min(t, cuts))[0]
        if t > cuts:
            hazard += after.cumulative_hazard(t)[0] - after.cumulative_hazard(cuts)[0]
        assert predicted.cumulative_hazard(t)[0] == pytest.approx(hazard, rel=1e-12)
        assert predicted.survival(t)[1] == pytest.approx(other.survival(t)[0], rel=1e-12)
    now = predicted[0].conditional(2.0)
    assert_allclose(now.survival([3.0, 5.0]), after.conditional(2.0).survival([3.0, 5.0]), rtol=1e-10)


def test_bad_paths(weibull):
    x = np.zeros((2, 2))
    with pytest.raises(DataError, match="must be the stop"):
        weibull.predict_path(x, [1, 1], [0, 3], [2, 4])
    assert len(weibull.predict_path(x, [1, 1], [0, 3], [2, 4], gaps="allow")) == 1
    with pytest.raises(DataError, match="one row of X for each episode"):
        weibull.predict_path(np.zeros((3, 2)), [1, 1], [0, 2], [2, 4])
    with pytest.raises(DataError, match="id 1 has"):
        weibull.predict_path(x, [1, 1], [0, 1], [2, 4])


def test_sample_weights_and_groups_are_those_of_episodes():
    rows = drawn()
    data, weight = SurvivalData.episodes(*rows[:4]), 1.0 + (rows[0] % 3)
    given = WeibullAFT().fit(rows[4], data, sample_weight=weight, groups=rows[0])
    own = WeibullAFT().fit(rows[4], data.with_weight(weight))
    assert_array_equal(given.coefficients_.coefficient, own.coefficients_.coefficient)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_choices_by_rows_held_out_count_persons():
    rows = drawn(80)
    data = SurvivalData.episodes(*rows[:4])
    model = ALDSurvival(members=2, max_epochs=3, point="auto", random_state=0, progress=False)
    assert model.fit(rows[4], data).point_scores_["ranking"]
    # The mean over persons: that over episodes, which are cut again and again, would be near 0.
    parts = rows
    for seed in range(4):
        parts = cut(*parts, seed=seed)
    many = SurvivalData.episodes(*parts[:4])
    assert len(many) > 5 * many.n_persons
    tuned = tune(ALDSurvival, parts[4], many, trials=2, settings={"members": 1, "max_epochs": 2}, random_state=0)
    own = ALDSurvival(members=1, max_epochs=2, random_state=0, progress=False).fit(rows[4], data)
    predicted = own.predict_path(rows[4], *rows[:3])
    assert tuned.score == pytest.approx(metrics.bounded_log_likelihood(predicted, data.persons()), abs=0.4)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_causes_of_episodes_are_learned():
    rows = drawn(60)
    cause = np.where(rows[3], 1 + (np.arange(len(rows[3])) % 2), 0)
    data = SurvivalData.episodes(*rows[:3], cause=cause)
    model = LogNormalSurvival(members=1, max_epochs=2, random_state=0, progress=False).fit(rows[4], data)
    assert model.causes_ == ("1", "2")
    parts = cut(*rows[:3], cause, rows[4])
    split = LogNormalSurvival(members=1, max_epochs=2, random_state=0, progress=False)
    split.fit(parts[4], SurvivalData.episodes(*parts[:3], cause=parts[3]))
    new = np.array([[0.3, 0.0], [-1.0, 1.0]])
    assert_array_equal(split.predict_incidence(new).incidence(TIMES), model.predict_incidence(new).incidence(TIMES))
