"""Rows of a table in parts as the numbers of a linear model, held by an engine, and sums over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.models.linear.design import Design
from aldsurv.models.parted.engine import Arrays, Blocks, Engine, Held
from aldsurv.models.parted.table_summary import OutcomeSummary
from aldsurv.tables.parts.parted_table import PartedTable, TablePart

__all__ = ["HeldRows", "Moments", "encoded_rows", "outcome_of", "robust_setting", "summed", "too_wide"]

FloatArray = NDArray[np.float64]

_OUTCOME = ("entry", "weight", "group")


@final
@dataclass(frozen=True)
class HeldRows:
    """Rows of all parts as numbers, in blocks, where the engine holds them.

    Attributes
    ----------
    engine
        Holds them.
    parts
        What it holds, in the order of the parts.
    """

    engine: Engine
    parts: list[Held[Blocks]]

    def sum(
        self, function: Callable[..., Sequence[FloatArray]], shared: tuple[FloatArray, ...] = ()
    ) -> list[FloatArray]:
        """Sums of several arrays over the parts, in their order; what is `shared` goes to each worker once."""
        return summed(self.engine.map(function, self.parts, shared))


def encoded_rows(design: Design, owner: str, part: TablePart) -> Iterator[Arrays]:
    """Blocks of a part: its columns ``x`` (n, d), its outcome, and ``codes`` of strata if there are some."""
    for block in part.blocks():
        data = block.outcome
        arrays = {"x": design.numbers(block.x, owner), "lower": data.lower, "upper": data.upper}
        arrays |= {name: getattr(data, name) for name in _OUTCOME if getattr(data, name) is not None}
        codes = design.codes(block.x)
        yield arrays if codes is None else {**arrays, "codes": codes}


def outcome_of(block: Arrays) -> SurvivalData:
    """The outcome of a block."""
    entry, weight, group = (block.get(name) for name in _OUTCOME)
    return SurvivalData.from_checked(block["lower"], block["upper"], entry, weight, group=group)


def robust_setting(robust: bool | str, table: PartedTable, outcome: OutcomeSummary) -> bool | str:
    """A model's parameter of that name, False if no robust errors are to be computed."""
    computed = robust is True or (robust == "auto" and ("group" in table.reading.roles or outcome.fractional))
    return robust if computed else False


def too_wide(columns: int, events: int) -> DataError:
    """What is raised for more columns than events."""
    return DataError(
        f"{columns} columns outnumber the {events} events: the ridge that this needs is chosen in memory only",
        argument="X",
        advice="Leave columns out, or fit to rows in memory, as those of read_table.",
    )


def summed(parts: Iterable[Sequence[FloatArray]]) -> list[FloatArray]:
    """Sums of several arrays, one after the other: in the same order with any number of workers."""
    total: list[FloatArray] = []
    for part in parts:
        total = [_added(a, b) for a, b in zip(total, part, strict=True)] if total else [np.array(own) for own in part]
    return total


def _added(sums: FloatArray, more: FloatArray) -> FloatArray:
    """The sum, in place where it has the same shape: a part without rows has a 0."""
    return np.add(sums, more, out=sums if sums.shape == np.shape(more) else None)


class Moments(NamedTuple):
    """Weight, means (d,) and weighted squares of distances from them (d,): merged without a loss of digits."""

    weight: float
    mean: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, values: FloatArray, weights: FloatArray) -> Moments:
        """Of rows (n, d)."""
        weight = float(weights.sum())
        mean = weights @ values / weight if weight else np.zeros(values.shape[1])
        return cls(weight, mean, weights @ (values - mean) ** 2)

    @classmethod
    def merged(cls, parts: Iterable[Moments]) -> Moments:
        """Of the rows of all parts (Chan, Golub & LeVeque, 1983)."""
        total = None
        for part in parts:
            if total is None or not total.weight:
                total = part
            elif part.weight:
                weight = total.weight + part.weight
                apart = part.mean - total.mean
                mean = total.mean + apart * (part.weight / weight)
                squares = total.squares + part.squares + apart**2 * (total.weight * part.weight / weight)
                total = cls(weight, mean, squares)
        return cls(0.0, np.zeros(0), np.zeros(0)) if total is None else total

    @property
    def spread(self) -> FloatArray:
        """Standard deviation of each column (d,), 0 where it is rounding."""
        spread = np.sqrt(self.squares / self.weight)
        # A constant column has no spread but that of rounding.
        return np.where(spread > 1e-12 * np.hypot(self.mean, spread), spread, 0.0)
