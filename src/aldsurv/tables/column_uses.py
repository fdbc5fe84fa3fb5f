"""What each column of a table is used as, by what the user named."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from aldsurv.data.frame_columns import require_column
from aldsurv.errors import ColumnWarning, DataError, ParameterError, UnknownNameError
from aldsurv.quoting import quoted
from aldsurv.tables.table import TableColumn
from aldsurv.tables.table_file import is_row_name, repeated_name_error

__all__ = ["ColumnUses", "check_roles", "require_list_of_text"]

_PAIRS = (["time", "event"], ["lower", "upper"], ["event", "id", "start", "stop"], ["event", "start", "end"])
_NUMBER = re.compile(r"\s*[+-]?[0-9]*[.,]?[0-9]+\s*")


@final
@dataclass(frozen=True)
class ColumnUses:
    """What becomes of each column.

    Attributes
    ----------
    roles
        Columns of the outcome by the argument that names them.
    categorical
        Columns whose values are codes.
    columns
        Every column of the file and its use.
    """

    roles: dict[str, str]
    categorical: tuple[str, ...]
    columns: tuple[TableColumn, ...]

    @classmethod
    def of(
        cls,
        all_names: Sequence[str],
        label: str,
        roles: dict[str, str],
        drop: Sequence[str],
        categorical: Sequence[str],
    ) -> ColumnUses:
        """The uses of the columns of a table called `label` in messages, by what the user named."""
        arguments = [
            *roles.items(),
            *(("drop", name) for name in drop),
            *(("categorical", name) for name in categorical),
        ]
        for argument, name in arguments:
            _require_name(all_names, label, name, argument)
        named = {*roles.values(), *categorical}
        role_of = {name: role for role, name in roles.items()}
        columns = []
        for position, name in enumerate(all_names):
            left_out = name in drop
            if not left_out and name not in named and is_row_name(name):
                left_out = True
                if position and not name.strip():
                    message = f"{label!r}: column {position + 1} has no name and is left out."
                    warnings.warn(message, ColumnWarning, stacklevel=3)
            columns.append(TableColumn(name, "left out" if left_out else role_of.get(name, "feature")))
        uses = cls(roles, tuple(categorical), tuple(columns))
        names = uses.names
        if len(set(names)) < len(names):
            repeated = next(name for position, name in enumerate(names) if name in names[:position])
            raise repeated_name_error(
                repeated, all_names, label, "Rename one of them, or leave both out by drop.", "drop"
            )
        if not names:
            problem = f"{label!r} has no columns but those that are left out"
            raise DataError(problem, argument="drop", advice="Drop fewer.")
        return uses

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return [column.name for column in self.columns if column.use != "left out"]


def require_list_of_text(argument: str, names: Collection[object]) -> None:
    """Raise `ParameterError` unless an argument is a list of text."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"{argument} must be a list of text, but is {quoted(names)}.", argument=argument)


def _require_name(names: Sequence[str], label: str, name: str, argument: str) -> None:
    try:
        require_column(name, list(names), argument)
    except UnknownNameError as error:
        # Names that are numbers are mostly values.
        if not all(_NUMBER.fullmatch(name) for name in names):
            raise error.in_file(label) from None
        raise UnknownNameError(
            error.problem,
            argument=argument,
            file=label,
            suggestion=error.suggestion,
            advice=f"{error.advice} Has the file no header?",
        ) from None


def check_roles(roles: Mapping[str, str], event_value: object, drop: Sequence[str], *, owner: str) -> None:
    """Raise `ParameterError` unless the columns of the outcome are one of the sets that there are, or none."""
    pair = [role for role in roles if role not in ("entry", "weight", "group")]
    if pair not in _PAIRS and (pair or roles or event_value is not None):
        raise ParameterError(
            f"{owner} needs the columns time and event, lower and upper, start, end and event, or id, start, stop "
            f"and event, but got {' and '.join(pair) or 'none of them'}",
            argument=pair[0] if pair else "time",
            advice="Name one pair, such as time='months', event='status'.",
        )
    role_of: dict[str, str] = {}
    for role, name in roles.items():
        if not isinstance(name, str):
            raise ParameterError(f"{role} must be the name of a column, but is {quoted(name)}.", argument=role)
        if name in drop:
            problem = f"column {quoted(name)} cannot be both {role} and dropped"
            raise ParameterError(problem, argument="drop", advice="Take it out of drop.")
        if name in role_of:
            problem = f"{role_of[name]} and {role} must be different columns, but both are {quoted(name)}."
            raise ParameterError(problem, argument=role)
        role_of[name] = role
