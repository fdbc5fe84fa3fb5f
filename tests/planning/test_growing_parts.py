from __future__ import annotations

import json
import math

import numpy as np
import pytest

from aldsurv import SurvivalData, WeibullAFT, metrics
from aldsurv.errors import DataError, ParameterError
from aldsurv.planning import LearningCell, LearningCurve, learning_curve
from aldsurv.planning.curve_record import curve_fingerprint, read_cells, write_cells
from aldsurv.planning.growing_parts import CURVE_METRICS, curve_sizes


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, SurvivalData]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    time, end = rng.weibull(1.5, 400) * np.exp(x[:, 0]), rng.uniform(0.2, 6, 400)
    return x, SurvivalData.right(np.minimum(time, end), time <= end)


@pytest.fixture(scope="module")
def curve(rows) -> LearningCurve:
    return learning_curve(WeibullAFT(), *rows, sizes=[30, 60, 100, 180, 300], repeats=4)


def test_more_rows_predict_better(curve):
    for name in CURVE_METRICS:
        points = curve.points(name)
        score = [metrics_score(name, point.value) for point in points]
        assert [point.rows for point in points] == [30, 60, 100, 180, 300]
        assert score[-1] > score[0]
    assert curve.metrics == CURVE_METRICS


def metrics_score(name: str, value: float) -> float:
    return -value if name == "ibs" else value


def test_the_largest_part_is_a_fit_to_all_rows_not_held_out(rows, curve):
    x, y = rows
    seen = []

    class Spy(WeibullAFT):
        def fit(self, X, y=None, **more):
            seen.append((np.asarray(X), y))
            return super().fit(X, y, **more)

    learning_curve(Spy(), x, y, sizes=[40, 300], repeats=1)
    (large, large_y), (small, _) = seen
    assert (len(large), len(small)) == (300, 40)
    # Nested, and the rest is held out: the same scores by hand.
    assert {tuple(row) for row in small} <= {tuple(row) for row in large}
    kept = {tuple(row) for row in large}
    test = np.array([tuple(row) not in kept for row in x])
    model = WeibullAFT().fit(large, large_y)
    by_hand = metrics.integrated_brier_score(model.predict_distribution(x[test]), y[test], train=large_y)
    cell = next(cell for cell in curve.cells if cell.repeat == 0 and cell.rows == 300)
    assert cell.scores["ibs"] == pytest.approx(by_hand)
    assert cell.events == large_y.n_events


def test_is_the_same_again_and_goes_on_from_what_is_done(rows, curve):
    calls: list[LearningCell] = []
    known = [cell for cell in curve.cells if cell.repeat < 3]
    again = learning_curve(
        WeibullAFT(), *rows, sizes=[30, 60, 100, 180, 300], repeats=4, done=known, on_cell=calls.append
    )
    assert again == curve
    assert {cell.repeat for cell in calls} == {3}
    assert [cell.rows for cell in calls] == [300, 180, 100, 60, 30]


def test_points_are_means_with_their_errors(curve):
    values = [cell.scores["harrell_c"] for cell in curve.cells if cell.rows == 60]
    point = curve.points("harrell_c")[1]
    assert point.value == pytest.approx(np.mean(values))
    assert point.standard_error == pytest.approx(np.std(values, ddof=1) / 2)


def test_extrapolation_goes_four_times_as_far_at_most(curve):
    for name in CURVE_METRICS:
        ahead = curve.extrapolation(name)
        assert [one.rows for one in ahead] == [600, 1200]
        sign = -1 if name == "ibs" else 1
        for one in ahead:
            assert one.lower <= one.change <= one.upper
            assert sign * one.change >= 0
            assert one.value == pytest.approx(curve.points(name)[-1].value + one.change)
        difference, error = curve.missed(name)
        assert math.isfinite(difference)
        assert error > 0


def test_says_nothing_from_too_little(rows):
    few = learning_curve(WeibullAFT(), *rows, sizes=[50, 100], repeats=1)
    assert few.extrapolation("ibs") == []
    assert few.missed("ibs") is None
    assert math.isnan(few.points("ibs")[0].standard_error)


def test_rows_of_one_group_stay_together(rows):
    x, y = rows
    group = np.repeat(np.arange(100), 4)
    seen = []

    class Spy(WeibullAFT):
        def fit(self, X, y=None, **more):
            seen.append(y)
            return super().fit(X, y, **more)

    learning_curve(Spy(), x, y.with_group(group), sizes=[50, 150], repeats=2)
    for data in seen:
        assert (np.unique(data.group, return_counts=True)[1] == 4).all()
    assert len(seen[1]) == 52


def test_a_part_too_small_to_fit_has_no_score(rows):
    class Picky(WeibullAFT):
        def fit(self, X, y=None, **more):
            if len(X) < 50:
                raise DataError("too few")
            return super().fit(X, y, **more)

    curve = learning_curve(Picky(), *rows, sizes=[40, 80, 160], repeats=2)
    assert [point.rows for point in curve.points("ibs")] == [80, 160]
    with pytest.raises(DataError, match="too few"):
        learning_curve(Picky(), *rows, sizes=[40], repeats=1)


def test_delayed_entry_has_a_likelihood_only(rows):
    x, y = rows
    late = SurvivalData.right(y.time + 0.1, y.event, entry=np.full(400, 0.05))
    curve = learning_curve(WeibullAFT(), x, late, sizes=[60, 200], repeats=1)
    assert curve.metrics == ("bounded_log_likelihood",)


def test_sizes_begin_at_twenty_events(rows):
    _, y = rows
    sizes = curve_sizes(y, 0.25)
    assert sizes[-1] == 300
    assert len(sizes) == 6
    assert sizes[0] == max(30, math.ceil(20 * 400 / y.n_events))
    assert np.ptp(np.diff(np.log(sizes))) < 0.05
    assert curve_sizes(y[:20], 0.25) == (15,)


def test_refuses_what_cannot_be(rows):
    with pytest.raises(ParameterError, match="sizes must be a whole number from 2 to 300, but is 301"):
        learning_curve(WeibullAFT(), *rows, sizes=[301])
    with pytest.raises(ParameterError, match="sizes must be one number of rows or more"):
        learning_curve(WeibullAFT(), *rows, sizes=[])
    with pytest.raises(ParameterError, match="repeats must be a whole number from 1"):
        learning_curve(WeibullAFT(), *rows, repeats=0)
    with pytest.raises(ParameterError, match="estimator must be one of aldsurv's"):
        learning_curve("cox", *rows)


def test_a_record_gives_back_the_cells(rows, tmp_path):
    x, y = rows
    cells = [LearningCell(0, 30, 20, {"ibs": 0.2, "harrell_c": math.nan}), LearningCell(1, 60, 41, {"ibs": 0.1})]
    path = tmp_path / "curve.json"
    assert read_cells(path, "a") == []
    write_cells(path, "a", cells)
    json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    first, second = read_cells(path, "a")
    assert second == cells[1]
    assert math.isnan(first.scores["harrell_c"])
    with pytest.raises(DataError, match="is of another table, model or seed"):
        read_cells(path, "b")
    for text in ("", "[]", '{"kind": 1}', '{"kind": "aldsurv learning curve", "cells": [1]}', "é"):
        path.write_text(text, encoding="latin-1")
        with pytest.raises(DataError, match="is not a learning curve"):
            read_cells(path, "a")
    names = {
        curve_fingerprint(model, x, y[order], held_out=share, random_state=seed)
        for model, order, share, seed in [
            (WeibullAFT(), slice(None), 0.25, 0),
            (WeibullAFT(ridge=1.0), slice(None), 0.25, 0),
            (WeibullAFT(), slice(None, None, -1), 0.25, 0),
            (WeibullAFT(), slice(None), 0.3, 0),
            (WeibullAFT(), slice(None), 0.25, 1),
        ]
    }
    assert len(names) == 5
