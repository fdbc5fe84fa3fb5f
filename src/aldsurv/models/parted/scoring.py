"""Predictions for a table in parts: a Parquet file for each part, written whole or not at all, and resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.errors import DataError, ParameterError
from aldsurv.files.writing import whole_file
from aldsurv.models.parted.engine import Failure, current_engine
from aldsurv.models.persistence import model_digest
from aldsurv.models.prediction.frame_prediction import predicted_columns, request_of
from aldsurv.models.prediction.prediction_request import PredictionRequest
from aldsurv.notices import muted
from aldsurv.quoting import quoted
from aldsurv.tables.arrow_columns import import_arrow
from aldsurv.tables.parts.parted_table import Block, PartedTable, TablePart

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["ScoredParts", "names_of_model", "predict_parts", "write_predictions"]

# Rows that go through the model at once, and of these as many as are written at once.
_ROWS = 1 << 14
_KEY = b"aldsurv"
_NAME = "part-{:05d}.parquet"


class ScoredParts(NamedTuple):
    """What was written.

    Attributes
    ----------
    rows, outside
        Rows of all parts, and those with a value beyond what training had shown.
    parts, found
        How many files there are, and how many of them an earlier run had written.
    """

    rows: int = 0
    outside: int = 0
    parts: int = 0
    found: int = 0


def predict_parts(
    model: SurvivalEstimator,
    table: PartedTable,
    folder: Path | str,
    *,
    times: Sequence[float] = (),
    quantiles: Sequence[float] = (),
    summaries: Sequence[str] = (),
    interval: float | None = None,
    band: float | None = None,
    keep: Sequence[str] = (),
) -> ScoredParts:
    """Predict for each row of a table in parts, on the engine that is current.

    Each part becomes one file ``part-00000.parquet``, … in `folder`, in the order of the parts, with the rows in their
    order: the columns kept, then those of `aldsurv.predict_frame`. A file has its name only when it is whole. Files of
    an earlier run with the same model, request and part are not written again.

    Parameters
    ----------
    model
        A fitted model.
    table
        The rows, as `aldsurv.datasets.open_table` gives them.
    folder
        Where to write, which workers of a cluster must be able to; it is made if it is missing.
    times, quantiles, summaries, interval, band
        As in `aldsurv.predict_frame`.
    keep
        Columns of the table to copy, such as an id.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet
    >>> from aldsurv import WeibullAFT, datasets
    >>> folder = getfixture("tmp_path")
    >>> rows = pyarrow.table({"id": [1, 2, 3, 4], "age": [61, 48, 55, 70], "time": [3.0, 12.5, 8.0, 2.0]})
    >>> pyarrow.parquet.write_table(rows.append_column("died", [[True] * 4]), folder / "rows.parquet")
    >>> table = datasets.open_table(folder / "rows.parquet", time="time", event="died", drop=["id"])
    >>> model = WeibullAFT().fit(table.x, table.y)
    >>> predict_parts(model, datasets.open_table(folder / "rows.parquet"), folder / "scored", times=[5], keep=["id"])
    ScoredParts(rows=4, outside=0, parts=1, found=0)
    >>> pyarrow.parquet.read_table(folder / "scored").column_names
    ['id', 'survival_5', 'outside']
    """
    request = request_of(model, times, quantiles, summaries, interval, band)
    return write_predictions(model, table, folder, request, keep=keep)


def write_predictions(
    model: SurvivalEstimator,
    table: PartedTable,
    folder: Path | str,
    request: PredictionRequest,
    *,
    keep: Sequence[str] = (),
    on_part: Callable[[ScoredParts], object] = lambda so_far: None,
) -> ScoredParts:
    """What `predict_parts` does, for a request that has been read; `on_part` is called after each part."""
    import_arrow("pyarrow")
    table = _with_columns(table, model, keep)
    _require_distinct([*keep, *request.names, "outside"])
    place = Path(folder).absolute()
    _require_no_others(place, len(table.parts))
    job = _Job(request, tuple(keep), model_digest(model))
    # Whatever is wrong with columns is said before the first file is written.
    first = next(table.blocks(1), None)
    if first is not None:
        with muted():
            job.columns(model, first)
    place.mkdir(parents=True, exist_ok=True)
    items = [_Target(part, place / _NAME.format(number)) for number, part in enumerate(table.parts)]
    total = ScoredParts()
    for _, part in current_engine().completed(_scored, items, (job, model)):
        if isinstance(part, Failure):
            raise part.error
        total = ScoredParts(*(a + b for a, b in zip(total, part, strict=True)))
        on_part(total)
    return total


@final
@dataclass(frozen=True)
class _Target:
    """A part and the file of its predictions."""

    part: TablePart
    path: Path

    def __str__(self) -> str:
        return self.part.label


@final
@dataclass(frozen=True)
class _Job:
    """What is written of every part."""

    request: PredictionRequest
    keep: tuple[str, ...]
    digest: str

    def columns(self, model: SurvivalEstimator, block: Block) -> dict[str, NDArray[Any]]:
        """Predictions for a block."""
        return predicted_columns(model, self.request, _of_model(model, block), len(block))

    def mark(self, part: TablePart) -> str:
        """What tells a file of this job and part from others."""
        text = json.dumps(
            [self.digest, repr(self.request), self.keep, part.label, part.n_rows, repr(part.choices), _state(part)]
        )
        return sha256(text.encode()).hexdigest()


def _scored(target: _Target, job: _Job, model: SurvivalEstimator) -> ScoredParts:
    part, mark = target.part, job.mark(target.part)
    found = _counts_of(target.path, mark)
    if found is not None:
        return found
    arrow, parquet = import_arrow("pyarrow"), import_arrow("pyarrow.parquet")
    types = {name: part.source.types()[name] for name in job.keep}
    fields = [arrow.field(name, _plain_type(kind)) for name, kind in types.items()]
    fields += [arrow.field(name, arrow.float64()) for name in job.request.names]
    schema = arrow.schema([*fields, arrow.field("outside", arrow.bool_())])
    rows = outside = 0
    # Whatever happens the writer is closed before the file is.
    with whole_file(target.path) as file, muted(), parquet.ParquetWriter(file, schema) as writer:
        for block in part.blocks(_ROWS):
            with part.located(block.numbers):
                columns = job.columns(model, block)
            rows, outside = rows + len(block), outside + int(columns["outside"].sum())
            kept = {name: block.x[name] for name in job.keep}
            arrays = [
                arrow.array(values, type=schema.field(name).type, from_pandas=name in kept)
                for name, values in {**kept, **columns}.items()
            ]
            writer.write_batch(arrow.record_batch(arrays, schema=schema))
        counts = {"mark": mark, "rows": rows, "outside": outside}
        writer.add_key_value_metadata({_KEY: json.dumps(counts).encode()})
    return ScoredParts(rows, outside, 1, 0)


def _counts_of(path: Path, mark: str) -> ScoredParts | None:
    """What a file has that an earlier run wrote with this mark; None if there is none."""
    arrow, parquet = import_arrow("pyarrow"), import_arrow("pyarrow.parquet")
    if not path.exists():
        return None
    try:
        counts = json.loads((parquet.read_metadata(path).metadata or {}).get(_KEY, b"{}"))
    except (arrow.ArrowException, OSError, ValueError):
        return None
    return ScoredParts(counts["rows"], counts["outside"], 1, 1) if counts.get("mark") == mark else None


def _state(part: TablePart) -> tuple[int, int] | None:
    """Size and time of the last change of a part's file; None if it is no file."""
    try:
        status = Path(part.label).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _plain_type(kind: Any) -> Any:
    """The type of a kept column: that of its values, where they are numbered."""
    return kind.value_type if import_arrow("pyarrow").types.is_dictionary(kind) else kind


def _of_model(model: SurvivalEstimator, block: Block) -> dict[str, NDArray[Any]]:
    names = names_of_model(model)
    return {name: values for name, values in block.x.items() if not names or name in names}


def names_of_model(model: SurvivalEstimator) -> frozenset[str]:
    """Names of the columns that the model was fitted to; none if they had no names."""
    return frozenset(getattr(model, "feature_names_in_", ()))


def _with_columns(table: PartedTable, model: SurvivalEstimator, keep: Sequence[str]) -> PartedTable:
    """The table with only the columns that the model reads and those to keep, and without its outcome."""
    names, reading = names_of_model(model), table.reading
    every = [column.name for column in table.columns]
    if not names:
        raise DataError(
            "the model was fitted to columns without names, which cannot be found in a table in parts",
            argument="model",
            advice="Fit it to columns with names.",
        )
    for name in keep:
        if name not in every:
            raise ParameterError(
                f"keep holds {quoted(name)}, which is not a column of {quoted(table.label)}: it has {listed(every, 9)}",
                argument="keep",
            )
    covariates = tuple(name for name in every if name in names or name in keep)
    # Rows may be chosen by their group.
    chosen = any(part.choices for part in table.parts)
    reading = replace(reading, covariates=covariates, roles=reading.roles if chosen else {})
    return replace(table, parts=tuple(replace(part, reading=reading) for part in table.parts))


def _require_distinct(names: Sequence[str]) -> None:
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise ParameterError(
            f"the files would have the column {quoted(twice)} twice, kept and predicted", argument="keep"
        )


def _require_no_others(folder: Path, parts: int) -> None:
    """Files of a table with more parts would be read as predictions of this one."""
    expected = {_NAME.format(number) for number in range(parts)}
    others = sorted(path.name for path in folder.glob("*.parquet") if path.name not in expected)
    if others:
        raise ParameterError(
            f"{quoted(str(folder))} holds {listed(others, 3)}, which would not be replaced",
            argument="folder",
            advice="Name an empty folder.",
        )
