"""Results of a long comparison as lines of JSON: what is there already is not computed again."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

__all__ = ["complete_journal"]

Line = dict[str, Any]


def complete_journal(
    file: Path, keys: tuple[str, str], cells: Iterable[tuple[str, str]], compute: Callable[[str, str], list[Line]]
) -> list[Line]:
    """All lines of a journal, after those of the missing cells were computed and added.

    Parameters
    ----------
    file
        The journal; made if it is not there.
    keys
        The two entries of a line that say to which cell it belongs.
    cells
        All cells.
    compute
        Gives the lines of a cell.
    """
    lines: list[Line] = []
    if file.exists():
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    done = {(line[keys[0]], line[keys[1]]) for line in lines}
    for cell in cells:
        if cell in done:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            new = compute(*cell)
        lines += new
        with file.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in new)
    return lines
