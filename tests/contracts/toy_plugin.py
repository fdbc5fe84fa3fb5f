"""A plugin of pytest that registers the toy model before any test is collected."""

from __future__ import annotations

from aldsurv.registry import MODELS
from contracts.toy_model import RECORD

MODELS.add(RECORD)
