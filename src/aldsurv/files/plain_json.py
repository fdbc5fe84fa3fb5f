"""JSON that every program can read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real

__all__ = ["json_text"]


def json_text(value: object) -> str:
    """JSON that every program can read: numbers that are not finite are null."""
    return json.dumps(_json_value(value), indent=2, allow_nan=False)


def _json_value(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _json_value(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(entry) for entry in value]
    if isinstance(value, Real) and not isinstance(value, Integral):
        return float(value) if math.isfinite(value) else None
    if value is True or value is False:
        return value
    return int(value) if isinstance(value, Integral) else value
