"""The store of results: one SQLite file, to which each cell is added in one transaction."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, final

from aldsurv.benchmark.plan import Cell, Plan
from aldsurv.benchmark.results import POINTS, Curve, Result, Results, Series
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
_KINDS = ("survival", "density")
_MOST_SEEDS = 10_000
# Squares of stored values must be finite, too.
_MOST_VALUE, _MOST_SECONDS, _MOST_SHARE = 1e150, 1e12, 1e6

Shares: TypeAlias = tuple[float, ...]


class _DamagedFileError(Exception):
    """Why the content of a file cannot be used, to follow a colon."""


@final
@dataclass(frozen=True)
class CellOutcome:
    """The outcome of running a cell: its results, or the error that it ended with."""

    cell: Cell
    results: tuple[Result, ...] = ()
    curves: tuple[Curve, ...] = ()
    error: str | None = None
    seconds_fit: float = 0.0
    seconds_evaluate: float = 0.0


@final
class Store:
    """The results of one plan in a folder.

    Every call opens the file again: a process may be killed at any time, and several may write.

    Parameters
    ----------
    folder
        Created if it does not exist.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.path = self.folder / _FILE

    def begin(self, plan: Plan, versions: dict[str, str]) -> None:
        """Create the file, or check that it belongs to the same plan and versions."""
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = {
            "plan": json.dumps(plan.to_dict(), sort_keys=True),
            "hash": plan.hash,
            "versions": json.dumps(versions, sort_keys=True),
        }
        with self._open(create=True) as file:
            tables = {name for (name,) in file.execute("select name from sqlite_master where type = 'table'")}
            if tables and "about" not in tables:
                raise DataError(f"{self.path} is a database of another program", advice="Choose another folder.")
            file.executescript(_TABLES)
            file.execute("begin immediate")
            stored = dict(file.execute("select name, value from about"))
            if not stored:
                file.executemany("insert into about values (?, ?)", wanted.items())
        if stored and stored.get("hash") != wanted["hash"]:
            raise ParameterError(
                f"{self.folder} holds another benchmark (plan {str(stored.get('hash'))[:12]}, this one is "
                f"{plan.hash[:12]})",
                argument="folder",
                advice="Choose another folder, or ask for the same datasets, models and seeds.",
            )
        if stored and stored.get("versions") != wanted["versions"]:
            raise ParameterError(
                f"{self.folder} was begun with other versions ({_format_versions(self.versions)}; here "
                f"{_format_versions(versions)}): numbers would not be comparable",
                argument="folder",
                advice="Choose another folder.",
            )

    @property
    def plan(self) -> Plan:
        """The plan of this folder."""
        with self._checked():
            return Plan.from_dict(_parsed(self._about("plan"), "plan"))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the packages that computed the results."""
        with self._checked():
            versions = _parsed(self._about("versions"), "versions")
            if not isinstance(versions, dict):
                raise _DamagedFileError("its versions are not versions by name")
            _require(all(isinstance(version, str) for version in versions.values()), "a version is not text")
            return versions

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
                valid = all(isinstance(part, float) and 0 <= part < _MOST_SECONDS for part in both)
                _require(valid, f"the seconds of {quoted(cell)} are {quoted(both)}")
        return {str(cell): (fit, evaluate) for cell, fit, evaluate in rows}

    def add(self, outcome: CellOutcome) -> None:
        """Store the outcome of a cell; a success is never replaced by a failure."""
        name = outcome.cell.name
        with self._open() as file:
            file.execute("begin immediate")
            status = file.execute("select status from cells where cell = ?", (name,)).fetchone()
            if outcome.error is not None:
                if status != ("done",):
                    file.execute("insert or replace into cells values (?, 'failed', ?, 0, 0)", (name, outcome.error))
                return
            for table in ("results", "curves"):
                file.execute(f"delete from {table} where cell = ?", (name,))  # noqa: S608
            file.executemany(
                "insert into results values (?, ?, ?, ?, ?)",
                [(name, row.seed, row.point, row.metric, _nan_as_null(row.value)) for row in outcome.results],
            )
            file.executemany(
                "insert into curves values (?, ?, ?, ?, ?)",
                [(name, c.seed, c.kind, json.dumps(c.expected), json.dumps(c.observed)) for c in outcome.curves],
            )
            row = (name, outcome.seconds_fit, outcome.seconds_evaluate)
            file.execute("insert or replace into cells values (?, 'done', null, ?, ?)", row)

    def results(self) -> Results:
        """All stored results."""
        with self._open() as file:
            rows = file.execute("select cell, seed, point, metric, value from results").fetchall()
            curves = file.execute("select cell, seed, kind, expected, observed from curves").fetchall()
        with self._checked():
            series = {cell.name: cell.series for cell in self.plan.cells()}
            return Results(
                [Result(_series(cell, series), *_checked_value(*row)) for cell, *row in rows],
                [Curve(_series(cell, series), *_checked_curve(*row)) for cell, *row in curves],
            )

    def _about(self, name: str) -> object:
        with self._open() as file:
            row = file.execute("select value from about where name = ?", (name,)).fetchone()
        if row is None:
            raise DataError(f"{self.path} has no {name}: it is not a benchmark store.")
        value: object = row[0]
        return value

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Errors in the content as a `DataError` that names the file."""
        try:
            yield
        except (_DamagedFileError, ParameterError, UnknownNameError) as error:
            reason = str(error).rstrip(".")
            raise DataError(f"{self.path} is damaged or was not written by aldsurv: {reason}.") from None

    @contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are committed if nothing is raised."""
        if not create and not self.path.is_file():
            raise DataError(
                f"{self.folder} holds no benchmark", advice=f"Begin one: aldsurv benchmark run --out {self.folder}."
            )
        try:
            with closing(sqlite3.connect(self.path, timeout=_SECONDS_TO_WAIT, isolation_level=None)) as file:
                yield file
                if file.in_transaction:
                    file.execute("commit")
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"{self.path} cannot be used: {error}", advice="Choose another folder, or remove it."
            ) from None


def _nan_as_null(value: float) -> float | None:
    # SQLite has no NaN.
    return None if math.isnan(value) else float(value)


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise _DamagedFileError(problem)


def _parsed(text: object, name: str) -> object:
    """The value of a JSON text."""
    try:
        if isinstance(text, str):
            value: object = json.loads(text)
            return value
    except (ValueError, RecursionError):
        pass
    raise _DamagedFileError(f"its {name} cannot be read")


def _series(cell: object, by_name: dict[str, Series]) -> Series:
    if not isinstance(cell, str) or cell not in by_name:
        raise _DamagedFileError(f"it has results of {quoted(cell)}, which is not a cell of its plan")
    return by_name[cell]


def _checked_seed(seed: object) -> int:
    if not isinstance(seed, int) or not 0 <= seed < _MOST_SEEDS:
        raise _DamagedFileError(f"it has results of the seed {quoted(seed)}")
    return seed


def _checked_value(seed: object, point: object, metric: object, value: object) -> tuple[int, str, str, float]:
    number = _checked_seed(seed)
    if not isinstance(metric, str):
        raise _DamagedFileError(f"it has results of the metric {quoted(metric)}")
    if not isinstance(point, str) or point not in ("", *POINTS):
        raise _DamagedFileError(f"it has results of the summary {quoted(point)}")
    if value is None:
        return number, point, metric, math.nan
    if not isinstance(value, float) or not (math.isinf(value) or abs(value) < _MOST_VALUE):
        raise _DamagedFileError(f"the {shortened(metric, 40)} of the seed {seed} is {quoted(value)}")
    return number, point, metric, value


def _checked_curve(seed: object, kind: object, expected: object, observed: object) -> tuple[int, str, Shares, Shares]:
    number = _checked_seed(seed)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise _DamagedFileError(f"it has a curve of the kind {quoted(kind)}")
    axes = [_checked_shares(axis, number) for axis in (expected, observed)]
    _require(len(axes[0]) == len(axes[1]), f"a calibration curve of the seed {seed} has axes of different length")
    return number, kind, axes[0], axes[1]


def _checked_shares(axis: object, seed: int) -> Shares:
    shares = _parsed(axis, "calibration curve")
    if not isinstance(shares, list) or not shares:
        raise _DamagedFileError(f"a calibration curve of the seed {seed} is empty or not a list")
    numbers = all(type(share) in (int, float) and not abs(share) > _MOST_SHARE for share in shares)
    _require(numbers, f"a calibration curve of the seed {seed} is not made of shares")
    return tuple(shares)


def _format_versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {versions[name]}" for name in sorted(versions))
