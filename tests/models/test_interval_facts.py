"""What a model keeps of rows whose events are known within bounds."""

from __future__ import annotations

import numpy as np

import aldsurv
from aldsurv import SurvivalData, WeibullAFT


def test_events_within_bounds_are_counted_and_saved(tmp_path):
    rng = np.random.default_rng(0)
    x, time = rng.normal(size=(60, 1)), rng.weibull(1.5, 60) + 0.1
    bounded, exact = np.arange(60) < 25, (np.arange(60) >= 25) & (np.arange(60) < 40)
    upper = np.where(bounded, time + 0.2, np.where(exact, time, np.inf))
    model = WeibullAFT().fit(x, SurvivalData.interval(time, upper))
    facts = model.trained_on_
    assert (facts.events, facts.bounded, facts.known_events) == (15, 25, 40)
    assert facts.event_share == 40 / 60
    assert "40 events" in model.summary()
    model.save(tmp_path / "model.aldsurv")
    assert aldsurv.load(tmp_path / "model.aldsurv").trained_on_ == facts
    right = WeibullAFT().fit(x, SurvivalData.right(time, exact))
    assert right.trained_on_.bounded is None
