"""What every estimator offers once it can answer with a distribution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, check_all, declared_constraints
from aldsurv.columns.joined_episodes import join_episodes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import Arrays, Document, FileContent, saved_parameters
from aldsurv.models.fit_html import html_of_fit
from aldsurv.models.output_refit import OutputRefit
from aldsurv.models.persistence import save
from aldsurv.models.prediction.ensemble_predictions import EnsemblePredictions
from aldsurv.models.prediction.path_prediction import predict_along_paths
from aldsurv.models.prediction.point_summaries import POINTS, summarised
from aldsurv.models.prediction.survival_function import row_functions
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.models.search_space import SearchSpace
from aldsurv.models.sklearn_mixin import SklearnEstimatorMixin
from aldsurv.models.structure import ModelStructure
from aldsurv.models.training_target import first_event, read_target
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.columns.column_plans import ColumnPlan
    from aldsurv.columns.features import Features
    from aldsurv.models.linear.coefficients import CoefficientTable
    from aldsurv.models.rows.strata import Stratum
    from aldsurv.models.updating.ancestry import UpdateStep
    from aldsurv.models.wrappers.stack_table import StackTable

__all__ = ["SurvivalEstimator"]

FloatArray = NDArray[np.float64]


class SurvivalEstimator(SklearnEstimatorMixin, EnsemblePredictions, OutputRefit, ABC):
    """An estimator whose prediction for each row is a `SurvivalDistribution`.

    Attributes
    ----------
    n_features_in_
        Number of columns of X.
    feature_names_in_
        Their names, if they had any.
    unique_times_
        Times seen in training, at which the functions of `predict_survival_function` are tabulated; at most 512.
    """

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    unique_times_: FloatArray
    # None: the model keeps no facts about its training rows.
    trained_on_: TrainedOn | None = None
    # How columns become numbers; None: an encoder reads them, or the model within does (`innermost`).
    features_: Features | None = None

    # Whether what is learned depends on the cause of an event.
    TAKES_CAUSES: ClassVar[bool] = False
    # Whether `fit` takes a table in parts, which need not be in memory.
    FITS_PARTS: ClassVar[bool] = False
    # Whether `fit` shares its work between the processes of `aldsurv.training.ranks.open_ranks`.
    SHARES_TRAINING: ClassVar[bool] = False
    # What parameters may be; those of base classes hold, too.
    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {}
    # Parameters that files of earlier versions do not have: their defaults are how such a model was fitted.
    LATER_PARAMETERS: ClassVar[frozenset[str]] = frozenset()
    # What `aldsurv.tuning` may try; None: the model has nothing to search.
    SEARCH_SPACE: ClassVar[SearchSpace | None] = None

    @abstractmethod
    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times.

        Parameters
        ----------
        X
            Covariates: array, pandas or polars frame, one row per subject.
        y
            What `SurvivalData.of` takes: SurvivalData, a tuple ``(time, event)``, scikit-survival's structured
            array, or a frame of two columns.
        sample_weight
            A weight for each row; multiplies those of `y`.
        groups
            A label for each row, text or numbers, equal for rows that belong together, as those of one person do: they
            stay on one side wherever the model holds rows out. The same as ``group`` of `SurvivalData`.
        """

    def _read_training_target(self, y: object, sample_weight: object, groups: object = None) -> SurvivalData:
        """What `read_target` gives, with a warning if causes in it make no difference to this model."""
        data = read_target(y, sample_weight, groups)
        return data if self.TAKES_CAUSES else first_event(data, type(self).__name__, stacklevel=5)

    @classmethod
    def parameter_constraints(cls) -> dict[str, Constraint]:
        """What parameters may be, by name, of those whose values are checked before there are rows."""
        return declared_constraints(cls)

    @classmethod
    def default_settings(cls, size: tuple[int, int] | None = None) -> dict[str, Any]:
        """Every parameter, and the value that it has unless another is given.

        Parameters
        ----------
        size
            Rows and columns of the table, if there is one: it may matter.
        """
        return cls.parameter_defaults()

    def check_parameters(self) -> None:
        """Raise `ParameterError` for a parameter that `fit` would refuse whatever the rows are."""
        check_all(self.get_params(deep=False), declared_constraints(type(self)))

    @abstractmethod
    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The distribution of the time to the event for each row of `X`, in the unit of the training times."""

    @property
    def causes_(self) -> tuple[str, ...] | None:
        """Names of the competing causes that the model tells apart; None if it has none."""
        return None

    def predict_incidence(self, X: object) -> CompetingDistribution:
        """Which cause the first event has and when it comes, for each row of `X`, in the unit of the training times."""
        raise ParameterError(
            f"this {type(self).__name__} does not tell causes apart",
            argument="X",
            advice="Fit a model that does to data made by SurvivalData.competing.",
        )

    @abstractmethod
    def _to_file(self) -> FileContent:
        """Entries and arrays from which `_from_file` makes the same fitted estimator."""

    @classmethod
    @abstractmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> SurvivalEstimator:
        """The estimator of a file, whose entries and arrays are validated as untrusted input."""

    def save(self, path: Any) -> Path:
        """Write the fitted model to one file (safetensors with a JSON header), for `aldsurv.load`.

        Nothing in the file is code. An encoder is written as its weights; loading needs the module again.
        """
        self._require_fitted()
        return save(self, path)

    @property
    @abstractmethod
    def error_point_(self) -> str:
        """Name of the summary that is the predicted time: a method of the distribution."""

    @property
    def ranking_point_(self) -> str:
        """Name of the summary by which rows are ranked, one of `RANKING_POINTS`: within follow-up, if that is known."""
        facts = self.trained_on_
        return self.error_point_ if facts is None or facts.follow_up is None else "follow_up"

    @property
    def follow_up_(self) -> float:
        """The time within which rows are ranked by default, as `aldsurv.data.follow_up.end_of_follow_up` has it."""
        self._require_fitted()
        if self.trained_on_ is None or self.trained_on_.follow_up is None:
            raise ParameterError(
                f"point must be one of {', '.join(POINTS)} for this {type(self).__name__}, but is 'follow_up': its "
                "file is of an earlier version and does not have the end of follow-up.",
                argument="point",
                advice="Fit it again.",
            )
        return self.trained_on_.follow_up

    def set_outcome_columns(self, columns: Mapping[str, str], missing: Sequence[str] = ()) -> None:
        """Keep with the fitted model, and in its file, how the table of training was read.

        Parameters
        ----------
        columns
            Columns that held the outcome, by their role.
        missing
            Values that stood for gaps, beside the usual ones.
        """
        if self.trained_on_ is not None:
            self.trained_on_ = replace(self.trained_on_, outcome=dict(columns), missing=tuple(missing))

    def predict_time(self, X: object) -> FloatArray:
        """One time per row: the summary of the distribution named by the parameter `point`, by default the median."""
        return self._summarised(self.predict_distribution(X), self.error_point_)

    def predict(self, X: object) -> FloatArray:
        """Risk score of each row: the higher, the earlier the event.

        It is minus the summary named by the parameter `point`; by default (``"follow_up"``) minus the mean time without
        event up to `follow_up_`, for a median beyond follow-up is what the shape of the distribution makes of it.
        """
        return -self._summarised(self.predict_distribution(X), self.ranking_point_)

    def _summarised(self, distribution: SurvivalDistribution, point: str) -> FloatArray:
        if point == "follow_up":
            return np.asarray(distribution.approximate_restricted_mean(self.follow_up_))
        return summarised(distribution, point, float(self.unique_times_[-1]))

    def predict_path(
        self,
        X: object,
        id: object,  # noqa: A002 - as in SurvivalData.episodes
        start: object,
        stop: object,
        *,
        gaps: str = "refuse",
    ) -> SurvivalDistribution:
        """The distribution along a path of covariates that change: one row per person.

        In each episode the hazard is that of `predict_distribution` for its covariates; after the last, these hold for
        ever. ``.conditional(t)`` is the prediction given survival to t, which depends on the covariates from then on.

        Parameters
        ----------
        X
            Covariates, one row per episode.
        id, start, stop, gaps
            As in `SurvivalData.episodes`: the person and the time of each row. Someone whose first episode begins after
            0 is known to be event-free then. Over a gap, if allowed, covariates hold until the next episode.

        Returns
        -------
        SurvivalDistribution
            A row per person, in the order of their first rows, as `SurvivalData.persons` has them.
        """
        return predict_along_paths(self.predict_distribution, X, id, start, stop, gaps=gaps)

    @property
    def innermost(self) -> SurvivalEstimator:
        """The model that learns from the columns: this one, or the one within a model around another."""
        return self

    @property
    def columns_(self) -> dict[str | int, ColumnPlan | None]:
        """Columns of X by name or position, in the order of training, and what was learned of each; None: strata."""
        features = self.features_
        if features is None:
            return {}
        return {plan.name if features.named else position: plan for position, plan in enumerate(features.columns)}

    @property
    def strata_columns_(self) -> tuple[str | int, ...]:
        """Columns of X whose levels are strata, by name or position."""
        return ()

    @property
    def strata_(self) -> tuple[Stratum, ...]:
        """The combinations of levels of these columns that training had."""
        return ()

    @property
    def interrupted_(self) -> bool:
        """Whether training was ended early by the user."""
        return False

    @property
    def coefficients_(self) -> CoefficientTable | None:
        """The table of coefficients, of a model that has one."""
        return None

    @property
    def stack_table_(self) -> StackTable | None:
        """The table of the models that are mixed, with their weights, of a stack."""
        return None

    @property
    def ancestry_(self) -> tuple[UpdateStep, ...]:
        """The updates that the model went through, the oldest first."""
        return ()

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters that `predict_parameters` gives; none if predictions are not of one family."""
        return ()

    @property
    def of_log_time(self) -> bool:
        """Whether these parameters are those of the distribution of log time."""
        return False

    def predict_parameters(self, X: object) -> dict[str, FloatArray]:
        """Parameters (n,) of each row's distribution by name."""
        return {}

    def fitted_settings(self) -> dict[str, Any]:
        """The settings that the model was fitted with, as JSON can hold them."""
        parameters = saved_parameters(self)
        return {name: parameters[name] for name in self.parameter_defaults() if name in parameters}

    def structure(self) -> ModelStructure:
        """What the predictions are computed from: formula, layers or trees, members, baselines."""
        self._require_fitted()
        return ModelStructure()

    def summary(self) -> str:
        """What the model is and what it was trained on, in a few lines."""
        self._require_fitted()
        lines, facts = [type(self).__name__], self.trained_on_
        if facts is not None:
            lines.append(f"  rows            {facts.rows_text}, {facts.known_events} events")
            lines.append(f"  time            {plain_number(facts.first_time, 4)} to {plain_number(facts.last_time, 4)}")
        return "\n".join([*lines, f"  columns         {self.n_features_in_}"])

    def _html_of_fit(self) -> list[str]:
        if not self.__sklearn_is_fitted__():
            return super()._html_of_fit()
        return html_of_fit(self)

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Harrell's C of `predict` on the rows of `X`: 0.5 is chance, 1 a perfect ranking.

        Of episodes it is that of persons, by the prediction along their paths.
        """
        from aldsurv.metrics import concordance_harrell

        data = read_target(y, sample_weight)
        if data.person is None:
            return float(concordance_harrell(-self.predict(X), data))
        X, data = join_episodes(X, data)
        predicted, persons = along_paths(self.predict_distribution(X), data)
        return float(concordance_harrell(self._summarised(predicted, self.ranking_point_), persons))

    def predict_survival_function(self, X: object, times: object = None, *, return_array: bool = False) -> NDArray[Any]:
        """Survival of each row: at given times, or as functions as in scikit-survival.

        Parameters
        ----------
        X
            Covariates.
        times
            A number, a vector (m,), or (n, m): gives the survival at these times, as
            ``predict_distribution(X).survival(times)`` does. None: functions of time.
        return_array
            Without `times`: an array (n, times) of the survival at `unique_times_` instead of n functions.
        """
        return self._functions(X, "survival", times, return_array)

    def predict_cumulative_hazard_function(
        self, X: object, times: object = None, *, return_array: bool = False
    ) -> NDArray[Any]:
        """Cumulative hazard of each row; the parameters are those of `predict_survival_function`."""
        return self._functions(X, "cumulative_hazard", times, return_array)

    def _functions(self, X: object, kind: str, times: object, return_array: bool) -> NDArray[Any]:
        for name, value in (("times", times), ("return_array", return_array)):
            if isinstance(value, (bool, np.bool_)) != (name == "return_array"):
                raise ParameterError(
                    f"{name} must be {'numbers' if name == 'times' else 'True or False'}, but is {quoted(value)}. Give "
                    "times as the second argument, and return_array by its name, such as return_array=True."
                )
        distribution = self.predict_distribution(X)
        if times is not None or return_array:
            return np.asarray(getattr(distribution, kind)(self.unique_times_ if times is None else times))
        return row_functions(distribution, kind, self.unique_times_)
