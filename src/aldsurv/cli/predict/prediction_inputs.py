"""Which columns of a table a model reads, and as what: known before the first row is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, final

from aldsurv.checks import listed
from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number
from aldsurv.errors import DataError, UnknownNameError
from aldsurv.quoting import quoted
from aldsurv.tables.table_file import is_row_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table_file import TableFile

__all__ = ["Input", "ModelInputs", "data_columns"]


class Input(NamedTuple):
    """One column of the model.

    Attributes
    ----------
    key
        Its name for the model, or its position if the model has no names.
    name
        The column of the table; None if the model does not use it.
    text
        Whether it is read as text.
    plan
        What was learned of it; None for a column of strata only.
    """

    key: str | int
    name: str | None
    text: bool
    plan: ColumnPlan | None


@final
@dataclass(frozen=True)
class ModelInputs:
    """The columns of a model, in its order.

    Attributes
    ----------
    inputs
        One for each column.
    by_position
        Whether the columns were found by their order, because the model has no names.
    """

    inputs: tuple[Input, ...]
    by_position: bool

    @classmethod
    def find(cls, model: SurvivalEstimator, table: TableFile, others: Collection[str]) -> ModelInputs:
        """Find the columns of a model in a table; the `others` may be there beside them."""
        model = model.innermost
        if model.features_ is None:
            raise DataError("the model was trained with an encoder and not on a table: predict with it in Python.")
        columns, strata_levels, named = model.columns_, _strata_levels(model), model.features_.named
        if named and any(isinstance(key, int) for key in columns):
            raise DataError("the model has strata by number beside columns with names: predict with it in Python.")
        names = [str(key) for key in columns] if named else _names_by_position(table, len(columns), others)
        inputs = []
        for (key, plan), name in zip(columns.items(), names, strict=True):
            # A column that the model leaves out need not be in the table.
            unused = isinstance(plan, LeftOut) and key not in strata_levels
            levels = strata_levels.get(key, plan.levels if isinstance(plan, Levels) else ())
            text = any(isinstance(level, str) for level in levels)
            inputs.append(Input(key, None if unused else name, text, plan))
        _require_columns(table, [column.name for column in inputs if column.name is not None])
        return cls(tuple(inputs), by_position=not named)

    @property
    def numbers(self) -> list[str]:
        """Columns of the table to read as numbers."""
        return [column.name for column in self.inputs if column.name is not None and not column.text]

    @property
    def text(self) -> list[str]:
        """Columns of the table to read as text."""
        return [column.name for column in self.inputs if column.name is not None and column.text]

    def frame(self, x: dict[str, NDArray[Any]], rows: int) -> dict[str | int, NDArray[Any]]:
        """A table as the model takes it, from columns of a block."""
        import numpy as np

        unused = np.broadcast_to(np.float64(np.nan), (rows,))
        return {column.key: unused if column.name is None else x[column.name] for column in self.inputs}

    def outside(self, x: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
        """For each column with a plan, the rows beyond what training had shown."""
        return {
            column.name: column.plan.outside(x[column.name], column.name)
            for column in self.inputs
            if column.name is not None and column.plan is not None
        }

    def gap_rules(self) -> dict[str, str]:
        """Columns that had no gaps in training, and how gaps in them are filled now."""
        return {
            column.name: column.plan.gap_rule
            for column in self.inputs
            if column.name is not None and isinstance(column.plan, (Number, Levels)) and not column.plan.gaps
        }


def data_columns(table: TableFile) -> list[str]:
    """Columns of a table except those without a name, which number the rows."""
    return [name for name in table.names if not is_row_name(name)]


def _strata_levels(model: SurvivalEstimator) -> dict[str | int, list[Any]]:
    """Columns that are strata, and their levels."""
    return {column: [stratum[k] for stratum in model.strata_] for k, column in enumerate(model.strata_columns_)}


def _names_by_position(table: TableFile, count: int, others: Collection[str]) -> list[str]:
    names = data_columns(table)
    rest = [name for name in names if name not in others]
    for candidates in (names, rest):
        if len(candidates) == count:
            return candidates
    raise DataError(
        f"{str(table.path)!r} has {len(rest)} columns to predict from ({listed(rest)}), but the model, which has no "
        f"names of columns, was trained on {count}. Give a table with these {count} in the order of training."
    )


def _require_columns(table: TableFile, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table.names]
    if missing:
        unused = [name for name in data_columns(table) if name not in names]
        near = get_close_matches(missing[0], unused, n=1, cutoff=0.5)
        hint = f"Is it {quoted(near[0])}? Rename it." if near else f"Columns: {listed(data_columns(table))}."
        raise UnknownNameError(
            f"{str(table.path)!r} has no column {listed(missing, 5)}, which the model needs", advice=hint
        )
    for name in names:
        table.require(name)
