"""The ledger of the published numbers in the report of a benchmark."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from aldsurv.benchmark import tables
from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.paper.ledger import AGREES_WITHIN, LedgerRow, count_agreeing, ledger
from aldsurv.benchmark.paper.published_evaluation import DEVIATIONS
from aldsurv.benchmark.results import PAPER_METRICS, Results
from aldsurv.benchmark.tables.benchmark_table import NumberCell, format_cell
from aldsurv.benchmark.view import sorted_datasets, sorted_models
from aldsurv.files.writing import write_text
from aldsurv.plots import benchmark as plots
from aldsurv.plots.drawing.figure_files import AnyFigure
from aldsurv.reports.benchmark.table_files import write_table
from aldsurv.reports.page.page import Block, Section, Text, Tile, Tiles
from aldsurv.reports.page.page_figures import Gallery, Picture, picture_of
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable, csv_text

__all__ = ["ledger_section", "ledger_squares", "ledger_table", "square_mark"]

_TITLES = {one.name: one.title for one in DEVIATIONS}
_MARKS = {one.name: one.mark for one in DEVIATIONS}
_STATUSES = {"definition": "by definition", "published way": "published way", "unexplained": "no"}
_STATUS_TONES = {"definition": "", "published way": "good", "unexplained": "bad"}
_COLUMNS = (
    PageColumn("dataset", "Dataset", filtered=True),
    PageColumn("model", "Model", filtered=True),
    PageColumn("metric", "Metric", filtered=True),
    PageColumn("definition", "Definition", numeric=True, meaning="our mean by the definition"),
    PageColumn("definition_distance", "sds", numeric=True, meaning="its distance in published standard deviations"),
    PageColumn("published_way", "Published way", numeric=True, meaning="our mean with the switches on"),
    PageColumn("published_way_distance", "sds", numeric=True, meaning="its distance in published standard deviations"),
    PageColumn("published", "Published", numeric=True, meaning="mean as printed in the paper"),
    PageColumn("published_sd", "± sd", numeric=True, meaning="standard deviation as printed in the paper"),
    PageColumn("status", "Agrees", filtered=True, meaning=f"within {AGREES_WITHIN:g} published sds"),
    PageColumn("because", "Because of", filtered=True, meaning="the fewest switches with which it agrees"),
    PageColumn("reason", "If not, why"),
)


def ledger_section(results: Results, switches: Collection[str], folder: Path) -> Section:
    """What the published evaluation did, and each published number beside ours; no blocks without such results.

    Parameters
    ----------
    results
        Of the benchmark, by the definition.
    switches
        Deviations that the published way has.
    folder
        Of the report, with folders ``tables`` and ``figures``.
    """
    rows = ledger(results, switches)
    if not rows:
        return Section("ledger", "The published numbers", ())
    table = ledger_table(rows)
    write_text(folder / "tables" / "ledger.csv", csv_text(table))
    blocks: tuple[Block, ...] = (
        Text(
            "Each published number beside ours: by the definition, and computed as the code released with the paper "
            "does. The published evaluation deviates from the definitions in the ways listed below; each is a switch."
        ),
        _tiles(rows),
        Gallery((_picture(rows, folder / "figures"),), wide=True),
        write_table(tables.deviations_table(results), folder),
        table,
        write_table(tables.agreement_table(rows), folder),
        write_table(tables.switches_table(results), folder),
    )
    return Section("ledger", "The published numbers", blocks)


def ledger_table(rows: Sequence[LedgerRow]) -> PageTable:
    """The ledger as a table of the page."""
    about = (
        "Agrees: by the definition, the published way (with all switches on), or not at all. Because of: the fewest "
        "switches with which our mean agrees, where it does not by the definition. Cal[S] and Cal[f] by the definition "
        "are compared as the full table of the paper labels them."
    )
    cells = tuple(
        (
            PageCell(dataset_title(row.dataset), name=row.dataset),
            PageCell(model_title(row.model), name=row.model),
            PageCell(metric_title(row.metric), name=row.metric),
            _number(row.definition.mean),
            _number(row.definition_distance, digits=1),
            _number(row.published_way.mean),
            _number(row.published_way_distance, digits=1),
            *(_number(value) for value in row.published),
            PageCell(_STATUSES[row.status], tone=_STATUS_TONES[row.status], name=row.status),
            PageCell(_because(row), name="+".join(row.because) or "-"),
            PageCell(row.reason, tone="wraps"),
        )
        for row in rows
    )
    title = f"The ledger: {len(rows)} published numbers"
    return PageTable("ledger", title, _COLUMNS, cells, about=about, files=("tables/ledger.csv",))


def _because(row: LedgerRow) -> str:
    return " and ".join(_TITLES[name] for name in row.because) or "–"


def _tiles(rows: Sequence[LedgerRow]) -> Tiles:
    counts, total = count_agreeing(rows), len(rows)
    without = sum(row.status == "definition" for row in rows if row.metric != "ibs")
    tiles = [
        Tile("Agree by the definition", f"{counts['definition']} of {total}", f"{without} of them not IBS"),
        Tile("Agree the published way", f"{counts['agrees']} of {total}", "with all switches on"),
        Tile("Agree neither way", f"{counts['unexplained']} of {total}", "a sentence on each in the ledger"),
    ]
    return Tiles(tuple(tiles))


def ledger_squares(rows: Sequence[LedgerRow]) -> AnyFigure:
    """The ledger as a picture: a square per published number, with the marks of the switches that explain it."""
    datasets = sorted_datasets(row.dataset for row in rows)
    models = sorted_models(row.model for row in rows)
    marks = {(row.dataset, row.model, row.metric): square_mark(row) for row in rows}
    ax = plots.plot_squares(
        [dataset_title(name) for name in datasets],
        [(model_title(model), [metric_title(metric) for metric in PAPER_METRICS]) for model in models],
        [[marks.get((d, model, metric), "") for model in models for metric in PAPER_METRICS] for d in datasets],
        {"": "agrees by the definition", **{one.mark: one.title for one in DEVIATIONS}, "?": "agrees neither way"},
    )
    return ax.figure


def _picture(rows: Sequence[LedgerRow], folder: Path) -> Picture:
    counts = count_agreeing(rows)
    caption = (
        "Every published number: no letter if our mean agrees by the definition, else the letters of the fewest "
        "switches with which it agrees, or a question mark if it agrees neither way."
    )
    alt = (
        f"{len(rows)} squares, one per published number: {counts['definition']} agree by the definition, "
        f"{counts['published way']} the published way, {counts['unexplained']} neither way."
    )
    return picture_of(ledger_squares(rows), folder, "ledger", caption=caption, alt=alt)


def square_mark(row: LedgerRow) -> str:
    """Letters of the switches that explain a number; empty if it agrees by the definition, ``"?"`` if not at all."""
    if row.status == "published way":
        return "".join(_MARKS[name] for name in row.because)
    return "" if row.status == "definition" else "?"


def _number(value: float, *, digits: int = 3) -> PageCell:
    return PageCell(format_cell(NumberCell(value, digits=digits)), float(value))
