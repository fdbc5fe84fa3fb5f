"""A plugin of pytest that registers the toy model before any test is collected."""

from __future__ import annotations

from aldsurv.registry import MODELS
from contracts.toy_model import RECORD


def pytest_configure() -> None:
    """Register it in the session that asks for the plugin, and in no other that imports this file."""
    MODELS.add(RECORD)
