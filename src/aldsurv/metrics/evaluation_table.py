"""Metrics by name that a notebook shows as a table; dicts in every other respect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from aldsurv.display.frames import data_frame
from aldsurv.display.html import html_block, html_table, short_number
from aldsurv.metrics.resampling.bootstrap import BootstrapResult
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CauseEvaluations", "Evaluation"]

ValueT = TypeVar("ValueT")


class Evaluation(dict[str, ValueT]):
    """Values of metrics, or with a bootstrap their `BootstrapResult`, by name.

    Examples
    --------
    >>> Evaluation({"harrell_c": 0.7, "ibs": 0.125}).to_frame()
               value
    metric
    harrell_c  0.700
    ibs        0.125
    """

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row per metric: value, and with a bootstrap limits and standard error."""
        names = ["value"]
        if any(isinstance(result, BootstrapResult) for result in self.values()):
            names = [field.name for field in fields(BootstrapResult)]
        columns = {name: [_part(result, name) for result in self.values()] for name in names}
        return data_frame(columns, index=list(self), length=len(self)).rename_axis("metric")

    def _repr_html_(self) -> str:
        limits = any(isinstance(result, BootstrapResult) for result in self.values())
        header = ["metric", "value", *(["from", "to"] if limits else []), ""]
        rows = [[_title(name), *_cells(result, limits), _hint(name)] for name, result in self.items()]
        return html_block("Evaluation", html_table(header, rows, most=100))


class CauseEvaluations(dict[str, Evaluation[ValueT]]):
    """An `Evaluation` for each cause, by the name of the cause."""

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row per metric, and columns by cause."""
        frames = {cause: scores.to_frame() for cause, scores in self.items()}
        metrics = list(dict.fromkeys(name for scores in self.values() for name in scores))
        columns = {
            (cause, name): frame[name].reindex(metrics).to_numpy() for cause, frame in frames.items() for name in frame
        }
        made = data_frame(columns, index=metrics, length=len(metrics), labels=("cause", "part"))
        return made.rename_axis("metric")

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for scores in self.values() for name in scores))
        rows = [[_title(name), *(_short(scores, name) for scores in self.values())] for name in names]
        return html_block("Evaluation by cause", html_table(["metric", *self], rows, most=100))


def _title(name: str) -> str:
    # A dict may be given entries that are no metrics of ours.
    return METRICS[name].title if name in METRICS else name


def _hint(name: str) -> str:
    return METRICS[name].hint if name in METRICS else ""


def _part(result: object, name: str) -> Any:
    if isinstance(result, BootstrapResult):
        return getattr(result, name)
    return result if name == "value" else np.nan


def _cells(result: object, limits: bool) -> list[object]:
    names = ["value", "lower", "upper"] if limits else ["value"]
    return [_part(result, name) for name in names]


def _short(scores: Mapping[str, object], name: str) -> str:
    result = scores.get(name)
    if isinstance(result, BootstrapResult):
        return f"{short_number(result.value)} ({short_number(result.lower)} to {short_number(result.upper)})"
    return short_number(result)
