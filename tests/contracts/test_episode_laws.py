"""Every registered model and covariates that change: cutting an episode in two changes nothing, or all are refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from models.episodes import cut, drawn
from numpy.testing import assert_allclose, assert_array_equal

import aldsurv
from aldsurv import SurvivalData
from aldsurv.errors import AldsurvError
from contracts.test_models import NAMES, make

TIMES = np.array([0.5, 1.5, 3.0])
# They have no likelihood, or no library, for rows that enter late.
WITHOUT_ENTRY = {"cqrnn", "fine_gray"}


# So few rows and rounds have no skill, and no need of any.
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_ENTRY])
def test_cutting_an_episode_does_not_change_the_fit(name, tmp_path):
    rows = drawn()
    parts = cut(*rows)
    data, split_data = (SurvivalData.episodes(*one[:4]) for one in (rows, parts))
    whole, split = make(name).fit(rows[4], data), make(name).fit(parts[4], split_data)
    new = np.array([[0.3, 0.0], [-1.0, 1.0]])
    assert_array_equal(split.predict_distribution(new).survival(TIMES), whole.predict_distribution(new).survival(TIMES))
    first, second = whole.predict_path(rows[4], *rows[:3]), split.predict_path(parts[4], *parts[:3])
    assert len(first) == len(second) == data.n_persons
    assert_allclose(second.survival(TIMES), first.survival(TIMES), rtol=1e-12, atol=1e-15)
    assert split.score(parts[4], split_data) == pytest.approx(whole.score(rows[4], data))
    assert split.innermost.follow_up_ == whole.innermost.follow_up_
    again = aldsurv.load(whole.save(tmp_path / "model.aldsurv"))
    assert again.innermost.trained_on_.persons == data.n_persons
    assert f"{data.n_persons} persons" in again.innermost.summary()
    assert_array_equal(again.predict_path(rows[4], *rows[:3]).survival(TIMES), first.survival(TIMES))


@pytest.mark.parametrize("name", sorted(WITHOUT_ENTRY))
def test_models_without_delayed_entry_say_so(name):
    rows = drawn(20)
    with pytest.raises(AldsurvError, match=re.compile("entered late|delayed entry")):
        make(name).fit(rows[4], SurvivalData.episodes(*rows[:4]))
