"""XGBoost's trees for survival: accelerated failure time, and Cox's loss with Breslow's baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.row_copies import find_copies
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.weibull import Weibull
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.errors import ParameterError
from aldsurv.models.adapters.adapter import PeerSurvival, library_options
from aldsurv.models.linear.aft import location_and_scale, telling_rows
from aldsurv.models.linear.aft_likelihood import SmallestExtreme, Standard, StandardNormal
from aldsurv.models.neural.fitting.preparation import member_seeds, split_for_members
from aldsurv.nonparametric.breslow import BaselineHazard, baseline_hazard

__all__ = ["XGBoostAFT", "XGBoostCox"]

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]

_STANDARD: dict[str, Standard] = {"normal": StandardNormal(), "extreme": SmallestExtreme()}
# Beyond e^300 nothing is known any more, and squares must stay finite.
_LARGEST_LOG = 300.0


class _XGBoost(PeerSurvival):
    """Boosted trees that stop when the loss on rows held out no longer falls."""

    _LIBRARY: ClassVar[str] = "xgboost"

    booster_: Any
    rounds_: int
    held_out_: NDArray[np.int64]

    n_estimators: int
    learning_rate: float
    max_depth: int
    validation: float
    fold: int
    patience: int
    n_jobs: int
    random_state: Any

    def _library(self) -> Any:
        try:
            import xgboost
        except ImportError:
            raise self._missing() from None
        return xgboost

    def _boosted(self, x: Float32Array, data: SurvivalData, labels: dict[str, Any], **objective: Any) -> dict[str, Any]:
        """The booster and how many of its rounds to use."""
        xgboost = self._library()
        if not isinstance(self.validation, (int, float)) or not 0 <= self.validation < 1:
            raise ParameterError(f"validation must be a share from 0 (none) to below 1, but is {self.validation!r}.")
        if not isinstance(self.fold, int) or isinstance(self.fold, bool) or not 0 <= self.fold < 1000:
            raise ParameterError(f"fold must be a whole number from 0 to 999, but is {self.fold!r}.")
        seed = member_seeds(self.random_state, 1)[0]
        folds = np.random.default_rng(seed)
        rows = split_for_members(data, float(self.validation), self.fold + 1, folds, find_copies(x, data))
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
        watched: dict[str, Any] = {}
        if held_out.size:
            watched = {"evals": [(matrix(held_out), "validation")], "early_stopping_rounds": self.patience}
        learned = matrix(rows.train[self.fold])
        booster = xgboost.train(settings, learned, self.n_estimators, verbose_eval=False, **watched)
        rounds = booster.best_iteration + 1 if watched else booster.num_boosted_rounds()
        return {"booster_": booster, "rounds_": int(rounds), "held_out_": held_out}

    def _margins(self, x: Float32Array, booster: Any, rounds: int) -> FloatArray:
        """Sums of the trees for each row."""
        xgboost = self._library()
        found = booster.predict(xgboost.DMatrix(x), output_margin=True, iteration_range=(0, rounds))
        return np.asarray(found, np.float64)


@final
class XGBoostCox(_XGBoost):
    """XGBoost's ``survival:cox``, with Breslow's baseline hazard of all training rows.

    XGBoost tells events from censored rows by the sign of the time and keeps it as float32; as only the order counts,
    it gets the ranks of the times.

    Parameters
    ----------
    n_estimators
        Rounds at most.
    learning_rate
        Small, as the rounds stop by themselves; the library's is 0.3.
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
        Seed, also of the rows held out.
    options
        Further settings of the booster, as a dict.
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        What `predict_time` answers with: ``"median"``, ``"mean"``, ``"mode"`` or ``"restricted_mean"``.

    Attributes
    ----------
    booster_
        The library's object.
    rounds_
        How many of its rounds are used.
    baseline_
        Cumulative baseline hazard.
    """

    baseline_: BaselineHazard

    def __init__(
        self,
        n_estimators: int = 1000,
        *,
        learning_rate: float = 0.05,
        max_depth: int = 3,
        validation: float = 0.2,
        fold: int = 0,
        patience: int = 50,
        n_jobs: int = 1,
        random_state: Any = None,
        options: Mapping[str, Any] | None = None,
        categorical: Sequence[str | int] | None = None,
        point: str = "median",
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.validation = validation
        self.fold = fold
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.options = options
        self.categorical = categorical
        self.point = point

    def _learn(self, x: Float32Array, data: SurvivalData) -> dict[str, Any]:
        rank = np.unique(data.time, return_inverse=True)[1] + 1
        labels = {"label": np.where(data.event, rank, -rank)}
        learned = self._boosted(x, data, labels, objective="survival:cox", eval_metric="cox-nloglik")
        risk = self._margins(x, learned["booster_"], learned["rounds_"])
        return {**learned, "baseline_": baseline_hazard(data, risk, ties="breslow")}

    def predict(self, X: Any) -> FloatArray:
        """Log hazard ratio of each row: the higher, the earlier the event."""
        return self._margins(self._numbers(X), self.booster_, self.rounds_)

    def predict_distribution(self, X: Any) -> ProportionalHazards:
        """Survival ``exp(-H0(t)·risk)`` of each row, a step at every time of an event; the last value is held."""
        return self.baseline_.distribution(self.predict(X))


@final
class XGBoostAFT(_XGBoost):
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
        likelihood on the rows held out.
    n_estimators
        Rounds at most.
    learning_rate
        Small, as the rounds stop by themselves; the library's is 0.3.
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
        Seed, also of the rows held out.
    options
        Further settings of the booster, as a dict.
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        What `predict_time` answers with: ``"median"``, ``"mean"``, ``"mode"`` or ``"restricted_mean"``.

    Attributes
    ----------
    booster_
        The library's object.
    rounds_
        How many of its rounds are used.
    unit_
        The time that is one unit to the booster.
    shift_, scale_
        What is added to the trees' sum, and the scale of the predictions.
    """

    _ANY_CENSORING: ClassVar[bool] = True

    unit_: float
    shift_: float
    scale_: float

    def __init__(
        self,
        distribution: str = "normal",
        *,
        scale: float | str = "auto",
        n_estimators: int = 1000,
        learning_rate: float = 0.05,
        max_depth: int = 3,
        validation: float = 0.2,
        fold: int = 0,
        patience: int = 50,
        n_jobs: int = 1,
        random_state: Any = None,
        options: Mapping[str, Any] | None = None,
        categorical: Sequence[str | int] | None = None,
        point: str = "median",
    ) -> None:
        self.distribution = distribution
        self.scale = scale
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.validation = validation
        self.fold = fold
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.options = options
        self.categorical = categorical
        self.point = point

    def _learn(self, x: Float32Array, data: SurvivalData) -> dict[str, Any]:
        if self.distribution not in _STANDARD:
            raise ParameterError(f"distribution must be one of {', '.join(_STANDARD)}, but is {self.distribution!r}.")
        number = isinstance(self.scale, (int, float, np.number)) and not isinstance(self.scale, bool)
        if self.scale != "auto" and not (number and 0 < float(self.scale) < np.inf):
            raise ParameterError(f"scale must be 'auto' or a positive number, but is {self.scale!r}.")
        rows, telling = telling_rows(data)
        location, _ = location_and_scale(rows, _STANDARD[self.distribution])
        unit, scale = float(np.exp(location)), 1.0 if self.scale == "auto" else float(self.scale)
        labels = {"label_lower_bound": np.maximum(rows.lower, 0.0) / unit, "label_upper_bound": rows.upper / unit}
        learned = self._boosted(
            x[telling],
            rows,
            labels,
            objective="survival:aft",
            eval_metric="aft-nloglik",
            base_score=1.0,
            aft_loss_distribution=self.distribution,
            aft_loss_distribution_scale=scale,
        )
        shift, held_out = 0.0, learned["held_out_"]
        if self.scale == "auto" and held_out.size:
            margins = self._margins(x[telling][held_out], learned["booster_"], learned["rounds_"])
            shift, scale = _calibrated(rows[held_out], location + margins, _STANDARD[self.distribution])
        return {**learned, "unit_": unit, "shift_": shift, "scale_": scale}

    def predict_distribution(self, X: Any) -> SurvivalDistribution:
        """The log-normal or Weibull distribution of each row."""
        margins = self._margins(self._numbers(X), self.booster_, self.rounds_)
        mu = np.clip(np.log(self.unit_) + margins + self.shift_, -_LARGEST_LOG, _LARGEST_LOG)
        if self.distribution == "normal":
            return LogNormal(mu=mu, sigma=np.full_like(mu, self.scale_))
        return Weibull(scale=np.exp(mu), shape=np.full_like(mu, 1 / self.scale_))


def _calibrated(data: SurvivalData, mu: FloatArray, standard: Standard) -> tuple[float, float]:
    """Location and scale of log time less what was predicted of it."""
    factor = np.exp(-mu)
    return location_and_scale(
        SurvivalData.interval(data.lower * factor, data.upper * factor, weight=data.weight), standard
    )
