from __future__ import annotations

import numpy as np
import pytest

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step, Weibull
from aldsurv.metrics import integrated_brier_score
from aldsurv.metrics.error.brier_skill import brier_skill_score
from aldsurv.nonparametric import kaplan_meier
from metrics.definitions import simulated

right = SurvivalData.right


@pytest.mark.parametrize("times", [None, np.linspace(3, 12, 20)])
def test_ratio_of_two_scores(times):
    train, data = simulated(0), simulated(1)
    predicted = Weibull(np.random.default_rng(0).uniform(5, 40, 300), 1.3)
    curve = kaplan_meier(train)
    everybody = Step(curve.times, np.broadcast_to(curve.survival, (300, curve.times.size)))
    scores = [integrated_brier_score(p, data, train=train, times=times) for p in (predicted, everybody)]
    assert brier_skill_score(predicted, data, train=train, times=times) == pytest.approx(1 - scores[0] / scores[1])
    assert brier_skill_score(everybody, data, train=train, times=times) == pytest.approx(0, abs=1e-12)


def test_the_truth_has_skill():
    rng = np.random.default_rng(5)
    truth = Weibull(rng.uniform(2, 30, 2000), 2.0)
    event, lost = truth.sample(random_state=1), rng.exponential(40, 2000)
    data = right(np.minimum(event, lost), event <= lost)
    found = brier_skill_score(truth, data, train=data)
    assert 0.2 < found < 1
    assert brier_skill_score(truth.scaled(1.5), data, train=data) < found


def test_edges():
    data, train = right([1, 2, 3, 6], [True] * 4), right([1, 2, 3, 4], [True, True, True, False])
    with pytest.warns(UserWarning, match="the horizon used is 3") as caught:
        found = brier_skill_score(Exponential([1.0, 2, 3, 9]), data, train=train, times=[1, 2, 3, 5])
    assert len(caught) == 1
    assert found == brier_skill_score(Exponential([1.0, 2, 3, 9]), data, train=train, times=[1, 2, 3])
    with pytest.warns(UserWarning, match="leaves no range"):
        assert np.isnan(brier_skill_score(Exponential([1.0]), right([1], [True]), train=right([2], [True])))
    late = right([9, 9], [True, True])
    with pytest.warns(UserWarning, match="no error to improve on"):
        assert np.isnan(brier_skill_score(Exponential([9.0, 9.0]), late, train=late, times=[1, 2]))
