"""Which columns of a table a model reads, and as what: known before the first row is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple, final

from aldsurv.checks import listed
from aldsurv.cli.shared.outcome import innermost
from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number
from aldsurv.errors import DataError, UnknownNameError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aldsurv.columns.features import Features
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table_file import TableFile

__all__ = ["Input", "ModelInputs", "data_columns"]

# Of R, and of pandas.
_ROW_NAMES = re.compile(r"\s*|__index_level_\d+__")


class Input(NamedTuple):
    """One column of the model.

    Attributes
    ----------
    key
        Its name for the model, or its number if the model has no names.
    name
        The column of the table; None if the model does not look at it.
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
    features
        What the model learned of its covariates.
    inputs
        One for each column.
    by_position
        Whether the columns were found by their order, for want of names.
    """

    features: Features
    inputs: tuple[Input, ...]
    by_position: bool

    @classmethod
    def of(cls, model: SurvivalEstimator, table: TableFile, aside: Collection[str]) -> ModelInputs:
        """Find the columns of a model in a table; those `aside` may be there beside them."""
        # What columns become is known to the model within a model of a model.
        model = innermost(model)
        features = _features(model)
        strata, plans = _strata(model, features), _plans(model, features)
        names = [str(key) for key in plans]
        if not features.named:
            names = _by_position(table, len(plans), aside)
        inputs = [
            Input(
                key,
                # What the model leaves out need not even be there.
                None if isinstance(plan, LeftOut) and key not in strata else name,
                strata.get(key, isinstance(plan, Levels) and _is_text(plan.levels)),
                plan,
            )
            for (key, plan), name in zip(plans.items(), names, strict=True)
        ]
        _require_all(table, [own.name for own in inputs if own.name is not None])
        return cls(features, tuple(inputs), not features.named)

    @property
    def numbers(self) -> list[str]:
        """Columns of the table to read as numbers."""
        return [own.name for own in self.inputs if own.name is not None and not own.text]

    @property
    def text(self) -> list[str]:
        """Columns of the table to read as text."""
        return [own.name for own in self.inputs if own.name is not None and own.text]

    def frame(self, x: dict[str, NDArray[Any]], rows: int) -> dict[Any, NDArray[Any]]:
        """A table as the model takes it, from columns of a block."""
        import numpy as np

        nothing = np.broadcast_to(np.float64(np.nan), (rows,))
        return {own.key: nothing if own.name is None else x[own.name] for own in self.inputs}

    def outside(self, x: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.bool_]]:
        """For each column with a plan, the rows beyond what training had shown."""
        return {
            own.name: own.plan.outside(x[own.name], own.name)
            for own in self.inputs
            if own.name is not None and own.plan is not None
        }

    def without_gaps(self) -> dict[str, str]:
        """Columns that had no gaps in training, and what becomes of those that are there now."""
        return {
            own.name: own.plan.gap_rule
            for own in self.inputs
            if own.name is not None and isinstance(own.plan, (Number, Levels)) and not own.plan.gaps
        }


def data_columns(table: TableFile) -> list[str]:
    """Columns of a table but those without a name, which number the rows."""
    return [name for name in table.names if not _ROW_NAMES.fullmatch(name)]


def _features(model: SurvivalEstimator) -> Features:
    known = vars(model)
    found = known["design_"].features if "design_" in known else known.get("features_")
    if found is None:
        raise DataError("the model was trained with an encoder and not on a table: predict with it in Python.")
    features: Features = found
    return features


def _strata(model: SurvivalEstimator, features: Features) -> dict[str | int, bool]:
    """Columns that are strata, and whether their levels are text."""
    known = vars(model)
    if "design_" in known:
        columns, strata = known["design_"].columns, known["design_"].strata
        names = features.names_in
        columns = [names[column] if names and isinstance(column, int) else column for column in columns]
    else:
        from aldsurv.models.strata import strata_from_array

        columns = known.get("settings_", {}).get("strata", ())
        strata = strata_from_array(known["learned_"]["strata"], len(columns)) if columns else ()
    return {column: _is_text([row[k] for row in strata]) for k, column in enumerate(columns)}


def _plans(model: SurvivalEstimator, features: Features) -> dict[str | int, ColumnPlan | None]:
    """All columns of the model's table in its order, and what was learned of those that are covariates."""
    own: dict[str | int, ColumnPlan | None] = {
        plan.name if features.named else position: plan for position, plan in enumerate(features.columns)
    }
    beside = [column for column in _strata(model, features) if column not in own or "design_" not in vars(model)]
    if not beside:
        return own
    if features.named:
        if any(isinstance(column, int) for column in beside):
            raise DataError("the model has strata by number beside columns with names: predict with it in Python.")
        return {**own, **dict.fromkeys(beside)}
    rest = iter(features.columns)
    return {k: None if k in beside else next(rest) for k in range(len(own) + len(beside))}


def _is_text(levels: Sequence[Any]) -> bool:
    return any(isinstance(level, str) for level in levels)


def _by_position(table: TableFile, count: int, aside: Collection[str]) -> list[str]:
    names = data_columns(table)
    rest = [name for name in names if name not in aside]
    for candidates in (names, rest):
        if len(candidates) == count:
            return candidates
    raise DataError(
        f"{str(table.path)!r} has {len(rest)} columns to predict from ({listed(rest, 12)}), but the model, which has "
        f"no names of columns, was trained on {count}. Give a table with these {count} in the order of training."
    )


def _require_all(table: TableFile, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table.names]
    if missing:
        unused = [name for name in data_columns(table) if name not in names]
        near = get_close_matches(missing[0], unused, n=1, cutoff=0.5)
        hint = f"Is it {quoted(near[0])}? Rename it." if near else f"Columns: {listed(data_columns(table), 12)}."
        raise UnknownNameError(f"{str(table.path)!r} has no column {listed(missing, 5)}, which the model needs. {hint}")
    for name in names:
        table.require(name)
