"""Pages without pictures, which would take most of the time and are tried in tests of their own."""

from __future__ import annotations

import pytest

from aldsurv.reports.page.page_figures import Picture

__all__ = ["leave_pictures_undrawn"]


def leave_pictures_undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every figure of a model's page is made and gets its place and words, but is not drawn."""
    for sections in ("overview", "individual", "quality", "effect"):
        monkeypatch.setattr(
            f"aldsurv.reports.model.{sections}_sections.embedded_picture",
            lambda figure, name, *, caption, alt, **size: Picture(name, caption, alt, "", 1, 1),
        )
