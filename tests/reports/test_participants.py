"""The table of participants, against pandas and lifelines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from lifelines import KaplanMeierFitter

from aldsurv import SurvivalData
from aldsurv.models import WeibullAFT
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.participants.outcome_summary import OutcomeSummary, median_follow_up
from aldsurv.reports.model.participants.participant_section import compute_participants, participant_section
from reports.known_model import KnownScale, even_rows


def made_up(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(60 + seed, 10, n),
            "grade": rng.choice(np.array(["I", "II", "III"], object), n),
            "flag": rng.integers(0, 2, n).astype(float),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    event = np.exp(3 - 0.03 * (frame["age"].fillna(60) - 60)) * rng.weibull(1.5, n)
    censoring = rng.uniform(2, 40, n)
    return frame, SurvivalData.right(np.minimum(event, censoring), event <= censoring)


@pytest.fixture(scope="module")
def tables():
    return made_up(300, 1), made_up(200, 4)


@pytest.fixture(scope="module")
def subject(tables):
    (x, y), (other, outcome) = tables
    return EvaluatedModel.on_rows(WeibullAFT().fit(x, y), other, outcome, train=y, unit="months", seed=0)


def cells(section):
    table = section.blocks[1]
    return {row[0].text: row for row in table.cells}


def test_columns_are_those_of_pandas(subject, tables):
    (x, y), (other, outcome) = tables
    people = compute_participants(subject, outcome, y, x)
    by_name = {column.name: column for column in people.columns}
    age = by_name["age"]
    for spread, frame in ((age.train, x), (age.test, other)):
        assert [spread.lower, spread.median, spread.upper] == pytest.approx(frame["age"].quantile([0.25, 0.5, 0.75]))
    assert (age.train_missing, age.test_missing) == (x["age"].isna().sum(), other["age"].isna().sum())
    pooled = np.sqrt((x["age"].var() + other["age"].var()) / 2)
    assert age.difference == pytest.approx((other["age"].mean() - x["age"].mean()) / pooled)
    assert age.difference > 0.2
    shares = [frame["grade"].value_counts(normalize=True) for frame in (x, other)]
    for level in by_name["grade"].levels:
        p, q = (share[level.level] for share in shares)
        assert (level.train, level.test) == ((x["grade"] == level.level).sum(), (other["grade"] == level.level).sum())
        assert level.difference == pytest.approx((q - p) / np.sqrt((p * (1 - p) + q * (1 - q)) / 2))
    section = participant_section(subject, people)
    shown = cells(section)
    low, middle, high = (f"{value:.4g}" for value in other["age"].quantile([0.25, 0.5, 0.75]))
    assert shown["age"][2].text == f"{middle} ({low} to {high})"
    assert shown["flag = 1"][1].text == f"{(x['flag'] == 1).sum()} ({100 * (x['flag'] == 1).mean():.0f} %)"
    assert "They differ by 0.2 standard deviations or more in age" in section.blocks[0].text


def test_levels_that_differ_are_named(subject, tables):
    (x, y), (_, outcome) = tables
    x = x.assign(flag=np.where(np.arange(len(x)) % 10 == 0, 1 - x["flag"].to_numpy(), 1))
    people = compute_participants(subject, outcome, y, x)
    flag = next(column for column in people.columns if column.name == "flag")
    assert max(abs(level.difference) for level in flag.levels) > 0.2
    assert "flag" in participant_section(subject, people).blocks[0].text


def test_outcomes_are_counted_and_follow_up_is_the_reverse_kaplan_meier(subject, tables):
    (x, y), (_, outcome) = tables
    people = compute_participants(subject, outcome, y, x)
    for summary, data in ((people.train, y), (people.test, outcome)):
        assert (summary.rows, summary.events) == (len(data), data.event.sum())
        assert summary.censored == len(data) - data.event.sum()
        reverse = KaplanMeierFitter().fit(data.time, ~data.event)
        assert summary.follow_up == pytest.approx(reverse.median_survival_time_)
        assert (summary.first, summary.last) == (data.time.min(), data.time.max())
    shown = cells(participant_section(subject, people))
    assert shown["Rows"][1].text == "300"
    assert shown["Events"][2].text.startswith(f"{outcome.event.sum()} (")
    assert np.isnan(median_follow_up(SurvivalData.right([1, 2, 3], [True, True, True])))


def test_what_is_not_known_of_training_rows_is_said(subject, tables):
    (_, y), (_, outcome) = tables
    section = participant_section(subject, compute_participants(subject, outcome, y, None))
    assert "Only the outcome of the training rows was given" in section.blocks[0].text
    shown = cells(section)
    assert "range" in shown["age"][1].text
    assert shown["grade = I"][1].text == "not known"
    section = participant_section(subject, compute_participants(subject, outcome, None, None))
    assert "shown is what the model has kept" in section.blocks[0].text
    shown = cells(section)
    assert (shown["Rows"][1].text, shown["Censored"][1].text) == ("300", "not known")
    x, rows = even_rows(60)
    bare = EvaluatedModel.on_rows(KnownScale(), x, rows, train=None, unit=None, seed=0)
    section = participant_section(bare, compute_participants(bare, rows, None, None))
    assert "no record of its training rows" in section.blocks[0].text
    assert cells(section)["Rows"][1].text == "not known"


def test_other_kinds_of_rows_are_counted():
    bounds = OutcomeSummary.of(SurvivalData.interval([0, 1, 2, 4], [3, 1, 5, np.inf]))
    assert (bounds.events, bounds.bounded, bounds.censored, bounds.follow_up) == (1, 2, 1, None)
    late = OutcomeSummary.of(SurvivalData.right([3, 4, 5], [1, 0, 1], entry=[0, 1, 2]))
    assert (late.delayed, late.events) == (2, 2)
    causes = OutcomeSummary.of(SurvivalData.competing([1, 2, 3], [1, 2, 0], names=["a", "b"]))
    assert dict(causes.causes) == {"a": 1, "b": 1}
    episodes = SurvivalData.episodes([1, 1, 2], [0, 2, 0], [2, 5, 4], [0, 1, 0])
    of_persons = OutcomeSummary.of(episodes)
    assert (of_persons.rows, of_persons.episodes, of_persons.events) == (2, 3, 1)
