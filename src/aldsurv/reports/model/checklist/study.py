"""What the answers of the checklist are made from, and what an answer is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, final

from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.findings import Findings
from aldsurv.reports.model.quality.subgroups import Subgroup
from aldsurv.reports.model.specification.specification import Specification
from aldsurv.reports.page.number_format import counted, time_with_unit

__all__ = ["Answer", "Status", "Study", "filled", "left_open", "partly"]

Status: TypeAlias = Literal["filled", "partly", "open"]


class Answer(NamedTuple):
    """What the report says of an item: how far it is answered, the sentence, and the section that has more."""

    status: Status
    text: str
    anchor: str = ""


@final
@dataclass(frozen=True, eq=False)
class Study:
    """The findings of a report, as far as items ask for them.

    Attributes
    ----------
    evaluated, findings, spec
        The rows and predictions, the numbers, and the model.
    groups
        The subgroups that were judged.
    cautions
        Number of cautions.
    source
        Name of the rows, if it is known.
    anchors
        Sections of the page.
    compared
        Whether the columns of the training rows are shown beside those of the evaluated ones.
    """

    evaluated: EvaluatedModel
    findings: Findings
    spec: Specification
    groups: Sequence[Subgroup]
    cautions: int
    source: str | None
    anchors: frozenset[str]
    compared: bool

    @property
    def trained_on(self) -> TrainedOn | None:
        """Facts about the training rows, if the model keeps them."""
        return self.evaluated.model.trained_on_

    @property
    def evaluation_rows(self) -> str:
        """The evaluated rows and their events."""
        return f"{counted(len(self.evaluated.data), 'row')} with {counted(self.evaluated.events, 'event')}"

    @property
    def training_rows(self) -> str:
        """The training rows and their events."""
        facts = self.trained_on
        return (
            "rows that are not known"
            if facts is None
            else (f"{counted(facts.rows, 'row')} with {counted(facts.known_events, 'event')}")
        )

    @property
    def last_time(self) -> str:
        """The last time in training."""
        return time_with_unit(self.evaluated.follow_up, self.evaluated.unit)

    def first_of(self, *anchors: str) -> str:
        """The first of these sections that the page has; empty if it has none."""
        return next((anchor for anchor in anchors if anchor in self.anchors), "")


def filled(text: str, anchor: str = "") -> Answer:
    """An item that is answered."""
    return Answer("filled", text, anchor)


def partly(text: str, author: str, anchor: str = "") -> Answer:
    """An item of which a part is answered, and what is left to the author."""
    return Answer("partly", f"{text} To be written by the author: {author}.", anchor)


def left_open(author: str = "") -> Answer:
    """An item that only the author can answer."""
    return Answer("open", f"To be written by the author{f': {author}' if author else ''}.")
