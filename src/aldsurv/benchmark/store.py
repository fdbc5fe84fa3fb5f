"""Where results are kept: one SQLite file, to which a cell is added as a whole or not at all."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, final

from aldsurv.benchmark.plan import Cell, Plan
from aldsurv.benchmark.results import Curve, Result, Results, Series
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.quoting import quoted, shortened

__all__ = ["CellOutcome", "Store"]

_FILE = "results.sqlite"
_SECONDS_TO_WAIT = 120.0
_TABLES = """
create table if not exists about (name text primary key, value text not null) without rowid;
create table if not exists cells (
  cell text primary key, status text not null, error text, seconds_fit real, seconds_evaluate real
) without rowid;
create table if not exists results (
  cell text, seed integer, point text, metric text, value real, primary key (cell, seed, point, metric)
) without rowid;
create table if not exists curves (
  cell text, seed integer, kind text, expected text, observed text, primary key (cell, seed, kind)
) without rowid;
"""


_POINTS = ("", "mean", "median", "mode")
_KINDS = ("survival", "density")
_MOST_SEEDS = 10_000
# Squares of what is stored must be numbers, too.
_MOST_VALUE, _MOST_SECONDS, _MOST_SHARE = 1e150, 1e12, 1e6

Shares: TypeAlias = tuple[float, ...]


class _FlawError(Exception):
    """What is wrong with a file, as the rest of a sentence."""


@final
@dataclass(frozen=True)
class CellOutcome:
    """What became of a cell: its results, or the error that it ended with."""

    cell: Cell
    results: tuple[Result, ...] = ()
    curves: tuple[Curve, ...] = ()
    error: str | None = None
    seconds_fit: float = 0.0
    seconds_evaluate: float = 0.0


@final
class Store:
    """The results of one plan in a folder.

    Every call opens the file anew, so that a process may be killed at any time and several may write.

    Parameters
    ----------
    folder
        Made if it is not there.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.path = self.folder / _FILE

    def begin(self, plan: Plan, versions: dict[str, str]) -> None:
        """Make the file, or see that it belongs to the same plan and versions."""
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = {
            "plan": json.dumps(plan.to_plain(), sort_keys=True),
            "hash": plan.hash,
            "versions": json.dumps(versions, sort_keys=True),
        }
        with self._open(create=True) as file:
            tables = {name for (name,) in file.execute("select name from sqlite_master where type = 'table'")}
            if tables and "about" not in tables:
                raise DataError(f"{self.path} is a database of another program. Choose another folder.")
            file.executescript(_TABLES)
            file.execute("begin immediate")
            found = dict(file.execute("select name, value from about"))
            if not found:
                file.executemany("insert into about values (?, ?)", wanted.items())
        if found and found.get("hash") != wanted["hash"]:
            raise ParameterError(
                f"{self.folder} holds another benchmark (plan {str(found.get('hash'))[:12]}, this one is "
                f"{plan.hash[:12]}). Choose another folder, or ask for the same datasets, models and seeds."
            )
        if found and found.get("versions") != wanted["versions"]:
            raise ParameterError(
                f"{self.folder} was begun with other versions ({_listed(self.versions)}; here "
                f"{_listed(versions)}): numbers would not be comparable. Choose another folder."
            )

    @property
    def plan(self) -> Plan:
        """The plan of this folder."""
        with self._checked():
            return Plan.from_plain(_parsed(self._about("plan"), "plan"))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what computed the results."""
        with self._checked():
            found = _parsed(self._about("versions"), "versions")
            _require(isinstance(found, dict), "its versions are no list of names and versions")
            _require(all(isinstance(value, str) for value in found.values()), "a version is not text")
            return dict(found)

    def done(self) -> set[str]:
        """Names of the cells that have results."""
        with self._open() as file:
            return {str(name) for (name,) in file.execute("select cell from cells where status = 'done'")}

    def failed(self) -> dict[str, str]:
        """The error of each cell that failed."""
        with self._open() as file:
            rows = file.execute("select cell, error from cells where status = 'failed' order by cell").fetchall()
        return {str(cell): str(error) for cell, error in rows}

    def seconds(self) -> dict[str, tuple[float, float]]:
        """Seconds of each cell that has results: to fit all seeds, and to predict and evaluate."""
        with self._open() as file:
            rows = file.execute(
                "select cell, seconds_fit, seconds_evaluate from cells where status = 'done'"
            ).fetchall()
        with self._checked():
            for cell, *both in rows:
                known = all(isinstance(part, float) and 0 <= part < _MOST_SECONDS for part in both)
                _require(known, f"the seconds of {quoted(cell)} are {quoted(both)}")
        return {str(cell): (fit, evaluate) for cell, fit, evaluate in rows}

    def add(self, outcome: CellOutcome) -> None:
        """Keep what became of a cell; a success is never replaced by a failure."""
        name = outcome.cell.name
        with self._open() as file:
            file.execute("begin immediate")
            known = file.execute("select status from cells where cell = ?", (name,)).fetchone()
            if outcome.error is not None:
                if known != ("done",):
                    file.execute("insert or replace into cells values (?, 'failed', ?, 0, 0)", (name, outcome.error))
                return
            for table in ("results", "curves"):
                file.execute(f"delete from {table} where cell = ?", (name,))  # noqa: S608
            file.executemany(
                "insert into results values (?, ?, ?, ?, ?)",
                [(name, row.seed, row.point, row.metric, _stored(row.value)) for row in outcome.results],
            )
            file.executemany(
                "insert into curves values (?, ?, ?, ?, ?)",
                [(name, c.seed, c.kind, json.dumps(c.expected), json.dumps(c.observed)) for c in outcome.curves],
            )
            row = (name, outcome.seconds_fit, outcome.seconds_evaluate)
            file.execute("insert or replace into cells values (?, 'done', null, ?, ?)", row)

    def results(self) -> Results:
        """All results there are."""
        with self._open() as file:
            rows = file.execute("select cell, seed, point, metric, value from results").fetchall()
            curves = file.execute("select cell, seed, kind, expected, observed from curves").fetchall()
        with self._checked():
            series = {cell.name: cell.series for cell in self.plan.cells()}
            return Results(
                [Result(_series(cell, series), *_checked_value(*row)) for cell, *row in rows],
                [Curve(_series(cell, series), *_checked_curve(*row)) for cell, *row in curves],
            )

    def _about(self, name: str) -> Any:
        with self._open() as file:
            found = file.execute("select value from about where name = ?", (name,)).fetchone()
        if found is None:
            raise DataError(f"{self.path} says nothing of its {name}: it is no benchmark that has begun.")
        return found[0]

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """What is wrong with the content, said of the file."""
        try:
            yield
        except (_FlawError, ParameterError, UnknownNameError) as flaw:
            told = str(flaw).rstrip(".")
            raise DataError(f"{self.path} is damaged or was not written by aldsurv: {told}.") from None

    @contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are kept if nothing is raised."""
        if not create and not self.path.is_file():
            raise DataError(f"{self.folder} holds no benchmark. Begin one: aldsurv benchmark run --out {self.folder}.")
        try:
            with closing(sqlite3.connect(self.path, timeout=_SECONDS_TO_WAIT, isolation_level=None)) as file:
                yield file
                if file.in_transaction:
                    file.execute("commit")
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path} cannot be used: {error}. Choose another folder, or remove it.") from None


def _stored(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _require(holds: bool, flaw: str) -> None:
    if not holds:
        raise _FlawError(flaw)


def _parsed(text: object, name: str) -> Any:
    """What a JSON text holds."""
    try:
        return json.loads(text) if isinstance(text, str) else _require(False, f"its {name} cannot be read")
    except (ValueError, RecursionError):
        raise _FlawError(f"its {name} cannot be read") from None


def _series(cell: object, known: dict[str, Series]) -> Series:
    if not isinstance(cell, str) or cell not in known:
        raise _FlawError(f"it has results of {quoted(cell)}, which is no cell of its plan")
    return known[cell]


def _checked_value(seed: Any, point: Any, metric: Any, value: Any) -> tuple[int, str, str, float]:
    _require(isinstance(seed, int) and 0 <= seed < _MOST_SEEDS, f"it has results of the seed {quoted(seed)}")
    _require(isinstance(metric, str), f"it has results of the metric {quoted(metric)}")
    _require(isinstance(point, str) and point in _POINTS, f"it has results of the summary {quoted(point)}")
    # SQLite has no NaN.
    known = value is None or (isinstance(value, float) and (math.isinf(value) or abs(value) < _MOST_VALUE))
    _require(known, f"the {shortened(metric, 40)} of the seed {seed} is {quoted(value)}")
    return seed, point, metric, math.nan if value is None else value


def _checked_curve(seed: Any, kind: Any, expected: Any, observed: Any) -> tuple[int, str, Shares, Shares]:
    _require(isinstance(seed, int) and 0 <= seed < _MOST_SEEDS, f"it has a curve of the seed {quoted(seed)}")
    _require(isinstance(kind, str) and kind in _KINDS, f"it has a curve of the kind {quoted(kind)}")
    axes = [_parsed(axis, "calibration curve") for axis in (expected, observed)]
    for axis in axes:
        shares = isinstance(axis, list) and len(axis) == len(axes[0]) > 0
        shares = shares and all(type(share) in (int, float) and not abs(share) > _MOST_SHARE for share in axis)
        _require(shares, f"a calibration curve of the seed {seed} is not made of shares")
    return seed, kind, tuple(axes[0]), tuple(axes[1])


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {versions[name]}" for name in sorted(versions))
