"""pandas frames of results; pandas is imported when a frame is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aldsurv.errors import MissingDependencyError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["data_frame"]


def data_frame(
    columns: Mapping[Any, Any], *, index: Any, length: int, labels: str | Sequence[str] | None = None
) -> pd.DataFrame:
    """A frame of columns by their names.

    Parameters
    ----------
    columns
        Values (n,) by name; names that are tuples have a level for each of their parts.
    index
        Labels of the rows (n,); None for their numbers.
    length
        Number of rows.
    labels
        What the names of the columns are: one text, or one for each level.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingDependencyError(
            "to_frame needs pandas, which is not installed", advice="Install it with: pip install pandas."
        ) from None
    if index is not None:
        index = index if isinstance(index, pd.Index) else pd.Index(_label_list(index))
        if len(index) != length:
            raise ParameterError(
                f"index must have one label for each of {length} rows, but has {len(index)}", argument="index"
            )
    made = pd.DataFrame(dict(enumerate(columns.values())), index=index)
    keys = list(columns)
    if isinstance(labels, str) or labels is None:
        made.columns = pd.Index(keys, name=labels)
    else:
        made.columns = pd.MultiIndex.from_tuples(keys, names=list(labels))
    return made


def _label_list(index: Any) -> list[Any]:
    try:
        return list(index)
    except TypeError:
        raise ParameterError(
            f"index must be a list of labels, but is of type {type(index).__name__}", argument="index"
        ) from None
