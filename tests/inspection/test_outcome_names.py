"""Names of outcomes are told from those of covariates by whole words."""

from __future__ import annotations

import pytest

from aldsurv.inspection.outcome_names import is_outcome_name, name_words

OUTCOMES = (
    "death_date dateOfDeath DOD followup_end follow_up_days last_seen lastContact relapse Relapse.Date status STATUS "
    "surv_time os_months OS.time PFS_STATUS pfsMonths cause_of_death vital_status time event event_time died dead "
    "censored days_to_death age_at_death survival_months churn_date recurrence2 discharge_date end_date fu_time "
    "Todesdatum Rezidiv date_deces fecha_muerte ultimo_contacto futime"
)
COVARIATES = (
    "age sex marital_status smoking_status er_status performance.status heart_failure prior_relapse family_death "
    "history_of_recurrence time_since_last_relapse recurrence_score mortality_risk start_date birth_date visit_time "
    "hospital survey deathly_hallows eventing osmolality os diagnosis_date last_year_income updates timer stage "
    "treatment_duration months_on_drug income nodes pgr x1 metastasis"
)


@pytest.mark.parametrize("name", OUTCOMES.split())
def test_outcomes(name):
    assert is_outcome_name(name)


@pytest.mark.parametrize("name", COVARIATES.split())
def test_covariates(name):
    assert not is_outcome_name(name)


@pytest.mark.parametrize("name", ["Décès", "date de décès", "Überleben", "defunción", "DÉCÉDÉ"])
def test_accents_and_capitals_do_not_matter(name):
    assert is_outcome_name(name)


def test_any_text_has_words():
    assert name_words("") == ()
    assert name_words("OS_months2") == ("os", "months", "2")
    assert name_words("\x00日本 lastSeenAt") == ("last", "seen", "at")
    assert not is_outcome_name("日本")
    assert len(name_words("a " * 10_000)) == 100
