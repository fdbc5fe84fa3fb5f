"""Columns of Arrow as numpy arrays, filled as they are read, so that no table is in memory twice."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError, MissingDependencyError

__all__ = ["ColumnBuilder", "import_arrow", "kind_of_type", "open_arrow_file", "piece_values"]

# Segments grow up to a size that allocators get from the system and give back to it.
_FIRST_SEGMENT, _LARGEST_SEGMENT = 1 << 14, 1 << 22


def import_arrow(module: str) -> Any:
    """A module of pyarrow, imported when a table is read."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingDependencyError(
            'read_table needs pyarrow, which is not installed: pip install "aldsurv[tables]"'
        ) from None


def open_arrow_file(path: Path) -> Any:
    """A file for Arrow to read, whose name may be of any bytes: Arrow itself takes UTF-8 only."""
    return import_arrow("pyarrow").OSFile(os.fsencode(path), "rb")


def piece_values(piece: Any, name: str) -> NDArray[Any]:
    """An array of Arrow as numpy has it, of the column `name`: what `ColumnBuilder` makes of one piece."""
    builder = ColumnBuilder(piece.type, name)
    builder.add(piece)
    return builder.finish()


def kind_of_type(kind: Any) -> str:
    """What a type of Arrow holds: "numbers" (bools among them), "text", "dates", "nothing", or the type's name."""
    types = import_arrow("pyarrow.types")
    if types.is_dictionary(kind):
        return kind_of_type(kind.value_type)
    if _is_text(kind):
        return "text"
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(test(kind) for test in numbers):
        return "numbers"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "dates"
    return "nothing" if types.is_null(kind) else str(kind)


@final
class ColumnBuilder:
    """A column that comes in pieces.

    Parameters
    ----------
    kind
        Its type in Arrow.
    name
        The name of the column.
    """

    def __init__(self, kind: Any, name: str) -> None:
        self._kind, self._name = kind, name
        types = import_arrow("pyarrow.types")
        self._is_number = types.is_integer(kind) or types.is_float32(kind) or types.is_float64(kind)
        self._pieces: list[Any] = []
        # Of numbers the pieces are segments, of which the last has room left.
        self._used = 0

    @property
    def is_codes(self) -> bool:
        """Whether its type says that the values are categories."""
        return bool(import_arrow("pyarrow.types").is_dictionary(self._kind))

    def add(self, piece: Any) -> None:
        """Append an array of Arrow; numbers are copied, so that it can be freed."""
        if not self._is_number:
            self._pieces.append(_encoded(piece))
            return
        # Gaps make floating-point numbers of whole ones.
        values = piece.to_numpy(zero_copy_only=False)
        while values.size:
            if not self._pieces or self._used == self._pieces[-1].size or self._pieces[-1].dtype != values.dtype:
                self._open_segment(values)
            count = min(values.size, self._pieces[-1].size - self._used)
            self._pieces[-1][self._used : self._used + count] = values[:count]
            self._used += count
            values = values[count:]

    def finish(self) -> NDArray[Any]:
        """Numbers (gaps are NaN), bools, dates, or objects: text, and None for gaps."""
        pieces, self._pieces = self._pieces, []
        if not self._is_number:
            chunked = import_arrow("pyarrow").chunked_array
            # What was encoded has another type than the column.
            return _numpy(chunked(pieces, type=pieces[0].type if pieces else self._kind), self._name)
        if pieces:
            pieces[-1] = pieces[-1][: self._used]
        dtype = np.result_type(*pieces) if pieces else np.dtype(np.float64)
        values = np.empty(sum(piece.size for piece in pieces), dtype)
        end = values.size
        while pieces:
            piece = pieces.pop()
            values[end - piece.size : end] = piece
            end -= piece.size
        return values

    def _open_segment(self, values: NDArray[Any]) -> None:
        if self._pieces:
            self._pieces[-1] = self._pieces[-1][: self._used]
        so_far = sum(piece.size for piece in self._pieces)
        size = min(max(so_far, _FIRST_SEGMENT), _LARGEST_SEGMENT)
        # A column that ends with its first piece needs no more room than that.
        self._pieces.append(np.empty(size if so_far else max(values.size, 1), values.dtype))
        self._used = 0


def _encoded(piece: Any) -> Any:
    """Text as codes, which is less."""
    return piece.dictionary_encode() if _is_text(piece.type) else piece


def _is_text(kind: Any) -> bool:
    types = import_arrow("pyarrow.types")
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _numpy(column: Any, name: str) -> NDArray[Any]:
    types = import_arrow("pyarrow.types")
    kind = column.type
    values = kind.value_type if types.is_dictionary(kind) else kind
    if _is_text(values):
        return _objects(column)
    if types.is_dictionary(kind):
        return _numpy(column.cast(values), name)
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_decimal(kind) or types.is_float16(kind):
        return _numpy(column.cast("float64"), name)
    plain = (types.is_integer, types.is_floating, types.is_boolean, types.is_date, types.is_timestamp)
    if not any(test(kind) for test in (*plain, types.is_duration)):
        raise DataError(
            f"the column holds {kind}, which is neither numbers nor text",
            argument="drop",
            column=name,
            advice="Leave the column out by drop, or convert it.",
        )
    array: NDArray[Any] = column.to_numpy()
    return array


def _objects(column: Any) -> NDArray[Any]:
    """Text as objects, each different one only once in memory, and None for gaps."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if encoded.num_chunks == 0:
        return np.empty(0, object)
    levels = np.array([*encoded.chunk(0).dictionary.to_pylist(), None], object)
    codes = [chunk.indices.fill_null(len(levels) - 1).to_numpy(zero_copy_only=False) for chunk in encoded.chunks]
    texts: NDArray[Any] = levels[np.concatenate(codes)]
    return texts
