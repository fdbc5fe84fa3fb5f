"""The page about a model over calendar periods: a verdict, pictures of its quality and of drift, and tables."""

from __future__ import annotations

import os
from pathlib import Path

from aldsurv import plots
from aldsurv.files.writing import write_text
from aldsurv.monitoring import Monitoring
from aldsurv.monitoring.column_drift import DRIFTED
from aldsurv.monitoring.monitoring_result import DRIFT, RATIO, SLOPE
from aldsurv.plots.drawing.new_figures import figures_for_pages
from aldsurv.reports.monitoring.monitoring_tables import alarm_table, drift_table, evidence_text, period_table
from aldsurv.reports.page.number_format import counted, interval, number, percent
from aldsurv.reports.page.page import (
    Block,
    Page,
    Remarks,
    Section,
    Text,
    Tile,
    Tiles,
    Tone,
    Verdict,
    Verdicts,
    page_templates,
    render_page,
)
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, embedded_picture

__all__ = ["monitoring_page", "write_monitoring_report"]

_MOST_COLUMNS = 25
# Over the whole page, in inches.
_DRIFT_WIDTH = 9.0
_TOPICS = {RATIO: "Number of events", SLOPE: "Differences between people", DRIFT: "Covariates"}


def write_monitoring_report(
    monitoring: Monitoring,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    model: str = "the model",
    source: str | None = None,
) -> Path:
    """Write one self-contained page about a model in use; returns its path.

    Parameters
    ----------
    monitoring
        What `aldsurv.monitoring.monitor_model` gives.
    path
        The page, such as ``monitor.html``; its folder must exist.
    title
        Heading of the page.
    model, source
        Names of the model and of the rows, such as those of their files.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import WeibullAFT, datasets
    >>> from aldsurv.monitoring import monitor_model
    >>> train, later = datasets.load("gbsg").split(seed=4)
    >>> result = monitor_model(
    ...     WeibullAFT().fit(train.x, train.y), later.x, later.y, by=2020 + np.arange(len(later.y)) % 4, samples=20
    ... )
    >>> write_monitoring_report(result, getfixture("tmp_path") / "monitor.html").name
    'monitor.html'
    """
    return write_text(path, render_page(monitoring_page(monitoring, title=title, model=model, source=source)))


@figures_for_pages()
def monitoring_page(
    monitoring: Monitoring, *, title: str | None = None, model: str = "the model", source: str | None = None
) -> Page:
    """The page; the parameters are those of `write_monitoring_report`."""
    page_templates()
    periods = monitoring.periods
    kind = monitoring.period_kind
    of_source = "" if source is None else f" of {source}"
    lead = (
        f"{model} on {counted(monitoring.rows, 'row')}{of_source}, {counted(len(periods), kind)} from "
        f"{periods[0].period} to {periods[-1].period}."
    )
    sections = (
        _glance_section(monitoring),
        _rate_section(monitoring),
        _difference_section(monitoring),
        *([_drift_section(monitoring)] if monitoring.drift else []),
        Section("numbers", "All numbers", _tables(monitoring)),
        _method_section(monitoring),
    )
    return Page(title or "Is this model still right?", lead, sections, "Made by aldsurv.")


def _glance_section(monitoring: Monitoring) -> Section:
    ratio = monitoring.events / monitoring.expected
    last = monitoring.periods[-1]
    tiles = (
        Tile(f"{monitoring.period_kind.capitalize()}s", str(len(monitoring.periods)), f"the last is {last.period}"),
        Tile("Events", number(monitoring.events, 6), f"{number(monitoring.expected)} were expected"),
        Tile("Observed / expected", f"{ratio:.2f}", "over all periods; 1 is best"),
        Tile(
            f"In {last.period}",
            f"{last.ratio:.2f}",
            f"observed/expected, {percent(monitoring.confidence)} interval "
            f"{interval(last.ratio_lower, last.ratio_upper)}",
        ),
        Tile("False alarms", percent(monitoring.alpha), "at most, ever, while the model is right and nothing changes"),
    )
    main = monitoring.main_alarm
    about = "Verdict" if main is None else f"Alarm in {main.period}"
    verdict = monitoring.verdict if main is None else monitoring.verdict.partition(": ")[2]
    head = Verdict(about, verdict, _advice(monitoring), "good" if main is None else "bad")
    blocks: list[Block] = [Verdicts((head, *(_topic_verdict(monitoring, test) for test in _TOPICS))), Tiles(tiles)]
    if monitoring.alarms:
        blocks.append(alarm_table(monitoring))
    if monitoring.notes:
        blocks.append(Text(" ".join(monitoring.notes), warning=True))
    return Section("glance", "At a glance", tuple(blocks))


def _topic_verdict(monitoring: Monitoring, test: str) -> Verdict:
    alarms = [alarm for alarm in monitoring.alarms if alarm.test == test]
    tone: Tone = "bad" if alarms else "good"
    if test == DRIFT:
        if not monitoring.drift:
            return Verdict(_TOPICS[test], "not compared", "The model does not keep what it learned of its columns.")
        finding = "no alarm" if not alarms else f"{counted(len(alarms), 'column')} differ{'s' * (len(alarms) == 1)}"
        names = ", ".join(f"{alarm.column} from {alarm.period} on" for alarm in alarms[:5])
        more = f" and {len(alarms) - 5} more" if len(alarms) > 5 else ""
        return Verdict(_TOPICS[test], finding, f"Compared with {monitoring.reference}. {names}{more}".strip(), tone)
    field = "ratio_evidence" if test == RATIO else "slope_evidence"
    largest = max(getattr(period, field) for period in monitoring.periods)
    limit = 1 / monitoring.alphas[test]
    reason = f"The largest evidence was {evidence_text(largest)}; an alarm needs {number(limit)}."
    return Verdict(_TOPICS[test], alarms[0].describe() if alarms else "no alarm", reason, tone)


def _advice(monitoring: Monitoring) -> str:
    main = monitoring.main_alarm
    if main is None:
        return "Go on as before, and look again when the next period is complete."
    if main.test == DRIFT:
        return (
            "The people have changed, but not how well they are predicted. Look at how these columns are recorded, and "
            "whether the model was made for such people."
        )
    return (
        "Look for a cause first: another definition of the event, late reports, other people. Then update the model on "
        f"the rows since {main.since}: aldsurv update."
    )


def _rate_section(monitoring: Monitoring) -> Section:
    lead = Text(
        "Expected are the predicted cumulative hazards of all rows of a period until their own times. Above 1, more "
        "events came than predicted."
    )
    pictures = (
        embedded_picture(
            plots.plot_quality_by_period(monitoring, "ratio").figure,
            "ratio",
            width=WIDTH,
            height=HEIGHT,
            caption="Observed over expected events in each period, with exact Poisson limits.",
            alt=_series_alt(monitoring, "ratio", "observed/expected"),
        ),
        embedded_picture(
            plots.plot_evidence(monitoring).figure,
            "evidence",
            width=WIDTH,
            height=HEIGHT,
            caption="Evidence of all periods so far. An alarm is raised where a line reaches its limit.",
            alt=f"Evidence after each period. {monitoring.verdict}.",
        ),
    )
    return Section("events", "As many events as predicted?", (lead, Gallery(pictures)))


def _difference_section(monitoring: Monitoring) -> Section:
    lead = Text(
        "A slope below 1 means that people differ less than predicted; C is the share of pairs that are predicted in "
        "the order in which they had the event. Only the slope has a test: where people have become more alike, C "
        "falls although the model is right."
    )
    captions = {
        "slope": ("slope", "Calibration slope in each period, with limits; 1 is best."),
        "concordance": ("C", "Harrell's C in each period, with limits; 0.5 is chance."),
    }
    pictures = tuple(
        embedded_picture(
            plots.plot_quality_by_period(monitoring, quantity).figure,  # type: ignore[arg-type]
            quantity,
            width=WIDTH,
            height=HEIGHT,
            caption=caption,
            alt=_series_alt(monitoring, quantity, name),
        )
        for quantity, (name, caption) in captions.items()
    )
    return Section("differences", "Are the right people at risk?", (lead, Gallery(pictures)))


def _drift_section(monitoring: Monitoring) -> Section:
    count = len({each.column for each in monitoring.drift})
    cut = f" The {_MOST_COLUMNS} columns of {count} that moved furthest are shown." if count > _MOST_COLUMNS else ""
    lead = Text(
        f"Each period is compared with {monitoring.reference}. The stability index is 0 for the same distribution; "
        f"from {DRIFTED:g} on a shift is worth a look, from 0.25 on it is large. In a period of few rows it is above 0 "
        f"by chance: an alarm needs the test, too.{cut}"
    )
    picture = embedded_picture(
        plots.plot_column_drift(monitoring, columns=_MOST_COLUMNS).figure,
        "drift",
        width=_DRIFT_WIDTH,
        caption="Population stability index by column and period; a cross is an alarm, the reference is left empty.",
        alt=_topic_verdict(monitoring, DRIFT).finding,
    )
    return Section("drift", "The same kind of people?", (lead, Gallery((picture,), wide=True)))


def _tables(monitoring: Monitoring) -> tuple[Block, ...]:
    return (period_table(monitoring), drift_table(monitoring)) if monitoring.drift else (period_table(monitoring),)


def _series_alt(monitoring: Monitoring, quantity: str, name: str) -> str:
    values = [(getattr(period, quantity), period.period) for period in monitoring.periods]
    known = [value for value in values if value[0] == value[0]]
    if not known:
        return f"No period has a value of {name}."
    (low, when_low), (high, when_high) = min(known), max(known)
    return f"{name} of {len(known)} periods, from {low:.2f} in {when_low} to {high:.2f} in {when_high}."


def _method_section(monitoring: Monitoring) -> Section:
    shares = {test: f"{100 * share:.3g} %" for test, share in monitoring.alphas.items()}
    entries = (
        (
            "The rate of false alarms.",
            f"While the model is right and nothing changes, the probability of any alarm, ever, is at most "
            f"{percent(monitoring.alpha)}: {shares[RATIO]} for the number of events, {shares[SLOPE]} for the slope and "
            f"{shares[DRIFT]} for the covariates. It holds however often the results are looked at.",
        ),
        (
            "The number of events.",
            "Evidence is the likelihood of more or fewer events over that of the model, averaged over factors around 1 "
            "and over the periods in which a change may have begun. Under the model its mean is 1, and it ever reaches "
            f"{number(1 / monitoring.alphas[RATIO])} with a probability of at most {shares[RATIO]} (Ville's "
            "inequality).",
        ),
        (
            "The slope.",
            "The same for differences between people that are smaller or larger than predicted, whatever the level of "
            "all risks.",
        ),
        (
            "The covariates.",
            "Exact tests of each column in each period against the reference. Limits shrink from period to period and "
            "with the number of columns, so that they sum to the share of these tests.",
        ),
        (
            "What a row is.",
            "A row belongs to one period, with its whole follow-up. People who are followed over several periods need "
            "a row in each, with delayed entry.",
        ),
    )
    return Section("method", "How alarms are raised", (Remarks(entries),))
