"""``aldsurv info``: what is in a model file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.shared.outcome import OutcomeColumns, innermost, load_model, outcome_of
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.models.linear.coefficients import Coefficient

__all__ = ["info", "settings_of"]

_FACTS = ("rows", "events", "total_weight", "first_time", "last_time", "fingerprint", "versions")


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(model: Path, as_json: bool) -> None:
    """What the model of a file is, and what it was trained on.

    The columns are those that a table to predict for must have.

    \b
    Examples:
      aldsurv info people.aldsurv
      aldsurv info people.aldsurv --json
    """  # noqa: D301
    found = load_model(model)
    size = model.stat().st_size
    click.echo(json.dumps(_plain(found, model, size), indent=2) if as_json else _text(found, model, size))


def settings_of(model: SurvivalEstimator) -> dict[str, Any]:
    """Every setting of a fitted model: of a network those of its recipe too."""
    from aldsurv.models.file_entries import portable, saved_parameters
    from aldsurv.models.neural.neural_survival import NeuralSurvival

    own, inner = model.parameter_defaults(), vars(model).get("estimator_")
    settings = {name: value for name, value in saved_parameters(model).items() if name in own}
    if isinstance(model, NeuralSurvival):
        settings |= {name: portable(value) for name, value in model.settings_.items()}
    if inner is not None:
        settings["estimator"] = {"model": MODELS.name_of(type(inner)), **settings_of(inner)}
    return {name: value for name, value in settings.items() if name not in ("unit", "categorical")}


def _plain(model: SurvivalEstimator, path: Path, size: int) -> dict[str, Any]:
    from aldsurv.cli.shared.column_uses import features_of

    features, outcome = features_of(model), _outcome(model)
    facts = {} if model.trained_on_ is None else model.trained_on_.to_dict()
    return {
        "file": str(path),
        "bytes": size,
        "model": MODELS.name_of(type(model)),
        "class": type(model).__name__,
        "unit": innermost(model).get_params().get("unit"),
        "outcome": None if outcome is None else outcome.given,
        **{name: facts.get(name) for name in _FACTS},
        "columns": None if features is None else features.to_plain()["columns"],
        "n_columns": model.n_features_in_,
        "settings": settings_of(model),
    }


def _text(model: SurvivalEstimator, path: Path, size: int) -> str:
    from aldsurv.cli.shared.column_uses import column_lines, features_of, used_columns
    from aldsurv.cli.shared.text_layout import printable, screen_width, two_columns, wrapped

    width, facts = screen_width(), {} if model.trained_on_ is None else model.trained_on_.to_dict()
    lines = wrapped(f"{printable(path)}: a model of aldsurv, {_size(size)}", width, indent=2)
    lines += _summary(model, width)
    versions = facts.get("versions")
    told = [("outcome", _told_outcome(model)), ("fingerprint", printable(facts.get("fingerprint", "none")))]
    if isinstance(versions, dict):
        told.append(("made with", printable(", ".join(f"{name} {version}" for name, version in versions.items()))))
    settings = settings_of(model)
    told.append(("settings", printable(_listed(settings))))
    lines += ["", *two_columns(told, width)]
    features = features_of(model)
    if features is None:
        return "\n".join([*lines, "", f"Columns: {model.n_features_in_}, for the encoder"])
    return "\n".join([*lines, "", "Columns", *column_lines(used_columns(features), width)])


def _summary(model: SurvivalEstimator, width: int) -> list[str]:
    """What the model says of itself; a table of coefficients that is too wide as a list."""
    from aldsurv.cli.shared.text_layout import printable, two_columns, wrapped
    from aldsurv.models.linear.linear_survival import LinearSurvival

    told = [printable(line) for line in model.summary().splitlines()]
    if isinstance(model, LinearSurvival) and max(map(len, told)) > width:
        table = model.coefficients_
        rows = [(printable(line.name), _told_coefficient(line, table.ratio_name)) for line in table]
        head = told[: told.index("")]
        return [*(part for line in head for part in wrapped(line, width, indent=4)), "", *two_columns(rows, width)]
    return [part for line in told for part in wrapped(line, width, indent=4)]


def _told_coefficient(line: Coefficient, ratio_name: str) -> str:
    if math.isnan(line.coefficient):
        return "dropped"
    if math.isnan(line.standard_error):
        return f"{line.coefficient:.4g}, {ratio_name} {line.ratio:.4g}"
    return (
        f"{line.coefficient:.4g} (standard error {line.standard_error:.4g}), {ratio_name} "
        f"{line.ratio:.4g} ({line.lower:.4g} to {line.upper:.4g}), p {line.p:.2g}"
    )


def _outcome(model: SurvivalEstimator) -> OutcomeColumns | None:
    from aldsurv.errors import AldsurvError

    try:
        return outcome_of(model, OutcomeColumns())
    except AldsurvError:
        return None


def _told_outcome(model: SurvivalEstimator) -> str:
    from aldsurv.cli.shared.text_layout import printable

    outcome = _outcome(model)
    if outcome is None:
        return "not known: not made by 'aldsurv fit'"
    return printable(", ".join(f"{role.replace('_', ' ')} {name!r}" for role, name in outcome.given.items()))


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_setting(value)}" for name, value in settings.items())


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return f"({_listed(value)})"
    return "x".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
