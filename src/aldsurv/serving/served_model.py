"""A model of a file as the service has it: its columns, its digest, and predictions with flags."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_plans import Levels, Number
from aldsurv.errors import ParameterError
from aldsurv.files.model_file import file_digest
from aldsurv.models.persistence import load
from aldsurv.models.prediction.prediction_request import PredictionRequest
from aldsurv.notices import muted
from aldsurv.quoting import quoted
from aldsurv.registry import saved_model_name
from aldsurv.serving.requests.input_columns import InputColumn, KnownStrata, input_columns, time_column
from aldsurv.serving.requests.problems import ProblemError
from aldsurv.serving.requests.row_reading import RowTable, read_rows
from aldsurv.tables.text_file import MISSING

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.serving.requests.options import PredictOptions
    from aldsurv.serving.settings import ServiceSettings

__all__ = ["FLAGS", "ServedModel"]

# What is said of a row beside its prediction: names of columns under each.
FLAGS = ("outside_training", "unknown_level", "gap_filled")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# A network computes so many rows at once, whose numbers then stay in the processor's cache.
_AT_ONCE = 1 << 10


@final
@dataclass(frozen=True)
class ServedModel:
    """A model and what requests to it need.

    Attributes
    ----------
    name
        In the address.
    model
        The fitted model.
    digest, version
        SHA-256 of the file's content, and the version of aldsurv that it was fitted with.
    columns, strata
        What rows must have.
    markers
        Texts that stand for gaps in CSV.
    """

    name: str
    model: SurvivalEstimator
    digest: str
    version: str | None
    columns: tuple[InputColumn, ...]
    strata: KnownStrata
    markers: frozenset[str]

    @classmethod
    def load(cls, path: str | Path, name: str | None = None) -> ServedModel:
        """The model of a file, by the name of the file unless another is given."""
        file = Path(path)
        name = file.name.removesuffix(".aldsurv") if name is None else name
        if not _NAME.fullmatch(name):
            raise ParameterError(
                f"{quoted(name)} cannot stand in an address: a name has up to 64 letters, digits, '-', '_' and '.'",
                argument="name",
                advice=f"Name the model, as in risk={file.name!s:.72}.",
            )
        model: SurvivalEstimator = load(file)
        columns, strata = input_columns(model)
        facts = model.trained_on_
        return cls(
            name,
            model,
            file_digest(file),
            None if facts is None else facts.versions.get("aldsurv"),
            columns,
            strata,
            frozenset((*MISSING, *(() if facts is None else facts.missing))),
        )

    @property
    def unit(self) -> str | None:
        """The unit of time, if the model was given one."""
        unit = self.model.innermost.get_params().get("unit")
        return None if unit is None else str(unit)

    @property
    def identity(self) -> dict[str, Any]:
        """Which model an answer is of."""
        return {"name": self.name, "digest": self.digest, "version": self.version}

    def describe(self) -> dict[str, Any]:
        """The model for people and programs: columns with ranges and levels, unit, causes, training rows."""
        model, facts = self.model, self.model.trained_on_
        kept = ("rows", "events", "first_time", "last_time", "persons")
        trained_on = {} if facts is None else {name: getattr(facts, name) for name in kept}
        return {
            **self.identity,
            "model": saved_model_name(type(model)),
            "unit": self.unit,
            "causes": None if model.causes_ is None else list(model.causes_),
            "members": model.n_members,
            "trained_on": {name: value for name, value in trained_on.items() if value is not None},
            "columns": [_described(column) for column in self.columns],
        }

    def request(self, options: PredictOptions, settings: ServiceSettings) -> PredictionRequest:
        """The columns to predict; raises `ProblemError` for what this model cannot."""
        if options.band is not None and self.model.n_members < 2:
            raise ProblemError(422, "band: it needs a model of several members, but this one has one.")
        times = settings.times if options.times is None else tuple(dict.fromkeys(options.times))
        quantiles = settings.quantiles if options.quantiles is None else tuple(dict.fromkeys(options.quantiles))
        summaries = ("median",) if options.summaries is None else tuple(dict.fromkeys(options.summaries))
        return PredictionRequest(
            summaries,
            quantiles,
            options.interval,
            times,
            times or (float(self.model.unique_times_[-1]),),
            options.band,
            self.model.causes_ or (),
        )

    def extrapolated(self, request: PredictionRequest) -> list[float]:
        """Those of the times that lie beyond the last one of training."""
        last = float(self.model.unique_times_[-1])
        return [time for time in request.times if time > last]

    def read(self, rows: Sequence[Any], since: float | str | None) -> RowTable:
        """Rows by column name; `since` may name a column of times."""
        return read_rows(rows, self.columns_with(since), self.strata)

    def columns_with(self, since: float | str | None) -> tuple[InputColumn, ...]:
        """The columns to read, with that of times if there is one."""
        if not isinstance(since, str) or any(column.name == since and column.used for column in self.columns):
            return self.columns
        return (*self.columns, time_column(since))

    def predict(
        self,
        columns: dict[str, NDArray[Any]],
        rows: int,
        request: PredictionRequest,
        since: float | str | None = None,
    ) -> list[dict[str, Any]]:
        """What is predicted for each of so many rows, and what is to be said of its values."""
        known, names = self._known(columns, since, rows), request.names
        answers: list[dict[str, Any]] = []
        # Flags say of each row what notes would say of all, and notes would put values into the log.
        with muted():
            for start in range(0, rows, _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                size = min(rows - start, _AT_ONCE)
                x = self._frame({name: column[part] for name, column in columns.items()}, size)
                predicted = request.predict(self.model, x, since=None if known is None else known[part])
                answers += _answers({name: predicted[name] for name in names}, self._flags(x), size)
        return answers

    def _known(self, columns: dict[str, NDArray[Any]], since: float | str | None, rows: int) -> Any:
        if since is None:
            return None
        times = np.full(rows, since) if not isinstance(since, str) else np.asarray(columns[since])
        # A covariate that also says how long someone has been event-free may have been read with gaps.
        if times.dtype.kind != "f" or not (times >= 0).all():
            raise ProblemError(422, f"given_survived: column {quoted(since)} must hold times from 0 on in every row.")
        return times

    def _frame(self, columns: dict[str, NDArray[Any]], rows: int) -> dict[str | int, NDArray[Any]]:
        unused = np.broadcast_to(np.float64(np.nan), (rows,))
        return {column.key: columns[column.name] if column.used else unused for column in self.columns}

    def _flags(self, x: dict[str | int, NDArray[Any]]) -> dict[str, dict[int, list[str]]]:
        """By kind of flag and row, the names of the columns."""
        flags: dict[str, dict[int, list[str]]] = {name: {} for name in FLAGS}
        for column in self.columns:
            if column.plan is None or not column.used:
                continue
            for name, marks in zip(FLAGS, column.plan.row_flags(x[column.key], column.key), strict=True):
                if marks.any():
                    for row in np.flatnonzero(marks).tolist():
                        flags[name].setdefault(row, []).append(column.name)
        return flags


def _answers(
    predicted: dict[str, NDArray[np.float64]], flags: dict[str, dict[int, list[str]]], size: int
) -> list[dict[str, Any]]:
    """A dict per row; what is not finite is None."""
    columns = [_finite(values) for values in predicted.values()]
    rows = zip(*columns, strict=True) if columns else [()] * size
    return [
        {
            "predicted": dict(zip(predicted, row, strict=True)),
            **{name: marks.get(place, []) for name, marks in flags.items()},
        }
        for place, row in enumerate(rows)
    ]


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    if np.isfinite(values).all():
        return list(values.tolist())
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _described(column: InputColumn) -> dict[str, Any]:
    plan = column.plan
    facts: dict[str, Any] = {"name": column.name, "used": column.used, "values": column.expected}
    if isinstance(plan, Number):
        facts["range"] = [plan.low, plan.high]
    if column.levels:
        facts["levels"] = list(column.levels)
    if isinstance(plan, (Number, Levels)):
        facts |= {"gaps_in_training": plan.gaps, "gap_rule": plan.gap_rule}
    return {**facts, "strata": column.strata}
