"""How the columns of a block become covariates and an outcome, the same in every part of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.event_columns import column_values
from aldsurv.data.frame_columns import Column, number_column
from aldsurv.data.rows.row_checks import require_rows
from aldsurv.data.survival_data import SurvivalData

__all__ = ["BlockReading"]


@final
@dataclass(frozen=True)
class BlockReading:
    """Which columns are read, and what they are.

    Attributes
    ----------
    covariates
        Columns of covariates.
    roles
        Columns of the outcome by the argument that names them; empty: there is none.
    codes, causes
        What each value of the column of events stands for: 0 for censored, 1 for the event, or the number of its
        cause, and the names of causes. None: the column holds bools or 0 and 1.
    unit, date_format
        Of times between dates.
    missing
        Values that stand for gaps.
    """

    covariates: tuple[str, ...]
    roles: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[Any, int] | None = None
    causes: tuple[str, ...] | None = None
    unit: str | None = None
    date_format: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All columns to read."""
        return [*self.covariates, *self.roles.values()]

    def outcome(self, columns: Mapping[str, NDArray[Any]]) -> SurvivalData | None:
        """The outcome of the rows of some columns; None if there is none."""
        if not self.roles:
            return None
        frame: dict[str, NDArray[Any]] = {name: columns[name] for name in self.roles.values()}
        roles: dict[str, Any] = dict(self.roles)
        if self.codes is not None:
            name = roles["event"]
            frame[name] = self._coded(frame[name], name)
            if self.causes is not None:
                roles |= {"cause": roles.pop("event"), "names": list(self.causes)}
        weight = roles.pop("weight", None)
        data = SurvivalData.from_frame(frame, unit=self.unit, date_format=self.date_format, **roles)
        if weight is None:
            return data
        # In a part all weights may be 0, which is an error of whole tables only.
        column = Column(frame[weight], "weight", weight)
        weights = number_column(column)
        require_rows(np.isfinite(weights) & (weights >= 0), column, "finite and not negative", {"": weights})
        return SurvivalData.from_checked(*data.columns._replace(weight=weights))

    def _coded(self, values: NDArray[Any], name: str) -> NDArray[Any]:
        """Bools, or numbers of causes; gaps that stand for nothing stay gaps, which are refused with their row."""
        codes = self.codes or {}
        kind: type = np.bool_ if self.causes is None else np.int64
        items = column_values(Column(values, "event", name))
        # A value that was not there when the table was opened is no event, as one beside the named ones.
        coded = [codes.get(item, None if item is None else 0) for item in items]
        if any(code is None for code in coded):
            return np.array([None if code is None else kind(code) for code in coded], object)
        return np.array(coded, np.int64).astype(kind)
