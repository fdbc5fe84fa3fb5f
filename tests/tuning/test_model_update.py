"""The ladder of updates: where it stops on drawn shifts, held-out rows, few events, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from models.rows import quick
from models.updating.places import COEFFICIENTS, place
from numpy.testing import assert_allclose

from aldsurv import CauseSpecificCox, CoxRegression, SurvivalData, UpdatedSurvival, WeibullAFT, metrics, update_model
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.updating.adjustment import RUNGS


@pytest.fixture(scope="module")
def home():
    return WeibullAFT().fit(*place(3000, 0))


FEW_PARTS = {"folds": 3, "repeats": 1}
# Each far from the rungs beside it; times of 450 rows have about 300 events.
SHIFTS = {
    "none": {},
    "intercept": {"log_factor": 0.9},
    "slope": {"coefficients": 0.2 * COEFFICIENTS},
    "levels": {"two_peaks": True},
    "last_layer": {"coefficients": np.array([-0.8, -0.5, 0.4])},
    "refit": {"coefficients": np.array([-0.8, -0.5, 1.2]), "log_factor": 0.5, "shape": 0.8},
}


@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("rung", SHIFTS)
def test_the_ladder_stops_at_the_rung_that_the_shift_calls_for(home, rung, seed):
    update = update_model(home, *place(450, seed, **SHIFTS[rung]))
    assert update.rung == update.model.rung == rung
    assert [score.rung for score in update.rungs] == list(RUNGS)
    assert update.rungs[0].verdict == "start"
    x, y = place(4000, 1000 + seed, **SHIFTS[rung])
    before, after = (metrics.log_likelihood(each.predict_distribution(x), y) for each in (home, update.model))
    assert after >= before
    chosen = next(score for score in update.rungs if score.rung == rung)
    if rung != "none":
        assert chosen.verdict == "better"
        best = {score.rung: score.log_likelihood for score in update.rungs}
        assert_allclose(chosen.gain, chosen.log_likelihood - best[chosen.compared_with], atol=1e-9)
        assert chosen.gain > chosen.needed > 0


def test_held_out_rows_are_not_those_that_were_learned_from(home):
    # Of rows without any truth the map of levels and the refit learn noise only: held-out rows show it.
    rng = np.random.default_rng(5)
    x, y = place(200, 6)
    update = update_model(home, x[rng.permutation(len(x))], y, folds=3, repeats=1)
    scores = {score.rung: score for score in update.rungs}
    learned = metrics.log_likelihood(UpdatedSurvival(home, rung="refit").fit(x, y).predict_distribution(x), y)
    assert scores["refit"].log_likelihood < learned
    assert (update.folds, update.repeats) == (3, 1)


def test_the_same_seed_gives_the_same_table(home):
    rows = place(60, 7)
    first, second, other = (update_model(home, *rows, repeats=1, random_state=seed) for seed in (1, 1, 2))
    assert first.rungs == second.rungs
    assert first.rungs != other.rungs


@pytest.mark.parametrize("shift", ["none", "slope", "refit"])
def test_with_thirty_events_nothing_is_lost(home, shift):
    fresh = place(4000, 99, **SHIFTS[shift])
    for seed in range(4):
        update = update_model(home, *place(45, seed, **SHIFTS[shift]))
        before, after = (
            metrics.log_likelihood(each.predict_distribution(fresh[0]), fresh[1]) for each in (home, update.model)
        )
        chosen = next(score for score in update.rungs if score.rung == update.rung)
        assert after >= before - (chosen.standard_error or 0.0)


def test_few_events_are_not_spent_on_many_parameters(home):
    x, y = place(450, 8, **SHIFTS["refit"])
    verdicts = {}
    for events in (3, 25, 45, 72):
        count = int(np.searchsorted(np.cumsum(y.event), events)) + 1
        update = update_model(home, x[:count], y[:count])
        assert update.events == events
        verdicts[events] = [score.verdict == "too few events" for score in update.rungs]
    assert verdicts == {
        3: [False, True, True, True, True, True],
        25: [False, False, True, True, True, True],
        45: [False, False, False, True, True, True],
        72: [False, False, False, True, False, True],
    }


def test_one_event_cannot_be_held_out(home):
    x, y = place(30, 9)
    one = SurvivalData.right(y.time, np.arange(30) == 3)
    update = update_model(home, x, one)
    assert (update.rung, update.folds, update.repeats) == ("none", 0, 0)
    assert all(score.log_likelihood is None for score in update.rungs)
    named = update_model(home, x, one, rung="intercept")
    hazard = home.predict_distribution(x).cumulative_hazard(one.time[:, None]).sum()
    assert_allclose(named.model.adjustment_.intercept, -np.log(hazard), atol=1e-7)


def test_a_rung_that_is_named_is_taken(home):
    rows = place(100, 10)
    for rung in RUNGS:
        update = update_model(home, *rows, rung=rung, folds=2, repeats=1, source="m.aldsurv")
        assert update.rung == update.model.rung == rung
        assert [score.rung for score in update.rungs] == (["none"] if rung == "none" else ["none", rung])
        assert update.model.ancestry_[0].source == "m.aldsurv"


def test_entry_weights_groups_and_bounds(home):
    x, y = place(500, 13, log_factor=0.9, entry=True)
    weighted = update_model(home, x, y, np.full(len(y), 2.0), **FEW_PARTS)
    assert weighted.rung == "intercept"
    plain = update_model(home, x, y, **FEW_PARTS)
    assert_allclose(weighted.rungs[1].gain, plain.rungs[1].gain, rtol=1e-9)
    # Rows twice, in groups: as many observations as before, so the standard error stays about the same.
    twice = np.repeat(np.arange(len(y)), 2)
    grouped = update_model(home, x[twice], y[twice], groups=twice, **FEW_PARTS)
    assert_allclose(grouped.rungs[1].standard_error, plain.rungs[1].standard_error, rtol=0.5)
    assert grouped.rungs[1].standard_error > 0.75 * plain.rungs[1].standard_error
    x, y = place(450, 14, log_factor=0.9)
    bounds = SurvivalData.interval(
        np.where(y.event, np.floor(10 * y.time) / 10, y.time),
        np.where(y.event, np.floor(10 * y.time) / 10 + 0.1, np.inf),
    )
    update = update_model(home, x, bounds, **FEW_PARTS)
    assert update.rung == "intercept"
    assert update.rungs[3].verdict == "not possible"
    assert "exact or right-censored" in update.rungs[3].reason
    with pytest.raises(DataError, match="rung 'levels' is not possible"):
        update_model(home, x, bounds, rung="levels")


@pytest.mark.parametrize("model", [CoxRegression(), quick(members=2)], ids=["cox", "ald"])
def test_curves_and_networks(model):
    fitted = model.fit(*place(200, 15))
    update = update_model(fitted, *place(150, 16, log_factor=1.5), folds=2, repeats=1)
    assert update.rung != "none"
    assert all(np.isfinite(score.log_likelihood) for score in update.rungs if score.log_likelihood is not None)


def test_what_is_refused(home):
    x, y = place(60, 17)
    for settings, message in (
        ({"rung": "highest"}, "rung must be one of"),
        ({"folds": 1}, "folds must be"),
        ({"repeats": 0}, "repeats must be"),
        ({"random_state": -1}, "random_state must be"),
    ):
        with pytest.raises(ParameterError, match=message):
            update_model(home, x, y, **settings)
    with pytest.raises(ParameterError, match="not fitted"):
        update_model(WeibullAFT(), x, y)
    causes = SurvivalData.competing(y.time, np.where(y.event, 1 + np.arange(60) % 2, 0))
    with pytest.raises(ParameterError, match="only models of one event"):
        update_model(CauseSpecificCox().fit(x, causes), x, y)
