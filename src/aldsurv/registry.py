"""One record per model, adapter, family: its name, where it is, its title, what it is for. Imported on first use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Generic, TypeVar

from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.quoting import quoted

__all__ = ["FAMILIES", "MODELS", "PEERS", "FamilyRecord", "ModelRecord", "Record", "Registry"]


@dataclass(frozen=True)
class Record:
    """What is known of something before it is imported.

    Parameters
    ----------
    name
        By which users ask for it.
    location
        ``"module:attribute"``.
    title
        How it is called in tables, plots and reports.
    purpose
        What it is for, in one line.
    """

    name: str
    location: str
    title: str
    purpose: str

    def load(self) -> Any:
        """Import and return it."""
        module, attribute = self.location.split(":")
        return getattr(import_module(module), attribute)


@dataclass(frozen=True)
class ModelRecord(Record):
    """A model.

    Parameters
    ----------
    paper
        Whether the paper compares it.
    """

    paper: bool = False


@dataclass(frozen=True)
class FamilyRecord(Record):
    """A family of distributions."""


RecordT = TypeVar("RecordT", bound=Record)


class Registry(Generic[RecordT]):
    """Records by name, in the order in which they are listed.

    Parameters
    ----------
    kind
        What the names stand for, in the singular; used in error messages.
    records
        The records; their names differ.

    Examples
    --------
    >>> FAMILIES.load("weibull").__name__
    'Weibull'
    >>> MODELS["cox"].title
    'Cox'
    >>> FAMILIES.load("weibul")
    Traceback (most recent call last):
      ...
    aldsurv.errors.UnknownNameError: unknown family 'weibul'. Did you mean 'weibull'?
    """

    def __init__(self, kind: str, *records: RecordT) -> None:
        self._kind = kind
        self._records: dict[str, RecordT] = {}
        for record in records:
            self.add(record)

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __getitem__(self, name: str) -> RecordT:
        """The record of a name; an unknown one raises `UnknownNameError` with the nearest names."""
        try:
            return self._records[name]
        except (KeyError, TypeError):
            raise UnknownNameError(self._unknown(name)) from None

    def records(self) -> list[RecordT]:
        """All records."""
        return list(self._records.values())

    def load(self, name: str) -> Any:
        """Import and return what ``name`` stands for."""
        return self[name].load()

    def title(self, name: str) -> str:
        """The title of a name; an unknown name is its own title."""
        return self._records[name].title if name in self._records else name

    def name_of(self, thing: type) -> str:
        """The name of a class that has a record."""
        location = f"{thing.__module__}:{thing.__qualname__}"
        for record in self._records.values():
            if record.location == location:
                return record.name
        raise UnknownNameError(
            f"{thing.__name__} is not a registered {self._kind}.", advice="Add a record for it in aldsurv/registry.py."
        )

    def add(self, record: RecordT) -> None:
        """Register one more; its name must be new."""
        if record.name in self._records:
            raise ParameterError(f"there is already a {self._kind} {quoted(record.name)}.", argument="name")
        self._records[record.name] = record

    def remove(self, name: str) -> None:
        """Take a record away."""
        del self._records[self[name].name]

    def _unknown(self, name: object) -> str:
        near = get_close_matches(str(name), self._records, n=3)
        hint = f"Did you mean {' or '.join(map(quoted, near))}?" if near else f"Known: {', '.join(self._records)}."
        return f"unknown {self._kind} {quoted(name)}. {hint}"


FAMILIES = Registry(
    "family",
    FamilyRecord(
        "asymmetric_laplace",
        "aldsurv.distributions.families.asymmetric_laplace:AsymmetricLaplace",
        "asymmetric Laplace",
        "the paper's family: on the whole real line, every formula in closed form",
    ),
    FamilyRecord(
        "positive_asymmetric_laplace",
        "aldsurv.distributions.families.positive_asymmetric_laplace:PositiveAsymmetricLaplace",
        "positive asymmetric Laplace",
        "the asymmetric Laplace distribution cut off at 0",
    ),
    FamilyRecord(
        "log_asymmetric_laplace",
        "aldsurv.distributions.families.log_asymmetric_laplace:LogAsymmetricLaplace",
        "log asymmetric Laplace",
        "log time is asymmetric Laplace: positive times with power-law tails",
    ),
    FamilyRecord("normal", "aldsurv.distributions.families.normal:Normal", "normal", "on the whole real line"),
    FamilyRecord(
        "log_normal", "aldsurv.distributions.families.log_normal:LogNormal", "log-normal", "log time is normal"
    ),
    FamilyRecord(
        "weibull", "aldsurv.distributions.families.weibull:Weibull", "Weibull", "a hazard that is a power of time"
    ),
    FamilyRecord(
        "exponential", "aldsurv.distributions.families.exponential:Exponential", "exponential", "a constant hazard"
    ),
    FamilyRecord(
        "step", "aldsurv.distributions.families.step:Step", "step function", "survival as steps on a grid of times"
    ),
    FamilyRecord(
        "proportional_hazards",
        "aldsurv.distributions.wrappers.proportional_hazards:ProportionalHazards",
        "proportional hazards",
        "a baseline hazard for all rows and a risk for each",
    ),
    FamilyRecord(
        "quantile_knots",
        "aldsurv.distributions.families.quantile_knots:QuantileKnots",
        "quantile knots",
        "predicted quantiles joined by straight lines",
    ),
    FamilyRecord(
        "mixture", "aldsurv.distributions.wrappers.mixture:Mixture", "mixture", "a mixture of any distributions"
    ),
    FamilyRecord(
        "mixed_asymmetric_laplace",
        "aldsurv.distributions.families.mixed_asymmetric_laplace:MixedAsymmetricLaplace",
        "mixture of asymmetric Laplace",
        "a mixture of asymmetric Laplace components on one support",
    ),
    FamilyRecord(
        "left_truncated",
        "aldsurv.distributions.wrappers.truncated:LeftTruncated",
        "left-truncated",
        "a distribution given survival to a time",
    ),
    FamilyRecord(
        "shifted", "aldsurv.distributions.wrappers.shifted:Shifted", "shifted", "a distribution moved in time"
    ),
    FamilyRecord(
        "recalibrated",
        "aldsurv.distributions.wrappers.recalibrated:Recalibrated",
        "recalibrated",
        "a distribution whose levels were corrected",
    ),
)

MODELS = Registry(
    "model",
    ModelRecord(
        "ald",
        "aldsurv.models.neural.ald:ALDSurvival",
        "ALD",
        "a network gives each individual a mixture of asymmetric Laplace distributions; the default",
        paper=True,
    ),
    ModelRecord(
        "boosted_ald",
        "aldsurv.models.trees.boosted_ald:BoostedALD",
        "Boosted ALD",
        "the same distributions from boosted trees (needs xgboost to fit)",
    ),
    ModelRecord(
        "lognormal",
        "aldsurv.models.neural.log_normal_survival:LogNormalSurvival",
        "LogNorm",
        "a network gives each individual a log-normal distribution",
        paper=True,
    ),
    ModelRecord(
        "cqrnn",
        "aldsurv.models.neural.cqrnn:CQRNN",
        "CQRNN",
        "a network gives quantiles, by censored quantile regression",
        paper=True,
    ),
    ModelRecord(
        "deepsurv",
        "aldsurv.models.neural.deepsurv:DeepSurv",
        "DeepSurv",
        "proportional hazards with a network for the log risk",
        paper=True,
    ),
    ModelRecord(
        "deephit",
        "aldsurv.models.neural.deephit:DeepHit",
        "DeepHit",
        "a network gives a probability for each bin of time and each competing cause",
        paper=True,
    ),
    ModelRecord(
        "cox", "aldsurv.models.linear.cox:CoxRegression", "Cox", "proportional hazards regression with hazard ratios"
    ),
    ModelRecord(
        "weibull_aft",
        "aldsurv.models.linear.aft:WeibullAFT",
        "Weibull AFT",
        "accelerated failure times with Weibull errors",
    ),
    ModelRecord(
        "lognormal_aft",
        "aldsurv.models.linear.aft:LogNormalAFT",
        "Log-normal AFT",
        "accelerated failure times with normal errors of log time",
    ),
    ModelRecord(
        "recalibrated",
        "aldsurv.models.wrappers.recalibrated_survival:RecalibratedSurvival",
        "ALD recalibrated",
        "a model whose levels are corrected on rows it was not trained on",
    ),
    ModelRecord(
        "icald",
        "aldsurv.models.neural.icald:ICALDSurvival",
        "ICALD",
        "asymmetric Laplace distributions calibrated for each individual while training",
    ),
    ModelRecord(
        "icald_calibrated",
        "aldsurv.models.wrappers.icald_calibrated:ICALDCalibrated",
        "ICALD calibrated",
        "a model made individually calibrated after its training",
    ),
)

PEERS = Registry(
    "peer",
    ModelRecord(
        "rsf",
        "aldsurv.models.adapters.scikit_survival:ForestPeer",
        "Random forest",
        "scikit-survival's random survival forest",
    ),
    ModelRecord(
        "gbsa",
        "aldsurv.models.adapters.scikit_survival:GradientBoostingPeer",
        "Gradient boosting",
        "scikit-survival's gradient boosting",
    ),
    ModelRecord(
        "xgb_cox", "aldsurv.models.adapters.xgboost_trees:XGBoostCox", "XGBoost Cox", "XGBoost with the loss of Cox"
    ),
    ModelRecord(
        "xgb_aft", "aldsurv.models.adapters.xgboost_trees:XGBoostAFT", "XGBoost AFT", "XGBoost with failure times"
    ),
)
