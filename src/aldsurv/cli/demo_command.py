"""``aldsurv demo``: fit a model to a real table and predict for people who were held out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from aldsurv.cli.shared.command_options import force_option, json_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outputs import MODEL, PICTURE, checked_output
from aldsurv.data.survival_data import SurvivalData

if TYPE_CHECKING:
    from aldsurv.datasets import Dataset
    from aldsurv.distributions import SurvivalDistribution

__all__ = ["demo"]

# The people shown: from short to long predicted time.
_SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)
_AT = (24, 60)
_SEED = 0
_SIZES = ("to 20 mm", "to 50 mm", "over 50 mm")


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for picture and model; made if missing.",
)
@json_option("Print the numbers as JSON only.")
@force_option()
def demo(out: Path, as_json: bool, force: bool) -> None:
    """Fit ALDSurvival to a real table and predict for people held out.

    2232 women with breast cancer (Rotterdam tumour bank and German Breast
    Cancer Study Group), with the time to recurrence or death. A fifth of
    them is held out. Printed are how well these are predicted, and five of
    them one by one; a picture of their survival curves goes to
    DIR/survival.png, the model to DIR/gbsg.aldsurv.

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
    results = {
        "unit": "months",
        "train": _facts(train.y),
        "test": _facts(test.y),
        "follow_up": float(train.y.time.max()),
        "epochs": model.history_.epochs,
        "seconds": round(float(model.history_.seconds.sum()), 2),
        "held_out": _quality(predicted, test.y, train.y),
        "people": _people(predicted[shown], test[shown]),
        "picture": str(save_figure(figure, picture)),
        "model": str(model.save(saved)),
    }
    click.echo(json_text(results) if as_json else _text(results))


def _named(data: Dataset) -> dict[str, NDArray[np.float64]]:
    """Covariates by name, which a model checks when it predicts."""
    return dict(zip(data.feature_names, data.x.T, strict=True))


def _quality(predicted: SurvivalDistribution, data: SurvivalData, train: SurvivalData) -> dict[str, float]:
    from aldsurv import metrics

    line = metrics.survival_calibration(predicted, data)
    return {
        "log_likelihood": float(metrics.log_likelihood(predicted, data)),
        "harrell_c": float(metrics.concordance_harrell(predicted, data)),
        "ibs": float(metrics.integrated_brier_score(predicted, data, train=train)),
        "cens_dcal": float(metrics.censored_d_calibration(predicted, data)),
        "cal_s_slope": float(line.slope),
        "cal_s_intercept": float(line.intercept),
    }


def _people(predicted: SurvivalDistribution, data: Dataset) -> list[dict[str, Any]]:
    interval, survival, columns = predicted.interval(0.8), predicted.survival(list(_AT)), _named(data)
    return [
        {
            **{name: float(columns[name][row]) for name in columns},
            "median": float(predicted.median()[row]),
            "interval_80": interval[row].tolist(),
            **{f"event_free_{at}": float(survival[row, k]) for k, at in enumerate(_AT)},
            "time": float(data.y.time[row]),
            "event": bool(data.y.event[row]),
        }
        for row in range(len(data))
    ]


def _facts(data: SurvivalData) -> dict[str, Any]:
    return {"rows": len(data), "events": data.n_events, "summary": data.summary()}


def _text(results: dict[str, Any]) -> str:
    held, people, end = results["held_out"], results["people"], results["follow_up"]
    lines = [
        "Rotterdam and German breast cancer study: time to recurrence or death, in months",
        f"  training       {results['train']['summary']}",
        f"  held out       {results['test']['summary']}",
        f"  fitted in {results['seconds']:.1f} s ({results['epochs']} epochs)",
        "",
        "On the people held out",
        f"  events                            {results['test']['events']} of {results['test']['rows']}",
        f"  log-likelihood per person         {held['log_likelihood']:.3f}",
        f"  Harrell's C (0.5 chance, 1 best)  {held['harrell_c']:.3f}",
        f"  integrated Brier score            {held['ibs']:.3f}",
        f"  CensDcal (0 is calibrated)        {held['cens_dcal']:.3f}",
        f"  calibration slope, intercept      {held['cal_s_slope']:.3f}, {held['cal_s_intercept']:+.3f}",
        "",
        "Five of them, in months",
        _line("", [f"person {k + 1}" for k in range(len(people))]),
        _line("age", [f"{person['age']:.0f}" for person in people]),
        _line("positive nodes", [f"{person['nodes']:.0f}" for person in people]),
        _line("tumour size", [_SIZES[int(person["size"])] for person in people]),
        _line("hormonal therapy", ["yes" if person["hormone"] else "no" for person in people]),
        _line("predicted median", [_within(person["median"], end) for person in people]),
        _line("80 % interval", [" to ".join(_within(t, end) for t in person["interval_80"]) for person in people]),
    ]
    for at in _AT:
        free = [f"{100 * person[f'event_free_{at}']:.0f} %" for person in people]
        lines += [_line(f"event-free at {at}", free)]
    happened = [f"{'event' if person['event'] else 'free'} {person['time']:.0f}" for person in people]
    lines += [
        _line("what happened", happened),
        f"  (>{end:.0f}: after the last month of training)",
        "",
        f"Survival curves  {results['picture']}",
        f"Model            {results['model']}",
    ]
    return "\n".join(lines)


def _within(time: float, end: float) -> str:
    """A time, or that it lies beyond the last time of training."""
    return f"{time:.0f}" if time <= end else f">{end:.0f}"


def _line(title: str, values: Sequence[str]) -> str:
    return (f"  {title:<17}" + "".join(f"{value:>12}" for value in values)).rstrip()
