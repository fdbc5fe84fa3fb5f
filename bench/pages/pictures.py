"""Pictures of pages that are drawn from results files; each carries a digest of what it shows."""

from __future__ import annotations

import hashlib
from pathlib import Path

from aldsurv.benchmark.paper.ledger import LedgerRow, ledger
from aldsurv.plots.drawing.figure_files import whole_figure
from aldsurv.reports.benchmark.ledger_section import ledger_squares, square_mark
from bench.pages.paper_results import PAPER_FILE, benchmark_results

__all__ = ["LEDGER", "digest", "drawn_digest", "write_pictures"]

LEDGER = Path(__file__).parents[2] / "docs" / "images" / "ledger.png"
_DPI = 130
_KEY = "Description"


def write_pictures() -> list[Path]:
    """Draw the pictures that show something else than the results files; which these were."""
    rows = ledger(benchmark_results(PAPER_FILE))
    if LEDGER.exists() and drawn_digest(LEDGER) == digest(rows):
        return []
    figure = whole_figure(ledger_squares(rows))
    figure.savefig(LEDGER, dpi=_DPI, bbox_inches="tight", metadata={_KEY: digest(rows)})
    return [LEDGER]


def digest(rows: list[LedgerRow]) -> str:
    """SHA-256 of all marks of the ledger."""
    marks = [f"{row.dataset} {row.model} {row.metric} {square_mark(row)}" for row in rows]
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()


def drawn_digest(path: Path) -> str:
    """The digest that a picture carries."""
    from PIL import Image

    with Image.open(path) as image:
        return str(image.info.get(_KEY, ""))
