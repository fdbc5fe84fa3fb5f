"""``aldsurv card``: a model card, as Markdown or JSON."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from aldsurv.cli.report_command import report_unit
from aldsurv.cli.shared.command_options import (
    evaluation_times_option,
    force_option,
    json_option,
    naming_options,
    out_option,
    parse_numbers,
    quiet_option,
    split_names,
    train_option,
)
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.outputs import CARDS, checked_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of, reading_options
from aldsurv.errors import ParameterError
from aldsurv.quoting import printable, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aldsurv.export.card import ModelCard

__all__ = ["card"]

_FILES = ("model", "table", "train", "labels")
_NOT_ON_THE_CARD = ("out", "force", "as_json", "quiet", "front_matter")


@click.command()
@click.argument("model")
@click.argument("table", required=False)
@outcome_options
@reading_options
@train_option()
@evaluation_times_option()
@click.option("--groups", default=None, metavar="COLUMN,…", help="Columns whose values are compared as subgroups.")
@click.option("--title", default=None, metavar="TEXT", help="Name of the model in the heading  [default: its file]")
@naming_options
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed of the resamples.")
@click.option("--front-matter", is_flag=True, help="Begin with YAML metadata for model catalogues.")
@out_option("The card: .md or .json  [default: print Markdown]")
@force_option()
@json_option("Print JSON in place of Markdown.")
@quiet_option()
def card(
    model: str,
    table: str | None,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    train: str | None,
    times: str | None,
    groups: str | None,
    title: str | None,
    unit: str | None,
    event_name: str | None,
    labels: str | None,
    seed: int,
    front_matter: bool,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a model card: what MODEL is, how it predicts, its limits.

    Training data, columns, settings and updates are filled in from the
    file. TABLE (CSV, TSV, Parquet, Excel; the columns of training and
    the outcome, preferably of rows that the model was not trained on)
    adds metrics with intervals. What only the author knows is marked
    "To be filled in". A card of that name is replaced, with all that
    was filled in; any other file only with --force.

    \b
    Examples:
      aldsurv card model.aldsurv
      aldsurv card model.aldsurv test.csv --out card.md
      aldsurv card model.aldsurv test.csv --groups sex,hospital --times 12,36
      aldsurv card model.aldsurv test.csv --labels labels.csv --out card.json
      aldsurv card model.aldsurv test.csv --json | jq .performance.metrics
    """  # noqa: D301
    from aldsurv.cli.shared.notes import warnings_as_notes

    horizons = parse_numbers(times, "--times", above=True, example="12,36,60")
    columns = split_names(groups)
    if groups is not None and not columns:
        raise ParameterError("--groups names no column. Give --groups sex.")
    if table is None:
        _require_table({"--times": times, "--groups": groups, "--train": train, **_named(outcome)})
    if seed < 0:
        raise ParameterError(f"--seed must be a whole number from 0 on, but is {seed}.")
    inputs = [model, table, train, labels]
    if out is not None:
        checked_output(out, CARDS[_ending(out)], inputs=inputs, force=force)
    if front_matter and (as_json or (out is not None and _ending(out) == ".json")):
        raise ParameterError("--front-matter is for Markdown and cannot be combined with JSON.")
    with warnings_as_notes(quiet=quiet or as_json):
        made = _make_card(
            model,
            table,
            outcome=outcome,
            reading=reading,
            train=train,
            times=horizons,
            groups=columns,
            title=title,
            unit=unit,
            event_name=event_name,
            labels=labels,
            seed=seed,
            command=_same_card(click.get_current_context()),
        )
        from aldsurv.export.card import card_json, card_markdown, write_model_card

        written = None if out is None else write_model_card(made, out, front_matter=front_matter)
    if as_json:
        click.echo(card_json(made))
    elif written is None:
        click.echo(card_markdown(made, front_matter=front_matter), nl=False)
    elif not quiet:
        click.echo(printable(written))


def _make_card(
    model: str,
    table: str | None,
    *,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    train: str | None,
    times: Sequence[float],
    groups: Sequence[str],
    title: str | None,
    unit: str | None,
    event_name: str | None,
    labels: str | None,
    seed: int,
    command: str,
) -> ModelCard:
    """The card of the model of a file; the parameters are those of the command, which stands on the card."""
    from aldsurv.cli.shared.group_columns import read_group_column, training_columns
    from aldsurv.cli.shared.input_files import (
        load_model,
        outcome_columns_in,
        read_model_table,
        read_training_table,
        require_events,
    )
    from aldsurv.export.card import model_card
    from aldsurv.reports import read_labels

    titles = None if labels is None else read_labels(labels)
    estimator = load_model(model)
    heading = None if title is None else printable(title)
    if table is None:
        return model_card(
            estimator, title=heading, unit=unit, event_name=event_name, labels=titles, model_file=model,
            command=command, random_state=seed,
        )  # fmt: skip
    columns = outcome_columns_in(table, estimator, outcome, reading)
    reading = reading_of(estimator, reading)
    data = read_model_table(table, estimator, columns, reading)
    observed = require_events(data, columns)
    values = {name: read_group_column(name, data, columns, reading, "--groups") for name in groups}
    training = None if train is None else read_training_table(train, estimator, training_columns(columns), reading)
    return model_card(
        estimator,
        data.x,
        observed,
        train=None if training is None else training.y,
        times=times or None,
        groups=values or None,
        title=heading,
        source=printable(Path(table).name),
        unit=unit or report_unit(estimator, columns),
        event_name=event_name,
        labels=titles,
        model_file=model,
        command=command,
        random_state=seed,
    )


def _same_card(context: click.Context) -> str:
    """The command under way with what its card depends on; of files the names, since folders are others elsewhere."""
    words = ["aldsurv", "card"]
    for parameter in context.command.params:
        name = parameter.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not typed or name in _NOT_ON_THE_CARD:
            continue
        value = str(context.params[name])
        if isinstance(parameter, click.Option):
            words.append(parameter.opts[-1])
        words.append(Path(value).name if name in _FILES else value)
    return printable(shlex.join(words))


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if ending not in CARDS:
        raise ParameterError(f"--out must end in .md or .json, but is {quoted(str(path), 300)}. Name it card.md.")
    return ending


def _named(outcome: OutcomeColumns) -> dict[str, str]:
    return {f"--{role.replace('_', '-')}": name for role, name in outcome.given.items()}


def _require_table(options: dict[str, str | None]) -> None:
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise ParameterError(f"{given[0]} needs a table: name one after the model, as in aldsurv card MODEL TABLE.")
