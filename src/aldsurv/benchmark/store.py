"""Where results are kept: one SQLite file, to which a cell is added as a whole or not at all."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from aldsurv.benchmark.plan import Cell, Plan
from aldsurv.benchmark.results import Curve, Result, Results, Series
from aldsurv.errors import DataError, ParameterError

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
                f"{self.folder} was begun with other versions ({_told(found.get('versions'))}; here "
                f"{_told(wanted['versions'])}): numbers would not be comparable. Choose another folder."
            )

    @property
    def plan(self) -> Plan:
        """The plan of this folder."""
        return Plan.from_plain(json.loads(self._about("plan")))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what computed the results."""
        return dict(json.loads(self._about("versions")))

    def done(self) -> set[str]:
        """Names of the cells that have results."""
        with self._open() as file:
            return {name for (name,) in file.execute("select cell from cells where status = 'done'")}

    def failed(self) -> dict[str, str]:
        """The error of each cell that failed."""
        with self._open() as file:
            return dict(file.execute("select cell, error from cells where status = 'failed' order by cell"))

    def seconds(self) -> dict[str, tuple[float, float]]:
        """Seconds of each cell that has results: to fit all seeds, and to predict and evaluate."""
        with self._open() as file:
            rows = file.execute("select cell, seconds_fit, seconds_evaluate from cells where status = 'done'")
            return {cell: (fit, evaluate) for cell, fit, evaluate in rows}

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
        known = {row[0]: Series(*str(row[0]).split("/")) for row in rows}
        return Results(
            (Result(known[cell], seed, point, metric, _loaded(value)) for cell, seed, point, metric, value in rows),
            (
                Curve(known[cell], seed, kind, tuple(json.loads(expected)), tuple(json.loads(observed)))
                for cell, seed, kind, expected, observed in curves
            ),
        )

    def _about(self, name: str) -> str:
        with self._open() as file:
            found = file.execute("select value from about where name = ?", (name,)).fetchone()
        if found is None:
            raise DataError(f"{self.path} says nothing of its {name}: it is no benchmark that has begun.")
        return str(found[0])

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


def _loaded(value: float | None) -> float:
    return math.nan if value is None else value


def _told(versions: object) -> str:
    found = json.loads(str(versions))
    return ", ".join(f"{name} {found[name]}" for name in sorted(found))
