"""Columns as callers have them: one input of the graph each, turned into the numbers that a model reads.

A column of numbers, or of levels that are numbers or bools, is a tensor of floats in which a gap is NaN; a column of
text is one of strings in which a gap is the empty string, unless that was a level of training. Columns that the model
does not use are no inputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.column_entries import Level
from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number, as_single
from aldsurv.columns.features import Features
from aldsurv.errors import ParameterError
from aldsurv.export.onnx.graph import ML_DOMAIN, Graph, Tensor, joined
from aldsurv.quoting import quoted

__all__ = ["ColumnInput", "Columns", "Rows"]

FloatArray = NDArray[np.float64]
# What a column holds after its levels: a gap, then anything else.
_GAP, _UNKNOWN = 0, 1
_LARGEST = float(np.finfo(np.float32).max)
# Combinations of levels of the columns of strata, in training and beside it, that a graph may list.
_MOST_STRATA = 1_000_000


class Rows(NamedTuple):
    """Numbers (width, rows) that a model reads, and which of `Features.names_out` each is."""

    values: Tensor
    order: NDArray[np.int64]


@final
@dataclass(frozen=True)
class ColumnInput:
    """An input of the graph: the column that it is, what it holds, what a gap is."""

    column: str
    input: str
    kind: str
    levels: tuple[Level, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """As JSON can hold it."""
        described: dict[str, object] = {"column": self.column, "input": self.input, "kind": self.kind}
        return {**described, "levels": list(self.levels)} if self.levels else described


@final
@dataclass(eq=False)
class Columns:
    """The inputs of a graph, each made when it is first asked for.

    Parameters
    ----------
    graph
        The graph.
    precision
        Type of the numbers that callers give: ``"float32"`` or ``"float64"``.
    """

    graph: Graph
    precision: str
    inputs: dict[str, ColumnInput] = field(default_factory=dict)
    _tensors: dict[str, Tensor] = field(default_factory=dict)

    def _input(self, name: str, kind: str, levels: tuple[Level, ...] = ()) -> Tensor:
        """The column as it comes (1, rows)."""
        if name not in self._tensors:
            given = self.graph.free_name(name)
            dtype = "string" if kind == "text" else self.precision
            tensor = self.graph.input(given, dtype, ["rows"]).unsqueeze(0)
            self._tensors[name] = tensor if kind == "text" else tensor.cast("float64")
            self.inputs[name] = ColumnInput(name, given, kind, levels)
        return self._tensors[name]

    def any_input(self) -> Tensor:
        """One of the inputs (1, rows), for the number of rows."""
        if not self._tensors:
            raise ParameterError("the model uses none of its columns: every row has the same prediction.")
        return next(iter(self._tensors.values()))

    # ---- levels

    def _codes(self, name: str, levels: Sequence[Level]) -> Tensor:
        """Number of each row's level (1, rows), after the last that of a gap and that of anything else."""
        count = len(levels)
        texts = [level for level in levels if isinstance(level, str)]
        if texts and len(texts) < count:
            raise ParameterError(
                f"column {quoted(name)} holds both text and numbers, which no tensor can.",
                advice="Turn its values into text, and fit the model again.",
            )
        if texts or not count:
            known = {"": count + _GAP, **{text: k for k, text in enumerate(texts)}}
            return self.graph.node(
                "LabelEncoder",
                [self._input(name, "text", tuple(levels))],
                "int64",
                domain=ML_DOMAIN,
                keys_strings=list(known),
                values_int64s=list(known.values()),
                default_int64=count + _UNKNOWN,
            )
        numbers = np.array([float(level) for level in levels])
        rounded = numbers.astype(self.precision).astype(np.float64)
        if len(set(rounded.tolist())) < count:
            raise ParameterError(
                f"levels of column {quoted(name)} are the same number in {self.precision}.",
                advice="Write a model in double precision.",
            )
        values = self._input(name, "levels", tuple(levels))
        hits = values.equals(self.graph.constant(rounded[:, None])).cast("int64")
        place = (hits * self.graph.constant(np.arange(count)[:, None], "int64")).sum(0, keep=True)
        found, gap = hits.sum(0, keep=True) > 0, values.is_nan()
        return found.where(place, gap.where(self.graph.constant(count + _GAP, "int64"), count + _UNKNOWN))

    # ---- the numbers of a model

    def rows(self, features: Features, *, exact: bool = False, without: Set[int] = frozenset()) -> Rows:
        """What `Features.transform` gives, or `transform_exactly` without some columns, in an order of its own.

        All columns of numbers are scaled at once.
        """
        starts = np.cumsum([0, *(plan.width for plan in features.columns)])
        numbers: list[tuple[int, Number]] = []
        blocks, order = [], []
        for position, plan in enumerate(features.columns):
            if position in without:
                continue
            if isinstance(plan, Number):
                numbers.append((int(starts[position]), plan))
            elif isinstance(plan, Levels):
                blocks.append(self._one_hot(plan))
                order.append(starts[position] + np.arange(plan.width))
        if numbers:
            block, places = self._numbers(numbers, features.clip, exact=exact)
            blocks.append(block)
            order.append(places)
        if not blocks:
            raise ParameterError("the model uses none of its columns: every row has the same prediction.")
        return Rows(joined(blocks), np.concatenate(order).astype(np.int64))

    def _one_hot(self, plan: Levels) -> Tensor:
        count = len(plan.levels)
        shown = [*range(count), *([count + _UNKNOWN] if plan.other else []), *([count + _GAP] if plan.gaps else [])]
        codes = self._codes(plan.name, plan.levels)
        return codes.equals(self.graph.constant(np.array(shown)[:, None], "int64")).cast("float64")

    def _numbers(
        self, plans: Sequence[tuple[int, Number]], clip: float | None, *, exact: bool
    ) -> tuple[Tensor, NDArray[np.int64]]:
        raw = [self._input(plan.name, "number") for _, plan in plans]
        if not exact:
            raw = [_rounded(values, plan) for values, (_, plan) in zip(raw, plans, strict=True)]
        values = joined(raw)
        order = [start for start, _ in plans]
        gaps = values.is_nan()
        filled = gaps.where(self._column([plan.median for _, plan in plans]), values)
        bound = _LARGEST if clip is None else min(clip, _LARGEST)
        scaled = (filled - self._column([plan.mean for _, plan in plans])) / self._column(
            [plan.scale for _, plan in plans]
        )
        blocks = [scaled.clip(-bound, bound)]
        missing = [k for k, (_, plan) in enumerate(plans) if plan.gaps]
        if missing:
            blocks.append(gaps.cast("float64").gather(np.array(missing)))
            order += [plans[k][0] + 1 for k in missing]
        pieces = [(k, *ends) for k, (_, plan) in enumerate(plans) for ends in pairwise(plan.knots)]
        if pieces:
            which, begin, end = (np.array(column) for column in zip(*pieces, strict=True))
            width = self._column(end / 2 - begin / 2)
            passed = (filled.gather(which) * 0.5 - self._column(begin / 2)) / width
            blocks.append(passed.clip(0.0, 1.0))
            for start, plan in plans:
                order += [start + 1 + plan.gaps + k for k in range(plan.pieces)]
        table = joined(blocks)
        # A network takes float32: the same digits are lost here.
        return table if exact else table.cast("float32").cast("float64"), np.array(order, np.int64)

    def _column(self, numbers: Sequence[float] | FloatArray) -> Tensor:
        return self.graph.constant(np.asarray(numbers, np.float64)[:, None])

    # ---- what training had shown

    def outside(self, features: Features) -> Tensor:
        """Whether a row has a value beyond those of training (1, rows)."""
        flags = [self._outside(plan) for plan in features.columns if not isinstance(plan, LeftOut)]
        found = flags[0]
        for flag in flags[1:]:
            found = found | flag
        return found

    def _outside(self, plan: ColumnPlan) -> Tensor:
        if isinstance(plan, Number):
            values = self._input(plan.name, "number")
            # A bound of training is not outside because a caller rounds it.
            low, high = np.array([plan.low, plan.high]).astype(self.precision).astype(np.float64).tolist()
            beyond: Tensor = (values < low) | (values > high)
            return beyond
        levels = plan.levels if isinstance(plan, Levels) else ()
        codes = self._codes(plan.name, levels)
        rest_is_known = isinstance(plan, Levels) and plan.other
        return codes.equals(-1 if rest_is_known else len(levels) + _UNKNOWN)

    # ---- strata

    def strata(self, names: Sequence[str], strata: Sequence[Sequence[Level | None]], features: Features) -> Tensor:
        """Number of each row's stratum (rows,) among those of training; -1 for another one."""
        plans = {plan.name: plan for plan in features.columns}
        sizes: list[int] = []
        places: list[list[int]] = []
        code: Tensor | None = None
        for k, name in enumerate(names):
            plan, own = plans.get(name), [stratum[k] for stratum in strata]
            # The same input as that of the column's plan, which lists levels in an order of its own.
            known = plan.levels if isinstance(plan, Levels) else ()
            levels = (*known, *(level for level in dict.fromkeys(own) if level is not None and level not in known))
            number: dict[Level | None, int] = {
                None: len(levels) + _GAP,
                **{level: place for place, level in enumerate(levels)},
            }
            sizes.append(len(levels) + 2)
            places.append([number[level] for level in own])
            found = self._codes(name, levels)
            code = found if code is None else code * sizes[-1] + found
        if code is None or math.prod(sizes) > _MOST_STRATA:
            raise ParameterError("the columns of strata have too many combinations of levels for a table in a graph.")
        table = np.full(sizes, -1, np.int64)
        table[tuple(np.array(places))] = np.arange(len(strata))
        return self.graph.constant(table.ravel(), "int64").gather(code).squeeze(0)


def _rounded(values: Tensor, plan: Number) -> Tensor:
    """Rounded to float32 where `as_single` does."""
    probe = np.array([1 + 2.0**-40])
    if as_single(probe, plan.low, plan.high)[0] == probe[0]:
        return values
    return values.cast("float32").cast("float64")
