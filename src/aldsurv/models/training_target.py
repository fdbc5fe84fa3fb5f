"""What a fit learns from: the target of its rows, with the episodes of persons as few as they can be."""

from __future__ import annotations

from typing import Any

from aldsurv.columns.joined_episodes import join_episodes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.base import read_target

__all__ = ["with_joined_episodes"]


def with_joined_episodes(
    X: object, y: object, sample_weight: object = None, groups: object = None
) -> tuple[Any, Any, Any, Any]:
    """The arguments of ``fit``, with episodes joined as `join_episodes` does; all else as it is."""
    if not isinstance(y, SurvivalData) or y.person is None:
        return X, y, sample_weight, groups
    return *join_episodes(X, read_target(y, sample_weight, groups)), None, None
