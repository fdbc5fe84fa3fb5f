"""Pictures of pages that are drawn from results files; each carries a digest of what it shows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aldsurv.benchmark.paper.ledger import LedgerRow, ledger
from aldsurv.plots.drawing.figure_files import whole_figure
from aldsurv.reports.benchmark.ledger_section import ledger_squares, square_mark
from bench.neutral.picture import digest_text, draw_ranks
from bench.neutral.report import STUDY
from bench.pages import scale
from bench.pages.landing import THEMES, draw_standing, image_file
from bench.pages.neutral import model_titles
from bench.pages.paper_results import PAPER_FILE, benchmark_results
from bench.pages.results import read_section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "LEDGER",
    "NEUTRAL",
    "SCALE",
    "digest",
    "drawn_digest",
    "growth_digest",
    "ranks_digest",
    "write_pictures",
]

_IMAGES = Path(__file__).parents[2] / "docs" / "images"
LEDGER, NEUTRAL, SCALE = _IMAGES / "ledger.png", _IMAGES / "neutral.png", _IMAGES / "scale.png"
_DPI = 130
_KEY = "Description"


def write_pictures() -> list[Path]:
    """Draw the pictures that show something else than the results files; which these were."""
    rows, ranking = ledger(benchmark_results(PAPER_FILE)), read_section(STUDY, "ranking")
    growth = read_section(scale.FILE, "peers")
    titles = model_titles(ranking["isbs"]["models"])
    standing = [
        _drawn(image_file("standing", theme), ranks_digest(ranking), partial(draw_standing, theme, ranking, titles))
        for theme in THEMES
    ]
    return [
        *_drawn(LEDGER, digest(rows), lambda: whole_figure(ledger_squares(rows))),
        *_drawn(NEUTRAL, ranks_digest(ranking), lambda: draw_ranks(ranking, titles)),
        *_drawn(SCALE, growth_digest(growth), lambda: scale.draw_growth(growth)),
        *(path for paths in standing for path in paths),
    ]


def digest(rows: list[LedgerRow]) -> str:
    """SHA-256 of all marks of the ledger."""
    marks = [f"{row.dataset} {row.model} {row.metric} {square_mark(row)}" for row in rows]
    return hashlib.sha256("\n".join(marks).encode()).hexdigest()


def ranks_digest(ranking: Mapping[str, Any]) -> str:
    """SHA-256 of the ranks that the picture of the neutral benchmark shows."""
    return hashlib.sha256(digest_text(ranking).encode()).hexdigest()


def growth_digest(measured: Mapping[str, Any]) -> str:
    """SHA-256 of the fits that the picture of growing tables shows."""
    return hashlib.sha256(scale.digest_text(measured).encode()).hexdigest()


def drawn_digest(path: Path) -> str:
    """The digest that a picture carries."""
    from PIL import Image

    with Image.open(path) as image:
        return str(image.info.get(_KEY, ""))


def _drawn(path: Path, shown: str, draw: Callable[[], Figure]) -> list[Path]:
    if path.exists() and drawn_digest(path) == shown:
        return []
    draw().savefig(path, dpi=_DPI, bbox_inches="tight", metadata={_KEY: shown})
    return [path]
