"""Episodes of persons: how they are read, what is refused, and one row per person."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aldsurv import SurvivalData
from aldsurv.data.follow_up import end_of_follow_up
from aldsurv.errors import AldsurvError, DataError, ParameterError
from aldsurv.nonparametric import kaplan_meier
from aldsurv.nonparametric.censoring_weights import censoring_distribution

ID = np.array(["ann", "bob", "ann", "cid", "ann", "bob"])
START = np.array([4.0, 0.0, 0.0, 2.0, 6.0, 3.0])
STOP = np.array([6.0, 3.0, 4.0, 9.0, 7.0, 5.0])
EVENT = np.array([0, 0, 0, 0, 1, 0])


def six(**more) -> SurvivalData:
    return SurvivalData.episodes(ID, START, STOP, EVENT, **more)


def test_rows_enter_at_their_start_and_are_groups():
    data = six()
    assert_array_equal(data.time, STOP)
    assert_array_equal(data.event, EVENT == 1)
    assert_array_equal(data.entry, [4, -np.inf, -np.inf, 2, 6, 3])
    assert_array_equal(data.person, data.group)
    assert data.n_persons == data.n_groups == 3
    assert str(data) == "n=6, 3 persons, 1 event (33 %), time 3–9, entry 2–6"


def test_persons_have_the_first_start_and_the_last_end():
    persons = six(weight=[1, 2, 1, 3, 1, 2]).persons()
    # In the order of their first rows: ann, bob, cid.
    assert_array_equal(persons.time, [7, 5, 9])
    assert_array_equal(persons.event, [True, False, False])
    assert_array_equal(persons.entry, [-np.inf, -np.inf, 2])
    assert_array_equal(persons.weights, [1, 2, 3])
    assert persons.person is None
    assert persons.group is None
    assert persons.persons() is persons


def test_one_episode_each_from_the_start_is_ordinary_data():
    data = SurvivalData.episodes([3, 1], [0, 0], [5, 2], [1, 0])
    assert data.entry is None
    assert_array_equal(data.persons().upper, SurvivalData.right([5, 2], [1, 0]).upper)


def test_from_a_frame_with_causes():
    frame = {"who": ID, "from": START, "to": STOP, "what": [None, None, None, "relapse", "death", None]}
    data = SurvivalData.from_frame(frame, id="who", start="from", stop="to", cause="what")
    assert data.causes == ("death", "relapse")
    assert_array_equal(data.persons().cause, [1, 0, 2])
    assert_array_equal(data.of_cause("relapse").persons().event, [False, False, True])
    assert data.of_cause("relapse").n_persons == 3


def test_episodes_go_through_everything_that_makes_rows_of_rows():
    data = six()
    for same in (copy.deepcopy(data), data[:], data.scaled(2.0), data.with_weight(None)):
        assert_array_equal(same.person, data.person)
    both = SurvivalData.concatenate([data[:2], data[2:]])
    assert_array_equal(both.persons().time, data.persons().time)
    assert_array_equal(data[[0, 2]].persons().time, [6])
    with pytest.raises(ParameterError, match="all of episodes or none"):
        SurvivalData.concatenate([data, data.persons()])
    with pytest.raises(DataError, match="two episodes at once"):
        data[[0, 0]].persons()


def test_a_group_holds_whole_persons():
    data = six()
    hospital = data.with_group(["x", "y", "x", "y", "x", "y"])
    assert hospital.n_groups == 2
    assert hospital.persons().n_groups == 2
    assert str(hospital).endswith("2 groups")
    assert_array_equal(hospital.with_group(None).group, data.person)
    with pytest.raises(DataError, match="all episodes of a person"):
        data.with_group([1, 2, 3, 4, 5, 6])


def test_a_split_keeps_persons_together():
    who = np.repeat(np.arange(30), 3)
    start, stop = np.tile([0, 1, 2], 30), np.tile([1, 2, 3], 30)
    data = SurvivalData.episodes(who, start, stop, np.arange(90) % 6 == 5)
    train, test = data.split(0.3, random_state=0)
    assert not set(train.person.tolist()) & set(test.person.tolist())
    assert test.n_persons == 9


def test_at_a_landmark_are_those_at_risk_in_their_episode_then():
    rows, later = six().landmark(3.5)
    # ann's first episode, bob's second, cid's only one.
    assert_array_equal(rows, [2, 5, 3])
    assert_array_equal(later.time, [3.5, 1.5, 5.5])
    assert_array_equal(later.event, [True, False, False])
    assert later.entry is None
    with pytest.raises(ParameterError, match="none"):
        six().landmark(9)
    with pytest.raises(ParameterError, match="not episodes"):
        SurvivalData.right([1], [1]).landmark(0.5)


def test_persons_count_in_follow_up_and_censoring():
    data = six()
    assert end_of_follow_up(data) == end_of_follow_up(data.persons())
    assert_array_equal(censoring_distribution(data).survival, censoring_distribution(data.persons()).survival)


def test_kaplan_meier_of_episodes_is_that_of_persons():
    data = six()
    times = [3.0, 5.0, 7.0, 8.0]
    assert_array_equal(kaplan_meier(data).survival_at(times), kaplan_meier(data.persons()).survival_at(times))


BAD = {
    "stop at start": ([1, 1], [0, 3], [3, 3], [0, 1], "stop must be after start", "id 1", 1),
    "overlap": (["a", "a"], [0, 2], [3, 5], [0, 1], "must not be before the stop", r"id 'a' has \(0, 3\]", 1),
    "the same row twice": (["a", "a"], [0, 0], [3, 3], [0, 0], "must not be before the stop", "id 'a'", 1),
    "gap": (["a", "b", "a"], [0, 0, 4], [3, 9, 5], [0, 1, 1], "must be the stop", r"\(0, 3\] and \(4, 5\]", 2),
    "event too early": (["a", "a"], [3, 0], [5, 3], [0, 1], "in the last episode", "id 'a' at 3", 1),
    "no id": ([None, "a"], [0, 0], [3, 5], [0, 1], "id must be known in every row", "None", 0),
    "before time 0": ([1], [-1], [3], [1], "start must be finite and not negative", "id 1", 0),
    "no end": ([1], [0], [np.inf], [1], "stop must be finite", "inf", 0),
    "a missing start": ([1], [np.nan], [3], [1], "start must be finite", "nan", 0),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_episodes_are_named_by_person_and_row(case):
    *columns, problem, place, row = BAD[case]
    with pytest.raises(AldsurvError, match=place) as caught:
        SurvivalData.episodes(*columns)
    assert problem in str(caught.value)
    assert caught.value.row == row
    assert "\n" not in str(caught.value)


def test_ends_that_differ_by_rounding_are_one():
    start = 0.2 * np.arange(20)
    stop = start + 0.2
    assert (start[1:] != stop[:-1]).any()
    data = SurvivalData.episodes(np.ones(20), start, stop, np.arange(20) == 19)
    assert_array_equal(data.entry[1:], stop[:-1])


def test_gaps_can_be_allowed():
    data = SurvivalData.episodes([1, 1], [0, 4], [3, 6], [0, 1], gaps="allow")
    assert_array_equal(data.persons().time, [6])
    with pytest.raises(ParameterError, match="gaps"):
        SurvivalData.episodes([1], [0], [3], [1], gaps="yes")


def test_bad_arguments():
    with pytest.raises(ParameterError, match="either event or cause"):
        SurvivalData.episodes([1], [0], [3])
    with pytest.raises(ParameterError, match="either event or cause"):
        SurvivalData.episodes([1], [0], [3], [1], cause=[1])
    frame = {"id": [1], "a": [0.0], "b": [2.0], "e": [1]}
    with pytest.raises(ParameterError, match="stop is missing"):
        SurvivalData.from_frame(frame, id="id", start="a", event="e")
    with pytest.raises(ParameterError, match="time cannot be combined"):
        SurvivalData.from_frame(frame, id="id", start="a", stop="b", time="b", event="e")
    with pytest.raises(ParameterError, match="episodes"):
        SurvivalData([1.0], [1.0], person=np.array([1]))
    with pytest.raises(DataError, match="but start has 2"):
        SurvivalData.episodes([1], [0, 1], [3], [1])


def test_a_person_may_be_called_minus_one():
    data = SurvivalData.episodes([-1, -1, 2], [0, 1, 0], [1, 2, 3], [0, 1, 0])
    assert data.n_persons == 2
