"""Open tables that may be larger than memory: files of Parquet, datasets of pyarrow, dataframes of Dask."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from aldsurv.checks import listed
from aldsurv.data.event_columns import EventValues, values_of_causes, values_of_event
from aldsurv.data.frame_columns import Column
from aldsurv.errors import AldsurvWarning, DataError, ParameterError
from aldsurv.notices import warn
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import import_arrow, kind_of_type
from aldsurv.tables.column_uses import ColumnUses, check_roles, require_list_of_text
from aldsurv.tables.parts.block_reading import BlockReading
from aldsurv.tables.parts.part_source import DatasetFragment, FilePart, FramePart, PartSource
from aldsurv.tables.parts.parted_table import PartedTable, TablePart

__all__ = ["open_table", "parquet_files"]

# The ends of names by which Parquet files are known in a folder.
_ENDS = (".parquet", ".parq", ".pq")


def open_table(
    source: object,
    *,
    time: str | None = None,
    event: str | None = None,
    event_value: object = None,
    event_values: EventValues | None = None,
    lower: str | None = None,
    upper: str | None = None,
    entry: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    id: str | None = None,  # noqa: A002 - as in read_table
    start: str | None = None,
    stop: str | None = None,
    end: str | None = None,
    unit: str | None = None,
    date_format: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> PartedTable:
    """Open a table that is read in parts, and may be larger than memory; `read_table` reads one as a whole.

    Columns are named as in `read_table`. Only names, types and numbers of rows are read, and the column of events if
    `event_value` or `event_values` names values, or it holds text: which of them occur must be known.

    Parameters
    ----------
    source
        A folder of Parquet files, one file or a list of them, a dataset of pyarrow, or a dataframe of Dask, whose rows
        are counted. In a folder, files are read in the order of their names; those that begin with a point or an
        underscore are not.
    time, event, event_value, event_values, lower, upper, entry, weight, group
        As in `read_table`.
    id, start, stop
        Columns of episodes, which cannot be read in parts.
    end, unit, date_format
        As in `read_table`; dates that are text need `date_format`.
    drop, categorical, missing
        As in `read_table`. Models know which columns are `categorical` without being given them again.

    Raises
    ------
    DataError
        A file is damaged, is none of Parquet, or its columns are not those of the others.
    UnknownNameError
        A column is not there.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet
    >>> folder = getfixture("tmp_path") / "people"
    >>> folder.mkdir()
    >>> for year in (2020, 2021):
    ...     rows = pyarrow.table({"age": [61, 48, 55], "months": [3.0, 12.5, 8.0], "died": [True, False, True]})
    ...     pyarrow.parquet.write_table(rows, folder / f"{year}.parquet")
    >>> table = open_table(folder, time="months", event="died")
    >>> table
    PartedTable(n=6, parts=2, features=1)
    >>> for block in table.blocks():
    ...     print(block.first_row, block.y)
    0 n=3, 2 events (67 %), time 3–12.5
    3 n=3, 2 events (67 %), time 3–12.5
    """
    given = {"time": time, "event": event, "lower": lower, "upper": upper, "entry": entry, "weight": weight}
    given |= {"group": group, "id": id, "start": start, "stop": stop, "end": end}
    roles = {role: name for role, name in given.items() if name is not None}
    for argument, names in (("drop", drop), ("categorical", categorical), ("missing", missing)):
        require_list_of_text(argument, names)
    check_roles(roles, event_value if event_values is None else event_values, drop, owner="open_table")
    if "stop" in roles:
        raise ParameterError(
            "episodes cannot be read in parts: those of one person may be in several of them",
            argument="id",
            advice="Read the table by read_table, or give entry=, time=, event= and group= in place of id=, start= "
            "and stop=.",
        )
    label, sources = _sources(source)
    types = sources[0].types()
    uses = ColumnUses.of(list(types), label, roles, drop, categorical)
    codes = _require_same_columns(sources, uses.names)
    covariates = tuple(column.name for column in uses.columns if column.use == "feature")
    if not covariates:
        raise DataError(f"{label!r} has no covariates", argument="drop", advice="Drop fewer columns.")
    reading = BlockReading(covariates, roles, None, None, unit, date_format, tuple(missing))
    kind = kind_of_type(types[roles["event"]]) if "event" in roles else ""
    _require_date_format(types, roles, date_format)
    parts = _parts(sources, reading)
    if event_value is not None or event_values is not None or kind == "text":
        column = Column((), "event", roles["event"])
        counts = _counts(parts, roles["event"])
        if event_values is not None:
            meaning, causes = values_of_causes(counts, column, event_values)
            reading = BlockReading(covariates, roles, meaning, causes, unit, date_format, tuple(missing))
        else:
            counts.pop(None, None)
            events = values_of_event(counts, column, event_value)
            reading = BlockReading(
                covariates, roles, {value: int(value in events) for value in counts}, None, unit, date_format,
                tuple(missing),
            )  # fmt: skip
        parts = _parts(sources, reading)
    chosen = {*categorical, *codes}
    return PartedTable(
        parts,
        uses.columns,
        tuple(name for name in covariates if name in chosen),
        label,
        sum(part.n_rows for part in parts),
    )


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files in a folder and the folders in it, in the order of their paths; a note on all other files."""
    files: list[Path] = []
    others: list[Path] = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if any(name.startswith((".", "_")) for name in inside) or not path.is_file():
            continue
        partition = next((name for name in inside[:-1] if "=" in name), None)
        if partition is not None:
            raise DataError(
                f"{str(folder)!r} has folders that are named after a column, such as {quoted(partition)}",
                argument="source",
                advice="Give pyarrow.dataset.dataset(folder, partitioning='hive'), which reads that column, too.",
            )
        (files if path.name.lower().endswith(_ENDS) else others).append(path)
    if not files:
        holds = f"but {listed(path.name for path in others[:3])}" if others else "nor any others"
        raise DataError(
            f"{str(folder)!r} holds no files of Parquet, {holds}",
            argument="source",
            advice="Give a folder with files whose names end in .parquet.",
        )
    if others:
        names = _first_labels([str(path.relative_to(folder)) for path in others])
        warn(f"{str(folder)!r}: files that are not named .parquet are not read: {names}.", AldsurvWarning)
    return files


def _sources(source: object) -> tuple[str, list[PartSource]]:
    """What messages call the table, and its parts."""
    parts: list[PartSource]
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        label = str(path)
        parts = [FilePart.of(file) for file in (parquet_files(path) if path.is_dir() else [path])]
    elif isinstance(source, (list, tuple)):
        if not source or not all(isinstance(file, (str, os.PathLike)) for file in source):
            raise ParameterError(f"source must be a list of files, but is {quoted(source, 60)}.", argument="source")
        parts = [FilePart.of(Path(file)) for file in source]
        label = parts[0].label if len(parts) == 1 else f"{len(parts)} files"
    elif type(source).__module__.startswith("pyarrow."):
        label, parts = "the dataset", _fragments(source)
    elif type(source).__module__.split(".")[0] in ("dask", "dask_expr"):
        label, parts = "the dataframe", _partitions(source)
    else:
        raise ParameterError(
            f"source must be a folder, a list of files, a dataset of pyarrow or a dataframe of Dask, but is of type "
            f"{type(source).__name__}",
            argument="source",
            advice="A frame in memory is given to fit as it is.",
        )
    return label, _with_rows(parts, label)


def _with_rows(parts: Sequence[PartSource], label: str) -> list[PartSource]:
    """The parts that have rows, with a note on the others."""
    with_rows = [part for part in parts if part.n_rows]
    empty = [part.label for part in parts if not part.n_rows]
    if not with_rows:
        raise DataError(f"{label!r} has no rows", argument="source", advice="Give at least one.")
    if empty:
        some = f"{len(empty)} of {len(parts)} parts have" if len(empty) > 1 else "a part has"
        warn(f"{some} no rows: {_first_labels(empty)}.", AldsurvWarning)
    return with_rows


def _first_labels(labels: Sequence[str], most: int = 3) -> str:
    """The first few labels, and how many more there are."""
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(map(repr, labels[:most])) + more


def _fragments(dataset: Any) -> list[PartSource]:
    arrow = import_arrow("pyarrow.dataset")
    if not isinstance(dataset, arrow.Dataset):
        raise ParameterError(
            f"source must be a dataset of pyarrow, but is of type {type(dataset).__name__}",
            argument="source",
            advice="A table of Arrow is given to fit as it is.",
        )
    exceptions = import_arrow("pyarrow").ArrowException
    parts: list[PartSource] = []
    try:
        fragments = list(dataset.get_fragments())
    except ValueError:
        raise ParameterError(
            "source is a dataset with a filter, which is not read in parts",
            argument="source",
            advice="Write the rows that it chooses to a folder, by pyarrow.dataset.write_dataset.",
        ) from None
    for number, fragment in enumerate(fragments):
        label = getattr(fragment, "path", "") or f"fragment {number + 1}"
        try:
            parts.append(DatasetFragment(fragment, dataset.schema, label, int(fragment.count_rows())))
        except (exceptions, OSError) as error:
            cause = " ".join(str(error).split())[:200]
            raise DataError(f"{label!r} cannot be read ({cause})", advice="Copy or write it again.") from None
    return parts


def _partitions(frame: Any) -> list[PartSource]:
    """The partitions of a dataframe of Dask, whose rows are counted."""
    arrow = import_arrow("pyarrow")
    if "to_delayed" not in dir(frame) or "map_partitions" not in dir(frame):
        raise ParameterError(
            f"source must be a dataframe of Dask, but is of type {type(frame).__name__}.", argument="source"
        )
    delayed, counts = frame.to_delayed(), frame.map_partitions(len).compute()
    # A frame of objects says only with its values what they are.
    shown = next((k for k, rows in enumerate(counts) if rows), 0)
    schema = arrow.Schema.from_pandas(delayed[shown].compute(), preserve_index=False)
    types = dict(zip(schema.names, schema.types, strict=True))
    return [
        FramePart(partition, types, f"partition {number + 1}", int(rows))
        for number, (partition, rows) in enumerate(zip(delayed, counts, strict=True))
    ]


def _require_same_columns(sources: Sequence[PartSource], names: Sequence[str]) -> set[str]:
    """Raise unless all parts have these columns, in types that mean the same; which of them have a type of codes."""
    types = import_arrow("pyarrow.types")
    first = sources[0]
    kinds: dict[str, tuple[str, str, str]] = {}
    codes, wanted = set(), set(names)
    all_names = set(first.types())
    for source in sources:
        own = source.types()
        for name in names:
            if name not in own:
                raise DataError(
                    f"{source.label!r} has no column {quoted(name)}, which {first.label!r} has",
                    column=name,
                    advice="Give every part the same columns, or leave this one out by drop.",
                )
            kind = kind_of_type(own[name])
            before = kinds.setdefault(name, (kind, str(own[name]), source.label))
            if before[0] == "nothing":
                before = kinds[name] = (kind, str(own[name]), source.label)
            if kind not in ("nothing", before[0]):
                raise DataError(
                    f"{source.label!r} holds {own[name]} where {before[2]!r} holds {before[1]}",
                    column=name,
                    advice="Write the column in one type in every part, or leave it out by drop.",
                )
            if types.is_dictionary(own[name]):
                codes.add(name)
        new = [name for name in own if name not in all_names]
        if new:
            raise DataError(
                f"{source.label!r} has the column {quoted(new[0])}, which {first.label!r} does not have",
                column=new[0],
                advice="Give every part the same columns.",
            )
    return codes & wanted


def _require_date_format(types: dict[str, Any], roles: dict[str, str], date_format: str | None) -> None:
    for role in ("start", "end") if "end" in roles else ():
        if kind_of_type(types[roles[role]]) == "text" and date_format is None:
            raise ParameterError(
                f"the dates of {role} are text, and how they are written cannot be inferred from a part of them",
                argument="date_format",
                advice="Say how, such as date_format='%Y-%m-%d'.",
            )


def _parts(sources: Iterable[PartSource], reading: BlockReading) -> tuple[TablePart, ...]:
    parts, first = [], 0
    for source in sources:
        parts.append(TablePart(source, first, reading))
        first += source.n_rows
    return tuple(parts)


def _counts(parts: Iterable[TablePart], name: str) -> dict[Any, int]:
    counts: dict[Any, int] = {}
    for part in parts:
        for value, count in part.count_values(name).items():
            counts[value] = counts.get(value, 0) + count
    return counts
