"""The report of a benchmark: one page, and its tables and figures as files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from aldsurv.benchmark import tables
from aldsurv.benchmark.paper.published_evaluation import DEVIATIONS, SWITCHES
from aldsurv.benchmark.paper.published_values import as_published, checked_switches, has_published_values
from aldsurv.benchmark.plan import Plan
from aldsurv.benchmark.results import Results
from aldsurv.benchmark.store import Store
from aldsurv.benchmark.tables import BenchmarkTable
from aldsurv.benchmark.view import View
from aldsurv.checks import Choice, check
from aldsurv.errors import DataError
from aldsurv.files.writing import write_text
from aldsurv.plots.drawing.new_figures import figures_for_pages
from aldsurv.reports.benchmark import benchmark_figures as figures
from aldsurv.reports.benchmark import calibration_figures
from aldsurv.reports.benchmark.all_results_table import results_table
from aldsurv.reports.benchmark.benchmark_summary import failure_blocks, finding_tiles, plan_facts, wins_table
from aldsurv.reports.benchmark.ledger_section import ledger_section
from aldsurv.reports.benchmark.merged_tables import DATASET_COLUMNS, VERDICT_COLUMNS, write_merged_table
from aldsurv.reports.benchmark.network_figures import network_pictures
from aldsurv.reports.benchmark.paper_notes import NOTES
from aldsurv.reports.benchmark.table_files import write_table
from aldsurv.reports.page.page import Block, Page, Section, Text, page_templates, render_page
from aldsurv.reports.page.page_figures import Gallery, Picture
from aldsurv.reports.page.page_tables import PageTable, csv_text

__all__ = ["EVALUATIONS", "write_benchmark_report"]

Evaluation = Literal["definition", "published"]
EVALUATIONS = ("definition", "published")

# The dataset whose times are shown as histograms.
_HISTOGRAM = "support"


@figures_for_pages()
def write_benchmark_report(
    store: Store,
    folder: Path | str | None = None,
    *,
    evaluation: Evaluation = "definition",
    without: Iterable[str] = (),
) -> Path:
    """Write the page of a benchmark, finished or not, and its tables and figures; returns the path of the page.

    Parameters
    ----------
    store
        The results.
    folder
        Where to write ``index.html``, which needs no other file, ``tables`` (CSV, Markdown, LaTeX) and ``figures``
        (PNG, SVG); created if it does not exist. None for ``report`` beside the results.
    evaluation
        ``"definition"``: metrics by their definitions. ``"published"``: those of the paper's models and recipe as the
        code released with the paper computes them, which is evidence and not a way to judge a model.
    without
        Deviations of the published evaluation to leave out: names of `aldsurv.benchmark.paper.published_evaluation`.
    """
    check("evaluation", evaluation, Choice(EVALUATIONS))
    left_out = checked_switches(without)
    switches = tuple(name for name in SWITCHES if name not in left_out)
    page_templates()
    folder = store.folder / "report" if folder is None else Path(folder)
    plan, by_definition = store.plan, store.results()
    if evaluation == "published" and not has_published_values(by_definition):
        raise DataError(
            f"{store.folder} has no values of the published evaluation, which are of recipe paper",
            advice="Run the benchmark again with this version: aldsurv benchmark run --recipe paper.",
        )
    results = by_definition if evaluation == "definition" else as_published(by_definition, switches)
    for inner in ("tables", "figures"):
        (folder / inner).mkdir(parents=True, exist_ok=True)
    view = _main_view(plan)
    table = results_table(plan, results)
    write_text(folder / "tables" / "all_results.csv", csv_text(table))
    done, failed = store.done(), store.failed()
    missing = [cell.name for cell in plan.cells() if cell.name not in done and cell.name not in failed]
    sections = (
        Section(
            "run",
            "What was run",
            (
                plan_facts(plan, store.versions, done=len(done)),
                *_evaluation_note(evaluation, switches),
                *failure_blocks(failed, missing),
            ),
        ),
        Section("datasets", "Datasets", (_datasets(plan, view, folder),)),
        Section("glance", "At a glance", _glance(results, plan, view, folder)),
        ledger_section(by_definition, switches, folder),
        Section("results", "All results", (table,)),
        *_table_sections(store, results, plan, view, folder),
        *_figure_sections(results, plan, view, folder / "figures"),
        Section("notes", "Notes on the published evaluation", (NOTES,)),
    )
    lead = f"{len(plan.datasets)} datasets, {len(plan.models)} models, {plan.seeds} runs each, nine metrics."
    page = Page("Benchmark of survival models", lead, tuple(section for section in sections if section.blocks))
    return write_text(folder / "index.html", render_page(page))


def _evaluation_note(evaluation: Evaluation, switches: Sequence[str]) -> tuple[Block, ...]:
    if evaluation == "definition":
        return ()
    titles = ", ".join(one.title for one in DEVIATIONS if one.name in switches) or "none"
    text = (
        "The nine metrics of the paper's models are computed as the code released with the paper does, which is wrong "
        f"on purpose. Deviations from the definitions: {titles}. The ledger shows both ways."
    )
    return (Text(text, warning=True),)


def _main_view(plan: Plan) -> View:
    """The paper's recipe and definition if the plan has them, else the first of the plan."""
    paper = View()
    return View(
        paper.recipe if paper.recipe in plan.recipes else plan.recipes[0],
        paper.definition if paper.definition in plan.definitions else plan.definitions[0],
    )


def _glance(results: Results, plan: Plan, view: View, folder: Path) -> tuple[Block, ...]:
    """The main view first, then the other recipes."""
    blocks: list[Block] = [Text(_describe_view(view))]
    for recipe in dict.fromkeys((view.recipe, *plan.recipes)):
        shown = replace(view, recipe=recipe)
        ranks = tables.ranking_table(results, view=shown)
        won = wins_table(results, shown)
        if shown != view:
            blocks.append(Text(f"The same with recipe “{recipe}”:"))
            ranks = replace(ranks, name=f"{ranks.name}_{recipe}", title=f"{ranks.title}, recipe “{recipe}”")
            won = replace(won, name=f"{won.name}_{recipe}", caption=f"{won.caption}, recipe “{recipe}”")
        blocks += [finding_tiles(results, shown), won, write_table(ranks, folder)]
    return tuple(blocks)


def _datasets(plan: Plan, view: View, folder: Path) -> PageTable:
    table = tables.datasets_table(plan.datasets, definition=view.definition, seeds=plan.seeds)
    return write_merged_table(table, folder, DATASET_COLUMNS, reading="Two numbers are ours / published.")


def _describe_view(view: View) -> str:
    return (
        "This section, the tables after that of all results, and the figures show, unless stated otherwise: recipe "
        f"“{view.recipe}”, synthetic datasets as {view.definition}, split by {view.variant}."
    )


def _table_sections(store: Store, results: Results, plan: Plan, view: View, folder: Path) -> tuple[Section, ...]:
    def written(given: Iterable[BenchmarkTable]) -> tuple[Block, ...]:
        return tuple(write_table(table, folder) for table in given if table.rows)

    verdicts: list[Block] = []
    reading = "Three numbers are better / worse / same."
    for recipe in plan.recipes:
        shown = View(recipe, view.definition)
        for corrected in (False, True):
            table = tables.verdict_table(results, view=shown, corrected=corrected)
            if table.rows:
                test = "corrected resampled" if corrected else "Student's"
                title = f"{table.title}: {test} t test, recipe “{recipe}”"
                named = replace(table, name=f"{table.name}_{recipe}", title=title)
                verdicts.append(write_merged_table(named, folder, VERDICT_COLUMNS, reading=reading))
    summaries = (tables.summary_table(results, view=view), tables.mass_below_zero_table(results, view=view))
    compared = (
        tables.recipes_table(results, definition=view.definition),
        tables.definitions_table(results, recipe=view.recipe),
        tables.grouping_table(results, recipe=view.recipe),
    )
    return (
        Section("full", "Metrics side by side", written([tables.full_table(results, view=view)])),
        Section("verdicts", "Better, worse, same", tuple(verdicts)),
        Section("summaries", "ALD by summary, and mass below zero", written(summaries)),
        Section("choices", "Recipes, definitions, splits", written(compared)),
        Section("columns", "Exchanged columns", written([tables.calibration_columns_table(results, view=view)])),
        Section("seconds", "Seconds", written([tables.seconds_table(store.seconds(), view=view)])),
    )


def _figure_sections(results: Results, plan: Plan, view: View, folder: Path) -> tuple[Section, ...]:
    def gallery(pictures: tuple[Picture, ...], *, wide: bool = False) -> tuple[Block, ...]:
        return (Gallery(pictures, wide=wide),) if pictures else ()

    calibration = (
        *gallery(calibration_figures.extreme_calibration_pictures(results, view, folder)),
        *gallery(calibration_figures.calibration_pictures(results, view, folder)),
    )
    networks = network_pictures(plan, folder)
    histograms = figures.time_histograms(_HISTOGRAM, folder) if _HISTOGRAM in plan.datasets else ()
    return (
        Section("metrics", "The nine metrics", gallery(figures.metric_pictures(results, view, folder), wide=True)),
        Section("ranks", "Mean ranks", gallery(figures.ranking_pictures(results, view, folder))),
        Section("calibration", "Calibration fits", calibration),
        Section("times", "Times in SUPPORT", gallery(histograms, wide=True)),
        Section("networks", "The networks", (*gallery(networks[:1], wide=True), *gallery(networks[1:]))),
    )
