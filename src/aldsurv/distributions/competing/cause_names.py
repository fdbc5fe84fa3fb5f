"""Names of causes."""

from __future__ import annotations

from collections.abc import Sequence

from aldsurv.errors import ParameterError

__all__ = ["checked_causes"]


def checked_causes(causes: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """As many different names as there are causes; "1", "2", … where none are given."""
    names = tuple(str(k + 1) for k in range(count)) if causes is None else tuple(map(str, causes))
    if len(names) != count or len(set(names)) < count:
        raise ParameterError(f"causes must be {count} different names, but are {names!r:.80}.")
    return names
