"""XGBoost's trees for survival: accelerated failure time, and Cox's loss with Breslow's baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Number, WholeNumber
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.weibull import Weibull
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.models.adapters.adapter import PeerSurvival, library_options
from aldsurv.models.fitted_state import FittedState
from aldsurv.models.linear.aft import location_and_scale
from aldsurv.models.linear.aft_likelihood import SmallestExtreme, Standard, StandardNormal
from aldsurv.models.linear.problems.log_time_problem import rows_with_information
from aldsurv.models.rows.member_rows import member_seeds, split_for_members
from aldsurv.nonparametric.breslow import BaselineHazard, baseline_hazard

__all__ = ["XGBoostAFT", "XGBoostCox"]

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]

_STANDARD: dict[str, Standard] = {"normal": StandardNormal(), "extreme": SmallestExtreme()}
# Beyond e^300 squares would overflow.
_LARGEST_LOG = 300.0


@dataclass(frozen=True)
class Boosted(FittedState):
    """What XGBoost learned.

    Attributes
    ----------
    booster
        The library's object.
    rounds
        How many of its rounds are used.
    held_out
        Numbers of the rows that decided when to stop.
    """

    booster: Any
    rounds: int
    held_out: NDArray[np.int64]


@final
@dataclass(frozen=True)
class BoostedCox(Boosted):
    """Trees for the log risk, and the cumulative baseline hazard."""

    baseline: BaselineHazard


@final
@dataclass(frozen=True)
class BoostedAFT(Boosted):
    """Trees for log time in units of `unit`, what is added to their sum, and the scale of the predictions."""

    unit: float
    shift: float
    scale: float


@dataclass(kw_only=True, eq=False, repr=False)
class XGBoostSurvival(PeerSurvival):
    """Boosted trees that stop when the loss on held-out rows no longer falls.

    Parameters
    ----------
    n_estimators
        Rounds at most.
    learning_rate
        Small, as the rounds stop early; the library's is 0.3.
    max_depth
        Depth of a tree; the library's is 6.
    validation
        Share of the rows that decides when to stop; 0 for none.
    fold
        Which share of the rows that is: 0, 1, … of one and the same `random_state` do not overlap, as far as the rows
        go, so that fits of all of them make an ensemble.
    patience
        Rounds without a better loss on these rows after which it stops.
    n_jobs
        Threads; one by default.
    random_state
        Seed, also of the held-out rows.
    options
        Further settings of the booster, as a dict.
    categorical, point
        As in `PeerSurvival`.

    Attributes
    ----------
    booster_
        The library's object.
    rounds_
        How many of its rounds are used.
    """

    n_estimators: int = 1000
    learning_rate: float = 0.05
    max_depth: int = 3
    validation: float = 0.2
    fold: int = 0
    patience: int = 50
    n_jobs: int = 1

    booster_: Any = field(init=False)
    rounds_: int = field(init=False)
    held_out_: NDArray[np.int64] = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "validation": Number(0, 1, below=True, meaning="0: none"),
        "fold": WholeNumber(0, 999),
    }
    LIBRARY: ClassVar[str] = "xgboost"

    def _library(self) -> Any:
        try:
            import xgboost
        except ImportError:
            raise self._missing() from None
        return xgboost

    def _boost(self, x: Float32Array, data: SurvivalData, labels: dict[str, Any], **objective: Any) -> Boosted:
        xgboost = self._library()
        seed = member_seeds(self.random_state, 1)[0]
        folds = np.random.default_rng(seed)
        rows = split_for_members(data, float(self.validation), self.fold + 1, folds, find_groups(x, data))
        settings = {
            "learning_rate": self.learning_rate,
            "max_depth": self.max_depth,
            "nthread": self.n_jobs,
            "seed": seed % 2**31,
            **objective,
            **library_options(self.options, {**self.get_params(), **objective, "seed": 0, "nthread": 0}),
        }

        def matrix(chosen: NDArray[np.int64]) -> Any:
            weight = None if data.weight is None else data.weight[chosen]
            return xgboost.DMatrix(x[chosen], weight=weight, **{name: label[chosen] for name, label in labels.items()})

        held_out = np.zeros(0, np.int64) if rows.validation is None else rows.validation[self.fold]
        stopping: dict[str, Any] = {}
        if held_out.size:
            stopping = {"evals": [(matrix(held_out), "validation")], "early_stopping_rounds": self.patience}
        train = matrix(rows.train[self.fold])
        booster = xgboost.train(settings, train, self.n_estimators, verbose_eval=False, **stopping)
        rounds = booster.best_iteration + 1 if stopping else booster.num_boosted_rounds()
        return Boosted(booster, int(rounds), held_out)

    def _margins(self, x: Float32Array, booster: Any, rounds: int) -> FloatArray:
        """Sums of the trees for each row."""
        matrix = self._library().DMatrix(x)
        return np.asarray(booster.predict(matrix, output_margin=True, iteration_range=(0, rounds)), np.float64)


@final
@dataclass(kw_only=True, eq=False, repr=False)
class XGBoostCox(XGBoostSurvival):
    """XGBoost's ``survival:cox``, with Breslow's baseline hazard of all training rows.

    XGBoost marks censored rows by the sign of the time and keeps it as float32; as only the order counts,
    it gets the ranks of the times.

    Parameters
    ----------
    n_estimators, learning_rate, max_depth, validation, fold, patience, n_jobs, random_state, options, categorical
        As in `XGBoostSurvival`, like `point`.

    Attributes
    ----------
    baseline_
        Cumulative baseline hazard.
    """

    n_estimators: int = field(default=1000, kw_only=False)

    baseline_: BaselineHazard = field(init=False)

    def _learn(self, x: Float32Array, data: SurvivalData) -> BoostedCox:
        rank = np.unique(data.time, return_inverse=True)[1] + 1
        labels = {"label": np.where(data.event, rank, -rank)}
        boosted = self._boost(x, data, labels, objective="survival:cox", eval_metric="cox-nloglik")
        risk = self._margins(x, boosted.booster, boosted.rounds)
        return BoostedCox(**vars(boosted), baseline=baseline_hazard(data, risk, ties="breslow"))

    def predict(self, X: object) -> FloatArray:
        """Log hazard ratio of each row: the higher, the earlier the event."""
        return self._margins(self._numbers(X), self.booster_, self.rounds_)

    def predict_distribution(self, X: object) -> ProportionalHazards:
        """Survival ``exp(-H0(t)·risk)`` of each row, a step at every time of an event; the last value is held."""
        return self.baseline_.distribution(self.predict(X))


@final
@dataclass(kw_only=True, eq=False, repr=False)
class XGBoostAFT(XGBoostSurvival):
    """XGBoost's ``survival:aft``: ``log T = trees(x) + scale·Z``, rows of every kind of censoring.

    Times enter in units of the location of the distribution without covariates, where boosting begins; the library
    would begin at 0.5 in any unit.

    Parameters
    ----------
    distribution
        Of Z: ``"normal"``, whose times are log-normal, or ``"extreme"``, whose times are Weibull.
    scale
        The library's ``aft_loss_distribution_scale``, which it does not learn; also that of the predictions.
        ``"auto"``: boosting with the library's default of 1; for predictions location and scale are then set by maximum
        likelihood on the held-out rows.
    n_estimators, learning_rate, max_depth, validation, fold, patience, n_jobs, random_state, options, categorical
        As in `XGBoostSurvival`, like `point`.

    Attributes
    ----------
    unit_
        The time that is one unit to the booster.
    shift_, scale_
        What is added to the trees' sum, and the scale of the predictions.
    """

    distribution: str = field(default="normal", kw_only=False)
    scale: float | str = "auto"

    unit_: float = field(init=False)
    shift_: float = field(init=False)
    scale_: float = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "distribution": Choice(tuple(_STANDARD)),
        "scale": Number(0, above=True, or_one_of=("auto",)),
    }
    ANY_CENSORING: ClassVar[bool] = True

    def _learn(self, x: Float32Array, data: SurvivalData) -> BoostedAFT:
        rows, numbers = rows_with_information(data)
        location, _ = location_and_scale(rows, _STANDARD[self.distribution])
        unit, scale = float(np.exp(location)), 1.0 if self.scale == "auto" else float(self.scale)
        labels = {"label_lower_bound": np.maximum(rows.lower, 0.0) / unit, "label_upper_bound": rows.upper / unit}
        boosted = self._boost(
            x[numbers],
            rows,
            labels,
            objective="survival:aft",
            eval_metric="aft-nloglik",
            base_score=1.0,
            aft_loss_distribution=self.distribution,
            aft_loss_distribution_scale=scale,
        )
        shift, held_out = 0.0, boosted.held_out
        if self.scale == "auto" and held_out.size:
            margins = self._margins(x[numbers][held_out], boosted.booster, boosted.rounds)
            shift, scale = _residual_location_and_scale(
                rows[held_out], location + margins, _STANDARD[self.distribution]
            )
        return BoostedAFT(**vars(boosted), unit=unit, shift=shift, scale=scale)

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The log-normal or Weibull distribution of each row."""
        margins = self._margins(self._numbers(X), self.booster_, self.rounds_)
        mu = np.clip(np.log(self.unit_) + margins + self.shift_, -_LARGEST_LOG, _LARGEST_LOG)
        if self.distribution == "normal":
            return LogNormal(mu=mu, sigma=np.full_like(mu, self.scale_))
        return Weibull(scale=np.exp(mu), shape=np.full_like(mu, 1 / self.scale_))


def _residual_location_and_scale(data: SurvivalData, mu: FloatArray, standard: Standard) -> tuple[float, float]:
    """Location and scale of log time less its prediction."""
    factor = np.exp(-mu)
    return location_and_scale(
        SurvivalData.interval(data.lower * factor, data.upper * factor, weight=data.weight), standard
    )
