"""What the zip archive of an Excel file says about it before its cells are read: size, formulas, merged cells."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, final
from xml.etree import ElementTree

from aldsurv.errors import DataError

__all__ = ["MergedCells", "SheetContent", "check_archive", "is_excel", "scan_sheet"]

_WORKBOOK, _RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
# A million rows of twenty numbers take less; the texts of all cells, and formats, are in memory as a whole.
_MOST_BYTES, _MOST_BYTES_OF_OTHERS = 1 << 31, 1 << 28
# Tables shrink to a tenth; what shrinks to less than a hundredth is made to fill the memory.
_MOST_SHRUNK, _LEAST_SUSPICIOUS = 100, 1 << 26
_CHUNK, _OVERLAP = 1 << 20, 200
_MOST_MERGED = 100_000
_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
_CACHED = re.compile(rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^<>]*/>)\s*<(?:\w+:)?v>[^<]")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"')


@final
class MergedCells(NamedTuple):
    """A rectangle of cells with one value: first and last row and column, counted from 1."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int
    reference: str


@final
class SheetContent(NamedTuple):
    """Whether a sheet holds formulas, whether any has its value beside it, and the cells that are merged."""

    has_formulas: bool
    has_values: bool
    merged: tuple[MergedCells, ...]


def is_excel(path: Path) -> bool:
    """Whether a zip archive is an Excel file; raises `DataError` for other archives."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        problem = f"{str(path)!r} begins like a zip or Excel file, but is damaged"
        raise DataError(problem, argument="path", advice="Copy or save it again.") from None
    if _WORKBOOK in names:
        return True
    kind = "a binary Excel file" if "xl/workbook.bin" in names else "a zip file"
    kind = "an OpenDocument file" if "mimetype" in names and "content.xml" in names else kind
    advice = "Unpack it first." if kind == "a zip file" else "Save the table as .xlsx or CSV."
    raise DataError(f"{str(path)!r} is not a table but {kind}", argument="path", advice=advice)


def check_archive(path: Path) -> None:
    """Raise `DataError` for an archive that would take too much memory or time: it may come from anyone.

    The sizes that are read here also bound what is unpacked later.
    """
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    total = sum(entry.file_size for entry in entries)
    others = sum(entry.file_size for entry in entries if not entry.filename.startswith("xl/worksheets/"))
    packed = max(sum(entry.compress_size for entry in entries), 1)
    suspicious = total > _LEAST_SUSPICIOUS and total > _MOST_SHRUNK * packed
    if total > _MOST_BYTES or others > _MOST_BYTES_OF_OTHERS or suspicious:
        raise DataError(
            f"{str(path)!r} is an Excel file of {total / 1e6:.0f} MB when it is unpacked, which is too much",
            argument="path",
            advice="Save the sheet as CSV.",
        )


def scan_sheet(path: Path, title: str) -> SheetContent:
    """Look through the cells of a sheet for what openpyxl does not report when it reads row by row."""
    has_formulas = has_values = False
    merged: dict[str, MergedCells] = {}
    with zipfile.ZipFile(path) as archive:
        for text in _pieces(archive, _member(archive, title)):
            has_formulas = has_formulas or _FORMULA.search(text) is not None
            has_values = has_values or (has_formulas and _CACHED.search(text) is not None)
            for match in _MERGED.finditer(text):
                first, top, last, bottom = (part.decode() for part in match.groups())
                reference = f"{first}{top}:{last}{bottom}"
                merged[reference] = MergedCells(int(top), _number(first), int(bottom), _number(last), reference)
            if len(merged) > _MOST_MERGED:
                problem = f"{str(path)!r} has more than {_MOST_MERGED} merged cells"
                raise DataError(problem, argument="path", advice="Save the sheet as CSV.")
    return SheetContent(has_formulas, has_values, tuple(merged.values()))


def _pieces(archive: zipfile.ZipFile, member: str) -> Iterator[bytes]:
    """The text piece by piece, each with the end of the one before, so that nothing is cut."""
    with archive.open(member) as file:
        end = b""
        while chunk := file.read(_CHUNK):
            yield end + chunk
            end = chunk[-_OVERLAP:]


def _member(archive: zipfile.ZipFile, title: str) -> str:
    """The part of the archive that holds a sheet."""
    try:
        sheets = ElementTree.fromstring(archive.read(_WORKBOOK))  # noqa: S314 - expat limits what entities expand to
        relations = ElementTree.fromstring(archive.read(_RELATIONS))  # noqa: S314
    except (ElementTree.ParseError, KeyError, zlib.error, zipfile.BadZipFile):
        return ""
    identifiers = [
        value
        for element in sheets.iter()
        if element.tag.endswith("}sheet") and element.get("name") == title
        for key, value in element.items()
        if key.endswith("}id")
    ]
    targets = [element.get("Target", "") for element in relations.iter() if element.get("Id") in identifiers]
    return posixpath.normpath(posixpath.join("xl", targets[0])).lstrip("/") if targets else ""


def _number(letters: str) -> int:
    """Number of a column, from 1 on: A is 1, AA is 27."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
