"""Tables in sheets of Excel files."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import is_whole_number, listed
from aldsurv.errors import (
    AldsurvError,
    DataError,
    MissingDependencyError,
    ParameterError,
    SheetWarning,
    UnknownNameError,
)
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import ColumnBuilder, import_arrow
from aldsurv.tables.excel_archive import MergedCells, check_archive, scan_sheet
from aldsurv.tables.excel_cells import GAPS, cell_text, typed_column
from aldsurv.tables.gap_markers import GapMarkers
from aldsurv.tables.parse_numbers import parse_numbers
from aldsurv.tables.table_file import ArrowBatch, TableFile
from aldsurv.tables.text_column import text_numbers

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

__all__ = ["ExcelFile"]

Cells = Sequence[Any]

# What Excel allows: more rows, or longer text, are not written by it.
_MOST_ROWS, _LONGEST_TEXT = 1 << 20, 1 << 15
# Rows that show which columns without a name hold anything, and whether the first one is the header.
_SAMPLE = 100
_AT_ONCE = 256


class _Header(NamedTuple):
    """Row of the header counted from 1, names of the columns, and their places counted from 0."""

    row: int
    names: list[str]
    places: list[int]


@final
class ExcelFile(TableFile):
    """A sheet of an Excel file; its size is the number of its rows.

    Parameters
    ----------
    path
        The file.
    missing
        Values that stand for gaps.
    decimal
        Decimal mark of numbers that are stored as text.
    sheet
        Name or number of the sheet, from 1 on; None: the first that holds anything.
    """

    def __init__(self, path: Path, missing: GapMarkers, *, decimal: str | None, sheet: str | int | None) -> None:
        self.path, self.missing, self._decimal = path, missing, decimal or "."
        self._gaps = [*GAPS, *missing.texts]
        check_archive(path)
        self._workbook = self._open()
        self._sheet = self._chosen_sheet(sheet)
        try:
            content = scan_sheet(path, self._sheet.title)
        except Exception as error:
            raise self._damage(error) from None
        if content.has_formulas and not content.has_values:
            raise DataError(
                f"{str(path)!r} holds formulas without their values",
                argument="path",
                advice="Open it in Excel or LibreOffice and save it, or save the sheet as CSV.",
            )
        self.size = min(self._sheet.max_row or 0, _MOST_ROWS)
        # Dimensions that other programs write may be wrong.
        self._sheet.reset_dimensions()
        self._header = self._read_header()
        self.names = self._header.names
        self._merged = self._merged_in_rows(content.merged)

    @property
    def description(self) -> str:
        """The format, and the name of the sheet."""
        return f"Excel, sheet {quoted(self._sheet.title)}"

    def columns(self, names: Sequence[str], *, as_text: Collection[str]) -> Iterator[tuple[str, ColumnBuilder]]:
        """Whole columns in the types that all their cells have; each is forgotten here when it is handed out."""
        cells: dict[str, list[Any]] = {name: [] for name in names}
        places = [self.names.index(name) for name in names]
        for _, row in self._rows():
            for column, place in zip(cells.values(), places, strict=True):
                column.append(row[place])
        for name in names:
            array = typed_column(self._without_markers(cells.pop(name)), self._decimal, as_text=name in as_text)
            builder = ColumnBuilder(array.type, name)
            builder.add(array)
            yield name, builder

    def as_numbers(self, values: NDArray[Any], name: str, *, mixed: bool) -> NDArray[Any]:
        """A column of text as numbers if all of it is, and if `mixed`, those of its values that are."""
        return parse_numbers(values, name, self._decimal, mixed=mixed)

    def line_of(self, row: int) -> int | None:
        """Row of the sheet, counted from 1."""
        return next((number for place, (number, _) in enumerate(self._rows()) if place == row), None)

    def _without_markers(self, cells: list[Any]) -> list[Any]:
        """The cells with gaps for values that stand for them, before it is seen which type all cells have."""
        if not self.missing:
            return cells
        objects = np.empty(len(cells), object)
        objects[:] = cells
        without: list[Any] = self.missing.without(objects).tolist()
        return without

    def _batches(self, names: Sequence[str], rows: int) -> Iterator[ArrowBatch]:
        places = [self.names.index(name) for name in names]
        batch: list[Cells] = []
        number = 0
        for number, row in self._rows():
            batch.append(row)
            if len(batch) == rows:
                yield self._batch(names, places, batch, number)
                batch = []
        if batch:
            yield self._batch(names, places, batch, number)

    def _batch(self, names: Sequence[str], places: Sequence[int], rows: Sequence[Cells], number: int) -> ArrowBatch:
        arrow = import_arrow("pyarrow")
        arrays = {
            name: arrow.array([cell_text(row[place], self._decimal) for row in rows], arrow.string())
            for name, place in zip(names, places, strict=True)
        }
        return ArrowBatch(arrays, len(rows), min(number, self.size))

    def _values(self, piece: Any, name: str, *, number: bool) -> NDArray[Any]:
        self.missing.look_for_text(piece)
        if number:
            return self.missing.without(text_numbers(piece, name, self._decimal, self._gaps))
        arrow, compute = import_arrow("pyarrow"), import_arrow("pyarrow.compute")
        gaps = compute.is_in(compute.utf8_trim_whitespace(piece), value_set=arrow.array(self._gaps))
        builder = ColumnBuilder(piece.type, name)
        builder.add(compute.if_else(gaps, arrow.scalar(None, piece.type), piece))
        return builder.finish()

    # ---- sheets and rows

    def _open(self) -> Workbook:
        try:
            from openpyxl import load_workbook
        except ImportError:
            raise MissingDependencyError(
                'Excel files need openpyxl, which is not installed: pip install "aldsurv[excel]"'
            ) from None
        # By its content, for openpyxl refuses names with other endings.
        file = self.path.open("rb")
        weakref.finalize(self, file.close)
        try:
            with _without_warnings():
                return load_workbook(file, read_only=True, data_only=True)
        except Exception as error:
            raise self._damage(error) from None

    def _chosen_sheet(self, sheet: str | int | None) -> Any:
        # A sheet that is a chart has no cells.
        sheets = list(self._workbook.worksheets)
        titles = [each.title for each in sheets]
        if isinstance(sheet, str) and sheet in titles:
            return sheets[titles.index(sheet)]
        number = int(sheet) if isinstance(sheet, str) and sheet.isdecimal() else sheet
        if is_whole_number(number) and not isinstance(number, str) and number is not None:
            if 1 <= number <= len(sheets):
                return sheets[int(number) - 1]
            raise UnknownNameError(
                f"{str(self.path)!r} has no sheet {number}: they are numbered from 1 to {len(sheets)}",
                argument="sheet",
                advice=f"Sheets: {listed(titles, 8)}.",
            )
        if isinstance(sheet, str):
            near = get_close_matches(sheet, titles, n=1, cutoff=0.5)
            hint = f"Did you mean {quoted(near[0])}? " if near else ""
            raise UnknownNameError(
                f"{str(self.path)!r} has no sheet {quoted(sheet)}",
                argument="sheet",
                suggestion=near[0] if near else None,
                advice=f"{hint}Sheets: {listed(titles, 8)}.",
            )
        if sheet is not None:
            raise ParameterError(
                f"sheet must be a name or a number from 1 on, but is {quoted(sheet)}.", argument="sheet"
            )
        visible = sorted(sheets, key=lambda each: each.sheet_state != "visible")
        first = next((each for each in visible if self._has_cells(each)), None)
        if first is None:
            raise DataError(
                f"{str(self.path)!r} is empty", argument="path", advice="Give a table with a header and rows."
            )
        others = [title for title in titles if title != first.title]
        if others:
            problem = (
                f"{str(self.path)!r} has {len(sheets)} sheets, of which {quoted(first.title)} is read; not read: "
                f"{listed(others, 8)}."
            )
            warnings.warn(SheetWarning(problem), stacklevel=6)
        return first

    def _has_cells(self, sheet: Any) -> bool:
        sheet.reset_dimensions()
        return any(_is_filled(row) for row in self._safely(sheet.iter_rows(values_only=True)))

    def _all_rows(self) -> Iterator[tuple[int, Cells]]:
        """Rows of the sheet that hold anything, with their numbers."""
        for number, row in enumerate(self._safely(self._sheet.iter_rows(values_only=True)), start=1):
            if number > _MOST_ROWS:
                raise DataError(
                    f"{str(self.path)!r} has cells below row {_MOST_ROWS}, the last that Excel has",
                    argument="path",
                    advice="Save the sheet as CSV.",
                )
            if _is_filled(row):
                yield number, row

    def _rows(self) -> Iterator[tuple[int, Cells]]:
        """Rows below the header that hold anything in its columns, and their numbers in the sheet."""
        first, _, places = self._header
        merged = _MergedValues(self._merged)
        for number, row in self._all_rows():
            if number > first:
                full = merged.fill(number, row) if self._merged else row
                cells = [full[place] if place < len(full) else None for place in places]
                if _is_filled(cells):
                    self._require_short(number, cells)
                    yield number, cells

    def _require_short(self, number: int, cells: Cells) -> None:
        for place, cell in enumerate(cells):
            if isinstance(cell, str) and len(cell) > _LONGEST_TEXT:
                raise DataError(
                    f"{str(self.path)!r} has a cell of {len(cell)} characters, and Excel allows {_LONGEST_TEXT}",
                    argument="path",
                    column=self.names[place],
                    line=number,
                    advice="Shorten it, or drop the column.",
                )

    def _read_header(self) -> _Header:
        rows: list[tuple[int, Cells]] = []
        for number, row in self._all_rows():
            rows.append((number, row))
            if len(rows) == _SAMPLE:
                break
        if not rows:
            raise DataError(
                f"{str(self.path)!r}: the sheet {quoted(self._sheet.title)} is empty",
                argument="sheet",
                advice="Give a table with a header and rows.",
            )
        (first, header), below = rows[0], rows[1:]
        named = sum(map(_holds_something, header))
        widest, most = max(
            ((number, sum(map(_holds_something, row))) for number, row in rows), key=lambda pair: pair[1]
        )
        if most > 1 and 2 * named <= most:
            value = next(cell for cell in header if _holds_something(cell))
            raise DataError(
                f"{str(self.path)!r}: the first row that holds anything, row {first}, cannot be the header: it has "
                f"{named} cell{'s' * (named != 1)} ({quoted(str(value), 40)}), but row {widest} has {most}",
                argument="sheet",
                advice="Delete the rows above the header.",
            )
        width = max(len(row) for _, row in rows)
        names, places = [], []
        for place in range(width):
            cell = header[place] if place < len(header) else None
            name = (cell_text(cell, ".") or "").strip()
            if name or any(place < len(row) and _holds_something(row[place]) for _, row in below):
                names.append(name)
                places.append(place)
        return _Header(first, names, places)

    def _merged_in_rows(self, merged: Sequence[MergedCells]) -> list[MergedCells]:
        """Merged cells below the header, with a warning; among the names of columns they are refused."""
        row, columns = self._header.row, {place + 1 for place in self._header.places}
        inside = [
            cells
            for cells in merged
            if cells.last_row >= row and columns & set(range(cells.first_column, min(cells.last_column, 1 << 14) + 1))
        ]
        if not inside:
            return []
        for cells in inside:
            if cells.first_row <= row:
                raise DataError(
                    f"{str(self.path)!r} has merged cells in its header ({cells.reference})",
                    argument="sheet",
                    advice="Give each column a cell with its name, in one row.",
                )
        shown = ", ".join(cells.reference for cells in inside[:5])
        more = f" and {len(inside) - 5} more" if len(inside) > 5 else ""
        warnings.warn(
            f"{str(self.path)!r} has merged cells ({shown}{more}): the value of each holds for all its rows.",
            stacklevel=6,
        )
        return sorted(inside)

    def _safely(self, rows: Iterator[Any]) -> Iterator[Any]:
        """The rows; what is wrong with them as an error of ours."""
        while True:
            try:
                with _without_warnings():
                    some = list(islice(rows, _AT_ONCE))
            except Exception as error:
                raise self._damage(error) from None
            if not some:
                return
            yield from some

    def _damage(self, error: Exception) -> Exception:
        if isinstance(error, (MemoryError, AldsurvError)):
            return error
        cause = " ".join(str(error).split())[:200] or type(error).__name__
        return DataError(
            f"{str(self.path)!r} begins like an Excel file, but is damaged ({cause})",
            argument="path",
            advice="Save it again, or save the sheet as CSV.",
        )


class _MergedValues:
    """Values of merged cells, which stand in their first one only."""

    def __init__(self, merged: Sequence[MergedCells]) -> None:
        self._waiting = list(reversed(merged))
        self._open: list[tuple[MergedCells, Any]] = []

    def fill(self, number: int, row: Cells) -> Cells:
        """A row with the values of the merged cells that it is part of."""
        while self._waiting and self._waiting[-1].first_row <= number:
            cells = self._waiting.pop()
            value = row[cells.first_column - 1] if cells.first_column <= len(row) else None
            if cells.first_row == number:
                self._open.append((cells, value))
        self._open = [(cells, value) for cells, value in self._open if cells.last_row >= number]
        if not self._open:
            return row
        filled = list(row)
        for cells, value in self._open:
            filled += [None] * (cells.last_column - len(filled))
            for place in range(cells.first_column - 1, cells.last_column):
                filled[place] = value
        return filled


def _holds_something(cell: object) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def _is_filled(row: Cells) -> bool:
    return any(map(_holds_something, row))


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Leave out what openpyxl says about formats that do not concern the values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
