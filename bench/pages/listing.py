"""The pages that are written from results files, and the module that knows the values of each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from bench.pages.markers import MarkerError, filled

__all__ = ["PAGES", "ROOT", "Page", "changed", "write"]

ROOT = Path(__file__).parents[2]


class Page(NamedTuple):
    """A file of the repository, and the module whose ``values()`` are the texts by name."""

    file: str
    module: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return ROOT / self.file

    def values(self) -> dict[str, str]:
        """The text of each name, read from results files."""
        return dict(import_module(self.module).values())


PAGES: list[Page] = [
    Page("README.md", "bench.pages.readme"),
    Page("docs/accuracy.md", "bench.pages.accuracy"),
    Page("docs/ald.md", "bench.pages.ald"),
    Page("docs/calculator.md", "bench.pages.calculator"),
    Page("docs/claims.md", "bench.pages.reproduction"),
    Page("docs/cluster.md", "bench.pages.cluster"),
    Page("docs/competing_accuracy.md", "bench.pages.competing_accuracy"),
    Page("docs/cqrnn.md", "bench.pages.cqrnn"),
    Page("docs/deephit.md", "bench.pages.deephit"),
    Page("docs/deepsurv.md", "bench.pages.deepsurv"),
    Page("docs/explain.md", "bench.pages.explain"),
    Page("docs/export.md", "bench.pages.export"),
    Page("docs/log_normal.md", "bench.pages.log_normal"),
    Page("docs/monitor.md", "bench.pages.monitor"),
    Page("docs/neutral.md", "bench.pages.neutral"),
    Page("docs/performance.md", "bench.pages.performance"),
    Page("docs/reproduction.md", "bench.pages.reproduction"),
    Page("docs/scale.md", "bench.pages.scale"),
    Page("docs/service.md", "bench.pages.service"),
    Page("docs/tutorial.md", "bench.pages.tutorial"),
    Page("docs/update.md", "bench.pages.update"),
    Page("docs/wide.md", "bench.pages.wide"),
]


def changed(pages: Sequence[Page] | None = None) -> dict[Path, str]:
    """Of each page (None: all) that differs from its results files the text that it should have."""
    differing = {}
    # Pages may share a module.
    values: dict[str, dict[str, str]] = {}
    for page in PAGES if pages is None else pages:
        text = page.path.read_text(encoding="utf-8")
        if page.module not in values:
            values[page.module] = page.values()
        try:
            expected = filled(text, values[page.module])
        except MarkerError as error:
            raise MarkerError(f"{page.file}: {error}") from error
        if expected != text:
            differing[page.path] = expected
    return differing


def write(pages: Sequence[Page] | None = None) -> list[Path]:
    """Write the pages that differ; which these were."""
    differing = changed(pages)
    for path, text in differing.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return list(differing)
