"""``aldsurv info``: what is in a model file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.shared.command_options import json_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_columns_of
from aldsurv.cli.shared.text_layout import printable, screen_width, two_columns, wrapped
from aldsurv.errors import AldsurvError
from aldsurv.registry import saved_model_name

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.models.linear.coefficients import Coefficient

__all__ = ["info", "shown_settings"]

_FACTS = ("rows", "events", "total_weight", "first_time", "last_time", "fingerprint", "versions")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@json_option()
def info(model: Path, as_json: bool) -> None:
    """Show the model in a file, and its training data.

    The columns are those that a table needs for predictions.

    \b
    Examples:
      aldsurv info people.aldsurv
      aldsurv info people.aldsurv --json
    """  # noqa: D301
    from aldsurv.cli.shared.input_files import load_model
    from aldsurv.files.model_file import file_digest

    estimator = load_model(model)
    size, digest = model.stat().st_size, file_digest(model)
    click.echo(json_text(_facts(estimator, model, size, digest)) if as_json else _text(estimator, model, size, digest))


def shown_settings(model: SurvivalEstimator) -> dict[str, object]:
    """Every setting of a fitted model, except those that describe its data."""
    return _without_data_settings(model.fitted_settings())


def _without_data_settings(settings: Mapping[str, Any]) -> dict[str, object]:
    return {
        name: _without_data_settings(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
        if name not in ("unit", "categorical")
    }


def _facts(model: SurvivalEstimator, path: Path, size: int, digest: str) -> dict[str, object]:
    from aldsurv.cli.shared.input_files import time_unit

    features, outcome = model.innermost.features_, _outcome(model)
    trained_on = {} if model.trained_on_ is None else model.trained_on_.to_dict()
    return {
        "file": str(path),
        "bytes": size,
        "digest": digest,
        "model": saved_model_name(type(model)),
        "class": type(model).__name__,
        "unit": time_unit(model),
        "outcome": None if outcome is None else outcome.given,
        "missing": list(trained_on.get("missing", [])),
        "causes": model.causes_,
        **{name: trained_on.get(name) for name in _FACTS},
        "columns": None if features is None else features.to_dict()["columns"],
        "n_columns": model.n_features_in_,
        "settings": shown_settings(model),
        "ancestry": [step.to_dict() for step in model.ancestry_],
    }


def _text(model: SurvivalEstimator, path: Path, size: int, digest: str) -> str:
    from aldsurv.cli.shared.column_uses import column_lines, model_columns

    width, trained_on = screen_width(), model.trained_on_
    lines = wrapped(f"{printable(path)}: a model of aldsurv, {_size_text(size)}", width, indent=2)
    lines += _summary_lines(model, width)
    fingerprint = None if trained_on is None else trained_on.fingerprint
    facts = [("outcome", _outcome_text(model)), ("fingerprint", printable(fingerprint or "none")), ("digest", digest)]
    if trained_on is not None and trained_on.missing:
        facts.insert(1, ("gaps", printable(f"{', '.join(trained_on.missing)}, as in training")))
    if model.causes_ is not None:
        facts.insert(
            1, ("causes", f"{printable(', '.join(model.causes_))}: incidence of each by aldsurv predict --times")
        )
    if trained_on is not None and trained_on.versions:
        versions = ", ".join(f"{name} {version}" for name, version in trained_on.versions.items())
        facts.append(("made with", printable(versions)))
    facts.append(("settings", printable(_settings_text(shown_settings(model)))))
    lines += ["", *two_columns(facts, width)]
    features = model.innermost.features_
    if features is None:
        return "\n".join([*lines, "", f"Columns: {model.n_features_in_}, for the encoder"])
    return "\n".join([*lines, "", "Columns", *column_lines(model_columns(features), width)])


def _summary_lines(model: SurvivalEstimator, width: int) -> list[str]:
    """The model's summary; a table of coefficients that is too wide as a list."""
    lines, table = [printable(line) for line in model.summary().splitlines()], model.coefficients_
    end = lines.index("") if "" in lines else len(lines)
    if table is None or max(map(len, lines[end:]), default=0) <= width:
        return [part for line in lines for part in wrapped(line, width, indent=4)]
    error = "standard error" if table.model_error is None else "robust standard error"
    rows = [(printable(line.name), _coefficient_text(line, table.ratio_name, error)) for line in table]
    return [*(part for line in lines[:end] for part in wrapped(line, width, indent=4)), "", *two_columns(rows, width)]


def _coefficient_text(line: Coefficient, ratio_name: str, error_name: str) -> str:
    if math.isnan(line.coefficient):
        return "dropped"
    if math.isnan(line.standard_error):
        return f"{line.coefficient:.4g}, {ratio_name} {line.ratio:.4g}"
    return (
        f"{line.coefficient:.4g} ({error_name} {line.standard_error:.4g}), {ratio_name} "
        f"{line.ratio:.4g} ({line.lower:.4g} to {line.upper:.4g}), p {line.p:.2g}"
    )


def _outcome(model: SurvivalEstimator) -> OutcomeColumns | None:
    try:
        return outcome_columns_of(model, OutcomeColumns())
    except AldsurvError:
        return None


def _outcome_text(model: SurvivalEstimator) -> str:
    outcome = _outcome(model)
    if outcome is None:
        return "not known: not made by 'aldsurv fit'"
    return printable(", ".join(f"{role.replace('_', ' ')} {name!r}" for role, name in outcome.given.items()))


def _settings_text(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_setting_text(value)}" for name, value in settings.items())


def _setting_text(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({_settings_text(value)})"
    return "x".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _size_text(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
