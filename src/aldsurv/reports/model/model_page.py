"""The report of a model: one page about its predictions and how well they agree with the outcomes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.checks import Satisfies, WholeNumber, check
from aldsurv.columns.column_labels import ColumnLabels, warn_of_unknown_labels
from aldsurv.data.persons import first_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.files.writing import write_bytes, write_text
from aldsurv.models import SurvivalEstimator
from aldsurv.plots.drawing.axes_text import collected_warnings
from aldsurv.plots.drawing.new_figures import figures_for_pages
from aldsurv.reports.model.about_sections import caution_section, citation_section, footer
from aldsurv.reports.model.causes.cause_findings import CauseFindings, compute_cause_findings
from aldsurv.reports.model.causes.cause_sections import cause_cautions
from aldsurv.reports.model.checklist.checklist_section import AnsweredItem, answer_items, checklist_section
from aldsurv.reports.model.checklist.study import Study
from aldsurv.reports.model.effect_sections import column_importance
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.individual_sections import MOST_PEOPLE, chosen_people
from aldsurv.reports.model.intended_use import IntendedUse, intended_use, use_section
from aldsurv.reports.model.overview_sections import glance_section
from aldsurv.reports.model.partial.partial_findings import compute_partial_findings
from aldsurv.reports.model.partial.partial_sections import partial_glance_section
from aldsurv.reports.model.participants.participant_section import Participants, compute_participants
from aldsurv.reports.model.quality.cautions import Caution, cautions
from aldsurv.reports.model.quality.findings import Findings, compute_findings
from aldsurv.reports.model.quality.subgroups import subgroups
from aldsurv.reports.model.report_parts import FindingsAtTimes, compute_findings_at_times, report_parts
from aldsurv.reports.model.report_times import checked_report_times, default_report_times, main_time
from aldsurv.reports.model.row_kind import RowKind
from aldsurv.reports.model.specification.specification import Specification, specify
from aldsurv.reports.model.specification.specification_section import specification_section
from aldsurv.reports.model.words.page_words import EVENT_NAME, figure_words, known_columns
from aldsurv.reports.page.page import Page, page_templates, render_page
from aldsurv.reports.page.page_figures import reworded_figures
from aldsurv.reports.page.pdf import find_browser, printed_page

__all__ = ["ModelReport", "model_report", "write_model_report"]


@final
@dataclass(frozen=True, eq=False)
class ModelReport:
    """A page, what it is about, the numbers on it, at times and by cause, its cautions, and what authors report."""

    page: Page
    subject: EvaluatedModel
    participants: Participants
    findings: Findings
    at_times: FindingsAtTimes
    cautions: tuple[Caution, ...]
    specification: Specification
    use: IntendedUse
    checklist: tuple[AnsweredItem, ...]
    causes: tuple[CauseFindings, ...] = ()


def write_model_report(
    model: SurvivalEstimator,
    X: object,
    data: object,
    path: str | os.PathLike[str],
    *,
    train: object = None,
    train_X: object = None,
    times: Sequence[float] | None = None,
    group: tuple[str, ArrayLike] | None = None,
    people: int | Sequence[int] = 6,
    title: str | None = None,
    source: str | None = None,
    unit: str | None = None,
    event_name: str | None = None,
    labels: object = None,
    model_file: str | os.PathLike[str] | None = None,
    pdf: str | os.PathLike[str] | None = None,
    random_state: int = 0,
) -> Path:
    """Write one self-contained page about a model and rows with observed outcomes; returns its path.

    Parameters
    ----------
    model
        A fitted model.
    X, data
        Covariates (a dict of columns, a frame or a 2-D array) and outcome, as for ``fit``; preferably not the training
        rows, on which metrics are optimistic. Of delayed entry, left- and interval-censoring the page has what is
        defined for them, and says what is not.
    path
        The page, such as ``report.html``; its folder must exist.
    train
        Outcome of the training rows, from which the censoring is estimated; None: from the rows of `data`.
    train_X
        Covariates of the training rows, for the table of participants; columns may be missing.
    times
        Times at which predictions are judged, at most six and within the follow-up of the rows. Results of one time are
        those of the one nearest to the median observed time. None: that median and up to two round times.
    group
        Name and values (n,) of a column that defines subgroups; None: the most important columns.
    people
        Number of single subjects to show, or their row numbers from 0 on; at most ten.
    title
        Heading of the page.
    source
        Name of the rows, such as that of their file.
    unit
        Unit of time; None: that of the model.
    event_name
        What the event is called in sentences, such as ``"death"``; None: event.
    labels
        What columns are called on the page: by column a label, or a mapping with ``label``, ``unit`` and ``levels`` (a
        label by value); or the path of such a file, as `aldsurv.reports.read_labels` takes it.
    model_file
        The file of the model, of which the page has name and SHA-256.
    pdf
        Also print the page to this file, through an installed Chromium, Chrome or Edge (on the path, or named by
        ``ALDSURV_BROWSER``); None: no.
    random_state
        Seed of resamples, shuffles, and samples of the rows.

    Examples
    --------
    >>> from aldsurv.models import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(60, 10, 400)
    >>> time, event = 0.3 * age * rng.weibull(2.0, 400), rng.random(400) < 0.8
    >>> model = WeibullAFT(unit="months").fit({"age": age[:200]}, (time[:200], event[:200]))
    >>> page = getfixture("tmp_path") / "report.html"
    >>> write_model_report(model, {"age": age[200:]}, (time[200:], event[200:]), page).name
    'report.html'
    """
    browser = None if pdf is None else find_browser()
    report = model_report(
        model,
        X,
        data,
        train=train,
        train_X=train_X,
        times=times,
        group=group,
        people=people,
        title=title,
        source=source,
        unit=unit,
        event_name=event_name,
        labels=labels,
        model_file=model_file,
        random_state=random_state,
    )
    html = render_page(report.page)
    if pdf is not None:
        write_bytes(pdf, printed_page(html, browser))
    return write_text(path, html)


@figures_for_pages()
def model_report(
    model: SurvivalEstimator,
    X: object,
    data: object,
    *,
    train: object = None,
    train_X: object = None,
    times: Sequence[float] | None = None,
    group: tuple[str, ArrayLike] | None = None,
    people: int | Sequence[int] = 6,
    title: str | None = None,
    source: str | None = None,
    unit: str | None = None,
    event_name: str | None = None,
    labels: object = None,
    model_file: str | os.PathLike[str] | None = None,
    random_state: int = 0,
) -> ModelReport:
    """The page and the numbers on it; the parameters are those of `write_model_report`."""
    page_templates()
    episodes = SurvivalData.of(data)
    outcome = episodes.persons()
    if group is not None and episodes.person is not None:
        group = group[0], np.asarray(group[1])[first_rows(episodes)]
    check("random_state", random_state, WholeNumber(0))
    kind = RowKind.of(outcome)
    chosen_times = None if times is None else checked_report_times(times, outcome)
    _check_people(people, len(outcome))
    if event_name is not None:
        check("event_name", event_name, EVENT_NAME)
    titles = ColumnLabels.of(labels)
    warn_of_unknown_labels(titles, known_columns(model, X, group))
    with collected_warnings() as messages:
        training = None if train is None else SurvivalData.of(train)
        evaluated = EvaluatedModel.on_rows(
            model,
            X,
            episodes,
            train=training,
            unit=unit,
            seed=random_state,
            event=(event_name or "event").strip(),
            labels=titles,
        )
        # The time of results that look at one time: of the given ones that next to the middle of the follow-up.
        main = None if chosen_times is None else main_time(chosen_times, outcome)
        findings = compute_findings(evaluated, main) if kind.complete else compute_partial_findings(evaluated, main)
        # Rounded for reading; the median time is well within the follow-up.
        at = float(f"{findings.horizon:.2g}") if main is None else main
        causes = compute_cause_findings(evaluated, at) if kind.complete else ()
    # Later warnings repeat these for shuffled or resampled rows.
    with collected_warnings(), reworded_figures(figure_words(evaluated)):
        importance = column_importance(evaluated)
        column = () if group is None else ((group[0], np.asarray(group[1])[evaluated.rows]),)
        used = [place for place in importance.order if place in evaluated.used_places]
        groups, horizon = subgroups(evaluated, used, column, main) if kind.complete else ([], float("nan"))
        chosen = chosen_people(evaluated, findings, people)
        if chosen_times is None:
            chosen_times = default_report_times(evaluated.data) if kind.has_times else ()
        at_times = compute_findings_at_times(evaluated, chosen_times, findings.horizon)
        participants = compute_participants(evaluated, episodes, training, train_X)
        parts = report_parts(
            evaluated,
            findings,
            at_times,
            participants=participants,
            causes=causes,
            importance=importance,
            groups=(groups, horizon),
            people=chosen,
            outcome=outcome,
        )
    applying = (*cautions(evaluated, findings, groups, messages), *cause_cautions(evaluated, causes))
    spec = specify(model, titles, model_file)
    use = intended_use(evaluated, findings, spec)
    described = (
        glance_section(evaluated, findings) if kind.complete else partial_glance_section(evaluated, findings),
        caution_section(applying),
        use_section(use),
        *parts,
        specification_section(spec, evaluated.table.names, evaluated.unit),
    )
    study = Study(
        evaluated,
        findings,
        spec,
        groups,
        len(applying),
        source,
        frozenset(part.anchor for part in described),
        train_X is not None,
    )
    checklist = answer_items(study)
    section_titles = {part.anchor: part.title for part in described}
    sections = (*described, checklist_section(checklist, section_titles), citation_section())
    of_source = "" if source is None else f" of {source}"
    lead = f"{type(model).__name__} on {len(outcome):,} rows{of_source}: predictions and their quality."
    if episodes.person is not None:
        lead = (
            f"{type(model).__name__} on {len(outcome):,} persons in {len(episodes):,} episodes{of_source}: predictions "
            "along the path of their covariates, and their quality. Columns are as in each person's first episode."
        )
    page = Page(title or "How well does this model predict?", lead, sections, footer(evaluated))
    return ModelReport(page, evaluated, participants, findings, at_times, applying, spec, use, checklist, causes)


def _check_people(people: int | Sequence[int], rows: int) -> None:
    last = rows - 1
    rows_or_count = f"a number from 1 to {MOST_PEOPLE}, or at most {MOST_PEOPLE} row numbers from 0 to {last}"

    def allowed(value: object) -> bool:
        if not isinstance(value, (list, tuple, np.ndarray)):
            return WholeNumber(1, MOST_PEOPLE).allows(value)
        return 1 <= len(value) <= MOST_PEOPLE and all(WholeNumber(0, last).allows(row) for row in value)

    check("people", people, Satisfies(allowed, rows_or_count))
