"""A model card as a document for programs: the schema is described in ``docs/card.md``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import aldsurv
from aldsurv.export.card.card_evaluation import CardEvaluation
from aldsurv.export.card.model_card import ModelCard
from aldsurv.metrics.calibration_summary import LimitedValue
from aldsurv.reports.model.at_times.time_findings import TimeFindings
from aldsurv.reports.model.causes.cause_findings import CauseFindings
from aldsurv.reports.model.quality.findings import RESAMPLES
from aldsurv.reports.model.quality.subgroups import Subgroup
from aldsurv.reports.model.report_numbers import scores_at_time

__all__ = ["SCHEMA", "SCHEMA_VERSION", "card_document"]

SCHEMA = "aldsurv model card"
# Goes up when an entry changes its meaning or is taken away; new entries may come at any time.
SCHEMA_VERSION = 1
# Entries of the specification that have a place of their own in a card, or are the model itself.
_ELSEWHERE = ("columns", "trained_on", "updates", "file", "coefficients", "baselines", "complete")


def card_document(card: ModelCard) -> dict[str, Any]:
    """Everything on the card, with all digits and the names of the table."""
    spec = card.specification.to_dict()
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "written_by": f"aldsurv {aldsurv.__version__}",
        "title": card.title,
        "model": {
            **{name: value for name, value in spec.items() if name not in _ELSEWHERE},
            "causes": None if card.specification.model.causes_ is None else list(card.specification.model.causes_),
            "unit": card.unit,
            "file": spec["file"],
        },
        "intended_use": {"predicts": card.predicts.text, "open": _statements(card.open_places)},
        "training": spec["trained_on"],
        "columns": spec["columns"],
        "performance": None if card.evaluation is None else _performance(card.evaluation),
        "subgroups": None if card.evaluation is None or not card.evaluation.groups else _groups(card.evaluation),
        "limits": _statements(card.limits),
        "updates": spec["updates"],
    }


def _statements(given: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"about": title.removesuffix("."), "text": text} for title, text in given]


def _performance(evaluation: CardEvaluation) -> dict[str, Any]:
    evaluated, findings = evaluation.evaluated, evaluation.findings
    return {
        "source": evaluation.source,
        "rows": len(evaluated.everything),
        "rows_used": len(evaluated.data),
        "events": evaluated.events,
        "last_time": evaluated.longest,
        "training_rows": findings.trained_here,
        "undefined": evaluated.kind.reason or None,
        "confidence": 0.95,
        "resamples": RESAMPLES,
        "seed": evaluated.seed,
        "horizon": findings.horizon,
        "metrics": _scores(findings.scores),
        "d_calibration_p": findings.d_calibration.p_value,
        "brier_skill": {
            "value": findings.skill,
            "lower": findings.skill_limits[0],
            "upper": findings.skill_limits[1],
        },
        "coverage_80": findings.coverage.coverage,
        "outside_training": None if findings.outside is None else float(findings.outside.any(axis=1).mean()),
        "times": [_at_time(each) for each in evaluation.at_times],
        "causes": [_cause(each) for each in evaluation.causes],
        "cautions": _statements(evaluation.cautions),
    }


def _scores(scores: dict[str, LimitedValue]) -> dict[str, dict[str, float]]:
    return {name: score.to_dict() for name, score in scores.items()}


def _at_time(each: TimeFindings) -> dict[str, Any]:
    # The time is in the entry; that in the names of metrics is left out.
    return {name.removesuffix("_at"): value for name, value in scores_at_time(each).items()}


def _cause(each: CauseFindings) -> dict[str, Any]:
    return {
        "cause": each.cause,
        "events": each.events,
        "horizon": each.horizon,
        "expected": each.predicted,
        "observed": {"value": each.observed, "lower": each.limits[0], "upper": each.limits[1]},
        "brier_skill": each.skill,
        "metrics": _scores(each.scores),
    }


def _groups(evaluation: CardEvaluation) -> dict[str, Any]:
    return {"horizon": evaluation.horizon, "groups": [_group(each) for each in evaluation.groups]}


def _group(each: Subgroup) -> dict[str, Any]:
    group = each.calibration
    return {
        "column": each.column,
        "group": each.label,
        "rows": group.n,
        "events": group.events,
        "expected": group.predicted,
        "observed": group.observed,
        "difference": {"value": group.difference, "lower": group.lower, "upper": group.upper},
        "finding": group.finding,
        "harrell_c": group.harrell_c,
        "cens_dcal": group.cens_dcal,
        "d_calibration_p": group.p_value,
    }
