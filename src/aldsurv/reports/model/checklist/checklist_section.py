"""The checklist of a model's report: each item with how far the report answers it, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aldsurv.reports.model.checklist.items import ITEMS, REFERENCE, Item
from aldsurv.reports.model.checklist.method_answers import METHOD_ANSWERS
from aldsurv.reports.model.checklist.result_answers import RESULT_ANSWERS
from aldsurv.reports.model.checklist.study import Answer, Status, Study, left_open
from aldsurv.reports.page.page import Section, Text
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["AnsweredItem", "answer_items", "checklist_section"]

_ANSWERS = {**METHOD_ANSWERS, **RESULT_ANSWERS}
_TONES: Mapping[Status, str] = {"filled": "good", "partly": "", "open": "todo"}


class AnsweredItem(NamedTuple):
    """An item and its answer."""

    item: Item
    answer: Answer

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        item, answer = self
        return {
            "item": item.number,
            "part": item.part,
            "topic": item.topic,
            "kind": item.kind,
            "asks": item.asks,
            "status": answer.status,
            "answer": answer.text,
            "section": answer.anchor or None,
        }


def answer_items(study: Study) -> tuple[AnsweredItem, ...]:
    """Every item with what the report answers; one that it cannot answer is left to the author."""
    return tuple(
        AnsweredItem(item, _ANSWERS[item.number](study) if item.number in _ANSWERS else left_open()) for item in ITEMS
    )


def checklist_section(answered: Sequence[AnsweredItem], titles: Mapping[str, str]) -> Section:
    """The checklist as a table.

    Parameters
    ----------
    answered
        The items and their answers.
    titles
        Titles of the sections, by anchor.
    """
    counts = {status: sum(each.answer.status == status for each in answered) for status in _TONES}
    lead = Text(
        f"The items of TRIPOD+AI in short, for authors who report this model. Of {len(answered)}, {counts['filled']} "
        f"are filled from the model and the rows, {counts['partly']} in part, and {counts['open']} are open: only the "
        f"author knows the answer. The statement has the full wording. {REFERENCE}"
    )
    columns = (
        PageColumn("item", "Item"),
        PageColumn("topic", "Topic", filtered=True),
        PageColumn("kind", "D/E", filtered=True, meaning="D: development of a model, E: its evaluation"),
        PageColumn("status", "Status", filtered=True),
        PageColumn("asks", "To be reported"),
        PageColumn("answer", "Answer"),
        PageColumn("section", "Where"),
    )
    cells = tuple(
        (
            PageCell(item.number),
            PageCell(item.topic),
            PageCell(item.kind),
            PageCell(answer.status, tone=_TONES[answer.status]),
            PageCell(item.asks, tone="wraps"),
            PageCell(answer.text, tone="wraps"),
            PageCell(titles.get(answer.anchor, ""), link=answer.anchor if answer.anchor in titles else ""),
        )
        for item, answer in answered
    )
    table = PageTable("checklist", "TRIPOD+AI", columns, cells)
    return Section("checklist", "Checklist", (lead, table))
