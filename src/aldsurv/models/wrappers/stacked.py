"""Several models as one: the mixture of their predictions, weighted by how well each predicts new rows."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Number, Satisfies, WholeNumber, check_all, declared_constraints
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.joined_steps import joined_steps
from aldsurv.distributions.wrappers.mixture import Mixture
from aldsurv.errors import FitWarning, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import NOT_SAVED, Arrays, Document, FileContent, from_portable, portable, require
from aldsurv.models.neural.fitting.skill_check import (
    HeldPart,
    gain_over_kaplan_meier,
    sampled_rows,
    warn_without_skill,
)
from aldsurv.models.parameter_constraints import CATEGORICAL, POINT, UNIT
from aldsurv.models.point_parameter import PointParameterMixin
from aldsurv.models.rows.member_rows import member_seeds
from aldsurv.models.structure import ModelStructure
from aldsurv.models.training_target import with_joined_episodes
from aldsurv.models.wrappers.cross_fitting import HeldOut, choose_parts, read_rows, unfitted
from aldsurv.models.wrappers.fitted_stack import FittedStack, StackMember
from aldsurv.models.wrappers.stack_fitting import SMALL_WEIGHT, fit_members, weights_of_fits
from aldsurv.models.wrappers.stack_members import STACK, named_members, prepared_member
from aldsurv.models.wrappers.stack_table import StackedModel, StackTable
from aldsurv.models.wrappers.stacking_weights import event_knots
from aldsurv.notices import muted
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["StackedSurvival"]

FloatArray = NDArray[np.float64]

_NOT_SAVED = NOT_SAVED | {"estimators"}
# With fewer events, weights would be chance.
_LEAST_EVENTS = 10


def _are_weights(value: object) -> bool:
    if isinstance(value, str):
        return value in ("likelihood", "equal")
    if not isinstance(value, (list, tuple, np.ndarray)) or not len(value):
        return False
    return all(Number(0).allows(weight) for weight in value) and any(weight > 0 for weight in value)


@final
@dataclass(kw_only=True, eq=False, repr=False)
class StackedSurvival(PointParameterMixin, SurvivalEstimator):
    """Several models whose predictions are mixed, each with a weight.

    The weights are those under which rows are most likely that the members had not learned from: each row is predicted
    by members fitted to the other folds, and the mixture of these predictions has the highest likelihood. All are asked
    for the same probabilities, of the interval between quantiles of the event times in which an event falls, so that
    densities and curves of steps compare fairly. As many rows as there are members count in favour of equal weights, so
    that few events do not leave one member alone.

    The prediction is the weighted mixture of the members fitted to all rows. Curves of steps (Cox, DeepSurv, DeepHit)
    are joined by lines between these quantiles and go on exponentially after the last, so that it has a density, means
    and medians. Rows of every kind of censoring that some member takes, with delayed entry and weights.

    Parameters
    ----------
    estimators
        A list of estimators of aldsurv, names of its models (``"cox"``), or pairs of a name and one of these. None for
        ``"ald"``, ``"boosted_ald"`` (if xgboost is installed), ``"cox"`` with ``ridge=1.0``, ``"lognormal"`` and
        ``"deepsurv"``. They are not fitted themselves, but ``estimators_``. One that cannot be fitted to these rows is
        left out, with a warning. Parameters of a member are ``name__parameter``.
    folds
        Each row is predicted by members that learned from the other folds.
    weights
        ``"likelihood"``, as above; ``"equal"``, which takes one fit of each member instead of ``folds + 1``; or a
        number for each of the estimators, divided by their sum.
    point
        The summary of the distribution that `predict_time` gives, and by which rows are ranked: ``"median"``,
        ``"mean"``, ``"mode"``, ``"restricted_mean"``, or ``"follow_up"``: the median as the time, and rows ranked by
        the restricted mean up to `follow_up_`.
    categorical
        Columns, by name or number, whose numbers are categories; for every member that has not been given its own.
    unit
        Name of the unit of time, such as ``"months"``; kept with the model, for its readers.
    random_state
        Decides the folds: an integer, a numpy Generator, or None for fresh randomness. It is also the seed of members
        that have none.
    progress
        Whether to show which member is fitted; ``"auto"``: in a terminal.

    Attributes
    ----------
    estimators_
        The fitted members by name.
    weights_
        Their weights, which add up to 1.
    member_scores_
        By name the mean log-likelihood per row of rows that the member had not learned from; ``"stack"`` for that of
        the mixture. Empty if no rows were held out.
    left_out_
        Names of members that are not part of the prediction, and why.
    seconds_
        How long each member took to be fitted, all folds together; empty for a model that was loaded.
    knots_
        Times between which curves of steps are joined by lines.
    follow_up_
        Time by which 80 % of the training rows had left, within which rows are ranked.
    trained_on_
        Rows, events, range of time, fingerprint of the data, versions.

    Examples
    --------
    >>> from aldsurv import datasets
    >>> train, test = datasets.load("gbsg").split(seed=0)
    >>> model = StackedSurvival(["cox", "weibull_aft", "lognormal_aft"], random_state=0).fit(train.x, train.y)
    >>> round(sum(model.weights_.values()), 9), max(model.member_scores_, key=model.member_scores_.get)
    (1.0, 'stack')
    >>> model.predict_distribution(test.x).survival([12.0, 60.0]).shape
    (447, 2)
    """

    estimators: Sequence[Any] | None = field(default=None, kw_only=False)
    folds: int = 5
    weights: str | Sequence[float] = "likelihood"
    point: str = "follow_up"
    categorical: Sequence[str | int] | None = None
    unit: str | None = None
    random_state: Any = None
    progress: bool | str = "auto"

    estimators_: dict[str, SurvivalEstimator] = field(init=False)
    weights_: dict[str, float] = field(init=False)
    member_scores_: dict[str, float] = field(init=False)
    left_out_: dict[str, str] = field(init=False)
    seconds_: dict[str, float] = field(init=False)
    knots_: FloatArray = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "folds": WholeNumber(2),
        "weights": Satisfies(_are_weights, "'likelihood', 'equal' or numbers from 0 on, not all of them 0"),
        "point": POINT,
        "categorical": CATEGORICAL,
        "unit": UNIT,
        "progress": Satisfies(lambda value: value in (True, False, "auto"), "True, False or 'auto'"),
    }

    # ---- parameters

    def check_parameters(self) -> None:
        """Raise `ParameterError` for a parameter that `fit` would refuse whatever the rows are."""
        members = named_members(self.estimators)
        check_all(self.get_params(deep=False), declared_constraints(type(self)))
        if not isinstance(self.weights, str) and len(self.weights) != len(members):
            raise ParameterError(
                f"weights must be one for each of {len(members)} estimators, but there are {len(self.weights)}.",
                argument="weights",
            )
        for member in members.values():
            member.check_parameters()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and their values; with `deep` also the members and their parameters, as ``cox__ridge``."""
        parameters = {name: getattr(self, name) for name in self.parameter_defaults()}
        if not deep or not isinstance(self.estimators, (list, tuple)) or not self.estimators:
            return parameters
        members = named_members(self.estimators)
        inner = {f"{name}__{key}": v for name, member in members.items() for key, v in member.get_params().items()}
        return {**parameters, **members, **inner}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``cox=…`` replaces a member, and ``cox__ridge=…`` sets a parameter of one."""
        own = self.parameter_defaults()
        super().set_params(**{name: value for name, value in params.items() if name in own})
        others = {name: value for name, value in params.items() if name not in own}
        if not others:
            return self
        members = named_members(self.estimators)
        for name, value in others.items():
            owner, _, rest = name.partition("__")
            if owner not in members:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter or estimator {owner!r}. Its estimators are "
                    f"{', '.join(members)}."
                )
            if rest:
                members[owner].set_params(**{rest: value})
            else:
                members |= named_members([(owner, value)])
        self.estimators = list(members.items())
        return self

    # ---- fitting

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, as `SurvivalEstimator.fit` says; what members take, the stack takes."""
        self.check_parameters()
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        data = self._read_training_target(read_rows(X, y, sample_weight, groups, bounds=True), None)
        members = named_members(self.estimators)
        seeds = member_seeds(self.random_state, 1 + len(members))
        events = int(np.count_nonzero(np.isfinite(data.upper) & (data.weights > 0)))
        parts = []
        if self.weights == "likelihood" and events >= _LEAST_EVENTS and len(members) > 1:
            parts = choose_parts(data, folds=self.folds, validation=None, seed=seeds[0], X=X)
        shared: dict[str, Any] = {"categorical": self.categorical, "unit": self.unit}
        if self.progress is False:
            shared["progress"] = False
        prepared = {
            name: prepared_member(member, {**shared, "random_state": seed})
            for (name, member), seed in zip(members.items(), seeds[1:], strict=True)
        }
        fits = fit_members(prepared, X, data, parts, show=self._shows_progress())
        for name, reason in fits.failed.items():
            warnings.warn(f"{name} is left out of the stack: {reason}", FitWarning, stacklevel=2)
        if isinstance(self.weights, str):
            weights, scores = weights_of_fits(fits.held_out, event_knots(data))
        else:
            weights, scores = self._given_weights(list(fits.held_out)), {}
        small = {name: SMALL_WEIGHT for name, weight in weights.items() if weight == 0}
        kept = tuple(
            StackMember(name, fits.held_out[name].model, weight) for name, weight in weights.items() if weight > 0
        )
        self._adopt(FittedStack(kept, event_knots(data), scores, {**fits.failed, **small}, fits.seconds))
        if parts:
            self._check_skill(fits.held_out, data)
        return self

    def _given_weights(self, fitted: Sequence[str]) -> dict[str, float]:
        """The weights that were given for the members that could be fitted, divided by their sum."""
        given = dict(zip(named_members(self.estimators), map(float, self.weights), strict=True))
        total = sum(given[name] for name in fitted)
        if total <= 0:
            raise ParameterError(
                f"weights must not all be 0 for the estimators that could be fitted: {', '.join(fitted)}.",
                argument="weights",
            )
        return {name: given[name] / total for name in fitted}

    def _shows_progress(self) -> bool:
        return self.progress is True or (self.progress == "auto" and bool(sys.stderr) and sys.stderr.isatty())

    def _check_skill(self, fits: Mapping[str, HeldOut], data: SurvivalData) -> None:
        """Warn if the held-out rows are predicted no better than by Kaplan-Meier."""
        parts = []
        for members in zip(*(fits[name].parts for name in self.weights_), strict=True):
            rows = sampled_rows(np.arange(len(members[0][1])))
            mixed = self._mixed([predicted[rows] for predicted, _ in members])
            parts.append(HeldPart(mixed, members[0][1][rows], data))
        warn_without_skill(gain_over_kaplan_meier(parts), type(self).__name__)

    def _adopt(self, fitted: FittedStack) -> None:
        """Become fitted."""
        self.estimators_ = {member.name: member.model for member in fitted.members}
        self.weights_ = {member.name: member.weight for member in fitted.members}
        self.knots_, self.member_scores_ = fitted.knots, fitted.scores
        self.left_out_, self.seconds_ = fitted.left_out, fitted.seconds
        model = self._reference
        self.trained_on_, self.unique_times_ = model.trained_on_, model.unique_times_
        self.features_, self.n_features_in_ = model.features_, model.n_features_in_
        if "feature_names_in_" in vars(model):
            self.feature_names_in_ = model.feature_names_in_
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    @property
    def _reference(self) -> SurvivalEstimator:
        """The member whose columns stand for those of all: one that reads every column itself, if there is one."""
        models = list(self.estimators_.values())
        whole = (each for each in models if each.innermost.features_ and not each.innermost.strata_columns_)
        return next(whole, models[0])

    # ---- what was learned

    @property
    def innermost(self) -> SurvivalEstimator:
        """The model that learns from the columns: of the members, which are given the same ones, the first."""
        self._require_fitted()
        return self._reference.innermost

    @property
    def stack_table_(self) -> StackTable:
        """The members and those that were left out: weights, scores, seconds."""
        self._require_fitted()
        titles = {name: MODELS.title_of(type(model)) for name, model in self.estimators_.items()}
        reasons = {**dict.fromkeys(self.estimators_, ""), **self.left_out_}
        scores, seconds = self.member_scores_, self.seconds_
        models = [
            StackedModel(
                name, titles.get(name, name), self.weights_.get(name, 0.0), scores.get(name), seconds.get(name), reason
            )
            for name, reason in reasons.items()
        ]
        return StackTable(tuple(models), scores.get(STACK))

    def structure(self) -> ModelStructure:
        """What each member computes its predictions from; the prediction is their mixture by the weights."""
        self._require_fitted()
        parts = [(name, self.weights_[name], model.structure()) for name, model in self.estimators_.items()]
        weights = ", ".join(f"{name} {weight:.4g}" for name, weight, _ in parts)
        of_members = [(f"{name}: {title}", text) for name, _, part in parts for title, text in part.facts]
        formula = "S(t) is the sum of the weights of the members times the S(t) that they predict."
        return ModelStructure(formula, (("Weights of the members", weights), *of_members))

    def fitted_settings(self) -> dict[str, Any]:
        """The settings, and those of the members with their weights."""
        members = {
            name: {"model": MODELS.name_of(type(model)), "weight": self.weights_[name], **model.fitted_settings()}
            for name, model in self.estimators_.items()
        }
        return {**self._portable_parameters(), "estimators": members}

    def set_outcome_columns(self, columns: Mapping[str, str], missing: Sequence[str] = ()) -> None:
        """Keep with the members which columns of a table held the outcome, and which values stood for gaps."""
        for model in self.estimators_.values():
            model.set_outcome_columns(columns, missing)
        self.trained_on_ = self._reference.trained_on_

    def summary(self) -> str:
        """The members with their weights, scores and seconds, and what they were trained on."""
        self._require_fitted()
        return "\n".join([super().summary(), *(f"  {line}" for line in self.stack_table_.lines())])

    # ---- predicting

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The mixture of the members' distributions for each row of `X`, in the unit of the training times."""
        self._require_fitted()
        predicted: list[SurvivalDistribution] = []
        for model in self.estimators_.values():
            # Notes are about the same columns; the first member has given them.
            with muted() if predicted else nullcontext():
                predicted.append(model.predict_distribution(X))
        return self._mixed(predicted)

    def _mixed(self, predicted: Sequence[SurvivalDistribution]) -> SurvivalDistribution:
        parts = [joined_steps(each, self.knots_) for each in predicted]
        return parts[0] if len(parts) == 1 else Mixture(parts, list(self.weights_.values()))

    # ---- files

    def _portable_parameters(self) -> dict[str, Any]:
        """The parameters of a file; of the members those that are fitted, with their weights if these were given."""
        parameters = {
            name: portable(getattr(self, name)) for name in self.parameter_defaults() if name not in _NOT_SAVED
        }
        if not isinstance(self.weights, str):
            parameters["weights"] = list(self.weights_.values())
        return parameters

    def _to_file(self) -> FileContent:
        members = tuple(StackMember(name, model, self.weights_[name]) for name, model in self.estimators_.items())
        fitted = FittedStack(members, self.knots_, self.member_scores_, self.left_out_, {})
        entries, arrays = fitted.to_file()
        return {"parameters": self._portable_parameters(), **entries}, arrays

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> StackedSurvival:
        entries = {name: value for name, value in document.items() if name != "parameters"}
        fitted, parameters = FittedStack.from_file(entries, arrays, encoder), document["parameters"]
        names = set(cls.parameter_defaults()) - _NOT_SAVED
        require(isinstance(parameters, dict) and set(parameters) == names, "its parameters are unclear")
        estimators = [(member.name, unfitted(member.model)) for member in fitted.members]
        model = cls(estimators, **{name: from_portable(value) for name, value in parameters.items()})
        model.check_parameters()
        model._adopt(fitted)
        return model
