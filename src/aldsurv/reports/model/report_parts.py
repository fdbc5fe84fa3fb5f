"""The middle of a model's report: which sections it has, in which order, and the numbers that they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.inspection import Importance
from aldsurv.reports.model.at_times.decision_section import decision_section
from aldsurv.reports.model.at_times.risk_group_section import risk_group_section
from aldsurv.reports.model.at_times.risk_groups import RiskGroups, compute_risk_groups
from aldsurv.reports.model.at_times.time_findings import TimeFindings, compute_time_findings
from aldsurv.reports.model.at_times.time_sections import calibration_at_section, discrimination_table
from aldsurv.reports.model.causes.cause_findings import CauseFindings
from aldsurv.reports.model.causes.cause_sections import cause_effect_section, cause_people_section, cause_section
from aldsurv.reports.model.effect_sections import effect_sections
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.individual_sections import people_section
from aldsurv.reports.model.overview_sections import average_section, data_section
from aldsurv.reports.model.partial.partial_sections import (
    partial_average_section,
    partial_calibration_section,
    undefined_section,
)
from aldsurv.reports.model.participants.participant_section import Participants, participant_section
from aldsurv.reports.model.quality.findings import Findings
from aldsurv.reports.model.quality.quality_sections import (
    calibration_section,
    discrimination_section,
    group_section,
    negative_section,
    number_section,
    observed_section,
)
from aldsurv.reports.model.quality.subgroups import Subgroup
from aldsurv.reports.page.page import Section

__all__ = ["FindingsAtTimes", "compute_findings_at_times", "partial_parts", "report_parts"]


@final
@dataclass(frozen=True, eq=False)
class FindingsAtTimes:
    """What was found at the chosen times.

    Attributes
    ----------
    times
        Those at which the predictions are judged.
    findings
        Numbers of each event at each of them; empty where they are not defined.
    risk_groups
        Groups by predicted risk: of the first event, with causes of each; empty where they are not defined.
    """

    times: tuple[float, ...]
    findings: tuple[TimeFindings, ...]
    risk_groups: tuple[RiskGroups, ...]


def compute_findings_at_times(evaluated: EvaluatedModel, times: Sequence[float], horizon: float) -> FindingsAtTimes:
    """Evaluate the predictions at the times, as far as that is defined."""
    chosen = tuple(times)
    if not evaluated.kind.has_times or not chosen:
        return FindingsAtTimes(chosen, (), ())
    findings = compute_time_findings(evaluated, chosen) if evaluated.kind.complete else ()
    by_cause = dict.fromkeys(each.cause for each in findings if each.cause is not None)
    causes: list[str | None] = list(by_cause) or [None]
    groups = (compute_risk_groups(evaluated, chosen, horizon, cause) for cause in causes)
    return FindingsAtTimes(chosen, findings, tuple(each for each in groups if each is not None))


def report_parts(
    evaluated: EvaluatedModel,
    findings: Findings,
    at_times: FindingsAtTimes,
    *,
    participants: Participants,
    causes: Sequence[CauseFindings],
    importance: Importance,
    groups: tuple[Sequence[Subgroup], float],
    people: NDArray[np.intp],
    outcome: SurvivalData,
) -> tuple[Section, ...]:
    """The sections between the cautions and the model.

    Parameters
    ----------
    evaluated, findings, at_times, participants, causes, importance
        What the report is about, and its numbers.
    groups
        Subgroups, and the time at which they are compared.
    people, outcome
        Rows to show as single subjects, and the outcomes of the whole table.
    """
    if not evaluated.kind.complete:
        return partial_parts(
            evaluated, findings, at_times, participants=participants, importance=importance, people=people,
            outcome=outcome,
        )  # fmt: skip
    subgroups, horizon = groups
    tables = [discrimination_table(evaluated, at_times.findings)] if at_times.findings else []
    return (
        participant_section(evaluated, participants),
        data_section(evaluated, findings),
        average_section(evaluated, findings),
        *([cause_section(evaluated, causes)] if causes else []),
        people_section(evaluated, people, outcome),
        *([cause_people_section(evaluated, people, outcome)] if causes else []),
        calibration_section(evaluated, findings),
        calibration_at_section(evaluated, at_times.findings),
        risk_group_section(evaluated, at_times.risk_groups),
        discrimination_section(evaluated, findings, *tables),
        decision_section(evaluated, at_times.findings),
        observed_section(evaluated, findings),
        *effect_sections(evaluated, importance),
        *([cause_effect_section(evaluated, causes, importance)] if causes else []),
        *([group_section(evaluated, subgroups, horizon)] if subgroups else []),
        negative_section(findings),
        number_section(evaluated, findings),
    )


def partial_parts(
    evaluated: EvaluatedModel,
    findings: Findings,
    at_times: FindingsAtTimes,
    *,
    participants: Participants,
    importance: Importance,
    people: NDArray[np.intp],
    outcome: SurvivalData,
) -> tuple[Section, ...]:
    """The same for rows with delayed entry, or known only within bounds: what is not defined says so."""
    causes = evaluated.incidence is not None
    groups = "Groups by predicted risk"
    by_risk = (
        risk_group_section(evaluated, at_times.risk_groups)
        if evaluated.kind.has_times
        else undefined_section("risk_groups", groups, "Observed curves of groups by predicted risk are", evaluated)
    )
    return (
        participant_section(evaluated, participants),
        data_section(evaluated, findings),
        partial_average_section(evaluated, findings),
        *([undefined_section("causes", "Several causes", "Metrics by cause are", evaluated)] if causes else []),
        people_section(evaluated, people, outcome),
        *([cause_people_section(evaluated, people, outcome)] if causes else []),
        partial_calibration_section(evaluated, findings),
        undefined_section(
            "calibration_at",
            "Calibration at chosen times",
            "Slope, observed/expected and smooth calibration curves at single times are",
            evaluated,
        ),
        by_risk,
        undefined_section("discrimination", "Discrimination over time", "AUC, C and Brier score are", evaluated),
        undefined_section("decisions", "Decisions by the predicted risk", "Net benefit is", evaluated),
        undefined_section("observed", "Predicted and observed", "The error of predicted times is", evaluated),
        *effect_sections(evaluated, importance),
        undefined_section("groups", "Subgroups", "Calibration at one time by subgroup is", evaluated),
        negative_section(findings),
        number_section(evaluated, findings),
    )
