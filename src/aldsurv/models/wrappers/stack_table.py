"""The members of a stack as a table: weights, scores, seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["StackedModel", "stack_lines"]


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
    reason: str


def stack_lines(models: Sequence[StackedModel], score: float | None) -> list[str]:
    """Lines of a table of the members, and what was left out.

    Parameters
    ----------
    models
        The members and those left out.
    score
        Of the mixture.
    """
    total = None if any(each.seconds is None for each in models) else sum(each.seconds or 0.0 for each in models)
    rows = [*models, StackedModel("all", "", 1.0, score, total, "")]
    width = max(len(each.name) for each in rows)
    columns = [("weight", [f"{each.weight:.3f}" for each in rows])]
    if score is not None:
        columns.append(("log-likelihood", ["" if each.score is None else f"{each.score:.4f}" for each in rows]))
    if total is not None:
        columns.append(("seconds", [f"{each.seconds:.1f}" for each in rows]))
    lines = [f"  {'member':<{width}}" + "".join(f"  {title}" for title, _ in columns)]
    for k, each in enumerate(rows):
        cells = "".join(f"  {texts[k]:>{len(title)}}" for title, texts in columns)
        lines.append(f"  {each.name:<{width}}{cells}".rstrip())
    if score is None:
        lines.append("  weights without rows held out: equal, or as given")
    else:
        lines.append("  log-likelihood per row that was held out, events by intervals of time")
    return [*lines, *(f"  {each.name} is left out: {each.reason}" for each in models if each.reason)]
