"""``aldsurv demo``: fit a model to a real table and predict for people who were held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import click
import numpy as np
from numpy.typing import NDArray

from aldsurv.cli.scores.metric_table import MetricLine, metric_table
from aldsurv.cli.shared.command_options import force_option, json_option
from aldsurv.cli.shared.number_text import format_number, json_text
from aldsurv.cli.shared.outputs import MODEL, PICTURE, checked_output
from aldsurv.data.survival_data import SurvivalData
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.datasets import Dataset
    from aldsurv.distributions import SurvivalDistribution

__all__ = ["demo"]

# The people shown: from short to long predicted time.
_SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)
_AT = (24, 60)
_SEED = 0
_SIZES = ("to 20 mm", "to 50 mm", "over 50 mm")


@final
@dataclass(frozen=True)
class _Person:
    """Covariates, prediction and outcome of one person; the interval is the central one of 80 %."""

    covariates: Mapping[str, float]
    median: float
    interval: tuple[float, ...]
    event_free: Mapping[int, float]
    time: float
    event: bool

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            **self.covariates,
            "median": self.median,
            "interval_80": self.interval,
            **{f"event_free_{at}": probability for at, probability in self.event_free.items()},
            "time": self.time,
            "event": self.event,
        }


@final
@dataclass(frozen=True)
class _DemoResults:
    """What the demo has done: rows, training, metrics on the held-out people, five of them, and files."""

    train: SurvivalData
    test: SurvivalData
    epochs: int
    seconds: float
    metrics: Mapping[str, float]
    people: Sequence[_Person]
    picture: Path
    model: Path

    @property
    def follow_up(self) -> float:
        """The last time of training."""
        return float(self.train.time.max())

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "unit": "months",
            "train": _facts(self.train),
            "test": _facts(self.test),
            "follow_up": self.follow_up,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 2),
            "held_out": self.metrics,
            "people": [person.to_dict() for person in self.people],
            "picture": str(self.picture),
            "model": str(self.model),
        }

    def text(self) -> str:
        """For the terminal."""
        people, end = self.people, self.follow_up
        metric_lines = [
            MetricLine(METRICS[name].title, format_number(value), "", METRICS[name].hint)
            for name, value in self.metrics.items()
        ]
        covariates = [person.covariates for person in people]
        lines = [
            "Rotterdam and German breast cancer study: time to recurrence or death, in months",
            f"  training       {self.train.summary()}",
            f"  held out       {self.test.summary()}",
            f"  fitted in {self.seconds:.1f} s ({self.epochs} epochs)",
            "",
            f"On the held-out people ({self.test.n_events} events of {len(self.test)})",
            *(f"  {line}" for line in metric_table(metric_lines, None)),
            "",
            "Five of them, in months",
            _line("", [f"person {k + 1}" for k in range(len(people))]),
            _line("age", [f"{values['age']:.0f}" for values in covariates]),
            _line("positive nodes", [f"{values['nodes']:.0f}" for values in covariates]),
            _line("tumour size", [_SIZES[int(values["size"])] for values in covariates]),
            _line("hormonal therapy", ["yes" if values["hormone"] else "no" for values in covariates]),
            _line("predicted median", [_within(person.median, end) for person in people]),
            _line("80 % interval", [" to ".join(_within(t, end) for t in person.interval) for person in people]),
        ]
        for at in _AT:
            lines += [_line(f"event-free at {at}", [f"{100 * person.event_free[at]:.0f} %" for person in people])]
        lines += [
            _line("what happened", [f"{'event' if person.event else 'free'} {person.time:.0f}" for person in people]),
            f"  (>{end:.0f}: after the last month of training)",
            "",
            f"Survival curves  {self.picture}",
            f"Model            {self.model}",
        ]
        return "\n".join(lines)


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for picture and model; created if missing.",
)
@json_option("Print the numbers as JSON only.")
@force_option()
def demo(out: Path, as_json: bool, force: bool) -> None:
    """Fit ALDSurvival to a real table and predict for held-out people.

    2232 women with breast cancer (Rotterdam tumour bank and German
    Breast Cancer Study Group), with the time to recurrence or death. A
    fifth of them is held out. The output has scores on these rows and
    predictions for five of them. A picture of their survival curves is
    written to DIR/survival.png, and the model to DIR/gbsg.aldsurv.

    \b
    Examples:
      aldsurv demo
      aldsurv demo --out pictures
      aldsurv demo --json
    """  # noqa: D301
    # Imported here, so that help is shown at once, also without matplotlib and torch.
    from aldsurv.datasets import load
    from aldsurv.models import ALDSurvival
    from aldsurv.plots import prediction_figure, save_figure

    picture = checked_output(out / "survival.png", PICTURE, force=force, makes_folder=True)
    saved = checked_output(out / "gbsg.aldsurv", MODEL, force=force, makes_folder=True)
    out.mkdir(parents=True, exist_ok=True)
    train, test = load("gbsg").split(seed=_SEED)
    model = ALDSurvival(unit="months", random_state=_SEED)
    # Everything that can fail comes before the first line is printed.
    model.fit(_named(train), train.y)
    predicted = model.predict_distribution(_named(test))
    shown = np.argsort(predicted.median())[[round(share * (len(test) - 1)) for share in _SHOWN]]
    names = [f"person {k + 1}" for k in range(len(shown))]
    figure = prediction_figure(predicted, test.y, rows=shown, labels=names, unit="months")
    results = _DemoResults(
        train=train.y,
        test=test.y,
        epochs=model.history_.epochs,
        seconds=float(model.history_.seconds.sum()),
        metrics=_quality(predicted, test.y, train.y),
        people=_people(predicted[shown], test[shown]),
        picture=save_figure(figure, picture),
        model=model.save(saved),
    )
    click.echo(json_text(results.to_dict()) if as_json else results.text())


def _named(data: Dataset) -> dict[str, NDArray[np.float64]]:
    """Covariates by name, which a model checks when it predicts."""
    return dict(zip(data.feature_names, data.x.T, strict=True))


def _quality(predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData) -> dict[str, float]:
    from aldsurv import metrics

    line = metrics.survival_calibration(predicted, data)
    return {
        "log_likelihood": float(metrics.log_likelihood(predicted, data)),
        "harrell_c": float(metrics.concordance_harrell(predicted, data, train=train)),
        "ibs": float(metrics.integrated_brier_score(predicted, data, train=train)),
        "cens_dcal": float(metrics.censored_d_calibration(predicted, data)),
        "cal_s_slope": float(line.slope),
        "cal_s_intercept": float(line.intercept),
    }


def _people(predicted: SurvivalDistribution, data: Dataset) -> list[_Person]:
    interval, survival, columns = predicted.interval(0.8), predicted.survival(list(_AT)), _named(data)
    return [
        _Person(
            {name: float(values[row]) for name, values in columns.items()},
            median=float(predicted.median()[row]),
            interval=tuple(interval[row].tolist()),
            event_free={at: float(survival[row, k]) for k, at in enumerate(_AT)},
            time=float(data.y.time[row]),
            event=bool(data.y.event[row]),
        )
        for row in range(len(data))
    ]


def _facts(data: SurvivalData) -> dict[str, object]:
    return {"rows": len(data), "events": data.n_events, "summary": data.summary()}


def _within(time: float, end: float) -> str:
    """A time, or that it lies beyond the last time of training."""
    return f"{time:.0f}" if time <= end else f">{end:.0f}"


def _line(title: str, values: Sequence[str]) -> str:
    return (f"  {title:<17}" + "".join(f"{value:>12}" for value in values)).rstrip()
