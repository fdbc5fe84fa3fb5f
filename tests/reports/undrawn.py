"""Pages without pictures, which would take most of the time and are tried in tests of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from aldsurv.reports.page import page_figures
from aldsurv.reports.page.page_figures import Picture

__all__ = ["leave_pictures_undrawn", "leave_png_empty", "resample_little"]


def leave_pictures_undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every figure of a page is made and gets its place and words, but is not drawn."""

    def undrawn(*given: object, caption: str, alt: str, **size: object) -> Picture:
        return Picture(str(given[-1]), caption, alt, "", 1, 1)

    at_times = ("at_times.time_sections", "at_times.decision_section", "at_times.risk_group_section")
    sections = ("overview_sections", "individual_sections", "quality.quality_sections", "effect_sections")
    sections += ("causes.cause_sections",)
    for module in (*sections, *at_times, "partial.partial_sections"):
        monkeypatch.setattr(f"aldsurv.reports.model.{module}.embedded_picture", undrawn)
    for module in ("network_figures", "calibration_figures", "ledger_section", "benchmark_figures"):
        monkeypatch.setattr(f"aldsurv.reports.benchmark.{module}.picture_of", undrawn)


def resample_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few resamples, for tests that are not about limits."""
    findings = ("quality.findings", "at_times.time_findings", "causes.cause_findings", "partial.partial_findings")
    for module in findings:
        monkeypatch.setattr(f"aldsurv.reports.model.{module}.RESAMPLES", 20)


def leave_png_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every figure of a page is drawn once, as SVG: that the PNG beside it shows the same is tried with one."""
    drawn = page_figures.save_figure

    def saved(figure: Figure, path: Path, **given: float) -> Path:
        if path.suffix == ".png":
            path.touch()
            return path
        return drawn(figure, path, **given)

    monkeypatch.setattr(page_figures, "save_figure", saved)
