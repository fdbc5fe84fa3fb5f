"""A hook of mkdocs: the version in the footer, and edit links only where the repository has an address."""

from __future__ import annotations

from typing import Any

from aldsurv import __version__


def on_config(config: Any, **_: Any) -> Any:
    """Complete the configuration."""
    config.copyright = f"aldsurv {__version__} · MIT licence"
    if not config.repo_url:
        config.edit_uri = None
    return config
