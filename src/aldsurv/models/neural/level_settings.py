"""Settings of models that are trained with a random level."""

from __future__ import annotations

from typing import Any

import numpy as np

from aldsurv.errors import ParameterError

__all__ = ["check_level_settings"]

_TARGETS = ("cdf", "pinball")
_MOST_NODES = 1000


def check_level_settings(share: Any, target: Any, nodes: Any) -> None:
    """Raise `ParameterError` unless they say what the loss is and at how many levels it is taken."""
    if not isinstance(share, (int, float, np.integer, np.floating)) or isinstance(share, bool) or not 0 < share <= 1:
        raise ParameterError(
            f"likelihood_share must be above 0 (where any distribution would do that is wide enough) and at most 1, "
            f"but is {share!r}."
        )
    if target not in _TARGETS:
        raise ParameterError(f"target must be one of {', '.join(_TARGETS)}, but is {target!r}.")
    if not isinstance(nodes, (int, np.integer)) or isinstance(nodes, bool) or not 1 <= nodes <= _MOST_NODES:
        raise ParameterError(f"nodes must be a whole number from 1 to {_MOST_NODES}, but is {nodes!r}.")
