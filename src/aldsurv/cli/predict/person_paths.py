"""Rows of a table that are episodes of persons, for each of whom there is one prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.episode_columns import read_paths
from aldsurv.data.frame_columns import Column
from aldsurv.distributions.wrappers.covariate_path import path_of_rows
from aldsurv.tables.table_file import TableBlock

if TYPE_CHECKING:
    from aldsurv.distributions import SurvivalDistribution
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table_file import TableFile

__all__ = ["Episodes", "PathColumns", "joined_blocks"]


class PathColumns(NamedTuple):
    """Columns that say of which person an episode is, when it begins and when it ends."""

    person: str
    start: str
    stop: str

    @classmethod
    def of_training(cls, model: SurvivalEstimator, table: TableFile) -> PathColumns | None:
        """Those that the model was trained with; None if it was not trained with episodes.

        A table must have either all of them, or neither start nor end: then each row stands for itself.
        """
        outcome = {} if model.trained_on_ is None else model.trained_on_.outcome
        if "start" not in outcome or "stop" not in outcome or "id" not in outcome:
            return None
        columns = cls(outcome["id"], outcome["start"], outcome["stop"])
        if columns.start not in table.names and columns.stop not in table.names:
            return None
        for name in columns:
            table.require(name)
        return columns


@final
@dataclass(frozen=True)
class Episodes:
    """The episodes of a table, person by person.

    Attributes
    ----------
    order, first, last
        As in `aldsurv.data.persons.EpisodeOrder`.
    start
        Start of each episode.
    """

    order: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    start: NDArray[np.float64]

    @classmethod
    def of(cls, columns: PathColumns, x: dict[str, NDArray[Any]]) -> Episodes:
        """The episodes in columns of a table, checked."""
        named = zip(("id", "start", "stop"), columns, strict=True)
        paths = read_paths(*(Column(x[name], argument, name) for argument, name in named))
        last = np.flatnonzero(np.append(~paths.follows, True))
        return cls(paths.order, np.append(0, last[:-1] + 1), last, paths.start)

    @property
    def last_rows(self) -> NDArray[np.int64]:
        """Row number of the last episode of each person."""
        return self.order[self.last]

    def any_of(self, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether any episode of each person is marked."""
        return np.logical_or.reduceat(marks[self.order], self.first)

    def path(self, predicted: SurvivalDistribution) -> SurvivalDistribution:
        """The distribution along the path of each person, from those of the rows."""
        return path_of_rows(predicted, self.order, self.first, self.last, self.start)


def joined_blocks(blocks: Sequence[TableBlock]) -> TableBlock:
    """All rows of a table as one block."""
    import pyarrow as arrow

    first, last = blocks[0], blocks[-1]
    return TableBlock(
        first.start,
        {name: np.concatenate([block.x[name] for block in blocks]) for name in first.x},
        {name: arrow.concat_arrays([_whole(block.kept[name]) for block in blocks]) for name in first.kept},
        last.position,
    )


def _whole(column: Any) -> Any:
    import pyarrow as arrow

    return column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
