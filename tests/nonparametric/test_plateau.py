"""Whether follow-up is long enough to estimate a share without event."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.errors import CureWarning, DataError
from aldsurv.nonparametric import follow_up_test, kaplan_meier
from aldsurv.nonparametric.plateau import warn_of_short_follow_up


def test_the_definition():
    # Maller & Zhou (1994): events in (2 t* - t_n, t*], here (4, 7].
    time = np.array([1.0, 3.0, 4.0, 5.0, 6.5, 7.0, 8.0, 10.0])
    event = np.array([1, 1, 1, 1, 0, 1, 0, 0])
    result = follow_up_test(SurvivalData.right(time, event))
    assert (result.last_event, result.last_time, result.events_before) == (7.0, 10.0, 1)
    assert result.maller_zhou == pytest.approx((1 - 2 / 8) ** 8, rel=1e-12)
    # At risk in (4, 7]: one until 5, one until 6.5 and three until 7; in (7, 10] one until 8 and one until 10.
    assert result.p == pytest.approx((1 + 2.5 + 9) / (1 + 2.5 + 9 + 1 + 3), rel=1e-12)
    assert result.plateau == kaplan_meier(SurvivalData.right(time, event)).survival[-1]
    assert not result.sufficient
    late = SurvivalData.right(time, event, entry=[0, 0, 0, 4.5, 0, 0, 0, 9.0])
    assert follow_up_test(late).p == pytest.approx((0.5 + 2.5 + 6) / (0.5 + 2.5 + 6 + 1 + 1), rel=1e-12)


def test_p_keeps_its_level_under_a_constant_hazard():
    rng = np.random.default_rng(0)
    values = []
    for _ in range(600):
        time, lost = rng.exponential(3, 150), rng.uniform(0.5, 2, 150)
        values.append(follow_up_test(SurvivalData.right(np.minimum(time, lost), time <= lost)).p)
    values = np.array(values)
    # It takes few values: at each of them no more than so many of the trials have one as small.
    for level in (0.05, 0.1, 0.3):
        assert np.mean(values <= level) <= level + 3 * np.sqrt(level / 600)


def test_rows_without_weight_and_other_censoring():
    time, event = np.array([1.0, 2.0, 6.0, 30.0]), np.array([1, 1, 0, 1])
    weighted = follow_up_test(SurvivalData.right(time, event, weight=[1, 1, 1, 0]))
    assert weighted == follow_up_test(SurvivalData.right(time[:3], event[:3]))
    interval = SurvivalData.interval([0.5, -np.inf, 6.0], [1.0, 2.0, np.inf])
    assert follow_up_test(interval).last_event == 2.0


def drawn(share, end, seed=0, n=400):
    rng = np.random.default_rng(seed)
    time = np.where(rng.uniform(size=n) < share, np.inf, rng.exponential(size=n))
    lost = rng.uniform(0, end, n)
    return SurvivalData.right(np.minimum(time, lost), time <= lost)


def test_long_and_short_follow_up():
    assert np.mean([follow_up_test(drawn(0.4, 30.0, seed)).sufficient for seed in range(20)]) > 0.9
    # A test of level 0.05: within three standard errors of it.
    short = [follow_up_test(drawn(0.0, 1.0, seed)).sufficient for seed in range(200)]
    assert np.mean(short) < 0.05 + 3 * np.sqrt(0.05 / 200)
    assert abs(follow_up_test(drawn(0.4, 30.0)).plateau - 0.4) < 0.1


def test_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_short_follow_up(drawn(0.4, 30.0), "Model", stacklevel=2)
    with pytest.warns(CureWarning, match="too short for Model to estimate a share without event: the last event is at"):
        warn_of_short_follow_up(drawn(0.0, 1.0), "Model", stacklevel=2)
    with pytest.warns(CureWarning, match="survival has no level tail"):
        warn_of_short_follow_up(SurvivalData.right([1, 2, 3], [1, 0, 1]), "Model", stacklevel=2)
    with pytest.raises(DataError, match="needs at least one event"):
        follow_up_test(SurvivalData.right([1, 2], [0, 0]))
