"""``aldsurv demo``: three individuals whose distributions are set by hand, in numbers and in a picture."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from aldsurv.distributions import AsymmetricLaplace, SurvivalDistribution
from aldsurv.nonparametric import kaplan_meier
from aldsurv.survival_data import SurvivalData

__all__ = ["demo"]

_NAMES = ["low risk", "medium risk", "high risk"]
_TIMES = [12, 36, 60]
_HORIZON = 60
_ALIVE_AT = 24
_SAMPLED = 1
_SAMPLE_SIZE = 1000


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the picture; made if missing.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON only.")
def demo(out: Path, as_json: bool) -> None:
    """Show what a predicted distribution can tell.

    Three individuals with asymmetric Laplace distributions of the time to
    an event, in months: a table, a check with drawn data, and a picture of
    survival, density and hazard in DIR/distributions.png.

    \b
    Examples:
      aldsurv demo
      aldsurv demo --out pictures
      aldsurv demo --json
    """  # noqa: D301
    # Here, so that the help is there even where matplotlib is not.
    from aldsurv.plots import distribution_figure, save_figure

    individuals = AsymmetricLaplace(theta=[60.0, 26.0, 8.0], sigma=[24.0, 18.0, 10.0], kappa=[0.7, 0.6, 0.5])
    # Everything that can fail comes before the first line is printed.
    out.mkdir(parents=True, exist_ok=True)
    figure = distribution_figure(individuals, labels=_NAMES, unit="months")
    picture = save_figure(figure, out / "distributions.png")
    found = {
        "unit": "months",
        "individuals": _individual_numbers(individuals),
        "sample": _sample_numbers(individuals),
        "picture": str(picture),
    }
    click.echo(json.dumps(found, indent=2) if as_json else _text(found))


def _individual_numbers(individuals: AsymmetricLaplace) -> list[dict[str, Any]]:
    columns = {
        "theta": individuals.theta[:, 0],
        "sigma": individuals.sigma[:, 0],
        "kappa": individuals.kappa[:, 0],
        "mean": individuals.mean(),
        "median": individuals.median(),
        "mode": individuals.mode(),
        "interval_80": individuals.interval(0.8),
        "probability_negative": individuals.probability_negative(),
        **{f"survival_{time}": individuals.survival(time) for time in _TIMES},
        f"restricted_mean_{_HORIZON}": individuals.restricted_mean(_HORIZON),
        f"further_months_alive_at_{_ALIVE_AT}": individuals.mean_residual_life(_ALIVE_AT),
    }
    return [
        {"name": name, **{key: column[row].tolist() for key, column in columns.items()}}
        for row, name in enumerate(_NAMES)
    ]


def _sample_numbers(individuals: SurvivalDistribution) -> dict[str, Any]:
    """Data drawn from one of the individuals, and what they say about where they came from."""
    # No event can be before time 0: the draws, and what they are compared with, are given that it is not.
    candidates = individuals.conditional(0.0)
    truth = candidates[_SAMPLED]
    generator = np.random.default_rng(1)
    time = truth.sample(_SAMPLE_SIZE, random_state=generator)[0]
    end = generator.uniform(0.0, 100.0, _SAMPLE_SIZE)
    data = SurvivalData.right(np.minimum(time, end), time <= end)
    everyone = np.zeros(_SAMPLE_SIZE, dtype=int)
    return {
        "drawn_from": _NAMES[_SAMPLED],
        "size": _SAMPLE_SIZE,
        "data": data.summary(),
        "log_likelihood": {
            name: float(candidate[everyone].log_likelihood(data).sum())
            for name, candidate in zip(_NAMES, candidates, strict=True)
        },
        "median_true": float(truth.median()[0]),
        "median_kaplan_meier": float(kaplan_meier(data).distribution.median()[0]),
    }


def _text(found: dict[str, Any]) -> str:
    people, sample = found["individuals"], found["sample"]
    names = [person["name"] for person in people]

    def row(title: str, key: str, shape: str = "{:.1f}") -> str:
        return _line(title, [shape.format(*np.atleast_1d(person[key])) for person in people])

    def sampled(title: str, key: str) -> str:
        return _line(title, [f"{sample[key]:.1f}" if name == sample["drawn_from"] else "" for name in names])

    return "\n".join(
        [
            "Time to an event of three individuals, in months:",
            "asymmetric Laplace distributions with parameters set by hand.",
            "",
            _line("", names),
            row("theta (location)", "theta", "{:g}"),
            row("sigma (scale)", "sigma", "{:g}"),
            row("kappa (asymmetry)", "kappa", "{:g}"),
            row("mean", "mean"),
            row("median", "median"),
            row("mode", "mode"),
            row("80 % interval", "interval_80", "{:.1f} to {:.1f}"),
            row("P(T < 0)", "probability_negative", "{:.4f}"),
            *(row(f"survival at {time}", f"survival_{time}", "{:.4f}") for time in _TIMES),
            row(f"restricted mean to {_HORIZON}", f"restricted_mean_{_HORIZON}"),
            row(f"further months, alive at {_ALIVE_AT}", f"further_months_alive_at_{_ALIVE_AT}"),
            "",
            f"{sample['size']} times drawn from {sample['drawn_from']} given T > 0, some censored at random:",
            f"{sample['data']}.",
            "",
            _line("", names),
            _line("log-likelihood of the data", [f"{value:.1f}" for value in sample["log_likelihood"].values()]),
            sampled("median given T > 0", "median_true"),
            sampled("median by Kaplan-Meier", "median_kaplan_meier"),
            "",
            "Survival, density and hazard are drawn in",
            found["picture"],
        ]
    )


def _line(title: str, values: Sequence[str]) -> str:
    return (f"  {title:<29}" + "".join(f"{value:>15}" for value in values)).rstrip()
