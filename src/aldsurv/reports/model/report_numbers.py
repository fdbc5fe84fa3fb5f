"""The numbers of a model's report that JSON has: participants, chosen times and groups by predicted risk."""

from __future__ import annotations

from dataclasses import asdict

from aldsurv.reports.model.at_times.decision_section import helpful_range, shown_places
from aldsurv.reports.model.at_times.risk_groups import RiskGroups
from aldsurv.reports.model.at_times.time_findings import TimeFindings
from aldsurv.reports.model.participants.participant_section import Participants
from aldsurv.reports.model.report_parts import FindingsAtTimes

__all__ = ["participant_numbers", "risk_group_numbers", "scores_at_time", "time_numbers"]


def participant_numbers(participants: Participants) -> dict[str, object]:
    """Outcomes and columns of the training rows and of those evaluated; None where something is not known."""
    train = participants.train
    return {
        "training": None if train is None else {**asdict(train), "causes": dict(train.causes)},
        "test": {**asdict(participants.test), "causes": dict(participants.test.causes)},
        "columns": [asdict(column) for column in participants.columns],
    }


def scores_at_time(each: TimeFindings) -> dict[str, object]:
    """Events by a time, and scores of the predictions for it."""
    return {
        "time": each.time,
        "cause": each.cause,
        "events": each.events,
        "beyond": each.beyond,
        **{name: score.to_dict() for name, score in each.calibration.items()},
        **each.index._asdict(),
        "auc": each.auc.to_dict(),
        "uno_c": each.c.to_dict(),
        "brier": each.brier,
        "brier_reference": each.brier_reference,
    }


def time_numbers(at_times: FindingsAtTimes) -> list[dict[str, object]]:
    """What was found at each time; of each cause, too."""
    return [_at_time(each) for each in at_times.findings]


def risk_group_numbers(at_times: FindingsAtTimes) -> list[dict[str, object]]:
    """Groups by predicted risk; with causes, of each cause."""
    return [_groups(each) for each in at_times.risk_groups]


def _at_time(each: TimeFindings) -> dict[str, object]:
    curve = each.decision
    places, table = shown_places(curve), curve.table()
    return {
        **scores_at_time(each),
        "scaled_brier": each.scaled_brier,
        "best_thresholds": helpful_range(curve),
        "certain_thresholds": helpful_range(curve, certain=True),
        "decision": {name: column[places].tolist() for name, column in table.items()},
    }


def _groups(divided: RiskGroups) -> dict[str, object]:
    return {
        "cause": divided.cause,
        "horizon": divided.horizon,
        "times": list(divided.times),
        "p_value": None if divided.test is None else divided.test.p_value,
        "groups": [
            {
                "group": group.name,
                "rows": group.rows,
                "events": group.events,
                "least_risk": group.low,
                "largest_risk": group.high,
                "predicted": list(group.predicted),
                "observed": [risk._asdict() for risk in group.observed],
            }
            for group in divided.groups
        ],
    }
