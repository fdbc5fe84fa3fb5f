"""Models around another model: most facts about them are those of the model within."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import Arrays, Document, FileContent, from_portable, portable, require, text
from aldsurv.models.structure import ModelStructure
from aldsurv.models.wrappers.cross_fitting import unfitted
from aldsurv.models.wrappers.nested import InnerEstimatorMixin
from aldsurv.models.wrappers.stack_table import StackTable
from aldsurv.registry import saved_model_class, saved_model_name

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.models.updating.ancestry import UpdateStep

__all__ = ["WrappedSurvival"]

_INNER = "inner."


@dataclass(kw_only=True, eq=False, repr=False)
class WrappedSurvival(InnerEstimatorMixin, SurvivalEstimator):
    """A model that changes the predictions of another one.

    Attributes
    ----------
    estimator_
        The fitted model as it was before.
    trained_on_
        What `estimator_` was fitted to.
    """

    @property
    def innermost(self) -> SurvivalEstimator:
        """The model within, or within that one."""
        return self.estimator_.innermost

    @property
    def n_members(self) -> int:
        """Networks or other members of an ensemble; 1 without one."""
        return self.estimator_.n_members

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        self._require_fitted()
        return self.estimator_.error_point_

    @property
    def ranking_point_(self) -> str:
        """The summary by which rows are ranked."""
        self._require_fitted()
        return self.estimator_.ranking_point_

    @property
    def stack_table_(self) -> StackTable | None:
        """The table of the models that are mixed, if the model within is a stack."""
        return self.estimator_.stack_table_

    @property
    def ancestry_(self) -> tuple[UpdateStep, ...]:
        """The updates of the model within."""
        return self.estimator_.ancestry_

    def structure(self) -> ModelStructure:
        """That of the model within, and how its predictions are changed."""
        self._require_fitted()
        within = self.estimator_.structure()
        facts = (("Model within", type(self.estimator_).__name__), *self._changes(), *within.facts)
        formula = f"{within.formula} Then the prediction is changed as said below." if within.formula else ""
        return replace(within, formula=formula, facts=facts, complete=False)

    def _changes(self) -> tuple[tuple[str, str], ...]:
        """How predictions of the model within are changed, as names and values."""
        return ()

    def fitted_settings(self) -> dict[str, Any]:
        """The settings, and those of the model within."""
        inner = {"model": saved_model_name(type(self.estimator_)), **self.estimator_.fitted_settings()}
        return {**super().fitted_settings(), "estimator": inner}

    def set_outcome_columns(self, columns: Mapping[str, str], missing: Sequence[str] = ()) -> None:
        """Keep with the model within which columns of a table held the outcome, and which values stood for gaps."""
        self.estimator_.set_outcome_columns(columns, missing)
        self.trained_on_ = self.estimator_.trained_on_

    def band_stretch(self) -> float:
        """Standard errors of the prediction in one standard deviation between the members."""
        return self.estimator_.band_stretch()

    def _set_estimator(self, model: SurvivalEstimator) -> None:
        """Set the fitted model within, and the facts that are the same for both."""
        self.estimator_, self.trained_on_, self.unique_times_ = model, model.trained_on_, model.unique_times_
        self.features_, self.n_features_in_ = model.features_, model.n_features_in_
        if "feature_names_in_" in vars(model):
            self.feature_names_in_ = model.feature_names_in_
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    def _inner_to_file(self) -> FileContent:
        """Entries and arrays of the parameters and the model within."""
        document, arrays = self.estimator_._to_file()
        parameters = self.get_params(deep=False)
        entries = {
            "parameters": {name: portable(value) for name, value in parameters.items() if name != "estimator"},
            "inner": {"model": saved_model_name(type(self.estimator_)), "entries": document},
        }
        return entries, {f"{_INNER}{name}": array for name, array in arrays.items()}

    @classmethod
    def _inner_from_file(
        cls, document: Document, arrays: Arrays, encoder: object
    ) -> tuple[Self, SurvivalEstimator, dict[str, NDArray[Any]]]:
        """An estimator of the file's parameters, the fitted model within, and the arrays that are not the latter's."""
        parameters, inner = document["parameters"], document["inner"]
        names = set(cls.parameter_defaults()) - {"estimator"}
        require(isinstance(parameters, dict) and set(parameters) == names, "its parameters are unclear")
        require(isinstance(inner, dict) and set(inner) == {"model", "entries"}, "the model within is unclear")
        require(isinstance(inner["entries"], dict), "the model within is unclear")
        within = {name.removeprefix(_INNER): array for name, array in arrays.items() if name.startswith(_INNER)}
        others = {name: array for name, array in arrays.items() if not name.startswith(_INNER)}
        fitted: SurvivalEstimator = saved_model_class(text(inner["model"], "model"))._from_file(
            inner["entries"], within, encoder
        )
        model = cls(unfitted(fitted), **{name: from_portable(value) for name, value in parameters.items()})
        model.check_parameters()
        return model, fitted, others
