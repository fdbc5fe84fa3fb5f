"""Sample sizes of published worked examples, to the person, and laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv.errors import ParameterError
from aldsurv.planning import development_sample_size
from aldsurv.planning.cox_snell import adjusted_cox_snell, c_from_d, cox_snell_from_d, d_from_c, largest_cox_snell

# Parameters, R² of Cox and Snell, rate, horizon, mean follow-up; people by the first and the second criterion, events
# per parameter. The tests of pmsampsize (CRAN) for survival; the first is the example of recurrent thromboembolism of
# Riley et al. (2019).
CRAN = [
    ((25, 0.051, 0.065, 2, 2.07), (4286, 866), 23.07),
    ((25, 0.065, 0.065, 2, 2.07), (3335, 859), 17.95),
    ((50, 0.051, 0.065, 2, 2.07), (8572, 1731), 23.07),
    ((25, 0.051, 0.1, 2, 2.07), (4286, 731), 35.49),
    ((25, 0.051, 0.065, 4, 2.07), (4286, 866), 23.07),
    ((25, 0.051, 0.065, 2, 4), (4286, 679), 44.57),
    ((40, 0.06, 0.08, 3, 5), (5798, 969), 57.98),
    ((10, 0.03, 0.09, 3, 3), (2950, 272), 79.65),
    ((80, 0.3, 0.03, 1, 5), (1974, 2272), 4.26),
]


def size_of(parameters, r2, rate, horizon, follow_up, **more):
    return development_sample_size(parameters, cox_snell=r2, rate=rate, horizon=horizon, follow_up=follow_up, **more)


@pytest.mark.parametrize(("inputs", "rows", "per_parameter"), CRAN)
def test_equals_pmsampsize_to_the_person(inputs, rows, per_parameter):
    size = size_of(*inputs)
    assert tuple(criterion.rows for criterion in size.criteria[:2]) == rows
    assert size.rows == max(rows)
    assert round(size.facts["events_per_parameter"], 2) == per_parameter
    assert size.events == pytest.approx(size.rows * inputs[2] * inputs[4])


def test_equals_what_pmsampsize_prints(frozen_sizes):
    for expected in [frozen_sizes["manual"], *frozen_sizes["drawn"]]:
        names = ("parameters", "cox_snell", "rate", "horizon", "follow_up")
        size = size_of(*(expected[name] for name in names), shrinkage=expected["shrinkage"])
        assert [criterion.rows for criterion in size.criteria[:2]] == expected["rows"]
        facts = size.facts
        assert facts["largest_cox_snell"] == pytest.approx(expected["largest"], abs=1e-6)
        assert facts["nagelkerke"] == pytest.approx(expected["nagelkerke"], abs=1e-6)
        # Its third criterion asks for no number of people; where ours does not decide, all else is the same.
        if size.deciding.name != "overall risk":
            assert size.rows == expected["final"]
            assert math.ceil(size.events) == expected["events"]
            assert facts["events_per_parameter"] == pytest.approx(expected["per_parameter"], abs=0.0051)
            limits = facts["overall_risk_lower"], facts["overall_risk"], facts["overall_risk_upper"]
            assert limits == pytest.approx(expected["risk"], abs=0.0006)


def test_the_example_of_the_manual(frozen_sizes):
    size = size_of(30, 0.051, 0.065, 2, 2.07)
    assert (size.rows, size.deciding.name, math.ceil(size.events)) == (5143, "shrinkage", 692)
    assert frozen_sizes["manual"]["final"] == 5143


def test_equals_what_others_computed():
    # Colon cancer, risks by 72 months: what pmsampsize printed, in the code of an analysis.
    size = size_of(23, 0.08543513, 0.01090496, 72, 68)
    assert size.rows == 2306
    assert round(size.facts["events_per_parameter"], 2) == 74.35


def test_r2_from_a_published_concordance():
    # A concordance of 0.76 with 637 events of 662 people and 15 parameters: in the code of an analysis.
    apparent = cox_snell_from_d(d_from_c(0.76), 637 / 662)
    # The factor that was used there.
    assert round(apparent * (1 + 15 / 662 * math.log(1 - apparent)), 4) == 0.4837
    # Shrinkage is one less parameters over the likelihood ratio -n·ln(1 - R²).
    ratio = -662 * math.log(1 - apparent)
    assert adjusted_cox_snell(apparent, 15, 662) == pytest.approx(apparent * (1 - 15 / ratio))


def test_measures_lead_to_the_same_size():
    rate, follow_up = 0.065, 2.07
    r2 = cox_snell_from_d(d_from_c(0.7), rate * follow_up)
    settings = {"rate": rate, "follow_up": follow_up, "horizon": 2.0}
    sizes = [
        development_sample_size(20, cox_snell=r2, **settings),
        development_sample_size(20, c_index=0.7, **settings),
        development_sample_size(20, d_statistic=d_from_c(0.7), **settings),
        development_sample_size(20, nagelkerke=r2 / largest_cox_snell(0.1346), **settings),
    ]
    assert len({size.rows for size in sizes}) == 1
    assert c_from_d(d_from_c(0.7)) == pytest.approx(0.7, abs=1e-12)


@given(st.integers(1, 60), st.floats(0.01, 0.3), st.floats(0.02, 0.5), st.floats(0.5, 1.9), st.floats(0.5, 0.95))
def test_more_parameters_and_less_shrinkage_need_more_people(parameters, nagelkerke, rate, follow_up, shrinkage):
    settings = {"rate": rate, "follow_up": follow_up, "horizon": 1.0, "nagelkerke": nagelkerke}
    size = development_sample_size(parameters, shrinkage=shrinkage, **settings)
    more = development_sample_size(parameters + 1, shrinkage=shrinkage, **settings)
    assert all(a.rows <= b.rows for a, b in zip(size.criteria, more.criteria, strict=True))
    stricter = development_sample_size(parameters, shrinkage=shrinkage + 0.04, **settings)
    assert size.criterion("shrinkage").rows <= stricter.criterion("shrinkage").rows
    closer = development_sample_size(parameters, optimism=0.04, margin=0.04, **settings)
    assert size.criterion("optimism").rows <= closer.criterion("optimism").rows
    assert size.criterion("overall risk").rows <= closer.criterion("overall risk").rows
    # The size is enough, and one person fewer is not.
    n, r2 = size.criterion("shrinkage").rows, size.facts["cox_snell"]
    for rows, enough in ((n, True), (n - 1, False)):
        expected = parameters / ((shrinkage - 1) * math.log(1 - r2 / shrinkage))
        assert (rows >= expected - 1e-9) is enough or n == 1


@given(st.floats(0.01, 0.4), st.floats(1.05, 2), st.floats(0.05, 0.3))
def test_more_events_need_fewer_people(rate, factor, nagelkerke):
    settings = {"follow_up": 1.0, "horizon": 1.0, "nagelkerke": nagelkerke}
    size, frequent = (development_sample_size(20, rate=r, **settings) for r in (rate, rate * factor))
    assert frequent.criterion("shrinkage").rows <= size.criterion("shrinkage").rows
    better = development_sample_size(20, rate=rate, **{**settings, "nagelkerke": nagelkerke * 1.1})
    assert better.criterion("shrinkage").rows <= size.criterion("shrinkage").rows


@given(st.floats(0.05, 2), st.floats(0.05, 1), st.floats(0.2, 3), st.floats(0.02, 0.2))
def test_the_overall_risk_is_within_the_margin_and_no_person_too_many(rate, events, horizon, margin):
    follow_up = 0.999 * events / rate
    settings = {"rate": rate, "follow_up": follow_up, "horizon": horizon, "nagelkerke": 0.2, "margin": margin}
    n = development_sample_size(1, **settings).criterion("overall risk").rows
    risk = 1 - math.exp(-rate * horizon)

    def reach(rows: int) -> float:
        error = 1.96 * math.sqrt(rate / (rows * follow_up))
        return max(abs(1 - math.exp(-(rate + sign * error) * horizon) - risk) for sign in (-1, 1))

    assert reach(n) <= margin * (1 + 1e-9)
    assert n == 1 or reach(n - 1) >= margin * (1 - 1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": 0}, "parameters must be a whole number from 1 on, but is 0"),
        ({"rate": 0.0}, "rate must be a number above 0"),
        ({"rate": 0.5}, "rate times follow_up is the number of events per person, at most 1, but is 1.035"),
        ({"cox_snell": None, "c_index": 0.5 + 1e-9}, "more than 1e[+]12 people would be needed"),
        ({"shrinkage": 1.0}, "shrinkage must be a number between 0 and 1"),
        ({"c_index": 0.7}, "one of cox_snell, nagelkerke, c_index and d_statistic is needed, but cox_snell, c_index"),
        ({"cox_snell": None}, "but none was given"),
        ({"cox_snell": 0.56}, "cox_snell must be below the largest possible with these events, 0.55"),
        ({"cox_snell": 0.4, "shrinkage": 0.3}, "shrinkage must be above the R² of Cox and Snell, 0.4"),
        ({"cox_snell": 0.55, "optimism": 0.95}, "optimism must be below"),
    ],
)
def test_refuses_what_cannot_be(change, message):
    settings = {"parameters": 25, "rate": 0.065, "follow_up": 2.07, "horizon": 2.0, "cox_snell": 0.051} | change
    with pytest.raises(ParameterError, match=message):
        development_sample_size(settings.pop("parameters"), **settings)


def test_an_r2_that_chance_gives_is_refused():
    with pytest.raises(ParameterError, match="no more than chance gives"):
        adjusted_cox_snell(0.01, 30, 1000)
