"""The report of a model: one page about what it predicts and how far one can trust it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError
from aldsurv.files.writing import write_text
from aldsurv.models import SurvivalEstimator
from aldsurv.plots.drawing.axes_text import collected_warnings
from aldsurv.reports.model.cautions import cautions
from aldsurv.reports.model.effect_sections import effect_sections, importance_of
from aldsurv.reports.model.fact_sections import caution_section, citation_section, footer, model_section
from aldsurv.reports.model.findings import Findings, examined
from aldsurv.reports.model.quality_sections import (
    calibration_section,
    discrimination_section,
    group_section,
    negative_section,
    number_section,
    observed_section,
)
from aldsurv.reports.model.row_sections import (
    average_section,
    chosen_people,
    data_section,
    glance_section,
    people_section,
)
from aldsurv.reports.model.subgroups import groups_of
from aldsurv.reports.model.subject import Subject, subject_of
from aldsurv.reports.page.page import Page, page_templates, render_page

__all__ = ["ModelReport", "model_report", "write_model_report"]

_MOST_PEOPLE = 10


@final
@dataclass(frozen=True, eq=False)
class ModelReport:
    """A page, what it is about, the numbers on it, and what its reader is warned of."""

    page: Page
    subject: Subject
    findings: Findings
    cautions: tuple[tuple[str, str], ...]


def write_model_report(
    model: SurvivalEstimator,
    X: Any,
    data: Any,
    path: str | os.PathLike[str],
    *,
    train: Any = None,
    group: tuple[str, Any] | None = None,
    people: int | Sequence[int] = 6,
    title: str | None = None,
    source: str | None = None,
    unit: str | None = None,
    random_state: int = 0,
) -> Path:
    """Write one self-contained page about a model and rows whose outcome is known; gives its path.

    Parameters
    ----------
    model
        A fitted model.
    X, data
        Covariates (a dict of columns, a frame or a 2-D array) and outcome, as for ``fit``, preferably of rows that the
        model has not learned from: exact or right-censored.
    path
        The page, such as ``report.html``; its folder must exist.
    train
        Outcome of the training rows, from which the censoring is estimated; None: from the rows of `data`.
    group
        Name and values (n,) of a column by which subgroups are shown; None: the most important columns.
    people
        Number of single subjects to show, or their row numbers from 0 on; ten at most.
    title
        Heading of the page.
    source
        What the rows are called, such as the name of their file.
    unit
        Unit of time; None: that of the model.
    random_state
        Seed of what is drawn at random: resamples, shuffles, and rows where they are many.

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
    report = model_report(
        model,
        X,
        data,
        train=train,
        group=group,
        people=people,
        title=title,
        source=source,
        unit=unit,
        random_state=random_state,
    )
    return write_text(path, render_page(report.page))


def model_report(
    model: SurvivalEstimator,
    X: Any,
    data: Any,
    *,
    train: Any = None,
    group: tuple[str, Any] | None = None,
    people: int | Sequence[int] = 6,
    title: str | None = None,
    source: str | None = None,
    unit: str | None = None,
    random_state: int = 0,
) -> ModelReport:
    """The page and the numbers on it; the parameters are those of `write_model_report`."""
    page_templates()
    outcome = SurvivalData.of(data)
    _check(outcome, people, random_state)
    with collected_warnings() as notes:
        known = None if train is None else SurvivalData.of(train)
        subject = subject_of(model, X, outcome, train=known, unit=unit, seed=random_state)
        findings = examined(subject)
    # What else is warned of is the same again, of rows that were shuffled or repeated.
    with collected_warnings():
        importance = importance_of(subject)
        column = None if group is None else (group[0], np.asarray(group[1])[subject.rows])
        groups, horizon = groups_of(subject, importance.order, column)
        chosen = chosen_people(subject, findings, people)
        parts = (
            data_section(subject, findings),
            average_section(subject, findings),
            people_section(subject, chosen, outcome),
            calibration_section(subject, findings),
            discrimination_section(subject, findings),
            observed_section(subject, findings),
            *effect_sections(subject, importance),
            *([group_section(subject, groups, horizon)] if groups else []),
            negative_section(findings),
            number_section(subject, findings),
        )
    found = cautions(subject, findings, groups, notes)
    sections = (
        glance_section(subject, findings),
        caution_section(found),
        *parts,
        model_section(subject),
        citation_section(),
    )
    whose = "" if source is None else f" of {source}"
    lead = f"{type(model).__name__} on {len(outcome):,} rows{whose}: what it predicts, and how well."
    page = Page(title or "How well does this model predict?", lead, sections, footer(subject))
    return ModelReport(page, subject, findings, tuple(found))


def _check(outcome: SurvivalData, people: int | Sequence[int], seed: Any) -> None:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(f"random_state must be a whole number from 0 on, but is {seed!r}.")
    odd = ~(outcome.exact | outcome.right_censored)
    if odd.any():
        raise DataError(
            f"a report needs rows with their time, or censored on the right, but {odd.sum()} of {len(outcome)} are "
            f"known by bounds only (first: row {int(np.argmax(odd))}). Leave these out."
        )
    if isinstance(people, (int, np.integer)):
        wrong = isinstance(people, bool) or not 1 <= people <= _MOST_PEOPLE
    else:
        rows = list(people)
        wrong = not 1 <= len(rows) <= _MOST_PEOPLE or not all(
            isinstance(row, (int, np.integer)) and 0 <= row < len(outcome) for row in rows
        )
    if wrong:
        raise ParameterError(
            f"people must be a number from 1 to {_MOST_PEOPLE}, or at most {_MOST_PEOPLE} row numbers from 0 to "
            f"{len(outcome) - 1}, but is {people!r:.60}."
        )
