"""The paper's distributions with trees in place of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Flag, Number, Satisfies, WholeNumber
from aldsurv.columns.covariates import take_rows
from aldsurv.columns.features import Features
from aldsurv.data.cause_checks import require_each_cause, require_rows_without_event
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import Arrays, Document, FileContent, require, saved_parameters, with_parameters
from aldsurv.models.fitted_state import fitted_state, set_columns, set_fitted_state
from aldsurv.models.parameter_constraints import CATEGORICAL, POINT, UNIT
from aldsurv.models.parted.table_summary import TableSummary, summarise
from aldsurv.models.point_parameter import PointParameterMixin
from aldsurv.models.rows.member_rows import Rows
from aldsurv.models.rows.training_rows import TrainedOn, require_same_rows
from aldsurv.models.search_space import OneOf, Range, SearchSpace
from aldsurv.models.structure import ModelStructure
from aldsurv.models.training_target import with_joined_episodes
from aldsurv.models.trees.boosting_settings import AUTO, chosen_by_size, rows_of_members
from aldsurv.models.trees.fitted_trees import FittedTrees
from aldsurv.models.trees.member_outputs import MemberOutputs
from aldsurv.models.trees.tree_arrays import Trees
from aldsurv.nonparametric.plateau import warn_of_short_follow_up
from aldsurv.plain_numbers import percent, plain_number
from aldsurv.tables.parts.parted_table import table_in_parts

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BoostedALD"]

FloatArray = NDArray[np.float64]

_MOST = 10**6


def _is_count_of_jobs(value: object) -> bool:
    return value is None or (value != 0 and WholeNumber(-1024, 1024).allows(value))


@final
@dataclass(kw_only=True, eq=False, repr=False)
class BoostedALD(PointParameterMixin, SurvivalEstimator):
    """Individual survival distributions by asymmetric Laplace distributions whose parameters boosted trees give.

    XGBoost grows the trees: in each round one for every parameter, from the gradient of the censored log-likelihood and
    the Fisher information in place of the second derivative. Rows can have any kind of censoring, delayed entry and
    weights. With data made by `SurvivalData.competing`, `predict_incidence` gives the incidence of each cause, and
    `predict_distribution` the time to the first event of any cause.
    Fitting needs xgboost (``pip install 'aldsurv[trees]'``); predicting and loading need numpy only.

    Parameters
    ----------
    support
        ``"log"`` (the logarithm of time has the asymmetric Laplace distribution), ``"positive"`` (of time, cut off
        at 0) or ``"real"`` (the paper's: some mass below 0).
    components
        Asymmetric Laplace components of each row's distribution. With several, trees predict one location, one scale
        and the weights; relative to these, the locations, scales and asymmetries of the components are the same for
        all rows.
    members
        Boosted models of the ensemble; the prediction is the mixture of theirs. Each has different validation rows, and
        for very large tables a different sample of at most 200,000 rows.
    learning_rate
        Factor of each tree; ``"auto"``: 0.1, from 50,000 rows on 0.3.
    max_depth
        Largest number of splits from the root of a tree to a leaf.
    min_child_weight
        Smallest information of the rows of a leaf about its parameter, in units of the information of an average row.
    l2
        Number of such rows without any effect that are added to each leaf.
    subsample, colsample
        Share of the rows, and of the columns, that a tree is grown on. ``subsample="auto"``: 0.8, from 50,000 rows on
        1, because each round already uses only a part of the rows.
    max_rounds
        Largest number of rounds; ``"auto"``: 1000, from 50,000 rows on 170, from 200,000 rows on 400.
    patience
        Rounds without a better likelihood of the validation rows after which boosting stops; 0: never.
    validation
        Share of validation rows, which determine when boosting stops; 0 for none. Tables of fewer than ten rows have
        none.
    causes
        With competing causes: ``"hazards"``, for each cause a distribution whose hazard is that of the cause, boosted
        separately; ``"mixture"``, a probability for each cause and the distribution of its time given that cause; or
        ``"auto"``: both are grown, and the one under which validation rows are more likely is kept; mixture if too
        little is held out.
    cure
        Whether a share of the individuals, which depends on their covariates, never has the event: one more weight of
        the mixture, at infinity. Only follow-up well beyond the last events distinguishes it from late events.
    point
        Summary that is the predicted time, and by which rows are ranked: ``"median"``, ``"mean"``, ``"mode"``,
        ``"restricted_mean"``, or ``"follow_up"``: the median as the time, and rows ranked by the restricted mean up to
        `follow_up_`.
    categorical
        Columns, by name or number, whose numbers are categories.
    unit
        Name of the unit of time, such as ``"months"``; stored with the model and shown in texts and plots.
    n_jobs
        Threads in which members are grown at the same time; the trees do not depend on it. -1: one per core; None: one
        for fewer than 50,000 rows, otherwise one per core, or as many as OMP_NUM_THREADS allows.
    random_state
        Seed: of the held-out rows, and of the rows and columns that a tree is grown on.

    Attributes
    ----------
    trees_
        The trees of all members, as arrays.
    start_, units_
        For each member, the outputs to which trees add, and the size of one unit of a tree in each output.
    rounds_
        Number of rounds of each member; with hazards of causes, for each cause (members, causes).
    validation_loss_
        Mean negative log-likelihood of each member's validation rows, in the unit of the data.
    features_
        How columns become numbers.
    follow_up_
        Time by which 80 % of the training rows had left, within which rows are ranked.
    trained_on_
        Rows, events, range of time, fingerprint of the data, versions.

    Examples
    --------
    >>> from aldsurv import datasets
    >>> train, _ = datasets.load("norm_linear").split(seed=0)
    >>> model = BoostedALD(members=2, random_state=0).fit(train.x, train.y)
    >>> d = model.predict_distribution([[0.2], [1.8]])
    >>> bool(d.median()[0] < d.median()[1]), d.survival([10.0, 12.0, 14.0]).shape
    (True, (2, 3))
    """

    support: str = field(default="log", kw_only=False)
    components: int = 3
    members: int = 5
    learning_rate: float | str = AUTO
    max_depth: int = 2
    min_child_weight: float = 5.0
    l2: float = 1.0
    subsample: float | str = AUTO
    colsample: float = 0.8
    max_rounds: int | str = AUTO
    patience: int = 30
    validation: float = 0.2
    causes: str = "auto"
    cure: bool = False
    point: str = "follow_up"
    categorical: Sequence[str | int] | None = None
    unit: str | None = None
    n_jobs: int | None = None
    random_state: Any = None

    trees_: Trees = field(init=False)
    outputs_: MemberOutputs = field(init=False)
    start_: FloatArray = field(init=False)
    units_: FloatArray = field(init=False)
    gain_: FloatArray = field(init=False)
    rounds_: NDArray[np.int64] = field(init=False)
    validation_loss_: FloatArray = field(init=False)
    held_out_: bool = field(init=False)
    time_scale_: float = field(init=False)
    features_: Features = field(init=False)
    trained_on_: TrainedOn = field(init=False)
    cause_scores_: Mapping[str, float] = field(init=False)

    TAKES_CAUSES: ClassVar[bool] = True
    FITS_PARTS: ClassVar[bool] = True
    LATER_PARAMETERS: ClassVar[frozenset[str]] = frozenset({"causes", "cure"})
    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "support": Choice(tuple(SUPPORTS)),
        "components": WholeNumber(1, 100),
        "members": WholeNumber(1, 1000),
        "learning_rate": Number(0, 1, above=True, or_one_of=(AUTO,)),
        "max_depth": WholeNumber(1, 30),
        "min_child_weight": Number(0),
        "l2": Number(0),
        "subsample": Number(0, 1, above=True, or_one_of=(AUTO,)),
        "colsample": Number(0, 1, above=True),
        "max_rounds": WholeNumber(1, _MOST, or_one_of=(AUTO,)),
        "patience": WholeNumber(0, _MOST, meaning="0: never stop early"),
        "validation": Number(0, 1, below=True, meaning="0: none"),
        "causes": Choice(("mixture", "hazards", "auto")),
        "cure": Flag(),
        "point": POINT,
        "categorical": CATEGORICAL,
        "unit": UNIT,
        "n_jobs": Satisfies(_is_count_of_jobs, "a whole number other than 0, -1 for all cores, or None"),
    }
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(
        {
            "components": OneOf((1, 2, 3, 5)),
            "learning_rate": Range(0.02, 0.3, log=True),
            "max_depth": OneOf((1, 2, 3, 4)),
            "min_child_weight": Range(1.0, 50.0, log=True),
            "l2": Range(0.1, 50.0, log=True),
            "colsample": Range(0.3, 1.0),
            "support": OneOf(("log", "positive", "real")),
        },
        "log_likelihood",
    )

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, as `SurvivalEstimator.fit` says.

        A table in parts, as `aldsurv.datasets.open_table` gives it, is read once: ``fit(table.x, table.y)``. Columns
        are learned from all its rows; members grow on different parts of a sample of them.
        """
        from aldsurv.models.trees.boosted_rounds import require_xgboost

        self.check_parameters()
        require_xgboost()
        owner = type(self).__name__
        table = table_in_parts(X, y, sample_weight, groups)
        if table is None:
            X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
            features = Features.learn(X, categorical=self.categorical, scale=False, owner=owner)
            data, summary = self._read_training_target(y, sample_weight, groups), None
        else:
            most = rows_of_members(int(self.members), float(self.validation))
            summary, codes = summarise(table, self.categorical or (), sample_rows=most)
            features = summary.features(categorical=codes, scale=False, owner=owner)
            X, data = summary.sampled_x, self._read_training_target(summary.sampled_y, None)
        return self._grow(X, data, features, summary)

    def _grow(self, X: object, data: SurvivalData, features: Features, summary: TableSummary | None) -> Self:
        """Learn from rows in memory, which are a sample of those of the summary if there is one."""
        from aldsurv.models.trees.fit_trees import fit_trees

        owner = type(self).__name__
        x = features.transform(X, owner=owner)
        require_same_rows(len(x), data)
        require_each_cause(data)
        if self.cure:
            require_rows_without_event(data)
            warn_of_short_follow_up(data, owner, stacklevel=4)
        fitted, rows = fit_trees(self.get_params(deep=False), x, data, features, summary)
        self._adopt(fitted)
        self._check_skill(X, data, rows)
        return self

    @classmethod
    def default_settings(cls, size: tuple[int, int] | None = None) -> dict[str, Any]:
        """As of `SurvivalEstimator`: without a size those of tables that are not large."""
        return chosen_by_size(0 if size is None else size[0], cls.parameter_defaults())

    def fitted_settings(self) -> dict[str, Any]:
        """The settings that the model was fitted with: numbers in place of ``"auto"``."""
        self._require_fitted()
        return chosen_by_size(self.trained_on_.rows, super().fitted_settings())

    def check_parameters(self) -> None:
        """Raise `ParameterError` for a parameter that `fit` would refuse whatever the rows are."""
        super().check_parameters()
        if self.cure and self.causes == "hazards":
            raise ParameterError(
                "causes must be 'mixture' or 'auto' with cure=True: hazards leave no share without an event.",
                argument="causes",
            )

    def _adopt(self, fitted: FittedTrees) -> None:
        """Become fitted."""
        set_fitted_state(self, fitted)
        set_columns(self, fitted.features)

    def _check_skill(self, X: object, data: SurvivalData, rows: Rows) -> None:
        """Warn if the members predict their validation rows no better than Kaplan-Meier does."""
        from aldsurv.models.neural.fitting.skill_check import (
            HeldPart,
            gain_over_kaplan_meier,
            sampled_rows,
            warn_without_skill,
        )

        parts = []
        for k, held in enumerate(rows.validation or ()):
            chosen = sampled_rows(held)
            predicted = self._predict_members(take_rows(X, chosen), [k])[0]
            # The constants beside the trees are fitted to these rows, too.
            parts.append(HeldPart(predicted, data[chosen], data))
        warn_without_skill(gain_over_kaplan_meier(parts, repeats=rows.repeats), type(self).__name__)

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The distribution of the time to the event for each row of `X`, in the unit of the training times.

        With several members it is their mixture.
        """
        raw = self._raw(X)
        return self.outputs_.distribution(raw).scaled(self.time_scale_)

    @property
    def causes_(self) -> tuple[str, ...] | None:
        """Names of the causes; None if the data had none."""
        self._require_fitted()
        return self.outputs_.causes

    def predict_incidence(self, X: object) -> CompetingDistribution:
        """Which cause the first event has and when it comes, for each row of `X`, in the unit of the training times."""
        raw = self._raw(X)
        if self.outputs_.causes is None and not self.outputs_.cure:
            return super().predict_incidence(X)
        return self.outputs_.incidence(raw).scaled(self.time_scale_)

    def predict_members(self, X: object) -> list[SurvivalDistribution]:
        """What each member predicts for the rows of `X`, in the unit of the training times."""
        self._require_fitted()
        return self._predict_members(X, range(self.n_members))

    def _predict_members(self, X: object, members: Sequence[int]) -> list[SurvivalDistribution]:
        raw = self._raw(X, members)
        return [self.outputs_.distribution(member[None]).scaled(self.time_scale_) for member in raw]

    def _raw(self, X: object, members: Sequence[int] | None = None) -> FloatArray:
        """Outputs (members, n, outputs) of all members, or of some."""
        self._require_fitted()
        x = self.features_.transform(X, owner=type(self).__name__)
        start, units, trees, boosted = self.start_, self.units_, self.trees_, self.units_.shape[1]
        if members is not None and len(members) < len(units):
            outputs = (np.array(members)[:, None] * boosted + np.arange(boosted)).ravel()
            start, units, trees = start[members], units[members], trees.of_outputs(outputs)
        sums = trees.sums(x, units.size).reshape(len(x), len(units), boosted).transpose(1, 0, 2)
        raw = np.repeat(start[:, None, :], len(x), axis=1)
        raw[:, :, :boosted] += units[:, None, :] * sums
        return raw

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters: ``theta``, ``sigma`` and ``kappa``; of several components with their numbers.

        None with causes or a cure, which have several distributions.
        """
        self._require_fitted()
        return self.outputs_.names

    @property
    def of_log_time(self) -> bool:
        """Whether the parameters are those of the distribution of log time."""
        self._require_fitted()
        return SUPPORTS[self.outputs_.part.support].of_log_time

    def predict_parameters(self, X: object) -> dict[str, FloatArray]:
        """Parameters (n,) of each row by name, in the unit of the training times; with support log, of its log.

        With several members it is the mean of theirs: the mixture has no such parameters, but this shows what
        moves them. Of several components, ``theta_1`` belongs to the one that began earliest.
        """
        if not self.parameter_names:
            return {}
        names = ("theta", "sigma", "kappa", *(("weights",) if self.components > 1 else ()))
        parts = self.predict_members(X)
        tables = [np.mean([np.asarray(getattr(part, name)) for part in parts], axis=0) for name in names]
        return dict(zip(self.parameter_names, np.concatenate(tables, axis=1).T, strict=True))

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column (n_features_in_,) in the total gain: by how much splits on it improved the loss."""
        self._require_fitted()
        ends = np.cumsum([plan.width for plan in self.features_.columns])
        gain = np.diff(np.concatenate([[0.0], np.cumsum(self.gain_)])[np.concatenate([[0], ends])])
        return np.asarray(gain / gain.sum() if gain.sum() > 0 else gain)

    def structure(self) -> ModelStructure:
        """What the sums of the trees stand for, how many trees there are, and how boosting ended."""
        self._require_fitted()
        kept = ", ".join("/".join(map(str, np.atleast_1d(count))) for count in self.rounds_)
        which = "validation" if self.held_out_ else "training"
        facts = (
            ("Predicted distribution", self.outputs_.describe()),
            ("Members", f"{self.n_members}, mixed in equal parts"),
            ("Trees", f"{len(self.trees_):,} in all members, of at most {self.trees_.levels} splits to a leaf"),
            ("Rounds kept by each member", kept),
            ("Times are divided by", plain_number(self.time_scale_, 6)),
            ("Log-likelihood", f"{-self.validation_loss_.mean():.4f} per row on {which} rows, mean of the members"),
        )
        return ModelStructure(facts=facts, held_out=float(self.validation) if self.held_out_ else 0.0)

    def summary(self) -> str:
        """What the model is and what it was trained on, in a few lines."""
        self._require_fitted()
        facts, unit = self.trained_on_, f" {self.unit}" if self.unit else ""
        share = percent(facts.event_share)
        kind = self.outputs_.describe()
        kept = ", ".join("/".join(map(str, np.atleast_1d(count))) for count in self.rounds_[:10])
        choices = []
        if self.cause_scores_:
            scores = ", ".join(f"{name} {score:.4f}" for name, score in self.cause_scores_.items())
            choices.append(f"  chosen          {self.outputs_.cause_kind}, by the log-likelihood: {scores}")
        return "\n".join(
            [
                f"{type(self).__name__}, {kind}, {len(self.rounds_)} members, {len(self.trees_)} trees",
                f"  rows            {facts.rows_text}, {facts.known_events} events ({share})",
                f"  time            {plain_number(facts.first_time, 4)} to {plain_number(facts.last_time, 4)}{unit}",
                f"  columns         {self.n_features_in_}, as {self.features_.width} numbers",
                f"  rounds          {kept}",
                f"  log-likelihood  {-self.validation_loss_.mean():.4f} per row on validation rows",
                *choices,
            ]
        )

    @property
    def n_members(self) -> int:
        """Networks or other members of an ensemble; 1 without one."""
        return len(self.rounds_)

    def band_stretch(self) -> float:
        """Standard errors of the prediction in one standard deviation between the members."""
        members, share = self.n_members, float(self.validation)
        if not self.held_out_:
            return super().band_stretch()
        # Each member leaves a share of the rows out: a delete-d jackknife, as for networks.
        return float(np.sqrt((1 - share) / share * (members - 1) / members))

    def _to_file(self) -> FileContent:
        document, arrays = fitted_state(self, FittedTrees).to_file()
        return {"parameters": saved_parameters(self), **document}, arrays

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> BoostedALD:
        if encoder is not None:
            raise ParameterError("encoder cannot be used: the model was trained without one.", argument="encoder")
        require("parameters" in document, "its parameters are missing")
        model: BoostedALD = with_parameters(cls, document["parameters"])
        model.check_parameters()
        others = {name: entry for name, entry in document.items() if name != "parameters"}
        model._adopt(
            FittedTrees.from_file(
                others,
                arrays,
                support=model.support,
                components=model.components,
                members=model.members,
                cure=bool(model.cure),
            )
        )
        return model
