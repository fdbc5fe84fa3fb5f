"""``aldsurv calculator``: a page that computes a model's predictions in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from aldsurv.cli.shared.command_options import force_option, json_option, out_option, parse_numbers, quiet_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outputs import PAGE, checked_output, is_standard_output
from aldsurv.quoting import printable

__all__ = ["calculator"]


@click.command()
@click.argument("model")
@click.option("--labels", default=None, metavar="FILE", help="Labels and units of columns and levels: CSV or JSON.")
@click.option(
    "--times",
    default=None,
    metavar="T,T",
    help="Times at which probabilities are shown first  [default: up to three round ones]",
)
@click.option("--title", default=None, metavar="TEXT", help="Heading of the page.")
@click.option("--unit", default=None, metavar="TEXT", help="Unit of time, such as months, if the model has none.")
@click.option("--event-name", default=None, metavar="TEXT", help="Name of the event, such as death or churn.")
@click.option("--use", default=None, metavar="TEXT", help="Intended users and use: a sentence shown on the page.")
@out_option("The page.", default="calculator.html")
@force_option()
@json_option("Print the page's name and size as JSON.")
@quiet_option()
def calculator(
    model: str,
    labels: str | None,
    times: str | None,
    title: str | None,
    unit: str | None,
    event_name: str | None,
    use: str | None,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a page that computes what MODEL predicts, in the browser.

    The page has a field for each column of the model and shows the survival
    curve with its spread between members, median and interval, probabilities
    at chosen times, what follows for someone still event-free, incidence by
    cause, two persons side by side, inputs outside of training, what a missing
    input could change, and what the inputs contribute. It is one file that
    needs no other and no network; the whole model file is inside. A page of
    that name is replaced, any other file only with --force.

    \b
    Examples:
      aldsurv calculator model.aldsurv
      aldsurv calculator model.aldsurv --event-name death --times 12,36,60
      aldsurv calculator model.aldsurv --labels labels.csv --out page.html
      aldsurv calculator model.aldsurv --title "After surgery" --json
    """  # noqa: D301
    from aldsurv.cli.shared.input_files import require_file
    from aldsurv.cli.shared.notes import warnings_as_notes
    from aldsurv.columns.column_labels import read_labels
    from aldsurv.export.calculator import build_page
    from aldsurv.files.writing import write_text

    horizons = parse_numbers(times, "--times", above=True, example="12,36,60")
    checked_output(out, PAGE, inputs=[model, labels], force=force)
    titles = None if labels is None else read_labels(labels)
    require_file(model)
    with warnings_as_notes(quiet=quiet or as_json):
        html = build_page(
            model, labels=titles, times=horizons or None, title=title, event_name=event_name, unit=unit, use=use
        )
        page = write_text(out, html)
    to_stderr = is_standard_output(out)
    size = len(html.encode())
    if as_json:
        click.echo(json_text({"page": str(page), "model": model, "bytes": size}), err=to_stderr)
    elif not quiet:
        click.echo(f"{printable(page)} ({size / 1e3:.0f} kB)", err=to_stderr)
