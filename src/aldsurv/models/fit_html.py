"""What a notebook shows of a fitted model: the training rows and how columns are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aldsurv.display.html import html_details, html_facts, html_note, html_table, short_number

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["html_of_fit"]


def html_of_fit(model: SurvivalEstimator) -> list[str]:
    """The parts below the name and the parameters of a fitted model."""
    facts, parts = model.trained_on_, []
    if facts is not None:
        times = f"{short_number(facts.first_time)} to {short_number(facts.last_time)}"
        parts.append(html_facts({"rows": facts.rows_text, "events": facts.known_events, "time": times}))
    columns = model.innermost.columns_
    uses = [
        [f"{name}", "strata" if plan is None else plan.use, "" if plan is None else plan.gap_rule]
        for name, plan in columns.items()
    ]
    title = f"{len(uses) or model.n_features_in_} columns"
    table = html_details(title, html_table(["column", "use", "gaps"], uses)) if uses else html_note(title)
    return [*parts, table]
