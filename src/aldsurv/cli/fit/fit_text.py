"""What ``aldsurv fit`` says."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from aldsurv.cli.fit.held_out import HeldOut, figure_lines
from aldsurv.cli.shared.column_uses import column_lines
from aldsurv.cli.shared.text_layout import printable, screen_width, wrapped
from aldsurv.files.writing import is_stream
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from aldsurv.cli.fit.fit_steps import Found, Understood
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tuning.search import Trial, Tuning

__all__ = ["Teller", "ending", "held_out", "plain", "trial_display", "tuned", "understanding"]

_METRICS = {"log_likelihood": "log-likelihood", "ibs": "integrated Brier score"}


@final
class Teller:
    """Prints paragraphs with an empty line between them.

    Parameters
    ----------
    silent
        Print nothing.
    aside
        Print to the standard error stream: the model goes to standard output.
    """

    def __init__(self, *, silent: bool, aside: bool) -> None:
        self._silent, self._aside, self._began = silent, aside, False

    def __call__(self, text: str) -> None:
        """Print one."""
        if not self._silent:
            click.echo(f"\n{text}" if self._began else text, err=self._aside)
            self._began = True


def understanding(given: Understood, unit: str | None) -> str:
    """Rows, events, times and columns of the table."""
    table, width = given.table, screen_width()
    head = f"{printable(table.path.name)}: {_count(len(table), 'row')}, {_count(len(table.columns), 'column')}"
    lines = wrapped(f"{head} ({table.written})", width, indent=2)
    if table.y is not None:
        # "n=…" is in the line above.
        _, told = table.y.summary().split(", ", 1)
        lines += wrapped(f"  {told}{f' {printable(unit)}' if unit else ''}", width, indent=2)
    return "\n".join([*lines, *column_lines(given.columns, width)])


def tuned(found: Tuning, journal: Path) -> str:
    """What a search came to."""
    before, sign = found.trials[0].score, -1 if found.metric == "ibs" else 1
    told = ", ".join(f"{name} {_setting(value)}" for name, value in found.best.items())
    score = f"{sign * found.score:.4f}"
    was = "none" if before is None else f"{sign * before:.4f}"
    text = [f"Best of {_count(len(found.trials), 'trial')} by the {_METRICS[found.metric]} in cross-validation"]
    text += [f"  {score} with {told}", f"  {was} as it was"] if found.best else [f"  {score} as it was: nothing better"]
    text.append(f"  trials in {printable(journal)}")
    return "\n".join(line for part in text for line in wrapped(part, screen_width(), indent=4))


def held_out(scores: HeldOut, rows: int, tested: tuple[int, int]) -> str:
    """Metrics on the rows held out."""
    head = f"Fitted to {_count(rows, 'row')}; on {tested[0]} held out ({_count(tested[1], 'event')}):"
    return "\n".join([*wrapped(head, screen_width()), *figure_lines(scores)])


def ending(found: Found, target: Path, seconds: float) -> str:
    """What was saved."""
    which = f"all {found.rows} rows" if found.rows == found.of else f"the {found.rows} rows that were not held out"
    told = f"Saved {printable(target)}: fitted to {which}"
    if found.interrupted:
        told += ", until training was interrupted"
    elif found.tested is not None:
        told += "; the figures are of the same settings without the rows held out"
    lines = [f"{told} ({seconds:.1f} s)", *([] if is_stream(target) else [f"Next: aldsurv info {printable(target)}"])]
    return "\n".join(line for part in lines for line in wrapped(part, screen_width(), indent=2))


def plain(
    given: Understood, found: Found, model: SurvivalEstimator, target: Path, seconds: float, notes: list[str]
) -> dict[str, Any]:
    """All of it for programs."""
    from aldsurv.cli.info_command import settings_of

    table, tuning = given.table, found.tuning
    events = None if table.y is None else table.y.n_events
    return {
        "model": MODELS.name_of(type(model)),
        "file": str(target),
        "table": str(table.path),
        "rows": len(table),
        "events": events,
        "columns": [column._asdict() for column in given.columns],
        "settings": settings_of(model),
        "tuning": None
        if tuning is None
        else {
            "metric": tuning.metric,
            "score": tuning.score,
            "best": tuning.best,
            "trials": [{"settings": one.settings, "score": one.score} for one in tuning.trials],
            "journal": str(found.journal),
        },
        "held_out": None
        if found.tested is None
        else {
            "rows": found.tested[0],
            "events": found.tested[1],
            "confidence": 0.95,
            "metrics": {name: _finite(one._asdict()) for name, one in found.figures.scores.items()},
            **_finite({"cens_dcal_by_chance": found.figures.by_chance}),
        },
        "fitted_to": found.rows,
        "interrupted": found.interrupted,
        "seconds": round(seconds, 2),
        "notes": notes,
    }


@contextmanager
def trial_display(trials: int, journal: Path, *, show: bool) -> Iterator[Callable[[Trial], None]]:
    """A line on a terminal that tells how far a search is; where a search that is stopped can be taken up."""
    watched = show and sys.stderr.isatty()
    best: list[float] = []

    def tell(trial: Trial) -> None:
        best.extend([] if trial.score is None else [trial.score])
        if watched:
            top = f", best score {max(best):.4f}" if best else ""
            click.echo(f"\r\033[K{f'trial {trial.number} of {trials}{top}'[: screen_width() - 1]}", nl=False, err=True)

    try:
        yield tell
    except KeyboardInterrupt:
        if show:
            click.echo(
                f"{_cleared(watched)}aldsurv: note: the trials so far are in {printable(journal)}: {_AGAIN}", err=True
            )
        raise
    finally:
        if watched:
            click.echo("\r\033[K", nl=False, err=True)


_AGAIN = "the same command goes on from there."


def _cleared(watched: bool) -> str:
    return "\r\033[K" if watched else ""


def _finite(values: Mapping[str, float]) -> dict[str, float | None]:
    """JSON has no infinite numbers."""
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def _setting(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
