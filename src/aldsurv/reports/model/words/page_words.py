"""What authors of a report may call the event, where that is written in figures, and which columns a page names."""

from __future__ import annotations

from numpy.typing import ArrayLike

from aldsurv.checks import Satisfies
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.models import SurvivalEstimator
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.reports.model.evaluated_model import EvaluatedModel

__all__ = ["EVENT_NAME", "figure_words", "known_columns"]

EVENT_NAME = Satisfies(
    lambda name: isinstance(name, str) and 0 < len(name.strip()) <= 60 and name.isprintable(), "a few words in one line"
)


def figure_words(evaluated: EvaluatedModel) -> dict[str, str]:
    """What stands at axes and in legends in place of the event, if it has a name."""
    if evaluated.event == "event":
        return {}
    name = plain_label(evaluated.event)
    return {"an event": name, "the event": name, "event": name, "survival probability": f"probability without {name}"}


def known_columns(model: SurvivalEstimator, X: object, group: tuple[str, ArrayLike] | None) -> list[str]:
    """Columns that the page names: those of the rows, of the outcome, and of subgroups."""
    outcome = {} if model.trained_on_ is None else model.trained_on_.outcome
    return [*CovariateTable.of(X).names, *outcome.values(), *([] if group is None else [group[0]])]
