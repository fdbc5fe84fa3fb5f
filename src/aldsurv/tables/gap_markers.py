"""Values that a user named as gaps, in columns of any type, and which of them occur."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import is_numeric_text
from aldsurv.tables.arrow_columns import import_arrow

__all__ = ["GapMarkers"]


@final
class GapMarkers:
    """Values that stand for gaps: by their text, in columns of numbers by the number, in columns of dates by the day.

    Parameters
    ----------
    texts
        The values as they are typed: ``"-9"``, ``"unknown"``, ``"1900-01-01"``.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(dict.fromkeys(text.strip() for text in texts))
        self._numbers = {text: float(text) for text in self.texts if is_numeric_text(text)}
        self._days = {text: day for text in self.texts if (day := _day(text)) is not None}
        self._seen: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.texts)

    @property
    def unseen(self) -> list[str]:
        """Those that did not occur in what was read."""
        return [text for text in self.texts if text not in self._seen]

    def look_for_text(self, piece: Any) -> None:
        """Notice which of them occur in an Arrow array of text."""
        if not self.unseen:
            return
        arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
        trimmed = compute.utf8_trim_whitespace(piece)
        met = compute.filter(trimmed, compute.is_in(trimmed, value_set=arrow.array(self.unseen, trimmed.type)))
        self._seen.update(compute.unique(met).to_pylist())

    def without(self, values: NDArray[Any]) -> NDArray[Any]:
        """A column with gaps where these values stand: NaN among numbers, NaT among dates, None among objects."""
        if values.dtype == object:
            return self._objects_without(values)
        if values.dtype.kind == "M":
            return self._dates_without(values)
        if values.dtype.kind not in "iuf":
            return values
        for text, number in self._numbers.items():
            same = values == number
            if same.any():
                self._seen.add(text)
                values = np.where(same, np.nan, values.astype(np.result_type(values.dtype, np.float32)))
        return values

    def _dates_without(self, values: NDArray[Any]) -> NDArray[Any]:
        days = values.astype("datetime64[D]")
        for text, day in self._days.items():
            same = days == day
            if same.any():
                self._seen.add(text)
                values = np.where(same, np.datetime64("NaT"), values)
        return values

    def _objects_without(self, values: NDArray[Any]) -> NDArray[Any]:
        texts, numbers = set(self.texts), {number: text for text, number in self._numbers.items()}
        readings: dict[Any, Any] = {}
        for value in dict.fromkeys(values.tolist()):
            # A bool equals 0 or 1, but is not meant by them.
            met = None if isinstance(value, bool) else numbers.get(value)
            met = value.strip() if isinstance(value, str) and value.strip() in texts else met
            if met is not None:
                self._seen.add(met)
                readings[value] = None
        if not readings:
            return values
        return np.array([readings.get(value, value) for value in values.tolist()], object)


def _day(text: str) -> np.datetime64 | None:
    try:
        day = np.datetime64(text, "D")
    except ValueError:
        return None
    return None if np.isnat(day) or is_numeric_text(text) else day
