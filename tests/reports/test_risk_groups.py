"""Groups by predicted risk, against lifelines and counts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from inspection.known_causes import KnownCauses, drawn_rows
from lifelines import AalenJohansenFitter, KaplanMeierFitter
from lifelines.statistics import multivariate_logrank_test

from aldsurv import SurvivalData
from aldsurv.plots.group_curve_plot import plot_group_curves
from aldsurv.reports.model.at_times.expected_curve import expected_survival
from aldsurv.reports.model.at_times.risk_group_section import risk_group_section
from aldsurv.reports.model.at_times.risk_groups import compute_risk_groups
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.page_tables import PageTable
from reports.known_model import KnownScale, even_rows
from reports.undrawn import leave_pictures_undrawn

TIMES, HORIZON = (1.0, 3.0), 2.0


def evaluated(*, delayed=False, n=500):
    x, y = even_rows(n)
    rng = np.random.default_rng(3)
    censoring = rng.exponential(8.0, n)
    time, event = np.minimum(y.time, censoring), y.time <= censoring
    entry = np.where(rng.random(n) < 0.5, 0.6 * rng.random(n) * time, 0.0) if delayed else None
    data = SurvivalData.right(time, event, entry=entry)
    return EvaluatedModel.on_rows(KnownScale(), x, data, train=None, unit="years", seed=0)


@pytest.fixture(scope="module", params=[False, True], ids=["from 0 on", "delayed entry"])
def subject(request):
    return evaluated(delayed=request.param)


@pytest.fixture(scope="module")
def divided(subject):
    return compute_risk_groups(subject, TIMES, HORIZON)


def members(subject, divided):
    """Rows of each group by hand: the scale is the only covariate, and the largest scale has the least risk."""
    order = np.argsort(-subject.table.columns[0], kind="stable")
    return np.array_split(order, len(divided.groups))


def test_observed_risks_are_those_of_lifelines(subject, divided):
    data = subject.data
    assert len(divided.groups) == 4
    for group, rows in zip(divided.groups, members(subject, divided), strict=True):
        assert group.rows == len(rows)
        assert group.events == data.event[rows].sum()
        entry = None if data.entry is None else data.entry[rows]
        curve = KaplanMeierFitter().fit(data.time[rows], data.event[rows], entry=entry)
        observed = [risk.observed for risk in group.observed]
        np.testing.assert_allclose(observed, 1 - curve.predict(list(TIMES)).to_numpy(), atol=1e-9)
        assert all(risk.lower < risk.observed < risk.upper for risk in group.observed)
        risk = -np.expm1(-HORIZON / subject.table.columns[0][rows])
        assert (group.low, group.high) == pytest.approx((risk.min(), risk.max()))
    assert all(low.high <= high.low for low, high in zip(divided.groups, divided.groups[1:], strict=False))


def test_the_test_is_the_log_rank_test():
    subject = evaluated()
    divided = compute_risk_groups(subject, TIMES, HORIZON)
    label = np.empty(len(subject.data))
    for place, rows in enumerate(members(subject, divided)):
        label[rows] = place
    expected = multivariate_logrank_test(subject.data.time, label, subject.data.event)
    assert divided.test.statistic == pytest.approx(expected.test_statistic, rel=1e-6)


def test_numbers_at_risk_are_counts_by_hand(subject, divided):
    data = subject.data
    entry = np.full(len(data), -1.0) if data.entry is None else np.where(data.entry > 0, data.entry, -1.0)
    ax = plot_group_curves([group.curve for group in divided.groups], unit="years")
    ax.figure.canvas.draw()
    shown = [[label.get_text() for label in child.get_xticklabels()] for child in ax.child_axes]
    ticks = [tick for tick in ax.get_xticks() if ax.get_xlim()[0] <= tick <= ax.get_xlim()[1]]
    for texts, rows in zip(shown, members(subject, divided), strict=True):
        by_hand = [int(((entry[rows] < tick) & (data.time[rows] >= tick)).sum()) for tick in ticks]
        assert [int(text) for text in texts] == by_hand


def test_the_expected_curve_is_the_mean_prediction_or_that_of_those_under_observation(subject):
    times = np.array([0.5, 2.0])
    expected = expected_survival(subject.predicted, subject.data, times)
    scale, data = subject.table.columns[0], subject.data
    if data.entry is None:
        np.testing.assert_allclose(expected, np.exp(-times[:, None] / scale).mean(axis=1), atol=1e-12)
        return
    # Constant hazards: the mean over those under observation, summed over a fine grid.
    grid = np.linspace(0, 2.0, 20001)
    middle = (grid[1:] + grid[:-1]) / 2
    hazard = np.empty(middle.size)
    for part in np.array_split(np.arange(middle.size), 50):
        here = (data.entry[:, None] < middle[part]) & (data.time[:, None] >= middle[part])
        hazard[part] = (here / scale[:, None]).sum(axis=0) / here.sum(axis=0)
    cumulative = np.append(0.0, np.cumsum(hazard * np.diff(grid)))
    np.testing.assert_allclose(expected, np.exp(-np.interp(times, grid, cumulative)), atol=1e-3)


def test_the_table_has_every_group_at_every_time(divided, subject, monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    section = risk_group_section(subject, [divided])
    (table,) = (block for block in section.blocks if isinstance(block, PageTable))
    assert [(row[0].value, row[1].text) for row in table.cells] == [
        (time, name) for time in TIMES for name in ("lowest", "second", "third", "highest")
    ]
    assert "Log-rank test of the 4 curves: p below 0.001." in section.blocks[0].text


def test_equal_predictions_make_no_groups():
    x, y = even_rows(60)
    subject = EvaluatedModel.on_rows(KnownScale(power=0.0), x, y, train=None, unit=None, seed=0)
    assert compute_risk_groups(subject, TIMES, HORIZON) is None
    assert "no time at which subjects differ enough" in risk_group_section(subject, []).blocks[0].text


def test_groups_of_a_cause_have_its_incidence():
    x, y = drawn_rows(400)
    subject = EvaluatedModel.on_rows(KnownCauses(), x, y, train=None, unit=None, seed=0)
    divided = compute_risk_groups(subject, (4.0,), 4.0, "death")
    risk = KnownCauses().predict_incidence(x).incidence(4.0, "death").reshape(-1)
    for group in divided.groups:
        # The same probability from another call may differ in its last digits.
        rows = (risk >= group.low - 1e-9) & (risk <= group.high + 1e-9)
        assert rows.sum() == group.rows
        assert group.predicted[0] == pytest.approx(risk[rows].mean())
        fitted = AalenJohansenFitter(calculate_variance=False, jitter_level=0.0).fit(
            y.time[rows], y.cause[rows], event_of_interest=2
        )
        assert group.observed[0].observed == pytest.approx(fitted.predict(4.0), abs=1e-6)
    assert divided.test is not None
