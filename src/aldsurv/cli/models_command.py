"""``aldsurv models``: the models, and the parameters of one."""

from __future__ import annotations

import click

from aldsurv.cli.shared.command_options import json_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.text_layout import screen_width, two_columns, wrapped
from aldsurv.registry import MODELS

__all__ = ["models"]


@click.command()
@click.argument("name", required=False)
@json_option()
def models(name: str | None, as_json: bool) -> None:
    """List the models, or the parameters of the model NAME.

    The parameters are those of 'aldsurv fit --set', with their defaults
    and allowed values.

    \b
    Examples:
      aldsurv models
      aldsurv models cox
      aldsurv fit people.csv \\
        --time t --event e \\
        --model cox --set ties=breslow
    """  # noqa: D301
    width = screen_width()
    if name is None:
        facts = {record.name: f"{record.title}: {record.purpose}" for record in MODELS.records()}
        lines = [*two_columns(list(facts.items()), width), "", "Next: aldsurv models NAME"]
        click.echo(json_text(facts) if as_json else "\n".join(lines))
        return
    parameters = _parameters(name)
    if as_json:
        click.echo(json_text({"model": name, "parameters": parameters}))
        return
    record = MODELS[name]
    rows = [(key, _description(**facts)) for key, facts in parameters.items()]
    lines = [
        *wrapped(f"{name}, {record.title}: {record.purpose}", width, indent=2),
        "",
        "Parameters, for aldsurv fit --set",
    ]
    click.echo("\n".join([*lines, *two_columns(rows, width)]))


def _parameters(name: str) -> dict[str, dict[str, str]]:
    """By name of the parameter its default, that for small tables, and what it may be, if that is known."""
    from aldsurv.cli.fit.model_parameters import settable_parameters, setting_text

    model = MODELS.load(name)
    defaults, small, constraints = (
        model.default_settings(),
        model.default_settings((1, 1)),
        model.parameter_constraints(),
    )
    return {
        key: {
            "default": setting_text(defaults[key]),
            "small_table": setting_text(small[key]),
            "allowed": constraints[key].describe() if key in constraints else "",
        }
        for key in settable_parameters(name)
    }


def _description(default: str, small_table: str, allowed: str) -> str:
    text = f"{default} by default" + (f" ({small_table} for small tables)" if small_table != default else "")
    return f"{text}; {allowed}" if allowed else text
