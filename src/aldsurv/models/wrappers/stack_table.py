"""The members of a stack as a table: weights, scores, seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from aldsurv.display.html import html_block, html_table

__all__ = ["StackTable", "StackedModel"]


class StackedModel(NamedTuple):
    """A model that a stack was made of.

    Attributes
    ----------
    name, title
        Its name in the stack, and that of its kind.
    weight
        Its share of the prediction; 0 if it was left out.
    score
        Mean log-likelihood per row of rows that it had not learned from; None if there were none.
    seconds
        How long it took to be fitted, all folds together; None if not known.
    reason
        Why it was left out; empty for a member.
    """

    name: str
    title: str
    weight: float
    score: float | None
    seconds: float | None
    reason: str = ""


@final
@dataclass(frozen=True)
class StackTable:
    """All models that a stack was made of.

    Attributes
    ----------
    models
        The members, and those that were left out.
    score
        Mean log-likelihood per row that was held out, of the mixture; None if there were none.
    """

    models: tuple[StackedModel, ...]
    score: float | None

    @property
    def seconds(self) -> float | None:
        """Of all models; None if not known."""
        known = [each.seconds for each in self.models if each.seconds is not None]
        return sum(known) if len(known) == len(self.models) else None

    def _repr_html_(self) -> str:
        names = ("name", "weight", "score", "seconds", "reason")
        rows = [[getattr(each, name) for name in names] for each in self.models]
        return html_block("Stack", html_table(["member", "weight", "log-likelihood", "seconds", ""], rows))

    def lines(self) -> list[str]:
        """A line for each model, and what they are."""
        rows = [*self.models, StackedModel("all", "", 1.0, self.score, self.seconds)]
        columns = {"weight": [f"{each.weight:.3f}" for each in rows]}
        if self.score is not None:
            columns["log-likelihood"] = ["" if each.score is None else f"{each.score:.4f}" for each in rows]
        if self.seconds is not None:
            columns["seconds"] = [f"{each.seconds:.1f}" for each in rows]
        names = ["member", *(each.name for each in rows)]
        width = max(map(len, names))
        lines = [name.ljust(width) for name in names]
        for title, texts in columns.items():
            lines = [f"{line}  {text:>{len(title)}}" for line, text in zip(lines, [title, *texts], strict=True)]
        note = "weights are equal, or as given: no rows were held out"
        if self.score is not None:
            note = "log-likelihood per row that was held out, events by intervals of time"
        return [*lines, note, *(f"{each.name} is left out: {each.reason}" for each in self.models if each.reason)]
