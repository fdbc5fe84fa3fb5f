"""Predictions over HTTP: `create_app` makes the service of some model files, ``aldsurv serve`` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aldsurv.serving.app import create_app as create_app
    from aldsurv.serving.served_model import ServedModel as ServedModel
    from aldsurv.serving.settings import ServiceSettings as ServiceSettings

__all__ = ["ServedModel", "ServiceSettings", "create_app"]

_PLACES = {"ServedModel": "served_model", "ServiceSettings": "settings", "create_app": "app"}


def __getattr__(name: str) -> Any:
    """Import on use: web frameworks are an extra."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from aldsurv.errors import MissingDependencyError

    try:
        return getattr(import_module(f"aldsurv.serving.{_PLACES[name]}"), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "aldsurv":
            raise
        raise MissingDependencyError(
            f"the service needs {package}, which is not installed", advice='Install it: pip install "aldsurv[serve]".'
        ) from None


def __dir__() -> list[str]:
    return sorted(__all__)
