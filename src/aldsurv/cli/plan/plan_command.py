"""``aldsurv plan``: how many people it takes to develop or to validate a model, and what more rows would bring."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from aldsurv.cli.shared.command_options import (
    CommandWithRecords,
    force_option,
    json_option,
    parse_numbers,
    quiet_option,
    split_names,
)
from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_options
from aldsurv.errors import ParameterError
from aldsurv.registry import MODELS

__all__ = ["plan"]

Command = TypeVar("Command", bound=Callable[..., Any])

# Options that are not named as the arguments of the library.
_NAMES = {
    "cox_snell": "--r2", "c_index": "--c", "d_statistic": "--d", "record": "--record", "repeats": "--repeats",
    "held_out": "--held-out", "sizes": "--sizes", "random_state": "--seed",
}  # fmt: skip


def _number(
    name: str, help_text: str, *, default: float | None = None, required: bool = False
) -> Callable[[Command], Command]:
    """An option that is a number."""
    return click.option(
        name, type=float, default=default, required=required, show_default=default is not None, metavar="X",
        help=help_text,
    )  # fmt: skip


@click.group(invoke_without_command=True)
@click.pass_context
def plan(ctx: click.Context) -> None:
    """Compute how many people a model needs.

    \b
    develop   people to develop a model with (Riley et al. 2019, 2020)
    validate  people to validate a model with (Riley et al. 2021, 2022)
    table     a learning curve: how scores improve with more rows

    \b
    Examples:
      aldsurv plan develop --parameters 30 \\
        --rate 0.065 --follow-up 2.07 \\
        --horizon 2 --r2 0.051
      aldsurv plan validate --risk 0.17 \\
        --c 0.69 --censored 0.7
      aldsurv plan table people.csv \\
        --time months --event status
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@plan.command()
@click.option("--parameters", type=int, required=True, metavar="N", help="Number of candidate parameters.")
@_number("--rate", "Events per person and unit of time.", required=True)
@_number("--follow-up", "Mean time under observation.", required=True)
@_number("--horizon", "Time for which risks are predicted.", required=True)
@_number("--r2", "Expected R² of Cox and Snell.")
@_number("--nagelkerke", "Or of Nagelkerke.")
@_number("--c", "Or the expected concordance.")
@_number("--d", "Or Royston and Sauerbrei's D.")
@_number("--shrinkage", "Least shrinkage of coefficients.", default=0.9)
@_number("--optimism", "Largest optimism of Nagelkerke's R².", default=0.05)
@_number("--margin", "Largest error of the overall risk.", default=0.05)
@json_option()
def develop(
    parameters: int,
    rate: float,
    follow_up: float,
    horizon: float,
    r2: float | None,
    nagelkerke: float | None,
    c: float | None,
    d: float | None,
    shrinkage: float,
    optimism: float,
    margin: float,
    as_json: bool,
) -> None:
    """People needed to develop a model of times to an event.

    Three criteria of Riley et al.: little shrinkage of coefficients,
    little optimism of R², and a precise estimate of the overall risk.
    The largest of the three numbers is needed.

    A category with k levels has k - 1 parameters, a spline one per
    term; candidates that a selection leaves out also count. How well
    the model will predict is taken from a published model: --r2,
    --nagelkerke, --c or --d. If there is none, --nagelkerke 0.15 is
    usual.

    \b
    Examples:
      aldsurv plan develop --parameters 30 \\
        --rate 0.065 --follow-up 2.07 \\
        --horizon 2 --r2 0.051
      aldsurv plan develop --parameters 12 \\
        --rate 0.02 --follow-up 60 \\
        --horizon 36 --c 0.72 --json
    """  # noqa: D301
    _require_one({"--r2": r2, "--nagelkerke": nagelkerke, "--c": c, "--d": d})
    from aldsurv.cli.plan.plan_text import development_text, size_facts
    from aldsurv.planning.development import development_sample_size

    with _option_names():
        size = development_sample_size(
            parameters,
            rate=rate,
            follow_up=follow_up,
            horizon=horizon,
            cox_snell=r2,
            nagelkerke=nagelkerke,
            c_index=c,
            d_statistic=d,
            shrinkage=shrinkage,
            optimism=optimism,
            margin=margin,
        )
    click.echo(json_text(size_facts(size)) if as_json else development_text(size))


@plan.command()
@_number("--risk", "Probability of the event by the horizon.", required=True)
@_number("--c", "Expected concordance.")
@_number("--d", "Or Royston and Sauerbrei's D.")
@_number("--censored", "Share of people followed up for less than the horizon.", default=0.0)
@_number("--threshold", "Risk above which people are treated: adds net benefit.")
@_number("--ratio-width", "Width of the interval of observed/expected.", default=0.2)
@_number("--slope-width", "Width for the calibration slope.", default=0.2)
@_number("--c-width", "Width for the concordance.", default=0.1)
@_number("--benefit-width", "Width for the net benefit divided by the risk.", default=0.2)
@json_option()
def validate(
    risk: float,
    c: float | None,
    d: float | None,
    censored: float,
    threshold: float | None,
    ratio_width: float,
    slope_width: float,
    c_width: float,
    benefit_width: float,
    as_json: bool,
) -> None:
    """People needed to validate a model of times to an event.

    The 95 % intervals of the ratio of observed to expected events by
    the horizon, of the calibration slope there, of the concordance and,
    with --threshold, of the net benefit should have given widths. The
    model is assumed to be calibrated, with a normal linear predictor.

    \b
    Examples:
      aldsurv plan validate --risk 0.17 \\
        --c 0.69 --censored 0.7
      aldsurv plan validate --risk 0.17 \\
        --c 0.69 --censored 0.7 \\
        --threshold 0.1 --slope-width 0.4 \\
        --json
    """  # noqa: D301
    _require_one({"--c": c, "--d": d})
    from aldsurv.cli.plan.plan_text import size_facts, validation_text
    from aldsurv.planning.validation import validation_sample_size

    with _option_names():
        size = validation_sample_size(
            risk,
            c_index=c,
            d_statistic=d,
            censored=censored,
            threshold=threshold,
            ratio_width=ratio_width,
            slope_width=slope_width,
            c_width=c_width,
            benefit_width=benefit_width,
        )
    click.echo(json_text(size_facts(size)) if as_json else validation_text(size))


@plan.command(cls=CommandWithRecords, registries={"Models": MODELS})
@click.argument("table", type=click.Path(path_type=Path))
@outcome_options
@click.option("--drop", default=None, metavar="COLUMNS", help="Columns to leave out, separated by commas.")
@click.option("--categorical", default=None, metavar="COLUMNS", help="Columns whose values are codes.")
@click.option("--model", default="cox", show_default=True, metavar="NAME", help="One of the models below.")
@click.option("--sizes", default=None, metavar="N,…", help="Numbers of training rows  [default: six]")
@click.option("--repeats", type=int, default=5, show_default=True, metavar="N", help="Repetitions with other parts.")
@click.option("--held-out", default=0.25, show_default=True, metavar="SHARE", help="Share of rows that are held out.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed of the parts.")
@click.option(
    "--record", type=click.Path(path_type=Path), default=None, metavar="FILE", help="Where the fits are recorded."
)
@reading_options
@force_option()
@json_option()
@quiet_option("No notes, no progress, only the curve.")
def table(
    table: Path,
    outcome: OutcomeColumns,
    drop: str | None,
    categorical: str | None,
    model: str,
    sizes: str | None,
    repeats: int,
    held_out: float,
    seed: int,
    record: Path | None,
    reading: ReadingOptions,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw a learning curve: how scores improve with more rows.

    The model is fitted to growing parts of the rows and scored on rows
    that are held out, several times. A power law through the scores
    predicts those with two and four times the rows. As a check, its
    prediction for the largest part from the smaller ones is shown
    beside the score. With causes, scores are of the first event of any
    of them.

    Each fit is recorded. A command that was stopped continues when it
    is repeated, also with more --repeats or other --sizes.

    \b
    Examples:
      aldsurv plan table people.csv \\
        --time months --event status
      aldsurv plan table people.csv \\
        --time months --event status \\
        --model weibull_aft --repeats 10 \\
        --sizes 100,200,400,800 --json
    """  # noqa: D301
    from aldsurv.cli.plan.curve_run import CurveRequest, run_curve
    from aldsurv.cli.plan.plan_text import curve_facts, curve_text

    numbers = parse_numbers(sizes, "--sizes", example="100,200,400", low=2)
    if any(not number.is_integer() for number in numbers):
        raise ParameterError(f"--sizes must be whole numbers of rows, but holds {sizes}. Give --sizes 100,200,400.")
    request = CurveRequest(
        table,
        outcome,
        drop=split_names(drop),
        categorical=split_names(categorical),
        model=model,
        sizes=tuple(int(number) for number in numbers) or None,
        repeats=repeats,
        held_out=held_out,
        seed=seed,
        record=record,
        reading=reading,
        force=force,
        show_progress=not (quiet or as_json),
    )
    with warnings_as_notes(quiet=quiet or as_json) as notes, _option_names():
        result = run_curve(request)
    click.echo(json_text({**curve_facts(result), "notes": notes}) if as_json else curve_text(result))


def _require_one(options: dict[str, float | None]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if len(given) != 1:
        names = list(options)
        raise ParameterError(
            f"one of {', '.join(names[:-1])} and {names[-1]} is needed, but {' and '.join(given) or 'none'} was given. "
            "Say how well the model is expected to predict, such as --c 0.7."
        )


@contextmanager
def _option_names() -> Iterator[None]:
    """Errors within the block name the option where the library names its argument."""
    try:
        yield
    except ParameterError as error:
        argument = error.argument or ""
        if not error.problem.startswith(f"{argument} ") or not argument:
            raise
        option = _NAMES.get(argument, f"--{argument.replace('_', '-')}")
        raise ParameterError(f"{option}{error.problem[len(argument) :]}", advice=error.advice) from None
