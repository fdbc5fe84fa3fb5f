"""What ``aldsurv fit`` is asked for, checked before anything is read or trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from aldsurv.cli.fit.model_parameters import Setting, errors_of_settings
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.reading_options import ReadingOptions
from aldsurv.errors import ParameterError
from aldsurv.files.writing import is_stream
from aldsurv.models.base import SurvivalEstimator
from aldsurv.registry import MODELS

__all__ = ["FitRequest", "default_report", "default_target"]


@final
@dataclass(frozen=True)
class FitRequest:
    """A table, a model and its settings, and how it is tested and tuned.

    Attributes
    ----------
    table, outcome, drop, categorical
        The file, and what its columns are.
    model, parameters
        Registered name of the model, and those of its parameters that were given as options.
    seed
        Random seed.
    held_out
        Share of test rows.
    trials
        Of a search for settings; None for no search.
    target
        Where the model goes.
    report
        Where the report of the held-out rows goes; None for none.
    show_progress
        Whether training shows how far it is.
    reading
        How the table is written down.
    cluster
        Address of the Dask scheduler whose workers read and fit a table in parts, or score the trials of a search;
        None: this process does.
    """

    table: Path
    outcome: OutcomeColumns
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    model: str
    parameters: Mapping[str, Setting]
    seed: int
    held_out: float
    trials: int | None
    target: Path
    report: Path | None
    show_progress: bool
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    cluster: str | None = None

    @property
    def estimator_type(self) -> type[SurvivalEstimator]:
        """The class of the model."""
        estimator_type: type[SurvivalEstimator] = MODELS.load(self.model)
        return estimator_type

    def check(self) -> None:
        """Raise `ParameterError` for what training would refuse whatever the rows are."""
        self.outcome.require_pair()
        if not 0 <= self.held_out < 1:
            raise ParameterError(f"--held-out must be a share from 0 (none) to below 1, but is {self.held_out:g}.")
        if self.seed < 0:
            raise ParameterError(f"--seed must be a whole number from 0 on, but is {self.seed}.")
        if self.trials is not None and self.trials < 1:
            raise ParameterError(f"--tune must be a number of trials from 1 on, but is {self.trials}.")
        if self.report is not None and not self.held_out:
            raise ParameterError("--report is about held-out rows, but --held-out is 0. Hold some out, such as 0.2.")
        if self.report is not None and self.report.absolute() == self.target.absolute():
            raise ParameterError(f"--report and the model must be different files, but both are {str(self.report)!r}.")
        with errors_of_settings(self.parameters):
            self.estimator_type(**self.parameters).check_parameters()
        if self.trials is not None:
            from aldsurv.tuning.record import import_optuna

            import_optuna()

    def unfitted(self, settings: Mapping[str, Setting], categorical: tuple[str, ...]) -> SurvivalEstimator:
        """The model with these settings, the seed and, of those it has, the parameters that are not settings."""
        others = {
            "random_state": self.seed,
            "progress": "auto" if self.show_progress else False,
            "categorical": list(categorical) or None,
        }
        names = self.estimator_type.parameter_defaults()
        return self.estimator_type(**settings, **{name: value for name, value in others.items() if name in names})


def default_target(table: Path) -> Path:
    """The name of the table with the ending of models, in the current folder."""
    return Path(f"{Path(table.name.removesuffix('.gz')).stem}.aldsurv")


def default_report(table: Path, target: Path) -> Path:
    """The page beside the model, with its name; of a model that goes to a stream, with that of the table."""
    return (default_target(table) if is_stream(target) else target).with_suffix(".html")
