"""What a fitted model is, as one value: kind, settings, columns, coefficients, baselines, training."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.columns.features import Features
from aldsurv.files.model_file import file_digest
from aldsurv.models import SurvivalEstimator
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.structure import ModelStructure
from aldsurv.registry import MODELS, saved_model_class

__all__ = ["ModelFile", "Setting", "Specification", "specify"]

# Settings that do not change the predictions, or describe the data rather than the model.
_NOT_SHOWN = ("progress", "device", "callbacks", "checkpoint", "encoder", "categorical", "unit", "strata", "n_jobs")


class Setting(NamedTuple):
    """A parameter of the model: its value, and the value that it has unless another is given."""

    name: str
    value: object
    default: object

    @property
    def changed(self) -> bool:
        """Whether the value is another than the default."""
        return self.value != self.default


class ModelFile(NamedTuple):
    """The file of the model: its name, and the SHA-256 of its content."""

    name: str
    sha256: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> ModelFile:
        """Read the file."""
        return cls(Path(path).name, file_digest(path))


@final
@dataclass(frozen=True, eq=False)
class Specification:
    """A fitted model.

    Attributes
    ----------
    model, labels
        The model, and what its columns are called.
    name, title, purpose
        Its name in the registry, its title, and what it is for; name and purpose are empty for a model of others.
    structure
        Formula, layers or trees, members, baselines.
    settings
        Every setting that matters for the predictions.
    features
        How columns become numbers; None with an encoder.
    coefficients
        In the unit of the columns; None of a model without.
    file
        The file of the model, if it is known.
    """

    model: SurvivalEstimator
    labels: ColumnLabels
    name: str
    title: str
    purpose: str
    structure: ModelStructure
    settings: tuple[Setting, ...]
    features: Features | None
    coefficients: CoefficientTable | None
    file: ModelFile | None

    @property
    def applies_by_hand(self) -> bool:
        """Whether coefficients and baselines on the page are the whole model."""
        return self.structure.complete and self.coefficients is not None

    @property
    def coefficient_titles(self) -> tuple[str, ...]:
        """The coefficients by the labels of their columns."""
        if self.coefficients is None:
            return ()
        titles = self.labels.inputs(self.features)
        return tuple(_titled(name, titles) for name in self.coefficients.names)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it, with all digits and the names of the table."""
        trained_on = self.model.trained_on_
        return {
            "class": type(self.model).__name__,
            "name": self.name or None,
            "title": self.title,
            "purpose": self.purpose or None,
            "formula": self.structure.formula or None,
            "facts": dict(self.structure.facts),
            "held_out": self.structure.held_out,
            "complete": self.applies_by_hand,
            "settings": {each.name: each._asdict() | {"changed": each.changed} for each in self.settings},
            "columns": None if self.features is None else self._columns(),
            "strata": list(self.model.strata_columns_),
            "coefficients": None if self.coefficients is None else _coefficients(self.coefficients),
            "baselines": [
                {
                    "name": each.name or None,
                    "centre": each.centre,
                    "times": each.times.tolist(),
                    "cumulative_hazard": each.cumulative.tolist(),
                    "survival": np.exp(-each.cumulative).tolist(),
                }
                for each in self.structure.baselines
            ],
            "members": None
            if self.model.stack_table_ is None
            else [each._asdict() for each in self.model.stack_table_.models],
            "updates": [step.to_dict() for step in self.model.ancestry_],
            "trained_on": None if trained_on is None else trained_on.to_dict(),
            "file": None if self.file is None else self.file._asdict(),
        }

    def _columns(self) -> list[dict[str, Any]]:
        features = self.features
        return [
            {**plan.to_dict(), "label": self.labels.column(plan.name), "inputs": plan.names_out}
            for plan in (() if features is None else features.columns)
        ]


def specify(
    model: SurvivalEstimator, labels: ColumnLabels, file: str | os.PathLike[str] | None = None
) -> Specification:
    """The specification of a fitted model.

    Parameters
    ----------
    model, labels
        The model, and what its columns are called.
    file
        The file that it was read from, if there is one.
    """
    table = model.coefficients_
    if table is None and model.stack_table_ is None:
        table = model.innermost.coefficients_
    record = MODELS.record_of(type(model))
    return Specification(
        model,
        labels,
        "" if record is None else record.name,
        MODELS.title_of(type(model)),
        "" if record is None else record.purpose,
        model.structure(),
        tuple(_settings(type(model), model.fitted_settings(), _size(model))),
        model.innermost.features_,
        table if table is not None and len(table) else None,
        None if file is None else ModelFile.of(file),
    )


def _size(model: SurvivalEstimator) -> tuple[int, int] | None:
    """Rows and columns of training, on which defaults may depend."""
    return None if model.trained_on_ is None else (model.trained_on_.rows, model.n_features_in_)


def _settings(
    kind: type[SurvivalEstimator], settings: Mapping[str, Any], size: tuple[int, int] | None, prefix: str = ""
) -> Iterator[Setting]:
    """Settings beside their defaults; those of a model within have its place in their names."""
    defaults = kind.default_settings(size)
    for name, value in settings.items():
        if name in _NOT_SHOWN:
            continue
        if not isinstance(value, Mapping):
            yield Setting(f"{prefix}{name}", value, _plain(defaults.get(name, value)))
            continue
        for place, inner in value.items() if "model" not in value else ((name, value),):
            if isinstance(inner, Mapping) and "model" in inner:
                start = f"{prefix}{place}."
                yield Setting(f"{start}model", inner["model"], inner["model"])
                own = {key: entry for key, entry in inner.items() if key != "model"}
                yield from _settings(saved_model_class(inner["model"]), own, size, start)
            else:
                yield Setting(f"{prefix}{name}.{place}", inner, inner)


def _plain(value: object) -> object:
    """A value as JSON gives it back."""
    return list(value) if isinstance(value, tuple) else value


def _titled(name: str, titles: Mapping[str, str]) -> str:
    """A coefficient by the label of its column; the part before a colon, as of a cause, stays."""
    if name in titles:
        return titles[name]
    start, _, rest = name.partition(": ")
    return f"{start}: {titles[rest]}" if rest in titles else name


def _coefficients(table: CoefficientTable) -> list[dict[str, Any]]:
    """Each with all digits; a column that was dropped has none."""
    return [{**line._asdict(), "ratio_name": table.ratio_name} for line in table]
