"""What the settings of boosted trees may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aldsurv.errors import ParameterError
from aldsurv.models.base import POINTS
from aldsurv.models.trees.boosted_outputs import SUPPORTS

__all__ = ["check_settings"]

_LARGEST = 10**6
_COUNTS = {
    "components": (1, 100),
    "members": (1, 1000),
    "max_depth": (1, 30),
    "max_rounds": (1, _LARGEST),
    "patience": (0, _LARGEST),
    "n_jobs": (1, 1024),
}


def check_settings(given: Mapping[str, Any]) -> None:
    """Raise `ParameterError` for the first setting that makes no sense."""
    for name, allowed in (("support", tuple(SUPPORTS)), ("point", POINTS)):
        if not isinstance(given[name], str) or given[name] not in allowed:
            raise ParameterError(f"{name} must be one of {', '.join(allowed)}, but is {given[name]!r:.60}.")
    for name, (least, most) in _COUNTS.items():
        value = given[name]
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value <= most:
            raise ParameterError(f"{name} must be a whole number from {least} to {most}, but is {value!r:.60}.")
    for name in ("learning_rate", "subsample", "colsample"):
        if not _is_number(given[name]) or not 0 < given[name] <= 1:
            raise ParameterError(f"{name} must be above 0 and at most 1, but is {given[name]!r:.60}.")
    for name in ("min_child_weight", "l2"):
        if not _is_number(given[name]) or not 0 <= given[name] < np.inf:
            raise ParameterError(f"{name} must be a number from 0 on, but is {given[name]!r:.60}.")
    if not _is_number(given["validation"]) or not 0 <= given["validation"] < 1:
        raise ParameterError(
            f"validation must be a share from 0 (none) to below 1, but is {given['validation']!r:.60}."
        )
    if given["unit"] is not None and not isinstance(given["unit"], str):
        raise ParameterError(f"unit must be text, such as 'months', but is {given['unit']!r:.60}.")
    if given["categorical"] is not None and not isinstance(given["categorical"], (list, tuple, str, np.ndarray)):
        raise ParameterError(f"categorical must be a list, but is {given['categorical']!r:.60}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
