from __future__ import annotations

import numpy as np
import pytest
from pycox.preprocessing.label_transforms import LabTransDiscreteTime

from aldsurv import SurvivalData
from aldsurv.errors import DataError
from aldsurv.models.neural.time_bins import bin_ends, bins_passed, marginal_chances, places, require_right_censored
from aldsurv.nonparametric.aalen_johansen import aalen_johansen
from aldsurv.nonparametric.kaplan_meier import kaplan_meier


def draw(n=400, seed=0, **more):
    rng = np.random.default_rng(seed)
    event, lost = rng.weibull(1.5, n) * 10, rng.exponential(15, n)
    return SurvivalData.right(np.minimum(event, lost), event <= lost, **more)


def test_equidistant_bins_and_places_are_pycoxs():
    data = draw()
    labels = LabTransDiscreteTime(21).fit(data.time, data.event)
    ends = bin_ends(data, 20, "equidistant")
    # pycox counts the time 0 as a bin of its own.
    np.testing.assert_allclose(ends, labels.cuts[1:])
    index, event = labels.transform(data.time, data.event)
    place, entered = places(data, ends, in_part=False)
    np.testing.assert_array_equal(place, np.where(event == 1, index - 1, index))
    assert entered is None


def test_quantile_bins_hold_equal_shares_of_the_events():
    data = draw(2000)
    ends = bin_ends(data, 16, "quantile")
    curve = kaplan_meier(data)
    fallen = -np.diff(curve.survival_at(np.append(0.0, ends)))
    np.testing.assert_allclose(fallen, (1 - curve.survival[-1]) / 16, atol=3e-3)
    assert ends[-1] == data.time[data.event].max()


@pytest.mark.parametrize("scheme", ["equidistant", "quantile"])
@pytest.mark.parametrize(
    "data",
    [
        SurvivalData.right([1, 1, 1, 1, 2, 2, 3], [1, 1, 1, 1, 1, 0, 0]),
        SurvivalData.right([0, 0, 0], [1, 1, 0]),
        SurvivalData.right([5.0], [1]),
        SurvivalData.right([3, 9, 1], [1, 1, 1], weight=[1, 0, 1]),
        SurvivalData.right([1e-9, 1e9], [1, 1]),
    ],
    ids=str,
)
def test_there_are_always_as_many_bins(data, scheme):
    ends = bin_ends(data, 8, scheme)
    assert ends.shape == (8,)
    assert (np.diff(ends, prepend=0.0) > 0).all()
    counted = data.time[data.event & (data.weights > 0)]
    assert ends[-1] >= counted.max()


def test_places_by_hand():
    ends = np.array([1.0, 2.0, 4.0])
    times = np.array([0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0])
    events = places(SurvivalData.right(times[:-1], np.ones(6)), ends, in_part=True)[0]
    np.testing.assert_array_equal(events, [0, 0, 1, 1, 2, 2])
    censored = SurvivalData.right(times, np.zeros(7), entry=np.append(-np.inf, times[1:] - 0.5))
    expected = [0, 0.5, 1, 1.5, 2.25, 2.75, 3]
    place, entered = places(censored, ends, in_part=True)
    np.testing.assert_allclose(place, [0, 1, 1.5, 2, 2.5, 3, 3])
    np.testing.assert_allclose(entered, expected)
    # Rounded down to the bins passed, but not to before the entry.
    place, entered = places(censored, ends, in_part=False)
    np.testing.assert_allclose(place, [0, 1, 1, 2, 2.25, 3, 3])
    np.testing.assert_allclose(entered, expected)
    from_start = SurvivalData.right(times, np.zeros(7))
    np.testing.assert_array_equal(places(from_start, ends, in_part=False)[0], [0, 1, 1, 2, 2, 3, 3])
    # A time just before the end of a bin has not passed it.
    almost = bins_passed(np.nextafter(ends, 0.0), ends, in_part=True)
    assert np.floor(almost.astype(np.float32)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("entry", [False, True])
def test_chances_without_covariates_are_those_of_aalen_johansen(entry):
    rng = np.random.default_rng(1)
    n = 3000
    place, cause = rng.integers(0, 6, n), rng.integers(0, 3, n)
    entered = np.where(rng.random(n) < 0.3, rng.integers(0, 6, n), 0) if entry else np.zeros(n)
    keep = entered < place + (cause > 0)
    place, cause, entered, weight = (column[keep] for column in (place, cause, entered, rng.uniform(0.5, 2, n)))
    found = marginal_chances(place.astype(float), cause, weight, entered if entry else None, causes=2, bins=6)
    # On the bins as times: an event of bin b at b + 1, a censored row at the number of bins passed.
    data = SurvivalData.competing(np.where(cause > 0, place + 1, place), cause, weight=weight)
    if entry:
        data = SurvivalData.competing(data.time, cause, weight=weight, entry=np.where(entered > 0, entered, -np.inf))
    expected = np.diff(aalen_johansen(data).incidence_at(np.arange(7)), axis=1)
    # A twentieth is evened out.
    np.testing.assert_allclose(found, expected, atol=0.05 * expected.sum() / 6)
    assert (found > 0).all()
    assert found.sum() < 1


def test_chances_that_no_row_shows_are_not_zero():
    found = marginal_chances(np.array([1.0, 1.0]), np.array([1, 1]), None, None, causes=2, bins=3)
    assert (found > 0).all()
    assert found.sum() < 1
    assert found.argmax() == 1


def test_other_censoring_is_refused():
    data = SurvivalData.interval([1, 2, -np.inf], [1, 3, 2])
    message = r"DeepHit learns from exact and right-censored rows only, but 2 of 3 .*first: row 1, \(2, 3\]"
    with pytest.raises(DataError, match=message):
        require_right_censored(data, "DeepHit")
